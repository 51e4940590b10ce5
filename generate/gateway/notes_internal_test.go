package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/operation"
)

// TestNotes: a warning is noted once, a private one is shown but not saved, and a defect becomes a warning.
func TestNotes(t *testing.T) {
	t.Parallel()
	n := &notes{}
	for _, text := range []string{"a", "b", "a", "lost: disk full"} {
		n.warn(text)
	}
	n.warnUnsaved("here")
	n.retract("lost: ")
	if got, want := n.saved(), []string{"a", "b"}; !cmp.Equal(got, want) {
		t.Errorf("saved are %q, want %q", got, want)
	}
	if got, want := n.shown(), []string{"a", "b", "here"}; !cmp.Equal(got, want) {
		t.Errorf("shown are %q, want %q", got, want)
	}
	n.add(map[string]any{"note": "first", "id": 1})
	n.add(nil)
	n.add(map[string]any{"note": "second"})
	if got, want := n.joined(), map[string]any{"note": "second", "id": 1}; !cmp.Equal(got, want) {
		t.Errorf("providers said %v, want %v", got, want)
	}
	if got := n.next(operation.SubjectSlot, generate.StatusSucceeded, operation.EventGenerate); got != generate.StatusSucceeded {
		t.Errorf("an impossible event becomes %s", got)
	}
	if len(n.saved()) != 3 {
		t.Errorf("an impossible event is no warning: %q", n.saved())
	}
}
