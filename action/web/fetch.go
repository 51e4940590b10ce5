package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"net/url"
	"path"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"atelier/action"
	"atelier/action/file"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/probe"
	"atelier/media/wire"
)

// Limits of one page.
const (
	DefaultMaxBytes = 16 << 20
	fetchTimeout    = 30 * time.Second
	// maxText is the maximum number of characters read from a page, maxShown that of one part of it.
	maxText  = 2_000_000
	maxShown = 10_000
)

// NewFetcher creates the guarded client for pages. It allows text of public addresses and, if trusted is set, of
// addresses below that URL: the search API's own ([API]), and nothing else on its host.
func NewFetcher(trusted string) *safehttp.Client {
	cfg := safehttp.Config{
		MaxBytes: DefaultMaxBytes, Timeout: fetchTimeout,
		Types:     []string{"text/*", "application/xhtml+xml", "application/xml", "application/json", "application/*+json", "application/*+xml", "application/pdf"},
		UserAgent: "Mozilla/5.0 (compatible; atelier)",
	}
	if trusted != "" {
		cfg.TrustedPaths = []string{trusted}
	}
	return safehttp.New(cfg)
}

func (w *Web) fetch(ctx context.Context, c *action.Call) (action.Result, error) {
	offset, limit := c.Int("Offset"), c.Int("Limit")
	if offset < 0 || limit < 1 {
		return action.Result{}, media.Errorf(media.CodeInvalid, "Offset (%d) must be 0 or more, and Limit (%d) 1 or more", offset, limit)
	}
	resp, err := w.cfg.Fetch.Get(ctx, c.Text("URL"))
	if err != nil {
		return action.Result{}, err
	}
	defer func() { _ = resp.Body.Close() }() // read completely, or abandoned
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return action.Result{}, err
	}
	doc, err := read(ctx, resp, b)
	if err != nil {
		return action.Result{}, err
	}
	// Media in the text is replaced with its name.
	doc.Text, doc.Title = wire.NameMedia(doc.Text), file.Clip(doc.Title, 200)
	return page(doc, resp.URL, offset, min(limit, maxShown)), nil
}

// read returns the text of a response. The bytes determine its type.
func read(ctx context.Context, resp *safehttp.Response, b []byte) (file.Document, error) {
	notText := func(kind string) error {
		return media.Errorf(media.CodeUnsupported, "the page on %s is not text (%s): choose another one", host(resp.URL), kind)
	}
	sniffed := probe.Head(b[:min(len(b), 4096)]).MIMEType
	switch {
	case sniffed == "application/pdf":
		return file.Extract(ctx, file.Bytes("page.pdf", b), maxText)
	case sniffed != "" && sniffed != "text/html" && sniffed != "application/json" && !strings.HasPrefix(sniffed, "text/"):
		return file.Document{}, notText(sniffed)
	case bytes.IndexByte(b[:min(len(b), 4096)], 0) >= 0 && !bytes.HasPrefix(b, []byte("\xff\xfe")) && !bytes.HasPrefix(b, []byte("\xfe\xff")):
		return file.Document{}, notText("application/octet-stream")
	}
	isHTML := sniffed == "text/html" || resp.ContentType == "text/html" || resp.ContentType == "application/xhtml+xml"
	b = decoded(b, resp, isHTML)
	if !isHTML {
		name := "page.txt" // tells package file the kind of text
		if strings.HasSuffix(resp.ContentType, "json") {
			name = "page.json"
		}
		if u, err := url.Parse(resp.URL); err == nil && strings.EqualFold(path.Ext(u.Path), ".md") {
			name = "page.md"
		}
		return file.Extract(ctx, file.Bytes(name, b), maxText)
	}
	return readable(ctx, b)
}

// decoded converts a page to UTF-8, from the charset in its header or in its own text.
func decoded(b []byte, resp *safehttp.Response, isHTML bool) []byte {
	label := resp.ContentType
	if resp.Charset != "" {
		label = mime.FormatMediaType(cmp.Or(label, "text/plain"), map[string]string{"charset": resp.Charset})
	}
	if !isHTML && resp.Charset == "" {
		return b // package file reads UTF-8, UTF-16 and Windows-1252
	}
	enc, name, _ := charset.DetermineEncoding(b[:min(len(b), 1024)], label)
	if name == "utf-8" {
		return b
	}
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		return b
	}
	return out
}

// readable returns the main part of a page, or a larger part if that is too short.
func readable(ctx context.Context, b []byte) (file.Document, error) {
	const least = 500 // characters of an article
	var best file.Document
	for _, part := range articles(b) {
		doc, err := file.Extract(ctx, file.Bytes("page.html", part), maxText)
		if err != nil {
			return doc, err
		}
		if best.Title == "" {
			best.Title = doc.Title
		}
		if len([]rune(doc.Text)) > len([]rune(best.Text)) {
			doc.Title = best.Title
			best = doc
		}
		if len([]rune(best.Text)) >= least {
			break
		}
	}
	return best, nil
}

// page returns a range of a text as a result.
func page(doc file.Document, address string, offset, limit int) action.Result {
	text := []rune(doc.Text)
	from, to := min(offset, len(text)), min(offset+limit, len(text))
	res := action.Result{
		Message: fmt.Sprintf("%s: %d characters", host(address), len(text)),
		Outputs: map[string]any{
			"url": address, "title": doc.Title, "text": string(text[from:to]), "offset": offset, "totalChars": len(text), "truncated": to < len(text),
		},
	}
	warnings := doc.Warnings
	if doc.Truncated {
		warnings = append(warnings, fmt.Sprintf("the page is longer: only its first %d characters were read", maxText))
	}
	switch {
	case len(text) == 0:
		warnings = append(warnings, "the page has no text; it may be built by scripts, which are not executed")
	case from == len(text):
		warnings = append(warnings, fmt.Sprintf("Offset %d is past the end: the text has %d characters", offset, len(text)))
	case to < len(text):
		res.Message += fmt.Sprintf(", from %d to %d; continue with Offset=%d", from, to, to)
	}
	if len(warnings) > 0 {
		res.Outputs["warnings"] = warnings
		for _, w := range warnings {
			res.Warnings = append(res.Warnings, host(address)+": "+w)
		}
	}
	return res
}

// host returns the host of an address, without parts that may be secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	return u.Hostname()
}
