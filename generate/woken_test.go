package generate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/media"
)

// TestWokenProcess: a process that slept while another one ended its operation does not end it
// otherwise when it goes on.
func TestWokenProcess(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ generate.Task, _ int) (generate.Update, error) {
		op := h.log.Operation(h.log.IDs()[0])
		h.log.Release(op.ID)
		if err := h.log.Hold(ctx, op.ID, "another", op.StartedAt.Add(time.Hour)); err != nil {
			return generate.Update{}, err
		}
		op.Holder, op.Status, op.FinishedAt = "another", generate.StatusCancelled, op.StartedAt
		if err := h.log.Finish(ctx, op); err != nil {
			return generate.Update{}, err
		}
		return generate.Update{Done: true, Items: []generate.Item{h.picture(ctx, t, 1)}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	if op := h.log.Operation(got.Operation); op.Status != generate.StatusCancelled || op.Holder != "another" {
		t.Errorf("the operation is %s by %s", op.Status, op.Holder)
	}
	if !strings.Contains(strings.Join(got.Warnings, " "), "operations show "+got.Operation) {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// TestGivenUpWithWhatArrived: a picture whose call has ended, and that could not be saved as its
// result, stays when the operation is given up.
func TestGivenUpWithWhatArrived(t *testing.T) {
	t.Parallel()
	h := signed(t)
	id := left(t, h, generate.Request{Model: "one", Prompt: "a house", N: 2}, generate.Attempt{})
	b := generatetest.Stored(t.Context(), t, h.codec, generatetest.PNG(70, 70, 9))
	h.log.Adrift = []media.Blob{b}
	if err := h.log.Attempt(t.Context(), generate.Attempt{
		ID: "a", Operation: id, Call: 1, Number: 1, Key: id + "-1", Provider: "openai", APIModel: "one-1", Slots: []int{1},
		Status: generate.StatusSucceeded, Usage: generate.Usage{Calls: 1, Images: 1}, FinishedAt: h.log.Operation(id).StartedAt,
	}); err != nil {
		t.Fatal(err)
	}
	got, err := h.Cancel(t.Context(), id)
	if err != nil || got.Status != generate.StatusCancelled || len(got.Outputs()) != 1 || got.Outputs()[0].Digest != b.Digest {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(h.recorder.Records()); n != 1 {
		t.Errorf("%d records", n)
	}
}
