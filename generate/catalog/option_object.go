package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/generate/internal/fault"
	"atelier/media"
)

// Judge is nil if the rule takes the value of an option; name is the option's. The error
// has code media.CodeInvalid and names the part of the value that is not taken.
func (r OptionRule) Judge(name string, value any) error {
	bad := func() error {
		text, _ := OptionText(value)
		return media.Errorf(media.CodeInvalid, "option %s is %q: use %s", name, media.ErrorText(fault.Quote(text)), r)
	}
	switch {
	case r.Any:
		return nil
	case r.List:
		items, ok := listOf(value)
		if !ok {
			return bad()
		}
		for i, item := range items {
			if err := r.item().Judge(fmt.Sprintf("%s[%d]", name, i), item); err != nil {
				return err
			}
		}
		return nil
	case r.Fields != nil:
		object, ok := value.(map[string]any)
		if !ok {
			return bad()
		}
		return r.fields(name, object)
	}
	if _, ok := r.Read(value); !ok {
		return bad()
	}
	return nil
}

// fields judges an object.
func (r OptionRule) fields(name string, object map[string]any) error {
	for _, field := range slices.Sorted(maps.Keys(object)) {
		rule, known := r.Fields[field]
		if !known {
			return media.Errorf(media.CodeInvalid, "option %s.%s is unknown: %s takes %s", name, media.ErrorText(fault.Quote(field)), name, r.fieldNames())
		}
		if err := rule.Judge(name+"."+field, object[field]); err != nil {
			return err
		}
	}
	return nil
}

func (r OptionRule) fieldNames() string {
	return strings.Join(slices.Sorted(maps.Keys(r.Fields)), ", ")
}

// item is the rule of each item of a list.
func (r OptionRule) item() OptionRule {
	r.List, r.Hint = false, ""
	return r
}

// listOf reads a list as programs and JSON write it.
func listOf(value any) ([]any, bool) {
	switch list := value.(type) {
	case []any:
		return list, true
	case []string:
		out := make([]any, len(list))
		for i, s := range list {
			out[i] = s
		}
		return out, true
	}
	return nil, false
}

// formed gives lists and objects in the types that the rules of their parts mean.
func (r OptionRule) formed(value any) (any, bool) {
	switch {
	case r.Any:
		return value, true
	case r.List:
		items, ok := listOf(value)
		items = slices.Clone(items)
		for i := range items {
			items[i] = r.item().Value(items[i])
		}
		return items, ok
	case r.Fields != nil:
		object, ok := value.(map[string]any)
		object = maps.Clone(object)
		for field := range object {
			object[field] = r.Fields[field].Value(object[field])
		}
		return object, ok
	}
	return nil, false
}

// check proves that a rule can be kept.
func (r OptionRule) check() error {
	if r.Max < r.Min {
		return fmt.Errorf("goes from %g to %g: the least comes first", r.Min, r.Max)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
		if err := r.Fields[field].check(); err != nil {
			return fmt.Errorf("%s %w", field, err)
		}
	}
	return nil
}
