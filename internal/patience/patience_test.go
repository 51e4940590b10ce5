package patience_test

import (
	"testing"
	"time"

	"atelier/internal/patience"
)

// TestWaits: the longest requested wait applies, of a model and of the whole provider, at most an hour; a caller that
// has waited for it does not wait again.
func TestWaits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var w patience.Waits
	if left, until := w.Remaining("a", now, time.Time{}); left != 0 || !until.IsZero() {
		t.Errorf("nobody asked, and %s are left, until %s", left, until)
	}
	w.Ask("a", now, 30*time.Second)
	w.Ask("a", now, 10*time.Second)
	w.Ask("", now, 20*time.Second)
	w.Ask("c", now, 24*time.Hour)
	for model, want := range map[string]time.Duration{"a": 30 * time.Second, "b": 20 * time.Second, "c": time.Hour} {
		left, until := w.Remaining(model, now, time.Time{})
		if left != want || !until.Equal(now.Add(want)) {
			t.Errorf("%s waits for %s, until %s", model, left, until)
		}
		if left, _ := w.Remaining(model, now, until); left != 0 {
			t.Errorf("%s waits again, for %s", model, left)
		}
		if left, _ := w.Remaining(model, until.Add(time.Second), time.Time{}); left != 0 {
			t.Errorf("%s waits behind the end, for %s", model, left)
		}
	}
}
