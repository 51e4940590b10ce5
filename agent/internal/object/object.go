// Package object decodes JSON and transforms JSON objects, such as payloads, without modifying its arguments. Its only
// errors are those of encoding/json. It imports only the standard library.
package object

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Patch applies an RFC 7396 merge patch and returns the result.
func Patch(target, patch map[string]any) map[string]any {
	out := Set(target, nil)
	for k, v := range patch {
		switch t := v.(type) {
		case nil:
			delete(out, k)
		case map[string]any:
			old, _ := out[k].(map[string]any)
			out[k] = Patch(old, t)
		default:
			out[k] = v
		}
	}
	return out
}

// Set replaces top-level keys and keeps the others.
func Set(target, values map[string]any) map[string]any {
	out := maps.Clone(target)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, values)
	return out
}

// Place inserts a sub-agent's payload under the key that its parent's definition names. Results of earlier calls under
// that key are kept: lists grow, other values are replaced. At the top level all values are replaced.
func Place(target map[string]any, key string, payload map[string]any) map[string]any {
	switch {
	case key == "" || payload == nil:
		return target
	case key == ".": // the top level
		return Set(target, payload)
	}
	head, rest, deeper := strings.Cut(key, ".")
	if !deeper {
		return Set(target, map[string]any{head: gather(target[head], payload)})
	}
	inner, _ := target[head].(map[string]any)
	return Set(target, map[string]any{head: Place(inner, rest, payload)})
}

// gather merges the results of two calls of a sub-agent: lists grow by new elements, objects are
// merged, and for other values the later one is used.
func gather(old, more any) any {
	switch m := more.(type) {
	case map[string]any:
		have, _ := old.(map[string]any)
		out := Set(have, nil)
		for k, v := range m {
			out[k] = gather(out[k], v)
		}
		return out
	case []any:
		have, _ := old.([]any)
		out := append([]any{}, have...)
		for _, e := range m {
			if !slices.ContainsFunc(have, func(h any) bool { return reflect.DeepEqual(h, e) }) {
				out = append(out, e)
			}
		}
		return out
	}
	return more
}

// MapStrings returns a copy of a JSON value with f applied to every string except keys.
func MapStrings(v any, f func(string) string) any {
	return MapKeyed("", v, func(_, s string) any { return f(s) })
}

// MapKeyed is MapStrings for a function that also gets the key of the string or of the list that contains it.
func MapKeyed(key string, v any, f func(key, s string) any) any {
	return transform(key, v, unchanged, func(key string, leaf any) any {
		if s, ok := leaf.(string); ok {
			return f(key, s)
		}
		return leaf
	})
}

// MapKeys returns a copy of a JSON value with f applied to every key.
func MapKeys(v any, f func(string) string) any {
	return transform("", v, f, func(_ string, leaf any) any { return leaf })
}

func unchanged(key string) string { return key }

// transform returns a copy of a JSON value with rename applied to every key, and f to everything except lists and objects.
func transform(key string, v any, rename func(string) string, f func(key string, leaf any) any) any {
	switch t := v.(type) {
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = transform(key, e, rename, f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[rename(k)] = transform(k, e, rename, f)
		}
		return out
	}
	return f(key, v)
}

// Decode decodes JSON with every number as json.Number, so that large numbers stay exact.
func Decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// Floats returns a copy of an object from [Decode] with numbers as json.Unmarshal decodes them, except whole numbers that
// a float64 cannot hold exactly; nil for nil.
func Floats(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out, _ := transform("", m, unchanged, func(_ string, leaf any) any {
		n, ok := leaf.(json.Number)
		f, err := n.Float64()
		if !ok || err != nil || !strings.ContainsAny(n.String(), ".eE") && strconv.FormatFloat(f, 'f', 0, 64) != n.String() {
			return leaf
		}
		return f
	}).(map[string]any)
	return out
}

// EachString calls f with every string in a JSON value except keys.
func EachString(v any, f func(string)) {
	MapStrings(v, func(s string) string { f(s); return s })
}
