// Package value reads the loosely typed values that models write as parameters: JSON text where an
// array was requested, numbers as text, keys in any case. It does not know what the values are for;
// its errors are those of encoding/json. It imports nothing of Atelier.
package value

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Decode converts any JSON-like value, or JSON text, to the types of encoding/json.
func Decode(v any) (any, error) {
	var raw []byte
	switch t := v.(type) {
	case nil:
		return nil, nil
	case []any, map[string]any:
		return v, nil
	case string:
		raw = []byte(t)
	default:
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	var out any
	err := json.Unmarshal(raw, &out)
	return out, err
}

// Field returns the value of the first name that m has, ignoring case.
func Field(m map[string]any, names ...string) any {
	for _, n := range names {
		if v, ok := m[n]; ok {
			return v
		}
	}
	for _, n := range names {
		var found []string
		for k := range m {
			if strings.EqualFold(k, n) {
				found = append(found, k)
			}
		}
		if found != nil {
			return m[slices.Min(found)]
		}
	}
	return nil
}

// Text returns a value as one clean line: the elements of a list with commas, the label of an object.
func Text(v any) string {
	var s string
	switch t := v.(type) {
	case nil:
		return ""
	case string:
		s = t
	case float64:
		s = strconv.FormatFloat(t, 'f', -1, 64)
	case []any:
		parts := make([]string, len(t))
		for i, one := range t {
			parts[i] = Text(one)
		}
		s = strings.Join(parts, ", ")
	case map[string]any:
		return Text(Field(t, "label", "text", "name", "title", "value", "id"))
	default:
		s = fmt.Sprint(t)
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return strings.Join(strings.Fields(s), " ")
}

// Number parses a number, also from text with thousands separators or a percent sign; null, empty
// text, NaN and infinities are gaps (NaN). ok is false for anything else.
func Number(v any) (f float64, ok bool) {
	switch t := v.(type) {
	case nil:
		return math.NaN(), true
	case float64:
		f = t
	case float32:
		f = float64(t)
	case int:
		f = float64(t)
	case int64:
		f = float64(t)
	case json.Number:
		return Number(t.String())
	case string:
		s := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(t), "%"))
		whole, _, _ := strings.Cut(s, ".")
		if comma := strings.LastIndexByte(s, ','); comma >= 0 && len(whole)-comma != len(",000") {
			return 0, false // a decimal comma, which must not become a number ten times as large
		}
		s = strings.ReplaceAll(strings.ReplaceAll(s, ",", ""), "−", "-") // the minus of print, which drawings write
		switch strings.ToLower(s) {
		case "", "null", "nan", "n/a", "na", "-", "–", "none":
			return math.NaN(), true
		}
		var err error
		if f, err = strconv.ParseFloat(s, 64); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	switch a := math.Abs(f); {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return math.NaN(), true
	case a > 1e150: // sums and squares would overflow
		return 0, false
	case a < 1e-150:
		return 0, true
	}
	return f, true
}

// Flag parses a boolean, also from text.
func Flag(v any) (b, ok bool) {
	switch t := v.(type) {
	case bool:
		return t, true
	case string:
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(t)))
		return b, err == nil
	}
	return false, false
}
