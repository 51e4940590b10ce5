package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
)

// refsIn returns the refs of pictures in the messages to a model, as the entries of a step that promote them.
func refsIn(r chattest.Request) []any {
	var refs []string
	for _, m := range r.Messages {
		if m.Role == "system" {
			continue // the refs in it are examples
		}
		refs = append(refs, regexp.MustCompile(`img-[0-9a-z]{8}`).FindAllString(m.Text, -1)...)
	}
	slices.Sort(refs)
	chosen := []any{}
	for _, ref := range slices.Compact(refs) {
		chosen = append(chosen, map[string]any{"ref": ref})
	}
	return chosen
}

// runOutcome is the result of a run: its pictures, and how often its log has each kind of event.
type runOutcome struct {
	digests []string
	events  map[string]int
}

func (s *agentEnv) outcome(t *testing.T, id string) (o runOutcome) {
	t.Helper()
	for _, m := range s.mediaList().Items {
		o.digests = append(o.digests, m.Digest)
	}
	slices.Sort(o.digests)
	o.events = s.eventCounts(t, id)
	return o
}

// checkResumed checks that a run that was killed and resumed left what the undisturbed one did: the same pictures and
// the same events. If the answers of calls are lost, exactly their pictures are missing, and the ledger, the log and
// the model say so.
func (s *agentEnv) checkResumed(t *testing.T, id string, lost int, want runOutcome) {
	t.Helper()
	got := s.outcome(t, id)
	missing := slices.DeleteFunc(slices.Clone(want.digests), func(d string) bool { return slices.Contains(got.digests, d) })
	if len(missing) != lost || len(got.digests) != len(want.digests)-lost {
		t.Errorf("killed at %s: kept are %v, %d less than %v", s.hit, got.digests, lost, want.digests)
	}
	stored := 0
	for _, what := range union(got.events, want.events) {
		switch _, kind, _ := strings.Cut(what, " "); {
		case lost > 0 && kind == "media-stored":
			stored += got.events[what]
		case lost > 0 && (kind == "media-promoted" || kind == "warning"): // they depend on the remaining pictures
		case got.events[what] != want.events[what]:
			t.Errorf("killed at %s: event %s is there %d times, want %d", s.hit, what, got.events[what], want.events[what])
		}
	}
	if lost > 0 && stored != len(want.digests)-lost {
		t.Errorf("killed at %s: %d pictures have events, want %d", s.hit, stored, len(want.digests)-lost)
	}
	s.checkNoRepeatedEvents(t, id, lost)
	if lost > 0 {
		s.checkLostReported(t, id, lost)
	}
}

func union(a, b map[string]int) (all []string) {
	for _, m := range []map[string]int{a, b} {
		for k := range m {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkNoRepeatedEvents checks that no event is repeated except the progress of generations, which each process sends,
// and that the other process recorded that it resumed the run.
func (s *agentEnv) checkNoRepeatedEvents(t *testing.T, id string, lost int) {
	t.Helper()
	seen, failed, resumed := map[string]int{}, 0, 0
	for _, line := range strings.Split(strings.TrimSpace(s.must("runs", "events", id, "--jsonl").stdout), "\n") {
		var e ledger.Event
		var data struct {
			Turn    int    `json:"turn"`
			StepID  string `json:"step_id"`
			Message string `json:"message"`
			Success *bool  `json:"success"`
			Output  struct {
				Ref string `json:"ref"`
			} `json:"output"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(e.Payload, &data); err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case "operation-progress", "operation-partial":
			continue
		case "run-resumed":
			resumed++
		case "action-finished":
			if data.Success != nil && !*data.Success {
				failed++
			}
		}
		what, err := json.Marshal([]any{e.RunID, e.Kind, data})
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(what)]++; seen[string(what)] > 1 {
			t.Errorf("killed at %s: repeated: %s", s.hit, line)
		}
	}
	if resumed != 1 || failed != lost {
		t.Errorf("killed at %s: %d processes said that they go on, want 1; %d acts failed, want %d", s.hit, resumed, failed, lost)
	}
}

// checkLostReported checks that the ledger and the model know of the lost pictures.
func (s *agentEnv) checkLostReported(t *testing.T, id string, lost int) {
	t.Helper()
	unsettled := 0
	for _, op := range read[ledger.List[ledger.Operation]](s.testEnv, "operations", "list", "--run", id, "--json").Items {
		var used struct {
			Unsettled int `json:"unsettled_calls"`
		}
		if err := json.Unmarshal(op.Usage, &used); err != nil {
			t.Fatal(err)
		}
		if unsettled += used.Unsettled; used.Unsettled > 0 && (op.Status != "failed" || op.Failure.Message == "") {
			t.Errorf("killed at %s: operation %+v", s.hit, op)
		}
	}
	reported := false
	for _, r := range s.chat.Requests() {
		for _, m := range r.Messages {
			reported = reported || strings.Contains(m.Text, "No image was made") && strings.Contains(m.Text, "may have been billed")
		}
	}
	if unsettled != lost || !reported {
		t.Errorf("killed at %s: %d calls are known to be unsettled, want %d; the model was informed: %t", s.hit, unsettled, lost, reported)
	}
}
