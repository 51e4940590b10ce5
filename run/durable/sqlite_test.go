//go:build !postgres || !unix

package durable_test

import (
	"testing"

	"atelier/run/durable"
)

// newConfig returns a new database for the engine of a test.
func newConfig(tb testing.TB) durable.Config {
	tb.Helper()
	return sqliteConfig(tb)
}
