package main

import (
	"strings"
	"testing"
)

// TestProcessesShareADataFolder: runs and generations of several processes work at once on a data folder that does not
// exist yet.
func TestProcessesShareADataFolder(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	p.removeData()
	p.env["ATELIER_CHAT_MODEL"] = "offline"
	files := p.folder()
	var all []*process
	for i := range 2 {
		all = append(all,
			p.start("run", "research-agent", "How did north develop over time? No pictures please.", "--files", files, "--out", "out-"+itoa(i), "--json"),
			p.start("generate", "a fox "+itoa(i), "-n", "6", "--size", "96x96", "-m", "offline", "--json"))
	}
	made := 0
	for _, s := range all {
		o := s.wait()
		if o.code != exitOK || strings.Contains(o.stderr+o.stdout, "locked") || strings.Contains(o.stderr, "another process") {
			t.Fatalf("atelier %v: exit %d\n%.2000s%s", o.args, o.code, o.stdout, o.stderr)
		}
		if o.args[0] == "generate" {
			res := decode[generated](t, o)
			if res.Status != "succeeded" || len(res.Slots) != 6 {
				t.Errorf("status %s, %d slots", res.Status, len(res.Slots))
			}
			made += len(res.Slots)
			continue
		}
		ans := decode[answer](t, o)
		for _, warning := range ans.Warnings {
			if strings.Contains(warning, "saved") || strings.Contains(warning, "log") {
				t.Errorf("warning: %s", warning)
			}
		}
		n := len(ans.Outputs) + len(ans.AlsoMade)
		if listed := p.mediaList("--run", ans.RunID).Items; n == 0 || len(listed) != n {
			t.Errorf("run %s made %d items, %d are listed", ans.RunID, n, len(listed))
		}
		if events := p.must("runs", "events", ans.RunID).stdout; !strings.Contains(events, "run-succeeded") {
			t.Errorf("run %s has lost its last event:\n%s", ans.RunID, events)
		}
		made += n
	}
	if listed := p.mediaList("--limit", "200").Items; len(listed) != made {
		t.Errorf("%d items listed, %d were made", len(listed), made)
	}
	if list := p.must("runs", "list").stdout; strings.Count(list, "succeeded") != 2 {
		t.Errorf("runs list shows\n%s", list)
	}
	p.must("media", "verify")
}
