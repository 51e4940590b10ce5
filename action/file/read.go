package file

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"atelier/action"
	"atelier/media"
	"atelier/probe"
)

// maxOutcome is how many characters of JSON one reading may cost a prompt.
const maxOutcome = 12_000

// reading is what Read File gives. Which parts are set depends on Kind.
type reading struct {
	// Kind is table, text, or what cannot be read: image, audio, video, document, binary.
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Table *table `json:"table,omitempty"`
	// Format tells text apart: text, markdown, html, json, pdf.
	Format string `json:"format,omitempty"`
	Title  string `json:"title,omitempty"`
	// Outline shows the shape of JSON.
	Outline    []string `json:"outline,omitempty"`
	Text       *string  `json:"text,omitempty"`
	Offset     int      `json:"offset,omitempty"`
	TotalChars int      `json:"totalChars,omitempty"`
	Truncated  bool     `json:"truncated,omitempty"`
	// MimeType and the facts beneath are set for what cannot be read.
	MimeType        string   `json:"mimeType,omitempty"`
	SizeBytes       int64    `json:"sizeBytes,omitempty"`
	Width           int      `json:"width,omitempty"`
	Height          int      `json:"height,omitempty"`
	DurationSeconds float64  `json:"durationSeconds,omitempty"`
	Warnings        []string `json:"warnings,omitempty"`
}

func (f *Files) readAction() action.Action {
	out := func(name, description string) action.Param {
		return action.Param{Name: name, Direction: action.Output, ValueType: action.Other, Description: description}
	}
	return action.Action{
		Name: "Read File",
		Description: "Reads one file of the folder. Text, Markdown, HTML and PDF come as text; CSV, TSV and JSON records as a table profile " +
			"with columns, totals and series that are ready for a chart.",
		Tags: []string{"file"},
		Params: []action.Param{
			{Name: "Path", Direction: action.Input, ValueType: action.Scalar, Required: true, Description: "Path as List Files gives it."},
			{Name: "Offset", Direction: action.Input, ValueType: action.Scalar, Type: "integer", Default: 0, Description: "First character of the text to give."},
			{Name: "Limit", Direction: action.Input, ValueType: action.Scalar, Type: "integer", Default: 8000, Description: "How many characters of text to give."},
			out("kind", "table or text; else what it is and why it cannot be read."),
			out("path", "Path of the file."),
			out("table", "rowCount, columns, series, totals and sampleRows of a table."),
			out("text", "The text, with title, offset, totalChars and truncated."),
			out("warnings", "What was repaired or left out."),
		},
		Run: f.read,
	}
}

