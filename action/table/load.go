package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"atelier/action/file"
	"atelier/action/internal/charset"
	"atelier/media"
)

// fill imports every table of the folder into the database at dbPath.
func (t *Tables) fill(ctx context.Context, l *loaded, dbPath string, note func(string)) error {
	s, err := newStore(ctx, dbPath)
	if err != nil {
		return err
	}
	im := &importer{store: s, into: l, names: names{}, progress: &progress{now: t.cfg.Now, note: note, last: t.cfg.Now()}}
	_, err = t.cfg.Files.Walk(ctx, func(f file.Source) error {
		err := im.file(ctx, f)
		switch no, refused := errors.AsType[*refusal](err); {
		case refused:
			l.skip(f.Name, no.reason)
		case errors.Is(err, bufio.ErrTooLong):
			l.skip(f.Name, fmt.Sprintf("a line is longer than %d MiB", maxLine>>20))
		case err != nil && ctx.Err() == nil && media.CodeOf(err) != media.CodeInternal:
			l.skip(f.Name, file.Clip(err.Error(), 200))
		default:
			return err
		}
		return nil
	})
	return errors.Join(err, s.close())
}

func (l *loaded) skip(path, reason string) {
	l.notRead = append(l.notRead, file.Skipped{Path: path, Reason: reason})
}

// refusal is the reason why a file is not imported.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) error { return &refusal{reason: fmt.Sprintf(format, args...)} }

func unreadable(err error) error { return refuse("it cannot be read: %s", file.Clip(err.Error(), 100)) }

// importer imports files, one after another.
type importer struct {
	store    *store
	into     *loaded
	names    names
	progress *progress
}

