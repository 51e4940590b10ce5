package file

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

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
	head, err := headOf(s)
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", short(s.Name, 120), err)
	}
	d := document{source: s, name: s.Name, head: head, size: s.Size, limit: limit, asked: limit}
	r, err := d.extract(ctx)
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", short(s.Name, 120), err)
	}
	if r.Text == nil {
		return Document{}, media.Errorf(media.CodeUnsupported, "%s has no readable text (%s)", short(s.Name, 120), r.MimeType)
	}
	return Document{Format: r.Format, Title: r.Title, Text: *r.Text, Truncated: r.Truncated, Warnings: r.Warnings}, nil
}

func headOf(s Source) ([]byte, error) {
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

// extract reads any kind as text; tables and JSON as they are written.
func (d document) extract(ctx context.Context) (reading, error) {
	kind := kindOfName(d.name)
	if kind == "table" || kind == "json" {
		if r, ok := d.unreadable(); ok {
			return r, nil
		}
		r, err := d.readText(ctx, kind)
		r.Format = kind
		return r, err
	}
	if kind == "" && !isPDF(d.head) && kindOfHead(d.head) == "json" {
		r, err := d.readText(ctx, "text")
		r.Format = "json"
		return r, err
	}
	return d.read(ctx)
}

// Bytes returns a source in memory.
func Bytes(name string, b []byte) Source {
	return Source{Name: name, Size: int64(len(b)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

// Skipped is a path that a walk omits, and why.
type Skipped struct{ Path, Reason string }

// Walk returns every file of the folder that may be read, in the order of names, and
// what was omitted (the first 50). fn's error ends it.
func (f *Files) Walk(ctx context.Context, fn func(Source) error) ([]Skipped, error) {
	l := listing{files: f, each: func(p string, info fs.FileInfo) error {
		return fn(Source{Name: p, Size: info.Size(), Modified: info.ModTime(), Open: f.opener(p)})
	}}
	err := l.walk(ctx, ".")
	out := make([]Skipped, 0, len(l.skipped))
	for _, s := range l.skipped {
		out = append(out, Skipped(s))
	}
	return out, err
}

// Stat returns size and time of a file of the folder as they are now.
func (f *Files) Stat(ctx context.Context, path string) (Source, error) {
	info, err := f.root.Stat(path)
	if err != nil {
		return Source{}, f.explain(ctx, path, path, err)
	}
	return Source{Name: path, Size: info.Size(), Modified: info.ModTime(), Open: f.opener(path)}, nil
}

func (f *Files) opener(name string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return f.root.Open(name) }
}

// Clip shortens text to n characters for a list or a message, and names media
// instead of showing it.
func Clip(s string, n int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "�")
	}
	return short(s, n)
}
