package file

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonTable streams the records of a JSON file.
type jsonTable struct {
	open  func() (io.ReadCloser, error)
	path  string // of the array
	names []string
	index map[string]int
	notes []string
	fixed int
}

var _ rows = (*jsonTable)(nil)

func newJSONTable(open func() (io.ReadCloser, error), s *jsonShape) *jsonTable {
	t := &jsonTable{open: open, path: s.records, names: s.columns, index: map[string]int{}}
	for i, n := range s.columns {
		t.index[n] = i
	}
	if len(s.columns) == maxFields {
		t.notes = append(t.notes, fmt.Sprintf("records have more than %d fields; the rest is left out", maxFields))
	}
	return t
}

func (t *jsonTable) header() []string { return columnNames(t.names) }
func (t *jsonTable) dialect() dialect { return dialect{} }

func (t *jsonTable) warnings() []string {
	notes := slices.Clone(t.notes)
	if t.fixed > 0 {
		notes = append(notes, repairNote(t.fixed))
	}
	return notes
}

// each streams the records.
func (t *jsonTable) each(ctx context.Context, fn func([][]byte) error) error {
	file, err := t.open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read only
	text := newUTF8Reader(file)
	dec := json.NewDecoder(bufio.NewReaderSize(text, 64<<10))
	dec.UseNumber()
	if err := seek(dec, t.path); err != nil {
		return err
	}
	cells := make([][]byte, len(t.names))
	for n := 0; dec.More(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		clear(cells)
		if _, err := dec.Token(); err != nil {
			return err
		}
		if err := t.record(dec, cells, ""); err != nil {
			return err
		}
		if err := fn(cells); err != nil {
			return err
		}
	}
	t.fixed = text.repaired
	return nil
}

// seek moves into the array at path; records that follow one another need none.
func seek(dec *json.Decoder, path string) error {
	if path == rootRecords {
		return seekRoot(dec)
	}
	for _, name := range strings.Split(strings.TrimPrefix(path, rootRecords+"."), ".") {
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

// pass reads one value of any size.
func pass(dec *json.Decoder) error {
	t, err := dec.Token()
	if d, ok := t.(json.Delim); ok && (d == '{' || d == '[') && err == nil {
		_, err = passOver(dec)
	}
	return err
}

// seekRoot enters an array and stays before a first record.
func seekRoot(dec *json.Decoder) error {
	if !dec.More() {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(dec.Buffered(), 64))
	if err == nil && bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("[")) {
		_, err = dec.Token()
	}
	return err
}

// record reads the fields of an object into cells.
func (t *jsonTable) record(dec *json.Decoder, cells [][]byte, prefix string) error {
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
		if v == json.Delim('{') && strings.Count(prefix, ".") < 2 {
			err = t.record(dec, cells, prefix+name+".")
		} else {
			err = t.cell(dec, v, cells, prefix+name)
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// cell writes one value; arrays and deep objects as their size.
func (t *jsonTable) cell(dec *json.Decoder, v json.Token, cells [][]byte, name string) error {
	var text string
	switch x := v.(type) {
	case string:
		text = strings.TrimSpace(x)
	case json.Number:
		text = x.String()
	case bool:
		text = fmt.Sprint(x)
	case json.Delim:
		n, err := passOver(dec)
		if err != nil {
			return err
		}
		text = fmt.Sprintf("[%d values]", n)
	}
	if i, ok := t.index[name]; ok {
		cells[i] = []byte(clipBytes(text, maxField))
	}
	return nil
}

// passOver reads to the end of an array or object and counts its plain values.
func passOver(dec *json.Decoder) (int, error) {
	values := 0
	for depth := 1; depth > 0; {
		t, err := dec.Token()
		if err != nil {
			return 0, err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			values++
		}
	}
	return values, nil
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
