// Package pattern compiles regular expressions on first use, so that a process that never uses them
// does not pay for them at startup. It imports only the standard library.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that returns the compiled expression. The first call compiles it. Every
// call panics if the expression is invalid. The function is safe for concurrent use.
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
