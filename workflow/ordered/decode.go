package ordered

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"atelier/media"
)

// MaxDepth is the maximum nesting depth of values.
const MaxDepth = 256

// MaxBytes is the maximum size of a document, in bytes.
const MaxBytes = 8 << 20

// Forbidden is a key that no object may have: in JavaScript, it changes the object's prototype.
const Forbidden = "__proto__"

// Position is a position in a text. Line and column count from 1.
type Position struct{ Line, Column int }

// Document is a value with the positions of its parts in the text.
type Document struct {
	Value any
	// at maps pointers to positions: for a value of a key, the position of the key.
	at map[string]Position
}

// Position returns the position of the value at a pointer, or of its nearest existing ancestor.
func (d Document) Position(pointer string) Position {
	for {
		if p, ok := d.at[pointer]; ok {
			return p
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return Position{Line: 1, Column: 1}
		}
		pointer = pointer[:i]
	}
}

// TextError reports why a text cannot be read.
type TextError struct {
	At      Position
	Message string
}

// Error returns the message.
func (e *TextError) Error() string { return e.Message }

// Decode reads one JSON value. It rejects duplicate keys, [Forbidden] keys, more than [MaxDepth] levels or [MaxBytes]
// bytes, and text that is not UTF-8.
func Decode(b []byte) (any, error) {
	d, err := read(b, false)
	return d.Value, err
}

// DecodeObject reads a JSON object.
func DecodeObject(b []byte) (*Object, error) {
	v, err := Decode(b)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, media.Errorf(media.CodeInvalid, "a JSON object is required")
	}
	return o, nil
}

// ReadJSON reads one JSON value with the positions of its parts.
func ReadJSON(b []byte) (Document, error) { return read(b, true) }

// checkText checks the size and the encoding of a text.
func checkText(b []byte) error {
	switch {
	case len(b) > MaxBytes:
		return media.Errorf(media.CodeTooLarge, "the text is larger than the limit of %d bytes", MaxBytes)
	case !utf8.Valid(b):
		return media.Errorf(media.CodeInvalid, "this is not UTF-8 text: save it as UTF-8")
	}
	return nil
}

func read(b []byte, positions bool) (Document, error) {
	if err := checkText(b); err != nil {
		return Document{}, err
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	r := &reader{text: b, dec: json.NewDecoder(bytes.NewReader(b)), line: 1}
	r.dec.UseNumber()
	if positions {
		r.at = map[string]Position{}
	}
	v, err := r.value("", 0)
	if err == nil {
		second := r.begin()
		if _, end := r.dec.Token(); !errors.Is(end, io.EOF) {
			err = &TextError{At: r.position(second), Message: "a second value begins here: only one is allowed"}
		}
	}
	if err != nil {
		return Document{}, media.Errorf(media.CodeInvalid, "%w", err)
	}
	return Document{Value: v, at: r.at}, nil
}

// reader reads the tokens of one text.
type reader struct {
	text []byte
	dec  *json.Decoder
	at   map[string]Position // nil if positions are not recorded

	offset, line, column int // the last position; column counts the characters before it
}

// position returns the line and column of an offset. Offsets must not decrease.
func (r *reader) position(offset int) Position {
	for ; r.offset < offset && r.offset < len(r.text); r.offset++ {
		if c := r.text[r.offset]; c == '\n' {
			r.line, r.column = r.line+1, 0
		} else if utf8.RuneStart(c) {
			r.column++
		}
	}
	return Position{Line: r.line, Column: r.column + 1}
}

// begin returns the offset of the next token.
func (r *reader) begin() int {
	i := int(r.dec.InputOffset())
	for i < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[i]) >= 0 {
		i++
	}
	return i
}

// token reads one token. It reports invalid JSON with its position.
func (r *reader) token() (json.Token, error) {
	t, err := r.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return t, nil
	case errors.As(err, &syntax):
		return nil, &TextError{At: r.position(max(int(syntax.Offset)-1, 0)), Message: "this is not valid JSON: " + syntax.Error()}
	}
	return nil, &TextError{At: r.position(len(r.text)), Message: "the JSON ends too early"}
}

func (r *reader) value(pointer string, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, &TextError{At: r.position(r.begin()), Message: "values are nested too deeply: the limit is 256 levels"}
	}
	if r.at != nil {
		if _, ok := r.at[pointer]; !ok {
			r.at[pointer] = r.position(r.begin())
		}
	}
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return r.object(pointer, depth)
	case json.Delim('['):
		return r.list(pointer, depth)
	}
	return t, nil
}

func (r *reader) object(pointer string, depth int) (any, error) {
	o := &Object{}
	for r.dec.More() {
		place := r.begin()
		t, err := r.token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		if reason := refuseKey(o, key); reason != "" {
			return nil, &TextError{At: r.position(place), Message: reason}
		}
		under := pointer
		if r.at != nil {
			under = Join(pointer, key)
			r.at[under] = r.position(place)
		}
		v, err := r.value(under, depth+1)
		if err != nil {
			return nil, err
		}
		o.Set(key, v)
	}
	_, err := r.token()
	return o, err
}

func (r *reader) list(pointer string, depth int) (any, error) {
	list := []any{}
	for r.dec.More() {
		under := pointer
		if r.at != nil {
			under = Join(pointer, string(Int(len(list))))
		}
		v, err := r.value(under, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.token()
	return list, err
}

// refuseKey returns why an object cannot have a key; empty if it can.
func refuseKey(o *Object, key string) string {
	switch {
	case key == Forbidden:
		return "a key must not be " + Forbidden
	case o.Has(key):
		return "the key " + media.ErrorText(key) + " occurs twice: remove one of them"
	}
	return ""
}
