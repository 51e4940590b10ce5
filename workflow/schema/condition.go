package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"atelier/workflow/ordered"
)

// Condition is a Boolean expression over the values of a form's fields. It contains no code.
type Condition struct {
	All, Any []*Condition
	Not      *Condition
	// Path is the path of the field, Compare the comparison and With its operand. Without a comparison, the field must
	// exist and must not be empty.
	Path    []string
	Compare string
	With    any
}

// ParseCondition reads a condition that matches the vocabulary.
func ParseCondition(o *ordered.Object) (*Condition, error) {
	c := &Condition{}
	var err error
	for key, v := range o.All() {
		switch key {
		case "all":
			c.All, err = conditions(v)
		case "any":
			c.Any, err = conditions(v)
		case "not":
			child, _ := v.(*ordered.Object)
			c.Not, err = ParseCondition(child)
		case "field":
			c.Path = []string{o.Text(key)}
			if strings.HasPrefix(c.Path[0], "/") {
				c.Path, err = ordered.Path(c.Path[0])
			}
		default:
			c.Compare, c.With = key, v
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

func conditions(v any) (out []*Condition, err error) {
	list, _ := v.([]any)
	for _, e := range list {
		child, _ := e.(*ordered.Object)
		c, err := ParseCondition(child)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Holds reports whether a form's value satisfies the condition. Every value satisfies a nil condition.
func (c *Condition) Holds(data any) bool {
	switch {
	case c == nil:
		return true
	case c.All != nil:
		return !slices.ContainsFunc(c.All, func(e *Condition) bool { return !e.Holds(data) })
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, func(e *Condition) bool { return e.Holds(data) })
	case c.Not != nil:
		return !c.Not.Holds(data)
	}
	v, ok := ordered.Get(data, c.Path...)
	return c.compare(v, ok)
}

func (c *Condition) compare(v any, there bool) bool {
	list, _ := c.With.([]any)
	switch c.Compare {
	case "equals":
		return there && ordered.Equal(v, c.With)
	case "not_equals":
		return !there || !ordered.Equal(v, c.With)
	case "in":
		return there && in(list, v)
	case "not_in":
		return !there || !in(list, v)
	case "exists":
		return there == (c.With == true)
	case "min", "max":
		n, ok := v.(json.Number)
		limit, _ := c.With.(json.Number)
		a, err := n.Float64()
		b, _ := limit.Float64()
		return ok && err == nil && (c.Compare == "min" && a >= b || c.Compare == "max" && a <= b)
	}
	return there && !Empty(v)
}

func in(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return ordered.Equal(e, v) })
}

// Empty reports whether a value is empty: null, false, blank text, or an empty list or object.
func Empty(v any) bool {
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
