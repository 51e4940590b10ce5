package agent

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// topKey merges a sub-agent's payload at the top of its parent's.
const topKey = "."

// mergePatch applies an RFC 7396 merge patch and returns the result; neither
// argument is changed.
func mergePatch(target, patch map[string]any) map[string]any {
	out := maps.Clone(target)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range patch {
		switch t := v.(type) {
		case nil:
			delete(out, k)
		case map[string]any:
			old, _ := out[k].(map[string]any)
			out[k] = mergePatch(old, t)
		default:
			out[k] = v
		}
	}
	return out
}

// setKeys replaces top-level keys and leaves the others.
func setKeys(target, values map[string]any) map[string]any {
	out := maps.Clone(target)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, values)
	return out
}

// placeAt puts a sub-agent's payload under the key that its parent's definition
// names. What an earlier call put there stays beside it: lists grow, other values
// are replaced. At the top all values are replaced.
func placeAt(target map[string]any, key string, payload map[string]any) map[string]any {
	switch {
	case key == "" || payload == nil:
		return target
	case key == topKey:
		return setKeys(target, payload)
	}
	head, rest, deeper := strings.Cut(key, ".")
	if !deeper {
		return setKeys(target, map[string]any{head: gather(target[head], payload)})
	}
	inner, _ := target[head].(map[string]any)
	return setKeys(target, map[string]any{head: placeAt(inner, rest, payload)})
}

// gather joins what two calls of a sub-agent brought: lists grow by what is new,
// objects are joined, and of other values the later one counts.
func gather(old, more any) any {
	switch m := more.(type) {
	case map[string]any:
		have, _ := old.(map[string]any)
		out := setKeys(have, nil)
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

// mapStrings rebuilds a JSON value with f applied to every string in it, keys excepted.
func mapStrings(v any, f func(string) string) any {
	switch t := v.(type) {
	case string:
		return f(t)
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = mapStrings(e, f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = mapStrings(e, f)
		}
		return out
	}
	return v
}

// eachString calls f with every string in a JSON value.
func eachString(v any, f func(string)) {
	switch t := v.(type) {
	case string:
		f(t)
	case []any:
		for _, e := range t {
			eachString(e, f)
		}
	case map[string]any:
		for _, e := range t {
			eachString(e, f)
		}
	}
}
