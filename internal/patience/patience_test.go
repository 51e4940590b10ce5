package patience_test

import (
	"net/http"
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

// TestRequested: whatever a header says, a wait is never negative and never overflows.
func TestRequested(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": "0.25"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": "1", "Retry-After-Ms": "0"}, time.Second},
		{map[string]string{"Retry-After": "1", "Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:01:30 GMT"}, 90 * time.Second},
		{map[string]string{"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0},
		{map[string]string{"Retry-After": "-5"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 10_000 * time.Hour},
		{map[string]string{"X-Ratelimit-Reset-Requests": "1h9m7s", "X-Ratelimit-Remaining-Requests": "3", "X-Ratelimit-Reset-Tokens": "120ms", "X-Ratelimit-Remaining-Tokens": "0"}, 120 * time.Millisecond},
		{map[string]string{"X-Ratelimit-Reset": "1772366430000"}, 30 * time.Second}, // of OpenRouter
		{map[string]string{"X-Ratelimit-Reset": "1772366430"}, 0},
		{map[string]string{"X-Ratelimit-Reset": "1772366430.5"}, 0}, // of Black Forest Labs
	} {
		h := http.Header{}
		for name, value := range c.header {
			h.Set(name, value)
		}
		if got := patience.Requested(h, now); got != c.want {
			t.Errorf("%v: %s, want %s", c.header, got, c.want)
		}
	}
}
