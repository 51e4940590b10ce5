package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"atelier/workflow/ordered"
)

// Holds reports whether a form's value satisfies a condition that matches the vocabulary: a Boolean expression over the
// values of the form's fields, without code. A nil condition always holds.
func Holds(when *ordered.Object, data any) bool {
	holds := func(v any) bool {
		o, _ := v.(*ordered.Object)
		return Holds(o, data)
	}
	switch {
	case when == nil:
		return true
	case when.Has("all"):
		return !slices.ContainsFunc(when.List("all"), func(v any) bool { return !holds(v) })
	case when.Has("any"):
		return slices.ContainsFunc(when.List("any"), holds)
	case when.Has("not"):
		return !Holds(when.Object("not"), data)
	}
	path := []string{when.Text("field")}
	if strings.HasPrefix(path[0], "/") {
		path, _ = ordered.Path(path[0]) // the vocabulary checks its form
	}
	v, there := ordered.Get(data, path...)
	for key, with := range when.All() {
		if key != "field" {
			return compare(key, with, v, there)
		}
	}
	return there && !empty(v)
}

// compare compares a value with the operand of a comparison.
func compare(comparison string, with, v any, there bool) bool {
	list, _ := with.([]any)
	switch comparison {
	case "equals":
		return there && ordered.Equal(v, with)
	case "not_equals":
		return !there || !ordered.Equal(v, with)
	case "in":
		return there && in(list, v)
	case "not_in":
		return !there || !in(list, v)
	case "exists":
		return there == (with == true)
	}
	n, ok := v.(json.Number)
	limit, _ := with.(json.Number)
	a, err := n.Float64()
	b, _ := limit.Float64()
	return ok && err == nil && (comparison == "min" && a >= b || comparison == "max" && a <= b)
}

func in(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return ordered.Equal(e, v) })
}

// empty reports whether a value is empty: null, false, blank text, or an empty list or object.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case *ordered.Object:
		return v.Len() == 0
	}
	return false
}
