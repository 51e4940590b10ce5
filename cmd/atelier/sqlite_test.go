//go:build !postgres

package main

import "testing"

func runTests(m *testing.M) int { return m.Run() }

// newDatabase leaves the ledger in the data folder.
func newDatabase(*testing.T) string { return "" }

// tags are the build tags of this test binary.
const tags = ""
