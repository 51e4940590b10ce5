package gateway_test

import (
	"context"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
)

// TestResumedProcess: a process that slept while another one ended its operation does not change that end when it
// continues.
func TestResumedProcess(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		op := h.log.Operation(h.log.IDs()[0])
		h.log.Orphan(op.ID)
		if err := h.log.Hold(ctx, op.ID, "another"); err != nil {
			return driver.Update{}, err
		}
		op.Holder, op.Status, op.FinishedAt = "another", generate.StatusCancelled, op.StartedAt
		if err := h.log.Finish(ctx, op); err != nil {
			return driver.Update{}, err
		}
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	if op := h.log.Operation(got.Operation); op.Status != generate.StatusCancelled || op.Holder != "another" {
		t.Errorf("the operation is %s by %s", op.Status, op.Holder)
	}
	if !strings.Contains(strings.Join(got.Warnings, " "), "operations show "+got.Operation) {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// TestCancelOfASavedPicture: a picture of a finished call that could not be saved as its result is kept when the
// operation is cancelled.
func TestCancelOfASavedPicture(t *testing.T) {
	t.Parallel()
	h := newSignedGateway(t)
	id := interruptedOperation(t, h, generate.Request{Model: "one", Prompt: "a house", N: 2}, operation.Attempt{})
	b := generatetest.Stored(t.Context(), t, h.codec, generatetest.PNG(70, 70, 9))
	h.log.Unassigned = []media.Blob{b}
	h.log.Interrupted(operation.Attempt{
		ID: "a", Operation: id, Call: 1, Number: 1, Key: id + "-1", Provider: "openai", APIModel: "one-1", Slots: []int{1},
		Status: generate.StatusSucceeded, Usage: generate.Usage{Calls: 1, Images: 1}, FinishedAt: h.log.Operation(id).StartedAt,
	})
	got, err := h.Cancel(t.Context(), id)
	if err != nil || got.Status != generate.StatusCancelled || len(got.Outputs()) != 1 || got.Outputs()[0].Digest != b.Digest {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(h.recorder.Records()); n != 1 {
		t.Errorf("%d records", n)
	}
}
