package table

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"atelier/action/file"
	"atelier/action/internal/charset"
)

const (
	// maxDepth is the maximum nesting of JSON.
	maxDepth = 100
	// maxFields is the maximum number of fields of records that become columns.
	maxFields = 500
	// maxFlat is the maximum number of levels of nested objects that become columns.
	maxFlat = 4
	// maxLine is the maximum length of one line of JSONL, in bytes.
	maxLine = 16 << 20
	// maxListed is the maximum number of values of a list that are written into a cell.
	maxListed = 20
	// maxInner is the maximum number of rows inside one record that are held until its other fields are read.
	maxInner = 100_000
	// maxArrays is the maximum number of further arrays that become tables, minRows their minimum number of rows.
	maxArrays = 8
	minRows   = 2
	// root is the path of records that are the file itself.
	root = "$"
	// within separates the names of nested objects in the name of a field. It is no UTF-8, so that no name contains it,
	// and is shown as a dot.
	within = "\xff"
)

// json imports a file of records: an array, the largest array in an object, or one record per line. The other arrays in
// the object, and those in the records, become separate tables.
func (im *importer) json(ctx context.Context, f file.Source, lines bool) error {
	r, err := readJSON(ctx, f, im.store.dir, lines)
	if err != nil {
		return err
	}
	defer r.spool.remove()
	if r.broken != "" {
		// A file of lines may have the wrong extension.
		other, err := readJSON(ctx, f, im.store.dir, true)
		if err != nil {
			return err
		}
		defer other.spool.remove()
		if other.root.count <= other.bad {
			return refuse("%s", r.broken)
		}
		r = other
	}
	tables := r.tables()
	if len(tables) == 0 {
		return refuse("it contains no array of records: use Read File")
	}
	for i, t := range tables {
		sheet := ""
		if i > 0 {
			sheet = t.rows.field[strings.LastIndex(t.rows.field, ".")+1:]
		}
		if err := im.table(ctx, f.Name, sheet, t); err != nil {
			return err
		}
	}
	return nil
}

// jsonArray is an array whose elements may be the rows of a table. It is at a path of field names from the top of the
// file, or is a field of the records of another array and combines the arrays of all these records.
type jsonArray struct {
	// path is its path from the top of the file; empty inside of records.
	path string
	// field is its name in the records that contain it, prefixed with the names of the objects around it.
	field string
	// count is the number of elements, objects the number of elements that are objects, alone the number of objects in
	// arrays without other elements.
	count, objects, alone int
	columns               []jsonColumn
	index                 map[string]int // of columns by name
	more                  bool           // fields beyond maxFields
	children              []*jsonArray   // fields of its records that are arrays
	tag                   string         // starts its records in the spool
	row                   []cell         // the current record
}

// jsonColumn is one field of the records of an array.
type jsonColumn struct {
	name string
	// texts reports whether a record has text in it, others whether one has another value.
	texts, others bool
}

// set sets a field of the current record.
func (a *jsonArray) set(name string, v json.Token, c cell) {
	i, known := a.index[name]
	switch {
	case known:
	case len(a.columns) == maxFields:
		a.more = true
		return
	default:
		i = len(a.columns)
		a.index[name] = i
		a.columns = append(a.columns, jsonColumn{name: strings.ReplaceAll(name, within, ".")})
	}
	_, text := v.(string)
	a.columns[i].texts = a.columns[i].texts || text
	a.columns[i].others = a.columns[i].others || !text && v != nil
	for len(a.row) <= i+1 {
		a.row = append(a.row, cell{})
	}
	a.row[i+1] = c
}

// jsonReader reads a file once. It writes the records of all arrays to the spool, each after its array's tag and the
// records inside it.
type jsonReader struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of readJSON
	dec    *json.Decoder
	add    func([]cell) error
	spool  *spool
	steps  int
	root   *jsonArray            // records that are the file itself
	arrays map[string]*jsonArray // by path, or by tag and field
	paths  []*jsonArray          // those with a path, in file order
	bad    int                   // lines that are not records
	broken string                // why the file is not JSON
}

// errDeep rejects JSON that is nested too deeply.
var errDeep = refuse("it is nested deeper than %d levels", maxDepth) //nolint:gochecknoglobals // a sentinel

func readJSON(ctx context.Context, f file.Source, dir string, lines bool) (*jsonReader, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // read only
	text := charset.NewReader(in)
	r := &jsonReader{ctx: ctx, arrays: map[string]*jsonArray{}}
	r.root = r.newArray(root, root, root)
	r.spool, err = newSpool(dir, func(add func([]cell) error) error {
		r.add = add
		if lines {
			return r.lines(text)
		}
		return r.documents(text)
	})
	return r, err
}

