package run_test

import (
	"context"
	"encoding/base64"
	"testing"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/durable"
)

// ledgerWithoutStates is a ledger that cannot save states of runs.
type ledgerWithoutStates struct{ store }

func (ledgerWithoutStates) SaveRunState(context.Context, ledger.RunState) error {
	return media.Errorf(media.CodeDiskFull, "the disk is full")
}

// TestForkLeavesNothing: if the state of a fork cannot be saved, for example because its process is killed, no media is
// recorded for it, neither kept nor new.
func TestForkLeavesNothing(t *testing.T) {
	t.Parallel()
	h := build(t, drawThenDone()...)
	h.service = h.newDurableService(t)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(t, err)
	h.service.Close()
	c := h.engineConfig()
	c.Adopts = true
	engine, err := durable.Open(t.Context(), c)
	must(t, err)
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: ledgerWithoutStates{h.store}, Observer: h.observer, Engine: engine})
	must(t, err)
	t.Cleanup(s.Close)
	all := func() int {
		list, err := h.store.ListMedia(t.Context(), owner, ledger.MediaQuery{Page: ledger.Page{Limit: ledger.MaxLimit}})
		must(t, err)
		return len(list.Items)
	}
	before := all()
	picture := picture(t, 3)
	for name, f := range map[string]run.Fork{
		"kept":        {From: "turn-2-model"},
		"given":       {From: "turn-2-model", LenientImages: true, Images: []agent.Image{{Data: picture}}},
		"in its text": {From: "turn-2-model", Message: "like data:image/png;base64," + base64.StdEncoding.EncodeToString(picture)},
	} {
		if _, err := s.Fork(t.Context(), owner, res.RunID, f); media.CodeOf(err) != media.CodeDiskFull {
			t.Errorf("%s: fork gave %v", name, err)
		}
		if now := all(); now != before || before == 0 {
			t.Errorf("%s: %d items of media before, %d now", name, before, now)
		}
	}
}

// TestForkTakesNoOtherRunsID: the id of a fork is checked like that of a new run.
func TestForkTakesNoOtherRunsID(t *testing.T) {
	t.Parallel()
	h := build(t, drawThenDone()...)
	h.service = h.newDurableService(t)
	start := func(who string) string {
		res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: who})
		must(t, err)
		return res.RunID
	}
	from, others := start(owner), start("bob")
	for id, want := range map[string]media.Code{others: media.CodeConflict, from: media.CodeConflict, "a.1": media.CodeInvalid, "a/b": media.CodeInvalid} {
		if _, err := h.service.Fork(t.Context(), owner, from, run.Fork{ID: id, From: "turn-2-model"}); media.CodeOf(err) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestRepeatedCallsCountAfterPause: the calls that a retry repeats still count when the run pauses and continues.
func TestRepeatedCallsCountAfterPause(t *testing.T) {
	t.Parallel()
	h := build(t, "no", "step", "at", "all", questionAnswers()[1], questionAnswers()[2])
	h.service = h.newDurableService(t)
	res, err := h.service.Run(t.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	if media.CodeOf(err) != media.CodeBadResponse {
		t.Fatalf("error %v", err)
	}
	r, err := h.service.Retry(t.Context(), owner, res.RunID, run.ContinueOptions{})
	must(t, err)
	if res, err = r.Wait(t.Context()); err != nil || res.Status != agent.StatusPaused {
		t.Fatalf("%+v, %v", res, err)
	}
	if done := h.finish(t, res.RunID, colour("red")); done.Usage.ModelCalls != 6 || done.Usage.InputTokens != 60 || h.modelCalls() != 6 {
		t.Errorf("%+v after %d questions", done.Usage, h.modelCalls())
	}
}
