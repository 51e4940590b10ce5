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
	// maxFlat is how many levels of nested objects become their own columns.
	maxFlat = 4
	// maxLine is how long one line of JSONL is at most, in bytes.
	maxLine = 16 << 20
	// root is the path of records that are the file itself.
	root = "$"
)

// json imports a file of records: an array, the largest array inside an object, or one
// record a line. The other arrays inside the object, and those inside the records, are
// their own tables.
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
		return refuse("it contains no array of records: use Read File")
	}
	if err := im.records(ctx, f, shape, ""); err != nil {
		return err
	}
	for _, other := range shape.others() {
		if err := im.records(ctx, f, other, other.name()); err != nil {
			return err
		}
	}
	return nil
}

// records imports one array of a file.
func (im *importer) records(ctx context.Context, f file.Source, shape *jsonShape, sheet string) error {
	s, err := newSpool(im.store.dir, style{named: true}, func(add func([]cell) error) error { return shape.records(ctx, f.Open, add) })
	if err != nil {
		return err
	}
	defer s.remove()
	s.remark = shape.notes()
	return im.table(ctx, f.Name, sheet, s)
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
	// child is the field of the records whose elements are the rows; empty for the records.
	child string
	// around are the columns of the record that a child stands in; those of texts.
	around []string
	// arrays are all that hold objects.
	arrays []jsonArray
}

// jsonArray is an array of objects that may be a table.
type jsonArray struct {
	path   string
	count  int
	fields *fields
}

const (
	// maxArrays is how many arrays of a file are tables.
	maxArrays = 8
	// leastRows is how many rows an array beside the largest one has at least.
	leastRows = 2
)

// others are the arrays beside the largest one, and those inside the records of each.
func (s *jsonShape) others() []*jsonShape {
	var out []*jsonShape
	for _, a := range s.arrays {
		if a.path != s.path && a.count >= leastRows {
			out = append(out, &jsonShape{lines: s.lines, path: a.path, columns: a.fields.names, more: a.fields.more})
		}
		for _, c := range a.fields.children {
			if c.rows.objects < leastRows || len(c.rows.names) == 0 {
				continue
			}
			one := &jsonShape{lines: s.lines, path: a.path, child: c.name, columns: c.rows.names, more: c.rows.more}
			for _, n := range a.fields.names {
				if !a.fields.plain[n] {
					continue
				}
				one.around = append(one.around, n)
			}
			out = append(out, one)
		}
	}
	return out[:min(len(out), maxArrays)]
}

// name is the last name on the way to the rows.
func (s *jsonShape) name() string {
	at := s.path
	if s.child != "" {
		at = s.child
	}
	return at[strings.LastIndex(at, ".")+1:]
}

func (s *jsonShape) notes() (notes []string) {
	if s.child != "" {
		notes = append(notes, "the rows are the arrays "+s.child+" of the records")
	} else if s.path != root && s.path != "" {
		notes = append(notes, "the rows are the array "+strings.TrimPrefix(s.path, root+".")+" of the file")
	}
	if s.bad > 0 {
		notes = append(notes, counted(s.bad, "line is not a JSON object and is omitted", "lines are not JSON objects and are omitted"))
	}
	if s.more {
		notes = append(notes, fmt.Sprintf("records have more than %d fields; the others are omitted", maxFields))
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
		s.arrays = []jsonArray{{root, s.count, &all}}
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
			s.broken = fmt.Sprintf("the JSON is invalid near byte %d: %s", w.dec.InputOffset(), file.Clip(jsonReason(err), 120))
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
	// plain are those that hold texts; children are arrays of objects in them.
	plain    map[string]bool
	children []jsonChild
	objects  int
}

// jsonChild is a field of records that holds arrays of objects.
type jsonChild struct {
	name string
	rows *fields
}

// child is the field of a name that holds arrays.
func (f *fields) child(name string) *fields {
	for _, c := range f.children {
		if c.name == name {
			return c.rows
		}
	}
	f.children = append(f.children, jsonChild{name, &fields{}})
	return f.children[len(f.children)-1].rows
}

// note keeps whether a field holds texts only.
func (f *fields) note(name string, t json.Token) {
	if _, text := t.(string); text || t == nil {
		if _, known := f.plain[name]; !known && text {
			if f.plain == nil {
				f.plain = map[string]bool{}
			}
			f.plain[name] = true
		}
		return
	}
	if f.plain == nil {
		f.plain = map[string]bool{}
	}
	f.plain[name] = false
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
	if objects < 1 || objects != count || len(f.names) == 0 {
		return
	}
	s.arrays = append(s.arrays, jsonArray{path, count, f})
	if count > s.count {
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
		return w.array(ctx, path, depth, &fields{})
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
				around.note(prefix+name, t)
			}
			if around != nil && t == json.Delim('[') {
				err = w.array(ctx, at, depth+1, around.child(prefix+name))
			} else {
				err = w.value(ctx, t, at, depth+1, nil)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// array reads the elements behind a bracket; f gets the fields of those that are objects.
func (w *jsonWalk) array(ctx context.Context, path string, depth int, f *fields) error {
	if w.steps++; w.steps%4096 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	if depth > maxDepth {
		return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
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
		if err := w.value(ctx, t, "", depth+1, f); err != nil {
			return err
		}
	}
	if strings.HasPrefix(path, root) {
		w.shape.propose(path, f, count, objects)
	}
	if objects == count {
		f.objects += objects
	}
	_, err := w.dec.Token()
	return err
}