// documents reads the values of a file; most files have one.
func (r *jsonReader) documents(text io.Reader) error {
	r.dec = json.NewDecoder(text)
	r.dec.UseNumber()
	for documents := 0; ; documents++ {
		v, err := r.token()
		if errors.Is(err, io.EOF) {
			if documents == 1 && r.root.objects == 1 && r.root.alone == 0 {
				r.root.count = 0 // a single object is not a row
			}
			return nil
		}
		switch {
		case err != nil:
		case v == json.Delim('['):
			_, err = r.array(r.root, 0)
		case v == json.Delim('{'):
			r.root.count++
			r.root.objects++
			err = r.record(r.root, root, 0)
		default:
			r.root.count++
		}
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case isEOF(err):
			err = errors.New("it ends early")
			fallthrough
		case err != nil:
			r.broken = fmt.Sprintf("the JSON is invalid near byte %d: %s", r.dec.InputOffset(), file.Clip(err.Error(), 120))
			return nil //nolint:nilerr // broken holds the error
		}
	}
}

// lines reads a record from each line, and counts lines that are not records.
func (r *jsonReader) lines(text io.Reader) error {
	in := bufio.NewScanner(text)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		switch line := bytes.TrimSpace(in.Bytes()); {
		case len(line) == 0:
		case line[0] != '{' || !json.Valid(line):
			r.bad++
		default:
			r.root.count++
			r.root.objects++
			r.dec = json.NewDecoder(bytes.NewReader(line))
			r.dec.UseNumber()
			if _, err := r.token(); err != nil {
				return err
			}
			if err := r.record(r.root, "", 0); err != nil {
				return err
			}
		}
	}
	return errors.Join(in.Err(), r.ctx.Err())
}

func (r *jsonReader) token() (json.Token, error) {
	if r.steps++; r.steps%4096 == 0 && r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	return r.dec.Token()
}

func (r *jsonReader) newArray(key, path, field string) *jsonArray {
	a := &jsonArray{path: path, field: strings.ReplaceAll(field, within, "."), index: map[string]int{}, tag: strconv.Itoa(len(r.arrays))}
	r.arrays[key] = a
	return a
}

// record reads an object, after its opening bracket, as a record of an array.
func (r *jsonReader) record(a *jsonArray, path string, depth int) error {
	a.row = append(a.row[:0], cell{text: []byte(a.tag)})
	if err := r.object(a, path, "", depth); err != nil {
		return err
	}
	return r.add(a.row)
}

