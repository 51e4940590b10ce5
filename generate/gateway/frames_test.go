package gateway_test

import (
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
)

// TestFramesOfADeadProcess: a picture left by a process that requested previews may be a preview. The process that
// continues, with or without previews, keeps the newest one as a preview and never returns it as the result. If no
// previews were requested, the picture is the result.
func TestFramesOfADeadProcess(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{true, false} {
		for _, asks := range []bool{true, false} {
			h := build(t, func(_ *testGateway, c *gateway.Config) { c.Partials = asked })
			op := interruptedOperation(t, h, generate.Request{Model: "gpt-image-2", Prompt: "a house"}, operation.Attempt{ID: "a", Call: 1, Number: 1, Status: generate.StatusSubmitted})
			var last media.Blob
			for side := range 2 {
				last = generatetest.Stored(t.Context(), t, h.codec, generatetest.PNG(70+side, 70, 9))
				h.log.Unassigned = append(h.log.Unassigned, last)
			}
			if !asked {
				h.log.Unassigned = h.log.Unassigned[1:]
			}
			got, err := h.successor(t, func(c *gateway.Config) { c.Partials = asks }).Resume(t.Context(), op)
			if err != nil {
				t.Fatal(err)
			}
			records := h.recorder.Records()
			if len(records) != 1 || records[0].Digest != last.Digest || records[0].Partial != asked {
				t.Errorf("asked %v, asks %v: recorded %v", asked, asks, records)
			}
			if asked != (got.Status == generate.StatusFailed && got.Usage.Unsettled == 1) || asked != (len(got.Outputs()) == 0) {
				t.Errorf("asked %v, asks %v: %+v", asked, asks, got)
			}
			if e := got.Slots[0].Error; asked && (e == nil || !strings.Contains(e.Message, "the last preview was kept")) {
				t.Errorf("asks %v: %+v", asks, e)
			}
		}
	}
}
