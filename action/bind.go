package action

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/media"
)

// bind checks the parameters that a model wrote against the declared inputs: case-insensitive names, coercion ("3" is 3
// for a number), enumerations, defaults, refs. All problems are returned in one error.
func (a Action) bind(raw map[string]any, set *media.Set) (map[string]any, error) {
	given, complaints := a.match(raw)
	params := make(map[string]any, len(a.Params))
	var unknownRefs []string
	for _, p := range a.Params {
		if p.Direction == Output {
			continue
		}
		v, ok := given[p.Name]
		if !ok || missing(v) {
			switch {
			case p.Required:
				what := ""
				if p.Description != "" {
					what = " (" + clip(strings.TrimSuffix(p.Description, "."), 120) + ")"
				}
				complaints = append(complaints, p.Name+" is required"+what)
			case p.Default != nil:
				// Bind it, so that it has the types of a given value; validate has checked that it fits.
				params[p.Name], _, _ = p.bind(p.Default, &media.Set{})
			}
			continue
		}
		bound, bad, err := p.bind(v, set)
		unknownRefs = append(unknownRefs, bad...)
		if err != nil {
			complaints = append(complaints, fmt.Sprintf("%s %s", p.Name, err))
			continue
		}
		params[p.Name] = bound
	}
	if len(complaints) > 0 {
		e := media.Errorf(media.CodeInvalid, "%s: %s", a.Name, strings.Join(complaints, "; "))
		e.Retryable, e.Valid = true, a.inputNames()
		return nil, e
	}
	if len(unknownRefs) > 0 {
		slices.Sort(unknownRefs)
		return nil, set.Unknown(slices.Compact(unknownRefs)...)
	}
	return params, nil
}

// match returns the raw values by declared name and reports unknown names.
func (a Action) match(raw map[string]any) (map[string]any, []string) {
	given := make(map[string]any, len(raw))
	var complaints []string
	for _, n := range slices.Sorted(maps.Keys(raw)) {
		i := slices.IndexFunc(a.Params, func(p Param) bool {
			return p.Direction != Output && nameKey(p.Name) == nameKey(n)
		})
		if i < 0 {
			complaints = append(complaints, fmt.Sprintf("unknown parameter %q, use %s", clip(n, 60), strings.Join(a.inputNames(), ", ")))
			continue
		}
		declared := a.Params[i].Name
		if _, twice := given[declared]; twice {
			complaints = append(complaints, fmt.Sprintf("%s is given twice", declared))
			continue
		}
		given[declared] = raw[n]
	}
	return given, complaints
}

func (a Action) inputNames() []string {
	names := []string{}
	for _, p := range a.Params {
		if p.Direction != Output && !p.Code {
			names = append(names, p.Name)
		}
	}
	return names
}

// missing reports whether v is null or blank text, which models write for "not set".
func missing(v any) bool {
	s, isText := v.(string)
	return v == nil || isText && strings.TrimSpace(s) == ""
}

// bind checks one value. bad lists refs that are unknown in this run.
func (p Param) bind(v any, set *media.Set) (bound any, bad []string, err error) {
	if p.ValueType == Binary {
		return p.bindMedia(v, set)
	}
	if bad = findUnknownRefs(v, set); len(bad) > 0 {
		return nil, bad, nil
	}
	if !p.IsArray {
		bound, err = p.coerce(v)
		return bound, nil, err
	}
	items := asList(v)
	out := make([]any, 0, len(items))
	for i, item := range items {
		b, err := p.coerce(item)
		if err != nil {
			return nil, nil, fmt.Errorf("item %d %w", i+1, err)
		}
		out = append(out, b)
	}
	return out, nil, nil
}

// asList converts an array, an array written as JSON text, or a single value to a list.
func asList(v any) []any {
	switch t := v.(type) {
	case []any:
		return t
	case []string:
		list := make([]any, len(t))
		for i, s := range t {
			list[i] = s
		}
		return list
	case string:
		var list []any
		if s := strings.TrimSpace(t); strings.HasPrefix(s, "[") && json.Unmarshal([]byte(s), &list) == nil {
			return list
		}
	}
	return []any{v}
}

// bindMedia resolves refs, placeholders and this program's media URLs to the run's items.
func (p Param) bindMedia(v any, set *media.Set) (any, []string, error) {
	var found []media.Output
	var bad []string
	for _, item := range asList(v) {
		text, ok := refText(item)
		if !ok {
			return nil, nil, media.Errorf(media.CodeInvalid, "takes media refs such as img-7k3m9q2x, not %s", kindOf(item))
		}
		o, err := set.Find(text)
		if err != nil {
			bad = append(bad, text)
			continue
		}
		found = append(found, o)
	}
	switch {
	case len(bad) > 0:
		return nil, bad, nil
	case p.IsArray:
		return found, nil, nil
	case len(found) != 1:
		return nil, nil, media.Errorf(media.CodeInvalid, "takes one media ref, not %d", len(found))
	}
	return found[0], nil, nil
}

// refText returns the ref in a model's value for a media item.
func refText(v any) (string, bool) {
	switch t := v.(type) {
	case string:
		return t, true
	case media.Output:
		return string(t.Ref), true
	case map[string]any:
		for _, key := range []string{"refId", "ref", "placeholder", "url"} {
			if s, ok := t[key].(string); ok {
				return s, true
			}
		}
	}
	return "", false
}

// findUnknownRefs returns the placeholders in any string of v that name no item of this run.
func findUnknownRefs(v any, set *media.Set) []string {
	var bad []string
	switch t := v.(type) {
	case string:
		bad = append(bad, set.UnknownPlaceholders(t)...)
	case []any:
		for _, item := range t {
			bad = append(bad, findUnknownRefs(item, set)...)
		}
	case map[string]any:
		for _, item := range t {
			bad = append(bad, findUnknownRefs(item, set)...)
		}
	}
	return bad
}
