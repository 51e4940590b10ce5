package report

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"atelier/agent/resolve"
	"atelier/media"
	"atelier/media/imaging"
	"atelier/media/wire"
)

// File is the file to which an item was written.
type File struct {
	// Path is relative to the folder, with slashes.
	Path string
	// Marking says how the file indicates that a model made it.
	Marking imaging.Marking
}

// Files writes the items into the folder dir/media under [resolve.FileName] names and returns, by
// ref, the file of each item. Files appear atomically. Items made by a model carry the AI label,
// see [imaging.Export]. In HTML and Markdown made by the run, placeholders become the names of the
// exported files, and active links in Markdown are disabled; everything else is written byte for
// byte. Files skips items that fail and returns the first error after writing the rest.
func Files(ctx context.Context, dir string, items []media.Output, codec *wire.Codec) (map[media.Ref]File, error) {
	files := map[media.Ref]File{}
	folder := filepath.Join(dir, "media")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return files, media.Errorf(media.CodeInvalid, "create folder %s: %w", folder, err)
	}
	var first error
	e := export{folder: folder, items: items, codec: codec}
	for _, o := range items {
		name := resolve.FileName(o)
		marking, err := e.write(ctx, name, o)
		if err != nil {
			if first == nil {
				first = fmt.Errorf("write %s: %w", o.Ref, err)
			}
			continue
		}
		files[o.Ref] = File{"media/" + name, marking}
	}
	return files, first
}

// export is one call of Files.
type export struct {
	folder string
	items  []media.Output
	codec  *wire.Codec
}

func (e export) write(ctx context.Context, name string, o media.Output) (marking imaging.Marking, err error) {
	f, err := os.OpenFile(filepath.Join(e.folder, ".tmp-"+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // with the umask; people open and share exported files
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is reported
		}
	}()
	open := func() (io.ReadCloser, error) { return e.codec.Open(ctx, o.Digest) }
	format := map[string]resolve.Format{"text/html": resolve.FormatHTML, "text/markdown": resolve.FormatMarkdown}[o.MIMEType]
	if format != "" && o.Origin.Direction != "input" { // written by an agent: it may contain placeholders
		err = e.resolve(ctx, f, open, format)
	} else {
		marking, err = imaging.Export(f, o, open)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return marking, os.Rename(f.Name(), filepath.Join(e.folder, name))
}

// resolve writes a document in which placeholders are replaced with file names.
func (e export) resolve(ctx context.Context, w io.Writer, open func() (io.ReadCloser, error), format resolve.Format) error {
	r, err := open()
	if err != nil {
		return err
	}
	b, err := io.ReadAll(r) // documents are limited in size
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	text := string(b)
	if format == resolve.FormatMarkdown {
		text = withoutActiveLinks(text)
	}
	buffered := bufio.NewWriter(w)
	err = resolve.Text(ctx, buffered, text, resolve.Options{
		Mode: resolve.ModeFile, Format: format, File: resolve.FileName,
		Find: func(ref media.Ref) (media.Output, bool) {
			i := slices.IndexFunc(e.items, func(o media.Output) bool { return o.Ref == ref })
			if i < 0 {
				return media.Output{}, false
			}
			return e.items[i], true
		},
	})
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// destinations match the addresses in Markdown: in links, pictures, link definitions and angle
// brackets, and in HTML attributes, with either quote or none.
var destinations = []*regexp.Regexp{
	regexp.MustCompile(`(\]\(\s*<?|(?m:^)[ \t>]*\[[^\]\n]+\]:\s*<?|<)([^\s<>()"']+)`),
	regexp.MustCompile(`(?i)(\b(?:href|src|action|formaction|data)\s*=\s*")([^"]+)`),
	regexp.MustCompile(`(?i)(\b(?:href|src|action|formaction|data)\s*=\s*')([^']+)`),
	regexp.MustCompile(`(?i)(\b(?:href|src|action|formaction|data)\s*=\s*)([^\s"'>]+)`),
}

// withoutActiveLinks disables addresses in Markdown that run code or contain a document, because a
// viewer may follow them. All other text stays unchanged.
func withoutActiveLinks(text string) string {
	for _, where := range destinations {
		text = where.ReplaceAllStringFunc(text, func(found string) string {
			if parts := where.FindStringSubmatch(found); active(parts[2]) {
				return parts[1] + "#removed"
			}
			return found
		})
	}
	return text
}

// active reports whether an address runs code or contains a document, as browsers read it: with
// character references decoded, and ignoring blanks, control characters and escapes.
func active(address string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == '\\' {
			return -1
		}
		return unicode.ToLower(r)
	}, html.UnescapeString(address))
	for _, scheme := range []string{"javascript:", "vbscript:", "data:"} {
		if strings.HasPrefix(plain, scheme) {
			return true
		}
	}
	return false
}
