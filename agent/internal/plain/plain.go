// Package plain has the small forms of texts that the packages of agents share: cut to a length,
// listed, as JSON, and names compared. It has no errors and imports the standard library.
package plain

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Clip shortens text to n bytes at a character's edge.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Head gives the first n characters of a text.
func Head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Blank reports whether a text holds nothing but white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Sorted sorts names in place.
func Sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// Joined lists names for a message.
func Joined(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// SameName compares names as the action registry does.
func SameName(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(plainName(a), plainName(b))
}

// plainName is a name without what models put in or leave out between its words.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '-' || c == '_' {
			return -1
		}
		return c
	}, name)
}

// JSON marshals v without escaping HTML; v holds JSON types only.
func JSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null") // a value of another type: nothing of it may be shown
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
