package template

import (
	"strconv"
	"strings"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Resolve returns a copy of a value with every string resolved; keys are not templates. The error lists all problems
// with their pointers.
func Resolve(v any, scope Scope) (any, error) {
	var found problem.List
	out := Walk(v, func(pointer, s string) (resolved any) {
		t, err := Parse(s)
		if err == nil {
			resolved, err = t.Value(scope)
		}
		found.Check(pointer, err)
		return resolved
	})
	return out, found.Err()
}

// Walk returns a copy of a value with each string replaced by the result of change.
func Walk(v any, change func(pointer, s string) any) any { return walk("", v, change) }

func walk(pointer string, v any, change func(pointer, s string) any) any {
	switch v := v.(type) {
	case string:
		return change(pointer, v)
	case *ordered.Object:
		out := &ordered.Object{}
		for k, e := range v.All() {
			out.Set(k, walk(ordered.Join(pointer, k), e, change))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = walk(ordered.Join(pointer, strconv.Itoa(i)), e, change)
		}
		return out
	}
	return v
}

// Target is a path whose segments are templates. It is split before values are inserted, so that a key with dots stays
// one segment.
type Target []*Template

// ParseTarget parses a path such as generations.{{ $provider }}.{{ $key }}.
func ParseTarget(s string) (Target, error) {
	var target Target
	for _, segment := range split(s) {
		if strings.TrimSpace(segment) == "" || segment == ordered.Forbidden {
			return nil, invalid("%s is not a path: a segment is empty or forbidden", media.ErrorText(s))
		}
		t, err := Parse(segment)
		if err != nil {
			return nil, err
		}
		target = append(target, t)
	}
	return target, nil
}

// split splits s at dots outside of {{ }}.
func split(s string) (segments []string) {
	start, inside := 0, false
	for i := range len(s) {
		switch {
		case strings.HasPrefix(s[i:], "{{"):
			inside = true
		case strings.HasPrefix(s[i:], "}}"):
			inside = false
		case s[i] == '.' && !inside:
			segments = append(segments, s[start:i])
			start = i + 1
		}
	}
	return append(segments, s[start:])
}

// Path resolves the segments. Each must resolve to text that is not empty.
func (t Target) Path(scope Scope) ([]string, error) {
	path := make([]string, len(t))
	for i, segment := range t {
		v, err := segment.Value(scope)
		if err != nil {
			return nil, err
		}
		s, ok := Scalar(v)
		if !ok || s == "" || s == ordered.Forbidden {
			return nil, invalid("%s does not resolve to a key", media.ErrorText(segment.source))
		}
		path[i] = s
	}
	return path, nil
}
