package file

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"time"

	"atelier/media"
)

// Source is one document, wherever it is stored.
type Source struct {
	// Name is the file name, such as notes.md; its extension distinguishes kinds of text. It may be empty.
	Name string
	// Size is in bytes.
	Size int64
	// Modified is the time of the last change, if known.
	Modified time.Time
	// Open opens the document at its start. It may be called several times; the caller closes each reader.
	Open func() (io.ReadCloser, error)
}

// headSize is the number of bytes at the start of a file that determine its kind.
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

// Extract returns up to limit characters of a source's text. It returns [media.CodeUnsupported] for a source without
// text (pictures, archives) and [media.CodeCorrupt] for a damaged file.
func Extract(ctx context.Context, s Source, limit int) (Document, error) {
	head, err := s.Head()
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", Clip(s.Name, 120), err)
	}
	r, err := document{Source: s, head: head, limit: limit, asked: limit, whole: true}.read(ctx)
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", Clip(s.Name, 120), err)
	}
	if r.Text == nil {
		return Document{}, media.Errorf(media.CodeUnsupported, "%s has no readable text (%s)", Clip(s.Name, 120), cmp.Or(r.MimeType, r.Kind))
	}
	return Document{Format: r.Format, Title: r.Title, Text: *r.Text, Truncated: r.Truncated, Warnings: r.Warnings}, nil
}

// Bytes returns a source in memory.
func Bytes(name string, b []byte) Source {
	return Source{Name: name, Size: int64(len(b)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

// Skipped is an omitted path and the reason.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Walk calls fn for every readable file of the folder, in order of name, and returns the first 50 omitted paths. An
// error of fn ends the walk.
func (f *Files) Walk(ctx context.Context, fn func(Source) error) ([]Skipped, error) {
	l := listing{files: f, each: func(p string, info fs.FileInfo) error {
		return fn(f.source(p, info))
	}}
	err := l.walk(ctx, ".")
	return l.skipped, err
}

// Stat returns a file of the folder with its current size and modification time.
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
