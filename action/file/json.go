package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth is how deep JSON is looked into; deeper values are passed over.
const maxDepth = 100

// readJSON gives a table profile where the file is, or holds, an array of records
// (or records one after another); else an outline and the text.
func (d document) readJSON(ctx context.Context) (reading, error) {
	shape, err := d.shape(ctx)
	if err != nil {
		return reading{}, err
	}
	if shape.broken == "" && shape.records != "" {
		r, err := d.profiled(ctx, newJSONTable(d.open, shape))
		if shape.records != rootRecords && err == nil {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the table is the array %s of the file", shape.records))
		}
		return r, err
	}
	r, err := d.readText(ctx, "json")
	r.Format, r.Outline = "json", shape.outline
	if shape.broken != "" {
		r.Outline = nil
		r.Warnings = append(r.Warnings, shape.broken)
	}
	return r, err
}

// rootRecords is the path of records that are the file itself.
const rootRecords = "$"

// jsonShape is what a first pass over a JSON file finds.
type jsonShape struct {
	outline []string
	// records is the path of the largest array of objects; "" for none.
	records string
	count   int      // how many records there are
	columns []string // names of their fields, in order of appearance
	broken  string
	seen    map[string]bool
}

// maxOutline is how many lines an outline has; maxFields how many columns records.
const (
	maxOutline = 40
	maxFields  = 200
)

// shape streams the file once.
func (d document) shape(ctx context.Context) (*jsonShape, error) {
	file, err := d.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // read only
	s := &jsonShape{seen: map[string]bool{}}
	w := &jsonWalk{dec: json.NewDecoder(newUTF8Reader(file)), shape: s}
	w.dec.UseNumber()
	documents := 0
	var top arrayShape
	for {
		t, err := w.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			documents++
			top.begin(t)
			err = w.value(ctx, t, rootRecords, 0, &top)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			s.broken = fmt.Sprintf("the JSON is broken near byte %d: %s", w.dec.InputOffset(), short(jsonReason(err), 120))
			return s, nil
		}
	}
	if documents > 1 {
		s.propose(rootRecords, top)
	}
	return s, nil
}

func jsonReason(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends early"
	}
	return err.Error()
}

// arrayShape is what the elements of one array are.
type arrayShape struct {
	count, objects int
	columns        []string
	seen           map[string]bool
}

func (a *arrayShape) begin(t json.Token) {
	a.count++
	if t == json.Delim('{') {
		a.objects++
	}
}

// field notes a column.
func (a *arrayShape) field(name string) {
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	if !a.seen[name] && len(a.columns) < maxFields {
		a.seen[name] = true
		a.columns = append(a.columns, name)
	}
}

// propose takes an array of objects if it is the largest so far.
func (s *jsonShape) propose(path string, a arrayShape) {
	if a.objects >= 2 && a.objects == a.count && a.count > s.count && len(a.columns) > 0 {
		s.records, s.count, s.columns = path, a.count, a.columns
	}
}

func (s *jsonShape) line(path, what string) {
	key := path + what
	if len(s.outline) < maxOutline && !s.seen[key] {
		s.seen[key] = true
		s.outline = append(s.outline, short(path, 80)+": "+what)
	}
}

// jsonWalk goes through one JSON value without holding it.
type jsonWalk struct {
	dec   *json.Decoder
	shape *jsonShape
	steps int
}

// value reads the value that begins with t. around, if not nil, is the array whose
// element it is.
func (w *jsonWalk) value(ctx context.Context, t json.Token, path string, depth int, around *arrayShape) error {
	w.steps++
	if w.steps%4096 == 0 && ctx.Err() != nil {
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
	w.shape.line(path, jsonKind(t))
	return nil
}

// object reads the fields of an object, which are columns of the array around it.
func (w *jsonWalk) object(ctx context.Context, path string, depth int, around *arrayShape, prefix string) error {
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
		if name == "" || len(name) > 60 || strings.ContainsAny(name, ".[") {
			at = path + "[" + short(name, 60) + "]" // no way for seek
		}
		if t == json.Delim('{') && around != nil && depth < maxDepth && strings.Count(prefix, ".") < 2 {
			err = w.object(ctx, at, depth+1, around, prefix+name+".")
		} else {
			if around != nil {
				around.field(prefix + name)
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
	var a arrayShape
	for w.dec.More() {
		t, err := w.dec.Token()
		if err != nil {
			return err
		}
		a.begin(t)
		if err := w.value(ctx, t, path+"[]", depth+1, &a); err != nil {
			return err
		}
	}
	w.shape.line(path, fmt.Sprintf("array of %d", a.count))
	if !strings.Contains(path, "[") {
		w.shape.propose(path, a)
	}
	_, err := w.dec.Token()
	return err
}

func jsonKind(t json.Token) string {
	switch t.(type) {
	case string:
		return "text"
	case json.Number:
		return "number"
	case bool:
		return "true or false"
	}
	return "null"
}
