package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/media"
)

// Source is one document, wherever it lies.
type Source struct {
	// Name decides between kinds of text by its ending, such as notes.md; it may be empty.
	Name string
	// Size is in bytes.
	Size int64
	// Modified is when it changed last, if that is known.
	Modified time.Time
	// Open begins it anew; called once or more, and each reader is closed.
	Open func() (io.ReadCloser, error)
}

// Document is the readable text of a source.
type Document struct {
	// Format is text, markdown, html, json, table or pdf.
	Format string
	Title  string
	// Text is valid UTF-8.
	Text string
	// Truncated says that the source has more text than was asked for.
	Truncated bool
	Warnings  []string
}

// Extract gives up to limit characters of a source's text. What has no text
// (pictures, archives) is [media.CodeUnsupported]; a damaged file is [media.CodeCorrupt].
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
		return Document{}, media.Errorf(media.CodeUnsupported, "%s has no text that can be read (%s)", short(s.Name, 120), r.MimeType)
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

// Bytes makes a source of what is in memory.
func Bytes(name string, b []byte) Source {
	return Source{Name: name, Size: int64(len(b)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b)), nil
	}}
}

// Skipped is a path that a walk leaves out, and why.
type Skipped struct{ Path, Reason string }

// Walk gives every file of the folder that may be read, in the order of names, and
// what was left out (the first 50). fn's error ends it.
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

// Stat gives size and time of a file of the folder as they are now.
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

// Table is the profile of a table: columns, series, totals and sample rows, as Read
// File shows it. It is written as JSON.
type Table struct{ profile table }

// MarshalJSON writes what models see.
func (t *Table) MarshalJSON() ([]byte, error) { return json.Marshal(&t.profile) }

// Rows is how many records the profile is made of.
func (t *Table) Rows() int { return t.profile.RowCount }

// Shrink takes the part away that is missed least, more with each step from 0 on,
// and tells whether there was one.
func (t *Table) Shrink(step int) bool { return t.profile.shrink(step) }

// Profile makes the profile of records that are in memory, each as long as names.
// Cells are text; an empty one is a missing value. The notes say what was left out.
func Profile(ctx context.Context, names []string, records [][]string) (*Table, []string, error) {
	clean := columnNames(names)
	t, notes, err := profile(ctx, &memoryTable{names: clean, records: records})
	if err != nil {
		return nil, nil, err
	}
	return &Table{profile: t}, notes, nil
}

// memoryTable is records in memory.
type memoryTable struct {
	names   []string
	records [][]string
}

var _ rows = (*memoryTable)(nil)

func (m *memoryTable) header() []string   { return m.names }
func (m *memoryTable) dialect() dialect   { return dialect{} }
func (m *memoryTable) warnings() []string { return nil }

func (m *memoryTable) each(ctx context.Context, fn func([][]byte) error) error {
	cells := make([][]byte, len(m.names))
	for _, record := range m.records {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range cells {
			cells[i] = nil
			if i < len(record) {
				cells[i] = []byte(strings.TrimSpace(record[i]))
			}
		}
		if err := fn(cells); err != nil {
			return err
		}
	}
	return nil
}

// Clip shortens text to n characters for a list or a message, and names base64
// instead of showing it.
func Clip(s string, n int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "�")
	}
	return short(s, n)
}
