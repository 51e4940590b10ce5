package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier/ledger"
)

// eventLog is an in-memory source of events.
type eventLog struct {
	mu    sync.Mutex // guards saved
	saved []ledger.Event
	live  chan ledger.Event
}

func (l *eventLog) EventsAfter(_ context.Context, _ string, after int64, _ int) (out []ledger.Event, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.saved {
		if e.Position > after {
			out = append(out, e)
		}
	}
	return out, nil
}

func (l *eventLog) LastPosition(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.saved)), nil
}

func (*eventLog) ConversationOf(context.Context, string) (string, error) { return "c", nil }

func (l *eventLog) Subscribe() (<-chan ledger.Event, func()) { return l.live, func() {} }

func (l *eventLog) save(e ledger.Event) ledger.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Position = int64(len(l.saved) + 1)
	l.saved = append(l.saved, e)
	return e
}

// startHub starts a hub that stops with the test.
func startHub(t *testing.T) (*Hub, *eventLog) {
	t.Helper()
	l := &eventLog{live: make(chan ledger.Event)}
	h := NewHub(l)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return h, l
}

// TestWhoComesBeforeTheHubMissesNothing: a reader who joins before the hub runs gets the events saved until it does.
func TestWhoComesBeforeTheHubMissesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &eventLog{live: make(chan ledger.Event)}
		h := NewHub(l)
		ctx, stop := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		out := newEventWriter(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		go func() { _ = h.stream(ctx, "t", 0, out) }() // it ends with the test
		synctest.Wait()
		l.save(ledger.Event{Tree: "t", RunID: "t", Kind: "run-started"})
		go h.Run(ctx)
		synctest.Wait()
		stop()
		synctest.Wait()
		if text := w.Body.String(); !strings.Contains(text, "id: 1\nevent: run-started\n") {
			t.Errorf("%q", text)
		}
	})
}

// hubReader is a reader with the frames sent to it.
type hubReader struct {
	*eventReader
	sent []frame
}

func joinHub(h *Hub, tree string) *hubReader {
	r, _, _ := h.addReader(tree)
	return &hubReader{eventReader: r}
}

// next returns the reader's next event.
func (r *hubReader) next(t *testing.T) frame {
	t.Helper()
	for len(r.sent) == 0 {
		select {
		case some, ok := <-r.frames:
			if !ok {
				t.Fatal("the reader was dropped")
			}
			r.sent = some
		case <-time.After(time.Minute):
			t.Fatal("no event arrived")
		}
	}
	f := r.sent[0]
	r.sent = r.sent[1:]
	return f
}

func delta(text string, offset int) ledger.Event {
	b, _ := json.Marshal(map[string]any{"text": text, "offset": offset, "partial": true})
	return ledger.Event{Tree: "t", RunID: "t", Kind: kindDelta, Payload: b}
}

// TestMessagesGrow: each part of a message is sent as the message so far, also to a reader who joins late.
func TestMessagesGrow(t *testing.T) {
	t.Parallel()
	h, l := startHub(t)
	r := joinHub(h, "t")
	for _, step := range []struct {
		e    ledger.Event
		want string
	}{
		{delta("Grüße", 0), `"text":"Grüße"`},
		{delta(" 🎨!", 5), `"text":"Grüße 🎨!"`},
		{delta("?", 7), `"text":"Grüße 🎨?"`},
		{delta("Anew", 0), `"text":"Anew"`},
	} {
		l.live <- step.e
		if f := r.next(t); !strings.Contains(string(f.text), step.want) || strings.HasPrefix(string(f.text), "id:") {
			t.Errorf("%s, want %s", f.text, step.want)
		}
	}
	l.live <- delta("lost", 99) // leaves a gap, so it is dropped
	_, now, _ := h.addReader("")
	if len(now) != 1 || !strings.Contains(string(now[0].text), `"text":"Anew"`) {
		t.Errorf("late: %v", now)
	}
	l.live <- l.save(ledger.Event{Tree: "t", RunID: "t", Kind: "run-succeeded", Payload: json.RawMessage(`{"status":"succeeded"}`)})
	if f := r.next(t); f.position != 1 || !strings.HasPrefix(string(f.text), "id: 1\nevent: run-succeeded\ndata: {\"run_id\":\"t\",\"tree\":\"t\",\"conversation_id\":\"c\"") {
		t.Errorf("%s", f.text)
	}
	if _, now, _ := h.addReader(""); len(now) != 0 {
		t.Errorf("after the end: %v", now)
	}
}

// TestNoGapAndNoRepeat: events that another process saved in between are read; events that arrived live are not read
// again.
func TestNoGapAndNoRepeat(t *testing.T) {
	t.Parallel()
	h, l := startHub(t)
	r := joinHub(h, "")
	event := ledger.Event{Tree: "t", RunID: "t", Kind: "warning", Payload: json.RawMessage(`{}`)}
	l.live <- ledger.Event{Tree: "t", RunID: "t", Kind: "operation-progress"} // received only once the hub runs
	r.next(t)
	first := l.save(event)
	l.save(event) // by another process
	third := l.save(event)
	l.live <- first
	l.live <- third
	l.live <- first
	l.save(event) // by another process, with no event after it
	for want := int64(1); want <= 4; want++ {
		if f := r.next(t); f.position != want {
			t.Errorf("position %d, want %d", f.position, want)
		}
	}
}

// hubOfMany starts a hub with a thousand readers of another tree.
func hubOfMany(t *testing.T) (*Hub, *eventLog) {
	t.Helper()
	h, l := startHub(t)
	for range 1000 {
		h.addReader("of others")
	}
	synctest.Wait()
	return h, l
}

