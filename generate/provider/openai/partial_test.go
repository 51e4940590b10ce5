package openai_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/provider/openai"
	"atelier/media"
)

// frame returns one event of a stream: a preview or the whole picture, in the given shade.
func frame(kind string, index int, shade uint8) string {
	picture := base64.StdEncoding.EncodeToString(generatetest.PNG(70, 70, shade))
	return fmt.Sprintf("data: {\"type\":\"image_generation.%s\",\"b64_json\":%q,\"partial_image_index\":%d,\"output_format\":\"png\"}\n\n", kind, picture, index)
}

func digest(shade uint8) media.Digest { return media.DigestOf(generatetest.PNG(70, 70, shade)) }

// streaming generates a picture through a gateway over a stream and returns the result, the events and the records.
func streaming(t *testing.T, body string) (got *generate.Result, events []generate.Event, records []media.Output, calls int) {
	t.Helper()
	h, count := answer(200, map[string]string{"Content-Type": "text/event-stream"}, body)
	base := sim.Serve(t, h)
	codec := wiretest.NewCodec(t)
	d, err := openai.New(openai.Config{APIKey: "k", BaseURL: base + "/v1", Codec: codec})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	recorder := &generatetest.Recorder{}
	g, err := gateway.New(gateway.Config{
		Drivers: []driver.Driver{d}, Storage: codec, Recorder: recorder, Journal: &generatetest.Journal{}, Partials: true, Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		Events: func(_ context.Context, e generate.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err = g.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a fox"})
	if err != nil {
		t.Fatal(err)
	}
	return got, events, recorder.Records(), int(count.Load())
}

// shown lists the slot and the sequence of the preview events.
func shown(events []generate.Event) (order [][2]int, digests []media.Digest) {
	for _, e := range events {
		if e.Kind == generate.EventPartial {
			order, digests = append(order, [2]int{e.Slot, e.Sequence}), append(digests, e.Partial.Digest)
		}
	}
	return order, digests
}

// TestPartialsThenError: the newest preview is kept and marked, and the call is not repeated, whatever ends it.
func TestPartialsThenError(t *testing.T) {
	t.Parallel()
	two := frame("partial_image", 0, 1) + frame("partial_image", 1, 2)
	for name, end := range map[string]string{
		"error":          `data: {"type":"error","error":{"message":"gone","code":"server_error"}}` + "\n\n",
		"rate limit":     `data: {"type":"error","error":{"message":"slow","code":"rate_limit_exceeded"}}` + "\n\n",
		"moderated":      `data: {"type":"error","error":{"message":"no","code":"moderation_blocked"}}` + "\n\n",
		"cut":            `data: {"type":"image_gen`,
		"nothing":        "",
		"not the newest": frame("partial_image", 0, 9) + `data: {"type":"error","error":{"message":"gone","code":"server_error"}}` + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, events, records, calls := streaming(t, two+end)
			if calls != 1 || got.Slots[0].Output != nil || got.Slots[0].Error == nil || got.Slots[0].Error.Retryable && name != "moderated" {
				t.Errorf("%d calls, slot %+v", calls, got.Slots[0])
			}
			if len(records) != 1 || !records[0].Partial || records[0].Digest != digest(2) || !strings.Contains(got.Slots[0].Error.Message, string(records[0].Ref)) {
				t.Errorf("kept %v, want the second preview, named by %v", records, got.Slots[0].Error)
			}
			order, digests := shown(events)
			if diff := cmp.Diff([][2]int{{1, 1}, {1, 2}}, order); diff != "" || !slices.Equal(digests, []media.Digest{digest(1), digest(2)}) {
				t.Errorf("previews (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFinalAlwaysArrives: previews in any order, even after the picture, do not replace it, and none goes to a slot
// that does not exist.
func TestFinalAlwaysArrives(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want [][2]int
	}{
		"in order":    {frame("partial_image", 0, 1) + frame("partial_image", 1, 2) + frame("completed", 0, 7), [][2]int{{1, 1}, {1, 2}}},
		"swapped":     {frame("partial_image", 1, 2) + frame("partial_image", 0, 1) + frame("completed", 0, 7), [][2]int{{1, 1}}},
		"late":        {frame("completed", 0, 7) + frame("partial_image", 0, 1), nil},
		"only":        {frame("completed", 0, 7), nil},
		"then an end": {frame("partial_image", 0, 1) + frame("completed", 0, 7) + `data: {"type":"error","error":{"message":"gone","code":"server_error"}}` + "\n\n", [][2]int{{1, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, events, records, calls := streaming(t, c.body)
			o := got.Slots[0].Output
			if got.Status != generate.StatusSucceeded || o == nil || o.Digest != digest(7) || o.Partial || len(records) != 1 || calls != 1 {
				t.Errorf("status %s, slots %+v, records %v", got.Status, got.Slots, records)
			}
			order, _ := shown(events)
			if diff := cmp.Diff(c.want, order); diff != "" {
				t.Errorf("previews (-want +got):\n%s", diff)
			}
		})
	}
}

// TestErrorAfterPreviewIsUnsettled: an error after a preview is unsettled, because previews are billed.
func TestErrorAfterPreviewIsUnsettled(t *testing.T) {
	t.Parallel()
	h, _ := answer(200, map[string]string{"Content-Type": "text/event-stream"},
		frame("partial_image", 0, 1)+`data: {"type":"error","error":{"message":"slow","code":"rate_limit_exceeded"}}`+"\n\n")
	_, err := newDriver(t, h, "k").Start(t.Context(), task(func(q *driver.Task) { q.Partial = func(int, media.Blob) {} }))
	if media.Retryable(err) || !errors.Is(err, driver.ErrUnsettled) || media.CodeOf(err) != media.CodeRateLimited {
		t.Errorf("Start: %v", err)
	}
}

// TestManyPreviews: previews do not count as results, so the picture is accepted even after hundreds of them.
func TestManyPreviews(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 600 {
		body.WriteString(frame("partial_image", i, byte(i)))
	}
	body.WriteString(frame("completed", 0, 200) + "data: [DONE]\n\n")
	got, _, _, _ := streaming(t, body.String())
	if got.Status != generate.StatusSucceeded || got.Outputs()[0].Digest != digest(200) {
		t.Errorf("%s: %v", got.Status, got.Err())
	}
}

// TestHowAStreamEnded: an error says that the stream ended early only if it did.
func TestHowAStreamEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, says string
		early      bool
	}{
		"no result":     {"data: {\"type\":\"image_generation.started\"}\n\ndata: [DONE]\n\n", "without a result", false},
		"one huge line": {"data: {\"type\":\"" + strings.Repeat("x ", 1<<20) + "\"}\n\n", "longer than 1 MiB", false},
		"cut":           {"data: {\"type\":\"image_gen", "was truncated", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, _, calls := streaming(t, c.body)
			e := got.Slots[0].Error
			if e == nil || !strings.Contains(e.Message, c.says) || strings.Contains(e.Message, "was truncated") != c.early || calls != 1 || got.Usage.Unsettled != 1 {
				t.Errorf("%+v, %d calls, %d unsettled", e, calls, got.Usage.Unsettled)
			}
		})
	}
}
