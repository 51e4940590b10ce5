package post_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/internal/post"
	"atelier/journal"
	"atelier/media"
)

// carrying is a client of X over a relay, with the number of requests that came there.
func carrying(t *testing.T) (*post.Client, *generatetest.Relay, *atomic.Int32) {
	t.Helper()
	came := &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"words":"hello"}`)) // a client that is gone needs no answer
	}))
	t.Cleanup(srv.Close)
	relay := &generatetest.Relay{}
	c, err := post.New(post.Config{
		Name: "X", BaseURL: srv.URL, BaseVariable: "X_BASE_URL", Codec: generatetest.NewCodec(t), Explain: explain,
		Storage: "X's storage", Uploads: http.DefaultTransport, Base: relay.Transport(nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, relay, came
}

// TestOnlyWhatMayBeBilledIsCarried: a relay knows of a call as soon as something was posted that may be
// billed, and of nothing before it.
func TestOnlyWhatMayBeBilledIsCarried(t *testing.T) {
	t.Parallel()
	c, relay, came := carrying(t)
	if c.Relay() != journal.Relay(relay) {
		t.Errorf("its relay is %v", c.Relay())
	}
	if r := provider(t, http.StatusOK, nil, "{}").Relay(); r != nil {
		t.Errorf("without one it is %v", r)
	}
	for name, call := range map[string]struct {
		call post.Call
		fate journal.Fate
	}{
		"a question":                {post.Call{}, journal.FateUnsent},
		"a post that costs nothing": {post.Call{Body: post.Body{}, Free: true}, journal.FateUnsent},
		"a call":                    {post.Call{Body: post.Body{}}, journal.FateAnswered},
	} {
		if err := relay.Prepare("c"); err != nil {
			t.Fatal(err)
		}
		before := came.Load()
		call.call.Path, call.call.Into = "/x", &said{}
		if _, err := c.Do(journal.WithCarried(t.Context(), &journal.Carried{ID: "c"}), call.call); err != nil || came.Load() != before+1 {
			t.Errorf("%s: %v, %d requests", name, err, came.Load()-before)
		}
		if fate := relay.Fate(t.Context(), "c"); fate != call.fate {
			t.Errorf("%s: fate %d, want %d", name, fate, call.fate)
		}
		relay.Forget("c")
	}
	if _, err := c.Do(t.Context(), post.Call{Path: "/x", Body: post.Body{}, Into: &said{}}); err != nil || len(relay.Known()) > 0 {
		t.Errorf("a call that nobody prepared: %v, the relay has %q", err, relay.Known())
	}
}

// TestRecallSendsNothing: what is recalled needs neither the pictures of its request nor their upload, and a call that
// is not there is one that may have been billed.
func TestRecallSendsNothing(t *testing.T) {
	t.Parallel()
	c, relay, came := carrying(t)
	ctx := func(id string) context.Context {
		return journal.WithCarried(media.WithScope(t.Context(), media.Scope{Tree: "run-1"}), &journal.Carried{ID: id, Recalled: true})
	}
	missing := media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("nobody stored this")), SizeBytes: 18}, media.Meta{}).Blob
	if id, err := c.Upload(ctx("c"), missing, post.Call{Path: "/leave", Body: post.Body{}}, &post.Leave{}); id != "" || err != nil {
		t.Errorf("Upload: %q, %v", id, err)
	}
	relay.Keep("c", generatetest.Kept{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"words":"kept"}`)})
	var got said
	body := post.Body{"image": c.Token(ctx("c"), missing)}
	if _, err := c.Do(ctx("c"), post.Call{Path: "/x", Body: body, Into: &got}); err != nil || got.Words != "kept" {
		t.Errorf("Do: %+v, %v", got, err)
	}
	_, err := c.Do(ctx("another"), post.Call{Path: "/x", Body: post.Body{}, Into: &got})
	if media.Retryable(err) || !errors.Is(err, generate.ErrUnsettled) || came.Load() > 0 {
		t.Errorf("a call that is not there: %v, %d requests", err, came.Load())
	}
}
