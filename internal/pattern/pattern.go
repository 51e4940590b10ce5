// Package pattern compiles regular expressions when they are first used: a process that never
// reads a text by them does not pay for them at its start. It imports the standard library alone.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that gives the compiled expression. The first call compiles it and panics
// if the expression is invalid, as every later one does. It is safe for concurrent use.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// LazyLongest is Lazy for an expression that prefers the longest match.
func LazyLongest(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		re := regexp.MustCompile(expr)
		re.Longest()
		return re
	})
}
