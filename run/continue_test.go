package run_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
)

// TestRetryWithAHigherLimit: a run that reached its token limit continues when the limit is raised, and repeats only
// its last turn; with the same limit it fails as before.
func TestRetryWithAHigherLimit(t *testing.T) {
	t.Parallel()
	more := `{"reasoning":"more","actions":[{"name":"Draw","params":{}}]}`
	h := build(t, more, more, more, more, `{"message":"Enough.","done":true}`)
	h.service = h.newDurableService(t)
	ctx := t.Context()
	res, err := h.service.Run(ctx, agent.Request{Agent: "painter", Message: "paint", Owner: owner, MaxTokens: 1})
	if media.CodeOf(err) != media.CodeOverBudget || h.generations(t, res.RunID) != 1 || h.modelCalls() != 2 {
		t.Fatalf("%v after %d questions", err, h.modelCalls())
	}
	if _, err := h.service.Retry(ctx, owner, res.RunID, run.ContinueOptions{MaxTokens: -1}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("a limit that is none: %v", err)
	}
	r, err := h.service.Retry(ctx, owner, res.RunID, run.ContinueOptions{})
	must(t, err)
	if _, err := r.Wait(ctx); media.CodeOf(err) != media.CodeOverBudget || h.generations(t, res.RunID) != 1 || h.modelCalls() != 3 {
		t.Fatalf("with the same limit: %v after %d questions", err, h.modelCalls())
	}
	r, err = h.service.ResumeWith(ctx, owner, res.RunID, nil, run.ContinueOptions{MaxTokens: 1_000_000, MaxTime: time.Hour, MaxCost: "5"})
	must(t, err)
	done, err := r.Wait(ctx)
	if err != nil || done.RunID != res.RunID || done.Message != "Enough." || h.generations(t, res.RunID) != 2 || h.modelCalls() != 5 {
		t.Errorf("%+v, %v after %d questions", done, err, h.modelCalls())
	}
	row, err := h.store.Run(ctx, owner, res.RunID)
	must(t, err)
	var limits agent.Limits
	must(t, json.Unmarshal(row.Limits, &limits))
	if d := cmp.Diff(agent.Limits{Tokens: 1_000_000, TimeMS: 3_600_000, USD: "5"}, limits); d != "" {
		t.Error(d)
	}
	if _, err := h.service.ResumeWith(ctx, owner, res.RunID, nil, run.ContinueOptions{MaxTokens: 2}); media.CodeOf(err) != media.CodeConflict {
		t.Errorf("a run that succeeded: %v", err)
	}
}

// TestAnswerWithAnotherLimit: an answer may set limits, which apply from then on; earlier turns remain even if they
// used more than the limit.
func TestAnswerWithAnotherLimit(t *testing.T) {
	t.Parallel()
	withAndWithoutEngine(t, []string{questionAnswers()[0], questionAnswers()[1], questionAnswers()[0], `{"message":"So be it.","done":true}`}, func(t *testing.T, h *testService) {
		t.Helper()
		ctx := t.Context()
		id := h.paused(t, "").RunID
		if _, err := h.service.ResumeWith(ctx, owner, id, colour("red"), run.ContinueOptions{MaxCost: "much"}); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("a limit that is none: %v", err)
		}
		r, err := h.service.ResumeWith(ctx, owner, id, colour("red"), run.ContinueOptions{MaxTokens: 1})
		must(t, err)
		res, err := r.Wait(ctx)
		if media.CodeOf(err) != media.CodeOverBudget || res.Turns != 3 || !strings.Contains(err.Error(), "may use 1") {
			t.Errorf("%+v, %v", res, err)
		}
		if h.modelCalls() != 3 || h.generations(t, id) != 1 {
			t.Errorf("%d questions, %d generations", h.modelCalls(), h.generations(t, id))
		}
	})
}

