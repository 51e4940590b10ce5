package file

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"atelier/action"
	"atelier/action/internal/charset"
	"atelier/media"
	"atelier/media/probe"
)

// maxOutcome is the maximum size of one result in a prompt, in characters of JSON, maxCharacters that of its text.
const (
	maxOutcome    = 12_000
	maxCharacters = 10_000
)

// reading is the result of Read File. Kind determines which fields are set.
type reading struct {
	// Kind is table or text, or for an unreadable file image, audio, video, document or binary.
	Kind string `json:"kind"`
	Path string `json:"path"`
	// Format distinguishes text: text, markdown, html, json, pdf, docx.
	Format     string  `json:"format,omitempty"`
	Title      string  `json:"title,omitempty"`
	Text       *string `json:"text,omitempty"`
	Page       int     `json:"page,omitempty"`
	Pages      int     `json:"pages,omitempty"`
	Offset     int     `json:"offset,omitempty"`
	TotalChars int     `json:"totalChars,omitempty"`
	Truncated  bool    `json:"truncated,omitempty"`
	// MimeType to DurationSeconds are set for files that cannot be read.
	MimeType        string   `json:"mimeType,omitempty"`
	SizeBytes       int64    `json:"sizeBytes,omitempty"`
	Width           int      `json:"width,omitempty"`
	Height          int      `json:"height,omitempty"`
	DurationSeconds float64  `json:"durationSeconds,omitempty"`
	Warnings        []string `json:"warnings,omitempty"`
}

// read runs Read File.
func (f *Files) read(ctx context.Context, c *action.Call) (action.Result, error) {
	page, offset, limit := c.Int("Page"), c.Int("Offset"), c.Int("Limit")
	if page < 0 || offset < 0 || limit < 1 {
		return action.Result{}, media.Errorf(media.CodeInvalid, "Page (%d) and Offset (%d) must be 0 or more, and Limit (%d) 1 or more", page, offset, limit)
	}
	src, head, err := f.open(ctx, c.Text("Path"))
	if err != nil {
		return action.Result{}, err
	}
	r, err := document{Source: src, head: head, page: page, offset: offset, limit: min(limit, maxCharacters), asked: limit}.read(ctx)
	if err != nil {
		return action.Result{}, fmt.Errorf("read %s: %w", Clip(src.Name, 120), err)
	}
	if r.MimeType != "" && r.Kind != "binary" { // the whole file may contain more facts than its head
		if file, err := f.root.Open(src.Name); err == nil {
			if facts, err := probe.Read(file, src.Size); err == nil && facts.MIMEType != "" {
				r.Width, r.Height, r.DurationSeconds = facts.Width, facts.Height, facts.DurationSeconds
			}
			_ = file.Close() // read only
		}
	}
	var res action.Result
	for _, w := range r.Warnings {
		res.Warnings = append(res.Warnings, r.Path+": "+w)
	}
	for { // until it fits into a prompt
		b, err := json.Marshal(r)
		if err != nil {
			return action.Result{}, fmt.Errorf("write the outcome of %s: %w", r.Path, err)
		}
		if len([]rune(string(b))) <= maxOutcome || !r.shrink() {
			res.Message = r.sentence()
			return res, json.Unmarshal(b, &res.Outputs)
		}
	}
}

// document is a file and the range of it to read.
type document struct {
	Source
	head          []byte
	page          int // 0 for all
	offset, limit int
	asked         int  // the requested limit
	whole         bool // tables are read like other texts
}

// read selects the reader: the content distinguishes text from binary files, the name distinguishes kinds of text.
func (d document) read(ctx context.Context) (reading, error) {
	kind := kindOfName(d.Name)
	packed := bytes.HasPrefix(d.head, []byte("PK\x03\x04"))
	switch {
	case isPDF(d.head):
		kind = kindPDF
	case packed && (kind == kindDOCX || kind == kindTable):
	default:
		if r, ok := d.unreadable(); ok {
			return r, nil
		}
	}
	if kind == "" || kind == kindDOCX && !packed {
		kind = kindOfHead(d.head)
	}
	switch {
	case d.Size == 0 || len(strings.TrimSpace(string(d.head))) == 0 && d.Size <= headSize:
		empty := ""
		return reading{Kind: "text", Path: d.Name, Text: &empty, Warnings: []string{"the file is empty"}}, nil
	case kind == kindTable && packed:
		return reading{Kind: kindTable, Path: d.Name}, nil
	case kind == kindTable && !d.whole:
		d.limit = min(d.limit, tableChars)
		r, err := d.readText(ctx, kind)
		r.Kind, r.Format = kindTable, ""
		return r, err
	case kind == kindPDF || kind == kindDOCX:
		return d.readPages(ctx, kind)
	}
	return d.readText(ctx, kind)
}

// Kinds of files that have their own readers.
const (
	kindTable = "table"
	kindJSON  = "json"
	kindPDF   = "pdf"
	kindDOCX  = "docx"
)

// tableChars is how much of a table is shown as text, in characters.
const tableChars = 1500

// unreadable describes a file that is not text. It reports false for text.
func (d document) unreadable() (reading, bool) {
	facts := probe.Head(d.head)
	text := facts.MIMEType == "" || strings.HasPrefix(facts.MIMEType, "text/") || facts.MIMEType == "application/json"
	if text && !charset.Binary(d.head) {
		return reading{}, false
	}
	r := reading{Kind: "binary", Path: d.Name, SizeBytes: d.Size, MimeType: "application/octet-stream"}
	if !text {
		r.Kind, r.MimeType = string(media.ModalityOf(facts.MIMEType)), facts.MIMEType
		r.Width, r.Height, r.DurationSeconds = facts.Width, facts.Height, facts.DurationSeconds
	}
	r.Warnings = []string{fmt.Sprintf("%s is not text (%s) and was not read", path.Base(d.Name), r.MimeType)}
	return r, true
}

// sentence returns the message that accompanies the outputs.
func (r reading) sentence() string {
	switch {
	case r.Kind == kindTable && r.Text == nil:
		return fmt.Sprintf("%s is a workbook: use Describe Tables and Query Tables", r.Path)
	case r.Kind == kindTable:
		return fmt.Sprintf("%s is a table: use Describe Tables and Query Tables for its numbers; these are its first lines as text", r.Path)
	case r.Text == nil:
		return fmt.Sprintf("%s is %s, %d bytes: it cannot be read as text", r.Path, r.MimeType, r.SizeBytes)
	}
	s, shown := fmt.Sprintf("Text %s: %d characters", r.Path, r.TotalChars), len([]rune(*r.Text))
	if r.Page > 0 {
		s = fmt.Sprintf("Text %s: page %d of %d", r.Path, r.Page, r.Pages)
	} else if r.Truncated {
		s = fmt.Sprintf("Text %s: %d of %d characters from %d", r.Path, shown, r.TotalChars, r.Offset)
	}
	if r.Truncated {
		s += fmt.Sprintf("; continue with Offset=%d", r.Offset+shown)
	}
	if r.Format == kindJSON {
		s += "; if it contains records, use Describe Tables and Query Tables for its numbers"
	}
	return s
}

// shrink removes the last quarter of the text; reading can continue there. It reports false if the text is too short.
func (r *reading) shrink() bool {
	if r.Text == nil {
		return false
	}
	text := []rune(*r.Text)
	if len(text) < 1000 {
		return false
	}
	cut := string(text[:len(text)*3/4])
	r.Text, r.Truncated = &cut, true
	return true
}
