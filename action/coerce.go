package action

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"atelier/media"
)

// coerce converts v to the declared type.
func (p Param) coerce(v any) (out any, err error) {
	want, ok := "", true
	switch p.valueType() {
	case "any":
		out = v
	case "integer":
		f, number := asNumber(v)
		want, out, ok = "a whole number", f, number && f == math.Trunc(f) && math.Abs(f) <= 1<<53
	case "number":
		want = "a number"
		out, ok = asNumber(v)
	case "boolean":
		want = "true or false"
		out, ok = asBool(v)
	case "object":
		want = "an object"
		out, ok = asObject(v)
	default:
		return p.text(v)
	}
	if !ok {
		return nil, media.Errorf(media.CodeInvalid, "must be %s, not %s", want, kindOf(v))
	}
	return out, nil
}

// text returns a string. For an enumeration, it must be one of the values.
func (p Param) text(v any) (any, error) {
	var s string
	switch t := v.(type) {
	case string:
		s = t
	case bool:
		s = strconv.FormatBool(t)
	case json.Number:
		s = t.String()
	default:
		f, ok := asNumber(v)
		if !ok {
			return nil, media.Errorf(media.CodeInvalid, "must be text, not %s", kindOf(v))
		}
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if len(p.Values) == 0 {
		return s, nil
	}
	for _, want := range p.Values {
		if strings.EqualFold(strings.TrimSpace(s), want) {
			return want, nil
		}
	}
	return nil, media.Errorf(media.CodeInvalid, "must be one of %s, not %q", strings.Join(p.Values, ", "), clip(s, 60))
}

func asNumber(v any) (float64, bool) {
	switch t := v.(type) {
	case float64:
		return t, !math.IsNaN(t) && !math.IsInf(t, 0)
	case int:
		return float64(t), true
	case int64:
		return float64(t), true
	case json.Number:
		f, err := t.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return 0, false
}

func asObject(v any) (object map[string]any, ok bool) {
	if s, text := v.(string); text {
		return object, json.Unmarshal([]byte(s), &object) == nil && object != nil
	}
	object, ok = v.(map[string]any)
	return object, ok
}

func asBool(v any) (value, ok bool) {
	switch t := v.(type) {
	case bool:
		return t, true
	case string:
		switch strings.ToLower(strings.TrimSpace(t)) {
		case "true", "yes", "1", "on":
			return true, true
		case "false", "no", "0", "off":
			return false, true
		}
	case float64:
		return t == 1, t == 0 || t == 1
	}
	return false, false
}

// kindOf describes a value that a model wrote, quoting only short text.
func kindOf(v any) string {
	switch t := v.(type) {
	case nil:
		return "nothing"
	case string:
		return strconv.Quote(clip(t, 40))
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case bool:
		return strconv.FormatBool(t)
	}
	if f, ok := asNumber(v); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprintf("a %T", v)
}
