package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestUnknownPlaceholderIsResearched: a task with an unknown placeholder is researched like any other.
func TestUnknownPlaceholderIsResearched(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	out := filepath.Join(p.dir, "out")
	p.must("run", "research-agent", "Which region has the highest total amount? Mind ${media:img-deadbeef} and ${media:foo}.", "--db", p.sales(), "--out", out)
	if page := mustRead(t, filepath.Join(out, "report.html")); !strings.Contains(page, "North") {
		t.Errorf("the report does not answer:\n%.3000s", page)
	}
}