// TestForkWithOtherInput: a fork from JSON has its own pictures, input and limits, under the same refs; an invalid fork
// begins nothing.
func TestForkWithOtherInput(t *testing.T) {
	t.Parallel()
	h := build(t, drawThenDone()[0], `{"message":"One.","done":true}`, `{"message":"Two.","done":true}`, `{"message":"Three.","done":true}`)
	h.service = h.newDurableService(t)
	ctx := t.Context()
	first, err := h.service.Run(ctx, agent.Request{
		Agent: "painter", Message: "paint", Owner: owner, LenientImages: true, Images: []agent.Image{{Data: picture(t, 1)}}, Input: map[string]any{"mood": "calm"},
	})
	must(t, err)
	drawn := first.AlsoMade[0]
	count := func() (runs, items int) {
		list, err := h.store.ListRuns(ctx, owner, ledger.RunQuery{Roots: true})
		must(t, err)
		all, err := h.store.ListMedia(ctx, owner, ledger.MediaQuery{})
		must(t, err)
		return len(list.Items), len(all.Items)
	}
	runs, items := count()
	for name, c := range map[string]struct {
		fork run.Fork
		code media.Code
	}{
		"no limit":    {run.Fork{From: "turn-2-model", ContinueOptions: run.ContinueOptions{MaxCost: "much"}}, media.CodeInvalid},
		"no picture":  {run.Fork{From: "turn-2-model", Images: []agent.Image{{Data: []byte("no picture at all")}}}, media.CodeInvalid},
		"unknown ref": {run.Fork{From: "turn-2-model", Images: []agent.Image{{Data: picture(t, 4)}, {Ref: "img-00000000"}}}, media.CodeUnknownRef},
	} {
		if _, err := h.service.Fork(ctx, owner, first.RunID, c.fork); media.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, i := count(); r != runs || i != items {
		t.Errorf("refused forks left %d runs and %d items", r-runs, i-items)
	}
	var f run.Fork
	must(t, json.Unmarshal([]byte(`{"from":"turn-2-model","message":"paint it blue","images":[{"ref":"`+string(drawn.Ref)+`"}],"input":{"mood":"wild"},"max_images":7,"max_cost":"2","max_turns":9}`), &f))
	forked := h.forked(t, first.RunID, f)
	if len(forked.InputImages) != 1 || forked.InputImages[0].Ref != drawn.Ref || h.generations(t, forked.RunID) != 0 {
		t.Errorf("forked %+v", forked)
	}
	if o, ok := forked.Find(drawn.Ref); !ok || o.ID != drawn.ID {
		t.Errorf("the picture is %+v", o)
	}
	if asked := h.last()[0].Text(); !strings.Contains(asked, "paint it blue") || !strings.Contains(asked, "wild") || strings.Contains(asked, "calm") {
		t.Errorf("the message to the model was %s", asked)
	}
	row, err := h.store.Run(ctx, owner, forked.RunID)
	must(t, err)
	var limits agent.Limits
	must(t, json.Unmarshal(row.Limits, &limits))
	if d := cmp.Diff(agent.Limits{Turns: 9, Images: 7, USD: "2", LenientImages: true}, limits); d != "" {
		t.Error(d)
	}
	if before, err := h.store.Run(ctx, owner, first.RunID); err != nil || len(before.InputImages) != 1 || before.InputImages[0].Ref == drawn.Ref {
		t.Errorf("the first run is %+v, %v", before, err)
	}
	given := h.forked(t, first.RunID, run.Fork{From: "turn-2-model", Images: []agent.Image{{Data: picture(t, 5), FileName: "new.png"}}})
	if len(given.InputImages) != 1 || given.InputImages[0].FileName != "new.png" || len(given.All()) != 5 {
		t.Errorf("forked with a file: %+v of %v", given.InputImages, given.All())
	}
	same := base64.StdEncoding.EncodeToString(picture(t, 5))
	second := h.forked(t, first.RunID, run.Fork{
		From: "turn-2-model", Message: "like data:image/png;base64," + same, Images: []agent.Image{{Data: picture(t, 5)}, {Data: picture(t, 6)}},
	})
	if len(second.InputImages) != 2 || len(second.All()) != 6 {
		t.Errorf("forked with the same picture twice: %+v of %v", second.InputImages, second.All())
	}
	for _, o := range append(given.All(), second.All()...) {
		if rec, err := h.store.MediaRecord(ctx, owner, o.ID); err != nil || rec.Ref != o.Ref {
			t.Errorf("%+v is on record as %+v, %v", o, rec, err)
		}
	}
}
