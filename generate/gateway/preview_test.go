package gateway_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// linkServer serves links to a picture, to text, to nothing, or to a fetch that never ends.
type linkServer struct {
	mu     sync.Mutex // guards asked and scopes
	asked  []string
	scopes []string // the operations of the fetches
}

func (p *linkServer) fetch(ctx context.Context, url string) (io.ReadCloser, string, error) {
	p.mu.Lock()
	p.asked, p.scopes = append(p.asked, url), append(p.scopes, media.ScopeOf(ctx).Operation)
	p.mu.Unlock()
	switch url {
	case "nowhere":
		return nil, "", media.Errorf(media.CodeNotFound, "nothing here")
	case "endless":
		<-ctx.Done()
		return nil, "", ctx.Err()
	case "text":
		return io.NopCloser(bytes.NewReader([]byte("no picture at all"))), "image/png", nil
	}
	return io.NopCloser(bytes.NewReader(generatetest.PNG(70, 70, url[0]))), "image/png", nil
}

// TestPreviewsOfATask: every new link is fetched once and shown; a failed fetch is skipped and affects neither the
// result nor the order of the previews.
func TestPreviewsOfATask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, taskPreviews)
}

func taskPreviews(t *testing.T) {
	t.Helper()
	links := []string{"", "a", "a", "nowhere", "text", "a?again", "b", "endless", "b"}
	for _, wanted := range []bool{true, false} {
		var shown []int
		var frames []media.Digest
		p := &linkServer{}
		h := build(t, func(h *testGateway, c *gateway.Config) {
			c.Partials, c.Fetch = wanted, p.fetch
			c.Events = func(_ context.Context, e generate.Event) {
				if e.Kind == generate.EventPartial {
					shown, frames = append(shown, e.Slot, e.Sequence), append(frames, e.Partial.Digest)
				}
			}
			h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
				return driver.Update{Task: driver.Handle{ID: "t"}}, nil
			}
			h.openai.OnPoll = func(_ context.Context, _ driver.Task, at driver.Handle, number int) (driver.Update, error) {
				if number <= len(links) {
					return driver.Update{Task: at, Preview: links[number-1]}, nil
				}
				return driver.Update{Task: at, Done: true, Items: []driver.Item{{URL: "z"}}}, nil
			}
		})
		got := h.must(t, generate.Request{Model: "GPT Image 2"})
		if got.Status != generate.StatusSucceeded || len(got.Warnings) > 0 || got.Usage.Calls != 1 || len(h.recorder.Records()) != 1 {
			t.Errorf("wanted %v: %+v, %d records", wanted, got, len(h.recorder.Records()))
		}
		asked, order := []string{"z"}, []int(nil)
		if wanted {
			asked, order = []string{"a", "nowhere", "text", "a?again", "b", "endless", "b", "z"}, []int{1, 1, 1, 2}
		}
		if d := cmp.Diff(asked, p.asked) + cmp.Diff(order, shown); d != "" {
			t.Errorf("wanted %v: fetched and shown (-want +got):\n%s", wanted, d)
		}
		if last := len(p.scopes) - 1; p.scopes[last] != got.Operation || slices.Contains(p.scopes[:last], got.Operation) {
			t.Errorf("wanted %v: the operations of the fetches are %q: a preview is none of its results", wanted, p.scopes)
		}
		if slices.Contains(frames, got.Slots[0].Output.Digest) {
			t.Error("the result was shown as a preview")
		}
	}
}

// TestLastPreviewOfATaskIsKept: the last preview is kept if the task ends without its picture.
func TestLastPreviewOfATaskIsKept(t *testing.T) {
	t.Parallel()
	p := &linkServer{}
	h := build(t, func(h *testGateway, c *gateway.Config) {
		c.Partials, c.Fetch = true, p.fetch
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "t"}}, nil
		}
		h.openai.OnPoll = func(_ context.Context, _ driver.Task, at driver.Handle, number int) (driver.Update, error) {
			if number == 1 {
				return driver.Update{Task: at, Preview: "a"}, nil
			}
			return driver.Update{}, media.Errorf(media.CodeNotFound, "the task is gone")
		}
	})
	got := h.must(t, generate.Request{Model: "GPT Image 2"})
	kept := h.recorder.Records()
	if got.Status != generate.StatusFailed || len(kept) != 1 || !kept[0].Partial || kept[0].Digest != media.DigestOf(generatetest.PNG(70, 70, 'a')) {
		t.Errorf("%s, %+v", got.Status, kept)
	}
}

// TestPreviewOfALeftTask: the preview of a result that is left to be fetched is no result in its place.
func TestPreviewOfALeftTask(t *testing.T) {
	t.Parallel()
	p := &linkServer{}
	h := build(t, func(h *testGateway, c *gateway.Config) {
		c.Partials = true
		c.Fetch = func(ctx context.Context, url string) (io.ReadCloser, string, error) {
			if url == "z" {
				return nil, "", unreachable(url)
			}
			return p.fetch(ctx, url)
		}
		h.openai.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			return driver.Update{Task: driver.Handle{ID: "t"}}, nil
		}
		h.openai.OnPoll = func(_ context.Context, _ driver.Task, at driver.Handle, number int) (driver.Update, error) {
			if number == 1 {
				return driver.Update{Task: at, Preview: "a"}, nil
			}
			return driver.Update{Task: at, Done: true, Items: []driver.Item{{URL: "z"}}}, nil
		}
	})
	left := h.must(t, generate.Request{Model: "GPT Image 2"})
	if s := left.Slots[0]; left.Status != generate.StatusRunning || len(h.recorder.Records()) != 0 || strings.Contains(s.Error.Message, "preview") {
		t.Errorf("%s, %v, %d records", left.Status, s.Error, len(h.recorder.Records()))
	}
	got, err := h.successor(t, func(c *gateway.Config) { c.Fetch = p.fetch }).Resume(t.Context(), left.Operation)
	if err != nil || got.Status != generate.StatusSucceeded || len(h.recorder.Records()) != 1 {
		t.Errorf("%+v, %v, %d records", got, err, len(h.recorder.Records()))
	}
}
