package table

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxInner is how many rows inside one record are held until its other fields are read.
const maxInner = 100_000

// recorder writes JSON objects as records.
type recorder struct {
	index map[string]int
	cells []cell
	add   func([]cell) error
	// child is the field whose elements are the rows; inner has their columns, rows what was
	// read of one record.
	child string
	inner map[string]int
	rows  [][]cell
}

// header is the columns of the rows: of a child behind those of the record around it, which
// say whose they are where a name is in both.
func (s *jsonShape) header(w *recorder) []cell {
	if s.child == "" {
		w.cells = make([]cell, len(s.columns))
		for i, n := range s.columns {
			w.index[n] = i
			w.cells[i] = cell{text: []byte(n)}
		}
		return w.cells
	}
	w.child, w.inner = s.child, map[string]int{}
	of := strings.TrimPrefix(strings.TrimPrefix(s.path, root), ".")
	of = of[strings.LastIndex(of, ".")+1:]
	for _, n := range s.around {
		w.index[n] = len(w.cells)
		name := n
		if of != "" && (n == "name" || n == "title" || n == "id") || slices.Contains(s.columns, n) {
			name = cmp.Or(of, "record") + "." + n
		}
		w.cells = append(w.cells, cell{text: []byte(name)})
	}
	for _, n := range s.columns {
		w.inner[n] = len(w.cells)
		w.cells = append(w.cells, cell{text: []byte(n)})
	}
	return w.cells
}

// records returns the header and every record of the file.
func (s *jsonShape) records(ctx context.Context, open func() (io.ReadCloser, error), add func([]cell) error) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	w := &recorder{index: map[string]int{}, add: add}
	if err := add(s.header(w)); err != nil {
		return err
	}
	if s.lines {
		return s.eachLine(ctx, r, w.record)
	}
	dec := newDecoder(r)
	if err := seek(dec, s.path); err != nil {
		return err
	}
	for n := 0; dec.More(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := dec.Token(); err != nil {
			return err
		}
		if err := w.record(dec); err != nil {
			return err
		}
	}
	return nil
}

// record reads an object behind its bracket.
func (w *recorder) record(dec *json.Decoder) error {
	clear(w.cells)
	if err := w.object(dec, ""); err != nil {
		return err
	}
	if w.child == "" {
		return w.add(w.cells)
	}
	for _, row := range w.rows {
		for i := range w.index {
			row[w.index[i]] = w.cells[w.index[i]]
		}
		if err := w.add(row); err != nil {
			return err
		}
	}
	w.rows = w.rows[:0]
	return nil
}

// elements reads the rows of a child behind its bracket.
func (w *recorder) elements(dec *json.Decoder) error {
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		if t != json.Delim('{') {
			continue // null among objects
		}
		if len(w.rows) == maxInner {
			return refuse("the array %s of one record has more than %d elements", w.child, maxInner)
		}
		one := &recorder{index: w.inner, cells: make([]cell, len(w.cells))}
		if err := one.object(dec, ""); err != nil {
			return err
		}
		w.rows = append(w.rows, one.cells)
	}
	_, err := dec.Token()
	return err
}

func (w *recorder) object(dec *json.Decoder, prefix string) error {
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		v, err := dec.Token()
		if err != nil {
			return err
		}
		if v == json.Delim('{') && strings.Count(prefix, ".") < maxFlat {
			err = w.object(dec, prefix+name+".")
		} else if w.child != "" && v == json.Delim('[') && prefix+name == w.child {
			err = w.elements(dec)
		} else {
			err = w.value(dec, v, prefix+name)
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// value writes one value; lists of plain values with commas, what is deeper as its size.
func (w *recorder) value(dec *json.Decoder, v json.Token, name string) error {
	var c cell
	switch x := v.(type) {
	case string:
		c.text = []byte(clipBytes(strings.TrimSpace(x), maxField))
	case json.Number:
		c.text, c.exact = exactText(x.String()), true
	case bool:
		c.text = []byte(fmt.Sprint(x))
	case json.Delim:
		text, err := listed(dec)
		if err != nil {
			return err
		}
		c.text = []byte(text)
	}
	if i, ok := w.index[name]; ok {
		w.cells[i] = c
	}
	return nil
}

// maxListed is how many values of a list are written into a cell.
const maxListed = 20

// listed reads to the end of an array or object.
func listed(dec *json.Decoder) (string, error) {
	var plain []string
	values, deep := 0, false
	for depth := 1; depth > 0; {
		t, err := dec.Token()
		if err != nil {
			return "", err
		}
		ends := t == json.Delim('}') || t == json.Delim(']')
		if depth == 1 && !ends {
			values++
		}
		switch {
		case ends:
			depth--
		case t == json.Delim('{') || t == json.Delim('['):
			depth, deep = depth+1, true
		case values <= maxListed && t != nil:
			plain = append(plain, clipBytes(fmt.Sprint(t), 200))
		}
	}
	if deep || values > maxListed {
		return fmt.Sprintf("[%d values]", values), nil
	}
	return strings.Join(plain, ", "), nil
}

// seek moves into the array at path; records that follow one another need none.
func seek(dec *json.Decoder, path string) error {
	if path == root {
		return seekRoot(dec)
	}
	for _, name := range strings.Split(strings.TrimPrefix(path, root+"."), ".") {
		if _, err := dec.Token(); err != nil { // {
			return err
		}
		for {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			if key == json.Token(name) {
				break
			}
			if err := pass(dec); err != nil {
				return err
			}
		}
	}
	_, err := dec.Token() // [
	return err
}

// seekRoot enters the array that the file is; objects that follow one another need no entering.
func seekRoot(dec *json.Decoder) error {
	if !dec.More() {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(dec.Buffered(), 64))
	if err == nil && strings.HasPrefix(strings.TrimLeft(string(head), " \t\r\n"), "[") {
		_, err = dec.Token()
	}
	return err
}

// pass reads one value of any size.
func pass(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil || t != json.Delim('{') && t != json.Delim('[') {
		return err
	}
	_, err = listed(dec)
	return err
}

// clipBytes cuts s to n bytes at a character's edge.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
