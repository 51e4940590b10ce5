package transcript

import (
	"maps"
	"slices"
)

// What a model is shown of a long list of media items: all of them up to
// maxShownItems, else the first and the last and how many lie between.
const (
	maxShownItems = 50
	firstItems    = 20
	lastItems     = 5
)

// Bounded copies a value with the long lists of media items in it made shorter, at any depth. Lists of
// other things stay.
func Bounded(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := maps.Clone(t)
		for k, e := range t {
			out[k] = Bounded(e)
		}
		return out
	case []any:
		if len(t) > maxShownItems && listsItems(t) {
			return BoundedList(t)
		}
		out := slices.Clone(t)
		for i, e := range t {
			out[i] = Bounded(e)
		}
		return out
	}
	return v
}

// listsItems reports whether most of a list are media items, or stand for some that failed.
func listsItems(list []any) bool {
	n := 0
	for _, e := range list {
		m, _ := e.(map[string]any)
		if m["refId"] != nil || m["error"] != nil {
			n++
		}
	}
	return n*2 > len(list)
}

// BoundedList keeps the ends of a list that is too long.
func BoundedList[T any](list []T) []any {
	var out []any
	if len(list) <= maxShownItems {
		for _, e := range list {
			out = append(out, e)
		}
		return out
	}
	for _, e := range list[:firstItems] {
		out = append(out, e)
	}
	middle := list[firstItems : len(list)-lastItems]
	out = append(out, gap(middle, len(list)))
	for _, e := range list[len(list)-lastItems:] {
		out = append(out, e)
	}
	return out
}

// gap stands for the middle of a list. It has the first failure among them.
func gap[T any](middle []T, total int) map[string]any {
	out := map[string]any{
		"leftOut": len(middle), "count": total,
		"note": "all are kept: List Agent Media lists them, with Offset and Limit",
	}
	failed := 0
	for _, e := range middle {
		m, _ := any(e).(map[string]any)
		if m["error"] == nil {
			continue
		}
		if failed++; failed == 1 {
			out["firstError"] = m["error"]
		}
		out["failed"] = failed
	}
	return out
}
