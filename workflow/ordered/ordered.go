// Package ordered implements JSON values whose objects keep the order of their keys, and JSON pointers into them. A
// value is nil, a bool, a string, a json.Number, a []any or an [*Object]. Errors have code media.CodeInvalid and state
// the line and column. The package may import media and workflow/problem.
package ordered

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// Object is a JSON object that keeps the order of its keys. The zero value is empty.
type Object struct {
	keys   []string
	values map[string]any
}

// Len returns the number of keys; 0 for a nil object.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

// Get returns the value of a key. A nil object has no keys.
func (o *Object) Get(key string) (any, bool) {
	if o == nil {
		return nil, false
	}
	v, ok := o.values[key]
	return v, ok
}

// Has reports whether the object has a key.
func (o *Object) Has(key string) bool {
	_, ok := o.Get(key)
	return ok
}

// Object returns the object at a key; nil if there is none.
func (o *Object) Object(key string) *Object {
	v, _ := o.Get(key)
	child, _ := v.(*Object)
	return child
}

// List returns the list at a key; nil if there is none.
func (o *Object) List(key string) []any {
	v, _ := o.Get(key)
	list, _ := v.([]any)
	return list
}

// Text returns the string at a key; empty if there is none.
func (o *Object) Text(key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// Set replaces the value of a key in place, or adds the key at the end. A nil object becomes null.
func (o *Object) Set(key string, value any) {
	if child, ok := value.(*Object); ok && child == nil {
		value = nil
	}
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

// Delete removes a key.
func (o *Object) Delete(key string) {
	if i := slices.Index(o.keys, key); i >= 0 {
		o.keys = slices.Delete(slices.Clone(o.keys), i, i+1)
		delete(o.values, key)
	}
}

// Keys lists the keys in order.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return slices.Clone(o.keys)
}

// All iterates over keys and values in order.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		for _, k := range o.keys {
			if !yield(k, o.values[k]) {
				return
			}
		}
	}
}

// With returns a shallow copy with one value set.
func (o *Object) With(key string, value any) *Object {
	c := &Object{}
	if o != nil {
		c.keys, c.values = slices.Clone(o.keys), maps.Clone(o.values)
	}
	c.Set(key, value)
	return c
}

// New creates an object from alternating keys and values.
func New(pairs ...any) *Object {
	o := &Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		o.Set(key, pairs[i+1])
	}
	return o
}

// Clone returns a deep copy of a value.
func Clone(v any) any {
	switch v := v.(type) {
	case *Object:
		if v == nil {
			return v
		}
		c := &Object{keys: slices.Clone(v.keys), values: make(map[string]any, len(v.values))}
		for k, e := range v.values {
			c.values[k] = Clone(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = Clone(e)
		}
		return c
	}
	return v
}

// Plain converts a value to Go's own types, as encoding/json decodes with UseNumber.
func Plain(v any) any {
	switch v := v.(type) {
	case *Object:
		m := make(map[string]any, v.Len())
		for k, e := range v.All() {
			m[k] = Plain(e)
		}
		return m
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = Plain(e)
		}
		return c
	}
	return v
}

// Equal reports whether two values are equal. It ignores the order of keys and the notation of numbers.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case *Object:
		b, ok := b.(*Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for k, v := range a.All() {
			if w, ok := b.Get(k); !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case json.Number:
		b, ok := b.(json.Number)
		x, err := a.Float64()
		y, other := b.Float64()
		if !ok || a == b || err != nil || other != nil || x != y || math.Abs(x) < 1<<53 {
			return ok && (a == b || err == nil && other == nil && x == y)
		}
		p, _ := new(big.Rat).SetString(a.String()) // a float64 has not all digits; it has bounded the exponent
		q, _ := new(big.Rat).SetString(b.String())
		return p.Cmp(q) == 0
	}
	return a == b
}

// List converts values to a list.
func List[T any](values []T) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

// Int converts n to a JSON number.
func Int(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// MarshalJSON encodes the object with its keys in order.
func (o *Object) MarshalJSON() ([]byte, error) { return Encode(o), nil }

// UnmarshalJSON decodes an object with the checks of [Decode].
func (o *Object) UnmarshalJSON(b []byte) error {
	read, err := DecodeObject(b)
	if err == nil {
		*o = *read
	}
	return err
}

// Encode encodes a value as compact JSON.
func Encode(v any) []byte { return appendValue(nil, v) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case *Object:
		if v == nil {
			return append(b, "null"...)
		}
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, k), ':')
			b = appendValue(b, v.values[k])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e)
		}
		return append(b, ']')
	case string:
		return appendText(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, v...)
	}
	return append(b, "null"...)
}

func appendText(b []byte, s string) []byte {
	if plainText(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // encoding a string does not fail
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// plainText reports whether a string needs no escaping in JSON.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