// file imports the tables of one file. It ignores a file whose name is not that of a table.
func (im *importer) file(ctx context.Context, f file.Source) error {
	ext := strings.ToLower(path.Ext(f.Name))
	kind := kinds[ext]
	switch {
	case kind != "":
	case ext == ".txt" && delimited(f):
		kind = "csv"
	case (ext == ".log" || ext == ".txt") && f.Size > 0:
		return im.log(ctx, f)
	default:
		return nil
	}
	head, err := f.Head()
	if err != nil {
		return unreadable(err)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	begin := bytes.ToLower(text[:min(len(text), 64)])
	switch {
	case len(text) == 0 && int64(len(head)) >= f.Size:
		return refuse("the file is empty")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		kind = "excel"
	case kind == "excel":
		return refuse("it is not an Excel workbook in the .xlsx format, or a password protects it: save it as .xlsx without a password")
	case charset.Binary(head):
		return refuse("it is not text")
	case bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<html")):
		return refuse("it is a web page, not a table: use Read File")
	}
	f.Open = im.progress.opener(f)
	switch kind {
	case "csv", "tsv":
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(line) { // JSON records, misnamed
			return im.json(ctx, f, true)
		}
		src, err := openCSV(f.Open, kind == "tsv")
		if err != nil {
			return err
		}
		return im.table(ctx, f.Name, "", src)
	case "excel":
		return im.excel(ctx, f)
	}
	return im.json(ctx, f, kind == "jsonl")
}

// minRegularity is the regularity from which a text is a table: nearly all its lines have the same number of cells.
const minRegularity = 950

// delimited reports whether a text is a table: lines of at least three cells separated by tabs, semicolons or bars.
// Commas are common in prose too.
func delimited(f file.Source) bool {
	sample, err := sampleOf(f.Open)
	if err != nil || bytes.Count(sample, []byte("\n")) < 5 {
		return false
	}
	line, _, _ := bytes.Cut(sample, []byte("\n"))
	return slices.ContainsFunc([]byte("\t;|"), func(d byte) bool {
		return bytes.Count(line, []byte{d}) > 1 && regularity(sample, d) >= minRegularity
	})
}

// table imports one table.
func (im *importer) table(ctx context.Context, filePath, sheet string, src source) error {
	src = named{src, im.progress}
	im.progress.rows = 0
	sv, err := inspect(ctx, src)
	if err != nil {
		return err
	}
	tb := &table{path: filePath, sheet: sheet, title: sv.layout.title}
	hint := commonStyle(sv.tallies, src.style())
	for i, t := range sv.tallies {
		c := t.settle(hint)
		if c.unit == "" && (c.kind == Integer || c.kind == Number) {
			if c.unit = unitInName(c.name); c.unit == "" && i < len(sv.layout.units) {
				c.unit = sv.layout.units[i]
			}
		}
		tb.columns = append(tb.columns, c)
	}
	if len(tb.columns) == 0 {
		return refuse("it has no columns")
	}
	tb.name = im.names.of(filePath, sheet)
	im.progress.rows = sv.rows
	if err := im.store.fill(ctx, tb, src, sv); err != nil {
		return err
	}
	tb.notes = append(sv.notes(), src.notes()...)
	for _, c := range tb.columns {
		for _, n := range c.notes {
			tb.notes = append(tb.notes, fmt.Sprintf("%q: %s", c.name, n))
		}
		if c.kind == Boolean {
			tb.notes = append(tb.notes, fmt.Sprintf("%q: 1 is %q, 0 is %q", c.name, c.yes, c.no))
		}
	}
	if err := im.store.noteAggregates(ctx, tb); err != nil {
		return err
	}
	im.into.tables = append(im.into.tables, tb)
	long, err := im.store.lengthen(ctx, tb, im.names)
	if long != nil {
		im.into.tables = append(im.into.tables, long)
	}
	return err
}

// inspect is the first pass over a table.
func inspect(ctx context.Context, src source) (*survey, error) {
	var sample [][]string
	err := src.each(ctx, func(record []cell) error {
		row := make([]string, len(record))
		for i, c := range record {
			row[i] = string(c.text)
		}
		if sample = append(sample, row); len(sample) == previewRows {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	sv := &survey{layout: findLayout(sample, src.style()), excluded: map[int]bool{}, suspect: -1, style: src.style()}
	for _, n := range sv.layout.names {
		sv.tallies = append(sv.tallies, &tally{name: n})
	}
	at := 0
	err = src.each(ctx, func(record []cell) error {
		if at >= sv.layout.skip {
			sv.add(at, record)
		}
		at++
		return nil
	})
	// The remarks and a suspected total at the end are no rows.
	for _, at := range sv.tail {
		sv.excluded[at] = true
		sv.footers++
	}
	if sv.suspect >= 0 {
		sv.excluded[sv.suspect] = true
		sv.rows--
		sv.totals++
	}
	used := len(sv.tallies) // without trailing columns that have neither name nor value
	for used > 0 && sv.tallies[used-1].values == 0 && (used > len(sv.layout.named) || !sv.layout.named[used-1]) {
		used--
	}
	sv.tallies = slices.Clip(sv.tallies[:used])
	return sv, err
}

// kinds are the kinds of files with the extension of a table.
var kinds = map[string]string{
	".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".geojson": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
	".xlsx": "excel", ".xlsm": "excel", ".xls": "excel", ".xlsb": "excel", ".ods": "excel",
}

// progress reports the progress of an import, first after two seconds and then every two seconds: the first half is the
// reading of a file, the second half the storing of each of its tables.
type progress struct {
	now        func() time.Time
	note       func(string)
	last       time.Time
	name       string
	size, read int64
	rows       int // of the table that is being stored; 0 before
}

// progressEvery is the time between two notes.
const progressEvery = 2 * time.Second

// opener begins a file. It counts the bytes read of it, and returns errors as refusals of that file.
func (p *progress) opener(f file.Source) func() (io.ReadCloser, error) {
	p.name, p.size, p.rows = f.Name, f.Size, 0
	return func() (io.ReadCloser, error) {
		r, err := f.Open()
		if err != nil {
			return nil, unreadable(err)
		}
		p.read = 0
		return &countedReader{ReadCloser: r, to: p}, nil
	}
}

// countedReader reports the bytes read to a progress.
type countedReader struct {
	io.ReadCloser
	to *progress
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	if c.to.read += int64(n); c.to.rows == 0 {
		c.to.tell(50 * c.to.read / max(1, c.to.size))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = unreadable(err)
	}
	return n, err
}

// stored reports that n records of the table have been stored.
func (p *progress) stored(n int) {
	if p.rows > 0 && n%1024 == 0 {
		p.tell(50 + 50*int64(n)/int64(p.rows))
	}
}

func (p *progress) tell(percent int64) {
	now := p.now()
	if now.Sub(p.last) < progressEvery || p.note == nil {
		return
	}
	p.last = now
	p.note(fmt.Sprintf("importing %s: %d %%", file.Clip(p.name, 80), min(99, percent)))
}
