package run_test

import (
	"testing"
	"time"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// TestLimitsCountWhatWasUsedBefore: a run without a limit of pictures gets one with its answer, and its earlier
// pictures count; those that a fork keeps from another run do not.
func TestLimitsCountWhatWasUsedBefore(t *testing.T) {
	t.Parallel()
	lastAnswer := `{"message":"So be it.","done":true}`
	withAndWithoutEngine(t, []string{questionAnswers()[0], questionAnswers()[1], questionAnswers()[0], lastAnswer}, func(t *testing.T, h *testService) {
		t.Helper()
		id := h.paused(t, "").RunID
		res := h.answerAndWait(t, id, run.ContinueOptions{MaxImages: 4}) // two were made, and three are wanted
		if res.Status != agent.StatusSucceeded || len(res.AlsoMade) != 2 || h.generations(t, id) != 1 {
			t.Errorf("%s with %d made by %d generations", res.Status, len(res.AlsoMade), h.generations(t, id))
		}
		h.checkSpent(t, "images:run:"+id, 2)
	})
	t.Run("fork", func(t *testing.T) {
		t.Parallel()
		h := build(t, questionAnswers()[0], questionAnswers()[1], questionAnswers()[1], questionAnswers()[0], lastAnswer)
		h.service = h.newDurableService(t)
		id := h.forked(t, h.paused(t, "").RunID, run.Fork{From: "turn-2-model"}).RunID
		res := h.answerAndWait(t, id, run.ContinueOptions{MaxImages: 4})
		if res.Status != agent.StatusSucceeded || h.generations(t, id) != 1 {
			t.Errorf("%s after %d generations", res.Status, h.generations(t, id))
		}
		h.checkSpent(t, "images:run:"+id, 2)
	})
}

// answerAndWait answers a paused run with red and other limits, and waits for the end.
func (h *testService) answerAndWait(t *testing.T, id string, a run.ContinueOptions) *agent.Result {
	t.Helper()
	r, err := h.service.ResumeWith(t.Context(), owner, id, colour("red"), a)
	must(t, err)
	res, err := r.Wait(t.Context())
	if err != nil && media.CodeOf(err) != media.CodeOverBudget {
		t.Fatal(err)
	}
	return res
}

// TestLimitsBelowWhatWasUsed: earlier turns and their results remain when a limit of turns or time is lower than their
// usage; with a higher limit the run continues.
func TestLimitsBelowWhatWasUsed(t *testing.T) {
	t.Parallel()
	for name, low := range map[string]run.ContinueOptions{"turns": {MaxTurns: 1}, "time": {MaxTime: time.Nanosecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, questionAnswers()[0], questionAnswers()[1], questionAnswers()[0], `{"message":"Done.","done":true}`)
			h.service = h.newDurableService(t)
			id := h.paused(t, "").RunID
			res := h.answerAndWait(t, id, low)
			if res.Status != agent.StatusFailed || res.Error.Code != media.CodeOverBudget || len(res.AlsoMade) != 2 || res.Turns != 3 || h.generations(t, id) != 1 {
				t.Errorf("with a lower limit %+v", res)
			}
			r, err := h.service.Retry(t.Context(), owner, id, run.ContinueOptions{MaxTurns: 9, MaxTime: time.Hour})
			must(t, err)
			if res, err = r.Wait(t.Context()); err != nil || res.Message != "Done." || len(res.AlsoMade) != 2 {
				t.Errorf("with a higher one %+v, %v", res, err)
			}
		})
	}
}

// TestAnswerAfterTheDeadline: an answer after the deadline of the run changes nothing; one with a later deadline is
// accepted.
func TestAnswerAfterTheDeadline(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, questionAnswers(), func(t *testing.T, h *testService) {
		t.Helper()
		id := h.paused(t, "").RunID
		if _, err := h.service.ResumeWith(t.Context(), owner, id, colour("red"), run.ContinueOptions{Deadline: time.Now().Add(-time.Hour)}); media.CodeOf(err) != media.CodeConflict {
			t.Errorf("an answer that is late: %v", err)
		}
		if s := h.status(t, id); s != ledger.StatusPaused {
			t.Errorf("the run is %s", s)
		}
		if res := h.answerAndWait(t, id, run.ContinueOptions{Deadline: time.Now().Add(time.Hour)}); res.Status != agent.StatusSucceeded || len(res.AlsoMade) != 2 {
			t.Errorf("%+v", res)
		}
	})
}
