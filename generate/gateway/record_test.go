package gateway_test

import (
	"testing"

	"atelier/generate"
	"atelier/media"
)

// TestRecordAtTheSecondTry: a record that is saved at the second try, before the end of its operation, gives no
// warning, and the operation is finished.
func TestRecordAtTheSecondTry(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	tries := 0
	h.recorder.Fail = func(media.Output) error {
		if tries++; tries == 1 {
			return media.Errorf(media.CodeDiskFull, "the disk is full")
		}
		return nil
	}
	got := h.must(t, generate.Request{Model: "gpt-image-2"})
	if got.Status != generate.StatusSucceeded || got.Slots[0].Output.ID == "" || len(got.Warnings) > 0 {
		t.Errorf("%+v", got)
	}
	if op := h.log.Operation(got.Operation); op.FinishedAt.IsZero() || len(op.Warnings) > 0 || len(h.recorder.Records()) != 1 {
		t.Errorf("%+v, %d records", op, len(h.recorder.Records()))
	}
}
