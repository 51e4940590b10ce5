package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestThreeLevels: root, writer and infographic agent; what the lowest made is shown
// by the root's report, and no placeholder is left.
func TestThreeLevels(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ans := read[answer](p, "run", "research-agent", "A report on sales with an infographic. No pictures.", "--files", p.folder(), "--out", filepath.Join(p.dir, "out"), "--json")
	page := mustRead(t, ans.Report)
	if !strings.Contains(page, `alt="Infographic: `) || !strings.Contains(page, "The findings at a glance") {
		t.Error("the report shows no infographic")
	}
	if strings.Contains(page, "${media:") {
		t.Error("a placeholder reached the reader")
	}
}

// TestAFailingComposerLeavesTheReport: the lowest level fails, the report is written
// and says so.
func TestAFailingComposerLeavesTheReport(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("own/infographic-agent.yaml", "slug: infographic-agent\nname: Infographic Agent\ndescription: Fails.\nprompt: infographic-agent.md\nactions: [Generate Image]\nturns: 1\n")
	p.write("own/infographic-agent.md", "You paint and never end.")
	ans := read[answer](p, "run", "research-agent", "A report on sales with an infographic. No pictures.", "--files", p.folder(), "--agents", filepath.Join(p.dir, "own"), "--out", filepath.Join(p.dir, "out"), "--json")
	page := mustRead(t, ans.Report)
	if !strings.Contains(page, "Infographic: ") || !strings.Contains(page, "<img") || strings.Contains(page, "${media:") {
		t.Errorf("the report does not tell of the failure: %.2000s", page[strings.Index(page, "<body"):])
	}
}
