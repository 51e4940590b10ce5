package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"atelier/media"
)

// Source is one document in any place.
type Source struct {
	// Name decides between kinds of text by its ending, such as notes.md; it may be empty.
	Name string
	// Size is in bytes.
	Size int64
	// Modified is when it changed last, if that is known.
	Modified time.Time
	// Open opens it from the start; it may be called several times, and each reader is closed.
	Open func() (io.ReadCloser, error)
}

// headSize is how many bytes of a file decide what it is.
const headSize = 4096

// Head returns the first bytes, at most 4,096.
func (s Source) Head() ([]byte, error) {
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // read only
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if err != nil && !isEOF(err) {
		return nil, err
	}
	return head[:n], nil
}

// Document is the readable text of a source.
type Document struct {
	// Format is text, markdown, html, json, table, pdf or docx.
	Format string
	Title  string
	// Text is valid UTF-8.
	Text string
	// Truncated reports whether the source has more text than was requested.
	Truncated bool
	Warnings  []string
}

// Extract returns up to limit characters of a source's text. A source without text (pictures,
// archives) is [media.CodeUnsupported]; a damaged file is [media.CodeCorrupt].
func Extract(ctx context.Context, s Source, limit int) (Document, error) {
	head, err := s.Head()
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", short(s.Name, 120), err)
	}
	r, err := document{Source: s, head: head, limit: limit, asked: limit}.extract(ctx)
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", short(s.Name, 120), err)
	}
	if r.Text == nil {
		return Document{}, media.Errorf(media.CodeUnsupported, "%s has no readable text (%s)", short(s.Name, 120), r.MimeType)
	}
	return Document{Format: r.Format, Title: r.Title, Text: *r.Text, Truncated: r.Truncated, Warnings: r.Warnings}, nil
}

// extract reads any kind as text; tables and JSON as they are written.
func (d document) extract(ctx context.Context) (reading, error) {
	kind := kindOfName(d.Name)
	if kind == "" && !isPDF(d.head) && kindOfHead(d.head) == kindJSON {
		kind = kindJSON
	}
	if kind != kindTable && kind != kindJSON {
		return d.read(ctx)
	}
	if r, ok := d.unreadable(); ok {
		return r, nil
	}
	r, err := d.readText(ctx, kind)
	r.Format = kind
	return r, err
}

// Bytes returns a source in memory.
func Bytes(name string, b []byte) Source {
	return Source{Name: name, Size: int64(len(b)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

// Skipped is a path that is omitted, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Walk returns every file of the folder that may be read, in the order of names, and
// what was omitted (the first 50). fn's error ends it.
func (f *Files) Walk(ctx context.Context, fn func(Source) error) ([]Skipped, error) {
	l := listing{files: f, each: func(p string, info fs.FileInfo) error {
		return fn(f.source(p, info))
	}}
	err := l.walk(ctx, ".")
	return l.skipped, err
}

// Stat returns size and time of a file of the folder as they are now.
func (f *Files) Stat(ctx context.Context, path string) (Source, error) {
	info, err := f.root.Stat(path)
	if err != nil {
		return Source{}, f.explain(ctx, path, path, err)
	}
	return f.source(path, info), nil
}

func (f *Files) source(name string, info fs.FileInfo) Source {
	return Source{Name: name, Size: info.Size(), Modified: info.ModTime(), Open: func() (io.ReadCloser, error) { return f.root.Open(name) }}
}

// Clip shortens text to n characters for a list or a message, and names media
// instead of showing it.
func Clip(s string, n int) string {
	return short(strings.ToValidUTF8(s, "�"), n)
}
