// Package pdf reads the text of PDF files with PDFium, which runs as WebAssembly inside the process: it draws nothing,
// runs no script, follows no link and reaches neither files nor the network.
//
// It does not trust the file. Each document is read by an instance of its own, which is discarded afterwards, whether
// reading succeeded, failed or was cancelled. [maxMemory], [maxTime], [maxPages] and [maxOpen] limit the cost of a file.
// The first document compiles PDFium, which takes some seconds of processor time and cannot be cancelled; later
// processes load the result from the user's cache folder.
//
// Errors are media.Error values: [media.CodeCorrupt] for files without readable pages, [media.CodeUnsupported] for
// files that need a password, [media.CodeTooLarge] beyond the limits. It imports media, go-pdfium and wazero.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"atelier/media"
)

const (
	// maxMemory is the maximum memory of one instance, in bytes; it holds the file too.
	maxMemory = 128 << 20
	// maxTime is the maximum time to read one document.
	maxTime = time.Minute
	// maxPages is the maximum number of pages of a file.
	maxPages = 20_000
	// maxOpen is the maximum number of documents that are read at once; others wait.
	maxOpen = 1
)

// instances compiles PDFium when the first document is read. The result is kept in the user's cache folder, if there is
// one, so that the next process loads it.
var instances = sync.OnceValues(func() (pdfium.Pool, error) {
	defer debug.FreeOSMemory() // compiling takes six times the memory that its result needs
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(maxMemory >> 16).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling)
	if dir, err := os.UserCacheDir(); err == nil {
		if cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, "atelier")); err == nil {
			if pool, err := compile(config.WithCompilationCache(cache)); err == nil {
				return pool, nil
			}
		}
	}
	return compile(config)
})

// compile returns a pool of instances without access to files.
func compile(config wazero.RuntimeConfig) (pdfium.Pool, error) {
	return webassembly.Init(webassembly.Config{
		MaxTotal: maxOpen, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard, RuntimeConfig: config,
	})
}

// Read calls page with the text of each page, from 1 of the number of pages. Lines end with "\n", and a blank line
// separates paragraphs. It returns the title in the file's metadata, or "", and describes what could not be read. Read is
// safe for concurrent use.
func Read(ctx context.Context, data []byte, page func(n, of int, text string)) (title string, warnings []string, err error) {
	return read(ctx, maxTime, data, page)
}

func read(ctx context.Context, limit time.Duration, data []byte, page func(n, of int, text string)) (title string, warnings []string, err error) {
	if !bytes.Contains(data, []byte("obj")) {
		return "", nil, unreadable() // without compiling PDFium
	}
	pool, err := instances()
	if err != nil {
		return "", nil, fmt.Errorf("compile PDFium: %w", err)
	}
	instance, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("start PDFium: %w", errors.Join(ctx.Err(), err))
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	kill := sync.OnceFunc(func() { _ = instance.Kill() }) // it has nothing to save
	defer kill()
	defer context.AfterFunc(limited, kill)()
	d := document{instance: instance}
	title, err = d.read(data, page)
	var known *media.Error
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = media.Errorf(media.CodeTooLarge, "the PDF takes longer than %s to read: split it", limit)
	case err != nil && !errors.As(err, &known): // PDFium crashed; its error is a stack trace
		err = media.Errorf(media.CodeCorrupt, "the PDF cannot be read: it is damaged, or needs more than %d MiB of memory", maxMemory>>20)
	}
	return title, d.warnings(), err
}

// document is a file in an instance of PDFium.
type document struct {
	instance pdfium.Pdfium
	damaged  int // pages that could not be read
	lines    int
	unmapped int // lines in fonts that do not map their characters to letters
}

func (d *document) warnings() []string {
	var out []string
	if 2*d.unmapped > d.lines { // a few are right in most files
		out = append(out, "the letters may be wrong, because the fonts do not say which they are")
	}
	if d.damaged > 0 {
		out = append(out, fmt.Sprintf("%d damaged pages were omitted", d.damaged))
	}
	return out
}

func (d *document) read(data []byte, page func(n, of int, text string)) (title string, err error) {
	file, err := d.instance.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return "", media.Errorf(media.CodeUnsupported, "the PDF is encrypted: save a copy without protection")
	case errors.Is(err, pdferrors.ErrFormat), errors.Is(err, pdferrors.ErrFile), errors.Is(err, pdferrors.ErrPage), errors.Is(err, pdferrors.ErrUnknown), errors.Is(err, pdferrors.ErrSuccess):
		return "", unreadable()
	case err != nil:
		return "", err
	}
	count, err := d.instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: file.Document})
	switch {
	case err != nil:
		return "", err
	case count.PageCount > maxPages:
		return "", media.Errorf(media.CodeTooLarge, "the PDF has more than %d pages, which is over the limit", maxPages)
	}
	if meta, err := d.instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: file.Document, Tag: "Title"}); err == nil {
		title = strings.TrimSpace(meta.Value)
	} // else it has none
	for n := range count.PageCount {
		text, err := d.text(requests.Page{ByIndex: &requests.PageByIndex{Document: file.Document, Index: n}})
		if errors.Is(err, pdferrors.ErrPage) {
			d.damaged++
		} else if err != nil {
			return title, err
		}
		page(n+1, count.PageCount, text)
	}
	if d.damaged == count.PageCount {
		return title, unreadable()
	}
	return title, nil
}

func unreadable() error {
	return media.Errorf(media.CodeCorrupt, "the PDF has no readable pages: it may be damaged; save it again")
}

// text returns the text of one page with what is written in its form fields and notes.
func (d *document) text(page requests.Page) (string, error) {
	flat, err := d.instance.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: page})
	if err != nil {
		return "", err
	}
	loaded, err := d.instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return "", err
	}
	count, err := d.instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	if err != nil {
		return "", err
	}
	all, err := d.instance.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: loaded.TextPage, Count: count.Count})
	if err != nil {
		return "", err
	}
	l := layout{document: d, page: loaded.TextPage, flat: flat.Result == responses.FPDFPage_FlattenResultSuccess}
	l.write(all.Text)
	_, err = d.instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
	return l.out.String(), err
}