// object reads the fields of an object, after its opening bracket, into the record of an array, unless of is nil. path
// is its path from the top of the file, and is empty inside of records; prefix contains the names of the objects around
// it in the record.
func (r *jsonReader) object(of *jsonArray, path, prefix string, depth int) error {
	for r.dec.More() {
		key, err := r.token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		v, err := r.token()
		if err != nil {
			return err
		}
		at, field := "", prefix+name
		if path != "" && name != "" && !strings.ContainsAny(name, ".[") {
			at = path + "." + name
		}
		if v == json.Delim('{') && of != nil && strings.Count(prefix, within) < maxFlat {
			err = r.object(of, at, field+within, depth+1)
		} else {
			var c cell
			if c, err = r.value(v, of, at, field, depth+1); of != nil {
				of.set(field, v, c)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// value reads the value that begins with v; it is a field of the records of an array, unless of is nil.
func (r *jsonReader) value(v json.Token, of *jsonArray, path, field string, depth int) (c cell, err error) {
	var text string
	switch x := v.(type) {
	case nil:
	case json.Number:
		return cell{text: exactText(x.String()), exact: true}, nil
	case json.Delim:
		switch {
		case depth > maxDepth:
			err = errDeep
		case x == '[':
			text, err = r.array(r.arrayOf(of, path, field), depth)
		default:
			text, err = "[object]", r.object(nil, path, "", depth)
		}
	default:
		text = clipBytes(strings.TrimSpace(fmt.Sprint(v)), maxField)
	}
	return cell{text: []byte(text)}, err
}

// arrayOf returns the array with that path, or for that field of another array's records; nil if it has neither.
func (r *jsonReader) arrayOf(of *jsonArray, path, field string) *jsonArray {
	key := path
	switch {
	case path == "" && of == nil:
		return nil
	case path == "":
		key = of.tag + " " + field
	}
	if a := r.arrays[key]; a != nil {
		return a
	}
	a := r.newArray(key, path, field)
	if path != "" {
		a.field = strings.TrimPrefix(path, root+".")
		r.paths = append(r.paths, a)
	}
	if of != nil {
		of.children = append(of.children, a)
	}
	return a
}

// array reads elements as records of a, or skips them if a is nil. text lists the elements if they are few plain values,
// otherwise their number.
func (r *jsonReader) array(a *jsonArray, depth int) (text string, err error) {
	var plain []string
	count, objects, deep := 0, 0, false
	for ; r.dec.More(); count++ {
		v, err := r.token()
		switch {
		case err != nil:
		case v == json.Delim('{') && a != nil:
			objects++
			deep = true
			err = r.record(a, "", depth+1)
		case v == json.Delim('{') || v == json.Delim('['):
			deep = true
			_, err = r.value(v, nil, "", "", depth+1)
		case v != nil && count < maxListed:
			plain = append(plain, clipBytes(fmt.Sprint(v), 200))
		}
		if err != nil {
			return "", err
		}
	}
	if a != nil {
		a.count += count
		a.objects += objects
		if objects == count {
			a.alone += objects
		}
	}
	text = strings.Join(plain, ", ")
	if deep || count > maxListed {
		text = fmt.Sprintf("[%d values]", count)
	}
	_, err = r.token()
	return text, err
}

// tables returns the largest array of objects, then the others and the arrays inside the records of each.
func (r *jsonReader) tables() []*jsonTable {
	isTable := func(a *jsonArray) bool { return a.count > 0 && a.objects == a.count && len(a.columns) > 0 }
	arrays := []*jsonArray{r.root}
	if !isTable(r.root) {
		arrays = slices.DeleteFunc(r.paths, func(a *jsonArray) bool { return !isTable(a) })
	}
	if len(arrays) == 0 {
		return nil
	}
	largest := slices.MaxFunc(arrays, func(a, b *jsonArray) int { return cmp.Compare(a.count, b.count) })
	var others []*jsonTable
	for _, a := range arrays {
		if a != largest && a.count >= minRows {
			others = append(others, &jsonTable{file: r, rows: a})
		}
		for _, c := range a.children {
			if c.alone >= minRows && len(c.columns) > 0 {
				others = append(others, &jsonTable{file: r, rows: c, around: a})
			}
		}
	}
	return append([]*jsonTable{{file: r, rows: largest}}, others[:min(len(others), maxArrays)]...)
}

// jsonTable provides the records of an array as a table.
type jsonTable struct {
	file *jsonReader
	rows *jsonArray
	// around is the array whose records contain the rows, if any; its text fields and ids become columns too. Numbers do
	// not: their sum over the rows would be too large.
	around *jsonArray
}

var _ source = (*jsonTable)(nil)

func (t *jsonTable) style() style { return style{named: true} }

func (t *jsonTable) notes() (notes []string) {
	if t.around != nil {
		notes = append(notes, "the rows are the arrays "+t.rows.field+" of the records")
	} else if t.rows != t.file.root {
		notes = append(notes, "the rows are the array "+t.rows.field+" of the file")
	}
	if n := t.file.bad; n > 0 {
		notes = append(notes, counted(n, "line is not a JSON object and is omitted", "lines are not JSON objects and are omitted"))
	}
	if t.rows.more {
		notes = append(notes, fmt.Sprintf("records have more than %d fields; the others are omitted", maxFields))
	}
	return notes
}

func (t *jsonTable) each(ctx context.Context, fn func([]cell) error) error {
	var record []cell
	var texts []int // the columns of around
	if t.around != nil {
		owner := strings.TrimPrefix(t.around.path[strings.LastIndex(t.around.path, ".")+1:], root)
		for i, c := range t.around.columns {
			if (!c.texts || c.others) && !isKey(c.name) {
				continue
			}
			// Prefix the owner if the rows may have the same name.
			name := c.name
			if slices.ContainsFunc(t.rows.columns, func(c jsonColumn) bool { return c.name == name }) || owner != "" && (name == "name" || name == "title" || name == "id") {
				name = cmp.Or(owner, "record") + "." + name
			}
			record, texts = append(record, cell{text: []byte(name)}), append(texts, i+1)
		}
	}
	for _, c := range t.rows.columns {
		record = append(record, cell{text: []byte(c.name)})
	}
	if err := fn(record); err != nil {
		return err
	}
	var inner [][]cell // rows inside the record that follows them
	return t.file.spool.each(ctx, func(in []cell) error {
		switch tag := string(in[0].text); {
		case tag == t.rows.tag && t.around == nil:
			clear(record)
			copy(record, in[1:])
			return fn(record)
		case tag == t.rows.tag:
			if len(inner) == maxInner {
				return refuse("the array %s of one record has more than %d elements", t.rows.field, maxInner)
			}
			row := slices.Clone(in[1:])
			for i := range row {
				row[i].text = bytes.Clone(row[i].text)
			}
			inner = append(inner, row)
		case t.around != nil && tag == t.around.tag:
			for _, row := range inner {
				clear(record)
				for i, at := range texts {
					if at < len(in) {
						record[i] = in[at]
					}
				}
				copy(record[len(texts):], row)
				if err := fn(record); err != nil {
					return err
				}
			}
			inner = inner[:0]
		}
		return nil
	})
}

// clipBytes cuts s to at most n bytes, between characters.
func clipBytes(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }
