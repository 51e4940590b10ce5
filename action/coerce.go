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
func (p Param) coerce(v any) (any, error) {
	switch p.valueType() {
	case "integer":
		f, ok := asNumber(v)
		if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return nil, media.Errorf(media.CodeInvalid, "must be a whole number, not %s", kindOf(v))
		}
		return f, nil
	case "number":
		if f, ok := asNumber(v); ok {
			return f, nil
		}
		return nil, media.Errorf(media.CodeInvalid, "must be a number, not %s", kindOf(v))
	case "boolean":
		if b, ok := asBool(v); ok {
			return b, nil
		}
		return nil, media.Errorf(media.CodeInvalid, "must be true or false, not %s", kindOf(v))
	case "object":
		switch t := v.(type) {
		case map[string]any:
			return t, nil
		case string:
			var m map[string]any
			if json.Unmarshal([]byte(t), &m) == nil && m != nil {
				return m, nil
			}
		}
		return nil, media.Errorf(media.CodeInvalid, "must be an object, not %s", kindOf(v))
	case "any":
		return v, nil
	}
	return p.text(v)
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
