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

// OptionRule defines the values that an option accepts: one of Words, a number from Min to Max if Max is greater, a
// boolean for a Switch, an object of Fields, a List of what the rest says. The zero rule accepts any text or number.
type OptionRule struct {
	Words []string `json:"words,omitempty" yaml:"words"`
	Min   float64  `json:"min,omitempty" yaml:"min"`
	Max   float64  `json:"max,omitempty" yaml:"max"`
	// Whole accepts only whole numbers.
	Whole  bool `json:"whole,omitempty" yaml:"whole"`
	Switch bool `json:"switch,omitempty" yaml:"switch"`
	// Text accepts any text; numbers are sent as text.
	Text bool `json:"text,omitempty" yaml:"text"`
	// Fields are the fields of an object, each with its rule; other fields are rejected.
	Fields map[string]OptionRule `json:"fields,omitempty" yaml:"fields"`
	List   bool                  `json:"list,omitempty" yaml:"list"`
	// Any accepts any value, including lists and objects; the provider validates it.
	Any bool `json:"any,omitempty" yaml:"any"`
	// Hint describes the rule to people where the other fields do not.
	Hint string `json:"hint,omitempty" yaml:"hint"`
}

// String describes the accepted values, for error messages.
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

// Read returns a value as normalized text; false if the rule does not accept it.
func (r OptionRule) Read(value any) (string, bool) {
	text, ok := OptionText(value)
	if !ok || r.open() {
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

// OptionText formats a string, a number or a boolean as text. For any other value it returns a description and false.
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
	switch of := reflect.ValueOf(v); of.Kind() { //nolint:exhaustive // other kinds do not occur in JSON
	case reflect.String: // a type of its own, such as media.Code
		return strings.TrimSpace(of.String()), true
	case reflect.Map:
		return "an object", false
	case reflect.Slice:
		return "a list", false
	}
	return fmt.Sprint(v), false
}

// Accept returns the value of the named option in the type that the rule defines, for providers that are strict about
// types: "4" becomes a number where a number is expected. The error has code media.CodeInvalid and names the rejected
// part of the value.
func (r OptionRule) Accept(name string, value any) (_ any, err error) {
	bad := func() error {
		text, _ := OptionText(value)
		return media.Errorf(media.CodeInvalid, "option %s is %q: use %s", name, media.ErrorText(fault.Quote(text)), r)
	}
	switch {
	case r.Any:
		return value, nil
	case r.List:
		items, ok := listOf(value)
		if !ok {
			return nil, bad()
		}
		for i, item := range items {
			if items[i], err = r.item().Accept(fmt.Sprintf("%s[%d]", name, i), item); err != nil {
				return nil, err
			}
		}
		return items, nil
	case r.Fields != nil:
		object, ok := value.(map[string]any)
		if !ok {
			return nil, bad()
		}
		object = maps.Clone(object)
		for _, field := range slices.Sorted(maps.Keys(object)) {
			rule, known := r.Fields[field]
			if !known {
				return nil, media.Errorf(media.CodeInvalid, "option %s.%s is unknown: %s takes %s", name, media.ErrorText(fault.Quote(field)), name, r.fieldNames())
			}
			if object[field], err = rule.Accept(name+"."+field, object[field]); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	text, ok := r.Read(value)
	switch n, notNumber := strconv.ParseFloat(text, 64); {
	case !ok:
		return nil, bad()
	case r.Switch:
		return text == "true", nil
	case !r.Text && r.open():
		return value, nil
	case !r.Text && notNumber == nil:
		return n, nil
	}
	return text, nil
}

// open reports whether the rule accepts any text or number.
func (r OptionRule) open() bool { return len(r.Words) == 0 && !r.Switch && r.Max <= r.Min }

func (r OptionRule) fieldNames() string {
	return strings.Join(slices.Sorted(maps.Keys(r.Fields)), ", ")
}

func (r OptionRule) item() OptionRule {
	r.List, r.Hint = false, ""
	return r
}

// listOf returns a copy of a list; false for anything else.
func listOf(value any) ([]any, bool) {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Slice {
		return nil, false
	}
	items := make([]any, v.Len())
	for i := range items {
		items[i] = v.Index(i).Interface()
	}
	return items, true
}

// check reports a rule that no value can satisfy.
func (r OptionRule) check() error {
	if r.Max < r.Min {
		return fmt.Errorf("goes from %g to %g: the minimum comes first", r.Min, r.Max)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
		if err := r.Fields[field].check(); err != nil {
			return fmt.Errorf("%s %w", field, err)
		}
	}
	return nil
}
