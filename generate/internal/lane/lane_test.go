package lane_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/lane"
	"atelier/media"
)

// TestOutages: after five outages in a row a provider rests for half a minute, then one call tries it. A call that was
// left or never made says nothing: it neither ends a row of outages nor keeps the next one from trying.
func TestOutages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		row := catalog.Model{Provider: "x", APIModel: "m"}
		l := lane.New("x", []catalog.Model{row}, 0, 4)
		outage := media.Errorf(media.CodeUnavailable, "down")
		contested := media.Errorf(media.CodeUnavailable, "another request was in the way")
		contested.Cause = driver.ErrContested
		call := func(outcome error) bool {
			leave, refused := l.Enter(t.Context(), row)
			if refused != nil {
				if refused.Code != media.CodeUnavailable {
					t.Errorf("refused: %v", refused)
				}
				return false
			}
			leave(outcome)
			return true
		}
		for i, q := range []struct {
			pause    time.Duration
			outcomes []error
			resting  bool // afterwards
		}{
			{outcomes: []error{outage, outage, outage, outage, nil, outage, outage, outage, outage}},
			{outcomes: []error{contested, outage, outage, outage, outage}},
			{outcomes: []error{media.Errorf(media.CodeInvalid, "bad prompt"), outage, outage, outage, outage}},
			{outcomes: []error{lane.ErrUnknown, fmt.Errorf("left: %w", lane.ErrUnknown), outage}, resting: true},
			{pause: 20 * time.Second, resting: true},
			{pause: 11 * time.Second, outcomes: []error{lane.ErrUnknown, lane.ErrUnknown, outage}, resting: true},
			{pause: 31 * time.Second, outcomes: []error{lane.ErrUnknown, nil}},
		} {
			time.Sleep(q.pause)
			for n, outcome := range q.outcomes {
				if !call(outcome) {
					t.Fatalf("step %d: call %d is refused", i, n)
				}
			}
			if went := call(lane.ErrUnknown); went == q.resting {
				t.Fatalf("step %d: a call goes: %v, want %v", i, went, !q.resting)
			}
		}
	})
}