// TestSlowReadersAreDropped: a slow reader is dropped and delays no other reader.
func TestSlowReadersAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, l := startHub(t)
		slow, _, _ := h.addReader("")
		other := joinHub(h, "elsewhere")
		for range readerBuffer + 1 {
			l.live <- ledger.Event{Tree: "t", RunID: "t", Kind: "operation-progress"}
			time.Sleep(time.Millisecond)
		}
		l.live <- ledger.Event{Tree: "elsewhere", RunID: "e", Kind: "warning"}
		other.next(t)
		n := 0
		for range slow.frames {
			n++
		}
		if n != readerBuffer {
			t.Errorf("%d sends before the end, want %d", n, readerBuffer)
		}
	})
}

// TestAFewReadersDoNotWait: an event is sent immediately, unless another was sent within minSendInterval.
func TestAFewReadersDoNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, l := startHub(t)
		r := joinHub(h, "")
		time.Sleep(time.Second)
		began := time.Now()
		for range 2 {
			l.live <- l.save(ledger.Event{Tree: "t", RunID: "t", Kind: "warning"})
		}
		for want, after := range []time.Duration{0, minSendInterval} {
			if f := r.next(t); f.position != int64(want+1) || time.Since(began) != after {
				t.Errorf("event %d after %s, want %d after %s", f.position, time.Since(began), want+1, after)
			}
		}
	})
}

// TestEventsOfOneMomentAreSentTogether: many readers get concurrent events in one batch, in order, and only the events
// of their tree; a reader who joins meanwhile gets none of them twice.
func TestEventsOfOneMomentAreSentTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, l := hubOfMany(t)
		all, one := joinHub(h, ""), joinHub(h, "b")
		began := time.Now()
		send := func(trees ...string) {
			for _, tree := range trees {
				l.live <- l.save(ledger.Event{Tree: tree, RunID: tree, Kind: "warning"})
			}
			synctest.Wait()
		}
		send("a", "b")
		want := func(after time.Duration, r *hubReader, positions ...int64) {
			t.Helper()
			for _, p := range positions {
				if f := r.next(t); f.position != p || time.Since(began) != after {
					t.Errorf("event %d after %s, want %d after %s", f.position, time.Since(began), p, after)
				}
			}
			if len(r.sent) > 0 {
				t.Errorf("%d more at once", len(r.sent))
			}
		}
		want(1002*batchDelay, all, 1, 2)
		send("a", "b")
		want(1002*(batchDelay+minSendInterval), all, 3, 4)
		want(1002*(batchDelay+minSendInterval), one, 2)
		want(1002*(batchDelay+minSendInterval), one, 4)
		l.live <- delta("Once", 0)
		l.live <- delta(" more", 4)
		synctest.Wait() // the hub holds both and waits for more
		_, now, _ := h.addReader("t")
		if len(now) != 1 || !strings.Contains(string(now[0].text), "Once more") {
			t.Errorf("late: %v", now)
		}
		if f := all.next(t); !strings.Contains(string(f.text), `"Once"`) {
			t.Errorf("%s", f.text)
		}
		if f := all.next(t); !strings.Contains(string(f.text), "Once more") {
			t.Errorf("%s", f.text)
		}
	})
}

// TestPreviewsHaveAnAddress: a preview has no id, so its URL contains its digest.
func TestPreviewsHaveAnAddress(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{"output":{"digest":"sha256-ab","width":3}}`: `{"output":{"digest":"sha256-ab","url":"/media/sha256-ab","width":3}}`,
		`{"output":{"id":"1","digest":"sha256-ab"}}`:  `{"output":{"id":"1","digest":"sha256-ab"}}`,
		`{"note":"x"}`: `{"note":"x"}`,
		`7`:            `7`,
	} {
		if got := string(withPreviewURL(json.RawMessage(payload))); got != want {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
	}
}

// TestTheHeadOfAStreamEnds: a HEAD request for a stream gets its headers and does not occupy the connection.
func TestTheHeadOfAStreamEnds(t *testing.T) {
	t.Parallel()
	h, l := startHub(t)
	l.save(ledger.Event{RunID: "t", Tree: "t", Kind: "run-started", Payload: json.RawMessage(`{}`)})
	s := New(Config{Events: func(context.Context) *Hub { return h }})
	for _, path := range []string{"/api/events", "/api/runs/t/events?after=0"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodHead, "http://localhost"+path, nil))
		if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") || w.Body.Len() > 0 {
			t.Errorf("%s: %d %s %q", path, w.Code, kind, w.Body)
		}
	}
}

// revocable are secrets that can be revoked while requests use them.
type revocable struct {
	secrets
	revoked atomic.Bool
}

func (r *revocable) Identify(ctx context.Context, secret string) (Identity, error) {
	if r.revoked.Load() {
		return secrets{}.Identify(ctx, secret)
	}
	return r.secrets.Identify(ctx, secret)
}

// TestAStreamEndsWithItsToken: a stream ends at the heartbeat after its token was revoked.
func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := startHub(t)
		tokens := &revocable{secrets: secrets{"s": {Name: "n", Owner: "o", Scope: ScopeRead}}}
		s := New(Config{Tokens: tokens, Events: func(context.Context) *Hub { return h }})
		var ended atomic.Bool
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/events", nil)
			r.Header.Set("Authorization", "Bearer s")
			s.ServeHTTP(httptest.NewRecorder(), r)
			ended.Store(true)
		}()
		time.Sleep(10 * heartbeat)
		synctest.Wait()
		if ended.Load() {
			t.Fatal("the stream of a valid token ended")
		}
		tokens.revoked.Store(true)
		time.Sleep(heartbeat)
		synctest.Wait()
		if !ended.Load() {
			t.Error("the stream of a revoked token continues")
		}
	})
}
