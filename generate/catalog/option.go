package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atelier/generate/internal/fault"
	"atelier/media"
)

// OptionRule says which values an option takes: one of Words, a number from Min to Max if Max is greater, true or false
// for a Switch, an object of Fields, a List of what the rest says. The zero rule takes any text or number.
type OptionRule struct {
	Words []string `json:"words,omitempty" yaml:"words"`
	Min   float64  `json:"min,omitempty" yaml:"min"`
	Max   float64  `json:"max,omitempty" yaml:"max"`
	// Whole leaves whole numbers only.
	Whole  bool `json:"whole,omitempty" yaml:"whole"`
	Switch bool `json:"switch,omitempty" yaml:"switch"`
	// Text takes any text; numbers go as text.
	Text bool `json:"text,omitempty" yaml:"text"`
	// Fields are the parts of an object, each with its rule; others are refused.
	Fields map[string]OptionRule `json:"fields,omitempty" yaml:"fields"`
	List   bool                  `json:"list,omitempty" yaml:"list"`
	// Any takes whatever it is, also lists and objects: the provider judges.
	Any bool `json:"any,omitempty" yaml:"any"`
	// Hint says it for people where the rest does not.
	Hint string `json:"hint,omitempty" yaml:"hint"`
}

// String says what to use.
func (r OptionRule) String() string {
	words := r.Words
	switch {
	case r.Hint != "":
		return r.Hint
	case r.List:
		return "a list, each of " + r.item().String()
	case r.Any:
		return "anything"
	case r.Fields != nil:
		return "an object of " + r.fieldNames()
	case r.Text:
		return "a text"
	case r.Switch:
		return "true or false"
	case r.Max > r.Min && r.Whole:
		words = append([]string{fmt.Sprintf("a whole number from %g to %g", r.Min, r.Max)}, words...)
	case r.Max > r.Min:
		words = append([]string{fmt.Sprintf("a number from %g to %g", r.Min, r.Max)}, words...)
	case len(words) == 0:
		return "a text or a number"
	}
	return strings.Join(words, ", ")
}

// Read gives a value as text in its one form; false if the rule does not take it.
func (r OptionRule) Read(value any) (string, bool) {
	text, ok := OptionText(value)
	if !ok || len(r.Words) == 0 && !r.Switch && r.Max <= r.Min {
		return text, ok
	}
	if i := slices.IndexFunc(r.Words, func(w string) bool { return strings.EqualFold(w, text) }); i >= 0 {
		return r.Words[i], true
	}
	if on, err := strconv.ParseBool(strings.ToLower(text)); r.Switch && err == nil {
		return strconv.FormatBool(on), true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || r.Max <= r.Min || !(n >= r.Min && n <= r.Max) || r.Whole && n != float64(int64(n)) {
		return text, false
	}
	return strconv.FormatFloat(n, 'f', -1, 64), true
}

// Value gives a value in the type that the rule means, so that a provider which is strict about types takes it: "4" is
// a number where a number is meant. What the rule does not take stays as it is.
func (r OptionRule) Value(v any) any {
	if whole, ok := r.formed(v); ok {
		return whole
	}
	text, ok := r.Read(v)
	if ok && r.Text {
		return text
	}
	if !ok || len(r.Words) == 0 && !r.Switch && r.Max <= r.Min {
		return v
	}
	if r.Switch {
		return text == "true"
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	return text
}

// OptionText writes a text, a number or a truth value as text; of all else it says what it is, and false.
func OptionText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v), true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case int, int64, json.Number:
		return fmt.Sprint(v), true
	}
	switch reflect.ValueOf(v).Kind() { //nolint:exhaustive // the other kinds come from no JSON
	case reflect.Map:
		return "an object", false
	case reflect.Slice:
		return "a list", false
	}
	return fmt.Sprint(v), false
}

// checkRules proves that every rule is about an option that the model takes.
func (m Model) checkRules() error {
	for _, name := range slices.Sorted(maps.Keys(m.OptionRules)) {
		if r := m.OptionRules[name]; !slices.Contains(m.Options, name) {
			return m.bad("option_rules", "%q is not among the model's options", name)
		} else if err := r.check(); err != nil {
			return m.bad("option_rules", "%s %s", name, err)
		}
	}
	return nil
}

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

func (r OptionRule) item() OptionRule {
	r.List, r.Hint = false, ""
	return r
}

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
