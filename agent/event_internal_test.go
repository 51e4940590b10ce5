package agent

import (
	"strings"
	"testing"
)

func TestSumUSD(t *testing.T) {
	t.Parallel()
	a, b := "0.1", "0.2"
	if got := *AddUSD(&a, &b); got != "0.3" {
		t.Errorf("got %s", got)
	}
	if AddUSD(nil, nil) != nil || *AddUSD(nil, &b) != "0.2" || *AddUSD(&a, nil) != "0.1" {
		t.Error("unknown adds nothing")
	}
	tiny := "0.000000000000000001"
	if got := *AddUSD(&tiny, &a); got != "0.100000000000000001" {
		t.Errorf("got %s", got)
	}
	z := "10"
	if got := *AddUSD(&z, &z); got != "20" {
		t.Errorf("got %s", got)
	}
}

func TestEventTypesAreClosed(t *testing.T) {
	t.Parallel()
	seen := map[EventType]bool{}
	for _, e := range EventTypes() {
		if seen[e] || !strings.Contains(string(e), "-") && e != EventWarning {
			t.Errorf("event %q", e)
		}
		seen[e] = true
	}
	if len(seen) != 26 {
		t.Errorf("%d events", len(seen))
	}
}