// read runs Read File.
func (f *Files) read(ctx context.Context, c *action.Call) (action.Result, error) {
	offset, limit := c.Int("Offset"), c.Int("Limit")
	if offset < 0 || limit < 1 {
		return action.Result{}, media.Errorf(media.CodeInvalid, "Offset must be 0 or more and Limit 1 or more, not %d and %d", offset, limit)
	}
	file, info, name, err := f.open(ctx, c.Text("Path"))
	if err != nil {
		return action.Result{}, err
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(file, head)
	_ = file.Close() // read only; opened anew by each pass
	if err != nil && !isEOF(err) {
		return action.Result{}, f.explain(ctx, name, name, err)
	}
	d := document{
		source: Source{Name: name, Size: info.Size(), Open: f.opener(name)}, files: f, name: name, head: head[:n], size: info.Size(),
		offset: offset, limit: min(limit, f.cfg.MaxCharacters), asked: limit,
	}
	r, err := d.read(ctx)
	if err != nil {
		return action.Result{}, fmt.Errorf("read %s: %w", short(name, 120), err)
	}
	return result(r)
}

// document is one file while it is read.
type document struct {
	source        Source
	files         *Files // nil for a document outside the folder
	name          string
	head          []byte
	size          int64
	offset, limit int
	asked         int // the limit as it was asked
}

// open begins the file anew.
func (d document) open() (io.ReadCloser, error) { return d.source.Open() }

// read chooses the way of reading: content decides between text and other bytes,
// the name between kinds of text.
func (d document) read(ctx context.Context) (reading, error) {
	kind := kindOfName(d.name)
	if isPDF(d.head) {
		kind = kindPDF
	} else if r, ok := d.unreadable(); ok {
		return r, nil
	}
	if kind == "" {
		kind = kindOfHead(d.head)
	}
	switch {
	case d.size == 0 || len(strings.TrimSpace(string(d.head))) == 0 && d.size <= headSize:
		empty := ""
		return reading{Kind: "text", Path: d.name, Text: &empty, Warnings: []string{"the file is empty"}}, nil
	case kind == "table":
		return d.readTable(ctx)
	case kind == "json":
		return d.readJSON(ctx)
	case kind == "html":
		return d.readHTML(ctx)
	case kind == kindPDF:
		return d.readPDF(ctx)
	}
	return d.readText(ctx, kind)
}

// unreadable describes a file that is not text.
func (d document) unreadable() (reading, bool) {
	facts := probe.Head(d.head)
	text := facts.MIMEType == "" || strings.HasPrefix(facts.MIMEType, "text/") || facts.MIMEType == "application/json"
	if text && !isBinary(d.head) {
		return reading{}, false
	}
	r := reading{Kind: "binary", Path: d.name, SizeBytes: d.size, MimeType: "application/octet-stream"}
	if !text {
		r.Kind, r.MimeType = string(media.ModalityOf(facts.MIMEType)), facts.MIMEType
		if d.files != nil {
			if file, err := d.files.root.Open(d.name); err == nil {
				facts = d.facts(file, facts)
			}
		}
		r.Width, r.Height, r.DurationSeconds = facts.Width, facts.Height, facts.DurationSeconds
	}
	r.Warnings = []string{fmt.Sprintf("%s is not text (%s) and was not read", path.Base(d.name), r.MimeType)}
	return r, true
}

// facts walks the whole file where its head does not tell enough.
func (d document) facts(file *os.File, head media.Facts) media.Facts {
	defer func() { _ = file.Close() }() // read only
	if full, err := probe.Read(file, d.size); err == nil && full.MIMEType != "" {
		return full
	}
	return head
}

func (d document) readTable(ctx context.Context) (reading, error) {
	var comma byte
	if ext := strings.ToLower(path.Ext(d.name)); ext == ".tsv" || ext == ".tab" {
		comma = '\t'
	}
	src, err := openCSV(d.open, comma)
	if err != nil {
		return reading{}, err
	}
	return d.profiled(ctx, src)
}

func (d document) profiled(ctx context.Context, src rows) (reading, error) {
	t, notes, err := profile(ctx, src)
	if err != nil {
		return reading{}, err
	}
	if t.RowCount == 0 {
		notes = append(notes, "the table has no rows below its header")
	}
	if len(t.Columns) == 1 {
		notes = append(notes, "the table has one column only")
	}
	return reading{Kind: "table", Path: d.name, Table: &t, Warnings: notes}, nil
}

// result writes a reading as outputs that a prompt can bear.
func result(r reading) (action.Result, error) {
	res := action.Result{Message: r.sentence()}
	for _, w := range r.Warnings {
		res.Warnings = append(res.Warnings, r.Path+": "+w)
	}
	for step := 0; ; step++ {
		b, err := json.Marshal(r)
		if err != nil {
			return action.Result{}, fmt.Errorf("write outcome of %s: %w", r.Path, err)
		}
		if len([]rune(string(b))) <= maxOutcome || !r.shrink(step) {
			return res, json.Unmarshal(b, &res.Outputs)
		}
	}
}

// sentence is the message that stands beside the outputs.
func (r reading) sentence() string {
	switch {
	case r.Table != nil:
		return fmt.Sprintf("Table %s: %d rows, %d columns", r.Path, r.Table.RowCount, len(r.Table.Columns)+r.Table.MoreColumns)
	case r.Text != nil && r.Truncated:
		return fmt.Sprintf("Text %s: %d of %d characters from %d; go on with Offset=%d", r.Path, len([]rune(*r.Text)), r.TotalChars, r.Offset, r.Offset+len([]rune(*r.Text)))
	case r.Text != nil:
		return fmt.Sprintf("Text %s: %d characters", r.Path, r.TotalChars)
	}
	return fmt.Sprintf("%s is %s, %d bytes: it cannot be read as text", r.Path, r.MimeType, r.SizeBytes)
}

// shrink makes the reading smaller, the least missed parts first; false when
// nothing more can go.
func (r *reading) shrink(step int) bool {
	if r.Table == nil {
		return r.shrinkText()
	}
	return r.Table.shrink(step)
}

// shrink takes the least missed part of a profile away; false when nothing is left to take.
func (t *table) shrink(step int) bool {
	switch step {
	case 0:
		t.SampleRows = t.SampleRows[:min(2, len(t.SampleRows))]
	case 1:
		for i := range t.Columns {
			t.Columns[i].Top = t.Columns[i].Top[:min(3, len(t.Columns[i].Top))]
		}
	case 2, 3, 4:
		t.halve()
	case 5:
		t.MoreColumns += max(0, len(t.Columns)-10)
		t.Columns = t.Columns[:min(10, len(t.Columns))]
	case 6:
		t.SampleRows, t.Series = nil, t.Series[:min(4, len(t.Series))]
	default:
		return false
	}
	return true
}

// halve draws neighbouring points together, so that long series keep their shape.
func (t *table) halve() {
	for i, s := range t.Series {
		if len(s.Points) < 12 {
			continue
		}
		out := make([][2]any, 0, len(s.Points)/2+1)
		for k := 0; k < len(s.Points); k += 2 {
			p := s.Points[k]
			if k+1 < len(s.Points) {
				a, _ := p[1].(float64)
				b, _ := s.Points[k+1][1].(float64)
				p[1] = tidy((a + b) / 2)
			}
			out = append(out, p)
		}
		t.Series[i].Points = out
		t.Aggregation = "mean"
		t.Bucket = "several points each, named by the first"
	}
}

// shrinkText cuts a quarter of the text; reading goes on behind it.
func (r *reading) shrinkText() bool {
	if r.Text == nil {
		return false
	}
	text := []rune(*r.Text)
	if len(text) < 1000 {
		had := r.Outline != nil
		r.Outline = nil
		return had
	}
	cut := string(text[:len(text)*3/4])
	r.Text, r.Truncated = &cut, true
	r.Outline = r.Outline[:min(20, len(r.Outline))]
	return true
}
