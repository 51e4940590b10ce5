// Package plain provides small functions on texts and lists for the agent packages: shortening, listing, JSON,
// and comparing names. It has no errors and imports only the standard library.
package plain

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Clip shortens text to n bytes at a character boundary.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Blank reports whether a text contains only white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Joined joins names for a message.
func Joined(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// SameName reports whether two names are equal by the rules of the action registry.
func SameName(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(plainName(a), plainName(b))
}

// plainName returns a name without the separators that models add or omit between words.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '-' || c == '_' {
			return -1
		}
		return c
	}, name)
}

// AddOnce appends a value to a list unless it is already there, and reports whether it did.
func AddOnce[T comparable](list *[]T, v T) bool {
	if slices.Contains(*list, v) {
		return false
	}
	*list = append(*list, v)
	return true
}

// JSON marshals v without escaping HTML; v must contain only JSON types.
func JSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null") // a value of another type: none of it may be shown
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
