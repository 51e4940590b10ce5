package agent

import (
	"errors"
	"slices"
	"strings"

	"atelier/media"
)

// clip shortens text to n bytes at a character's edge.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// joined lists names for a message.
func joined(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// asError finds the coded error in a chain.
func asError(err error) (*media.Error, bool) {
	var e *media.Error
	ok := errors.As(err, &e)
	return e, ok
}
