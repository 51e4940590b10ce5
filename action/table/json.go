package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"atelier/action/file"
	"atelier/action/internal/charset"
)

const (
	// maxDepth is how deep JSON is looked into.
	maxDepth = 100
	// maxFields is how many fields of records are columns.
	maxFields = 500
	// maxFlat is how many levels of nested objects become columns of their own.
	maxFlat = 4
	// maxLine is how long one line of JSONL is at most, in bytes.
	maxLine = 16 << 20
	// root is the path of records that are the file itself.
	root = "$"
)

// json imports a file of records: an array, the largest array inside an object, or one
// record a line.
func (im *importer) json(ctx context.Context, f file.Source, lines bool) error {
	shape := &jsonShape{lines: lines}
	if err := shape.find(ctx, f.Open); err != nil {
		return err
	}
	if shape.broken != "" && !lines {
		// A file of lines may have the wrong name.
		other := &jsonShape{lines: true}
		if err := other.find(ctx, f.Open); err != nil {
			return err
		}
		if other.count > other.bad {
			shape = other
		}
	}
	switch {
	case shape.broken != "":
		return refuse("%s", shape.broken)
	case len(shape.columns) == 0:
		return refuse("it holds no array of records: use Read File")
	}
	s, err := newSpool(im.store.dir, style{named: true}, func(add func([]cell) error) error { return shape.records(ctx, f.Open, add) })
	if err != nil {
		return err
	}
	defer s.remove()
	s.remark = shape.notes()
	return im.table(ctx, f.Name, "", s)
}

// jsonShape is where in a file the records are, and what fields they have.
type jsonShape struct {
	lines   bool
	path    string
	count   int // of records
	bad     int // lines that are no records
	columns []string
	more    bool // fields beyond maxFields
	broken  string
}

func (s *jsonShape) notes() (notes []string) {
	if s.path != root && s.path != "" {
		notes = append(notes, "the rows are the array "+strings.TrimPrefix(s.path, root+".")+" of the file")
	}
	if s.bad > 0 {
		notes = append(notes, counted(s.bad, "line is no JSON object and is left out", "lines are no JSON objects and are left out"))
	}
	if s.more {
		notes = append(notes, fmt.Sprintf("records have more than %d fields; the others are left out", maxFields))
	}
	return notes
}

// find reads the file once.
func (s *jsonShape) find(ctx context.Context, open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	if s.lines {
		var all fields
		s.path = root
		err := s.eachLine(ctx, r, func(dec *json.Decoder) error {
			w := &jsonWalk{dec: dec, shape: s}
			return w.object(ctx, "", 0, &all, "")
		})
		s.columns, s.more = all.names, all.more
		return err
	}
	w := &jsonWalk{dec: newDecoder(r), shape: s}
	documents, objects := 0, 0
	var all fields
	for {
		t, err := w.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			documents++
			if t == json.Delim('{') {
				objects++
			}
			err = w.value(ctx, t, root, 0, &all)
		}
		if err != nil && ctx.Err() == nil {
			s.broken = fmt.Sprintf("the JSON is broken near byte %d: %s", w.dec.InputOffset(), file.Clip(jsonReason(err), 120))
			return nil
		}
		if err != nil {
			return ctx.Err()
		}
	}
	if documents > 1 {
		s.propose(root, &all, documents, objects)
	}
	return nil
}

func newDecoder(r io.Reader) *json.Decoder {
	dec := json.NewDecoder(bufio.NewReaderSize(charset.NewReader(r), 64<<10))
	dec.UseNumber()
	return dec
}

func jsonReason(err error) string {
	if isEOF(err) {
		return "it ends early"
	}
	return err.Error()
}

// eachLine calls fn within the object of each line; lines that are none are counted.
func (s *jsonShape) eachLine(ctx context.Context, r io.Reader, fn func(*json.Decoder) error) error {
	in := bufio.NewReaderSize(charset.NewReader(r), 64<<10)
	s.count, s.bad = 0, 0
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) < maxLine {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return refuse("a line is longer than %d MiB", maxLine>>20)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.count++
			if !json.Valid(line) || line[0] != '{' {
				s.bad++
			} else {
				dec := json.NewDecoder(bytes.NewReader(line))
				dec.UseNumber()
				if _, err := dec.Token(); err != nil {
					return err
				}
				if err := fn(dec); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return ctx.Err()
		}
		if line = line[:0]; s.count%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// fields are names in the order in which they appear.
type fields struct {
	names []string
	seen  map[string]bool
	more  bool
}

func (f *fields) add(name string) {
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	switch {
	case f.seen[name]:
	case len(f.names) == maxFields:
		f.more = true
	default:
		f.seen[name] = true
		f.names = append(f.names, name)
	}
}

// propose takes an array of objects if it is the largest so far.
func (s *jsonShape) propose(path string, f *fields, count, objects int) {
	if objects >= 1 && objects == count && count > s.count && len(f.names) > 0 {
		s.path, s.count, s.columns, s.more = path, count, f.names, f.more
	}
}

// jsonWalk goes through one JSON value without holding it.
type jsonWalk struct {
	dec   *json.Decoder
	shape *jsonShape
	steps int
}

// value reads the value that begins with t. around, if not nil, has the fields of the
// records whose element it is.
func (w *jsonWalk) value(ctx context.Context, t json.Token, path string, depth int, around *fields) error {
	if w.steps++; w.steps%4096 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	if depth > maxDepth {
		return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	switch t {
	case json.Delim('{'):
		return w.object(ctx, path, depth, around, "")
	case json.Delim('['):
		return w.array(ctx, path, depth)
	}
	return nil
}

// object reads the fields of an object behind its bracket.
func (w *jsonWalk) object(ctx context.Context, path string, depth int, around *fields, prefix string) error {
	for w.dec.More() {
		t, err := w.dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if t, err = w.dec.Token(); err != nil {
			return err
		}
		at := path + "." + name
		if name == "" || strings.ContainsAny(name, ".[") {
			at = "" // no way to it
		}
		if t == json.Delim('{') && around != nil && depth < maxDepth && strings.Count(prefix, ".") < maxFlat {
			err = w.object(ctx, at, depth+1, around, prefix+name+".")
		} else {
			if around != nil {
				around.add(prefix + name)
			}
			err = w.value(ctx, t, at, depth+1, nil)
		}
		if err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

func (w *jsonWalk) array(ctx context.Context, path string, depth int) error {
	var f fields
	count, objects := 0, 0
	for w.dec.More() {
		t, err := w.dec.Token()
		if err != nil {
			return err
		}
		count++
		if t == json.Delim('{') {
			objects++
		}
		if err := w.value(ctx, t, "", depth+1, &f); err != nil {
			return err
		}
	}
	if strings.HasPrefix(path, root) {
		w.shape.propose(path, &f, count, objects)
	}
	_, err := w.dec.Token()
	return err
}
