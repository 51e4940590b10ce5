package main

import (
	"path/filepath"
	"strings"
	"testing"

	"atelier/agent"
	"atelier/media"
)

// TestInventedPlaceholders: a person does not see the placeholders that a model invents.
func TestInventedPlaceholders(t *testing.T) {
	t.Parallel()
	answer := agent.Result{Message: "See ${media:image_1}, ${media:img-deadbeef} and $${media:img-deadbeef}."}
	if got := readable(&answer); got != "See [missing media], [missing image] and ${media:img-deadbeef}." {
		t.Error(got)
	}
	if got := withoutInvented("${media:IMG-1} " + media.Ref("img-deadbeef").Placeholder()); got != "[missing media] ${media:img-deadbeef}" {
		t.Error(got)
	}
}

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
