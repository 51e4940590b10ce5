package client

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/api"
	"atelier/media"
)

// newClient returns a client of a server that answers with h.
func newClient(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := New(Config{URL: srv.URL + "/", Token: "secret-token"})
	if err != nil {
		t.Fatal(err)
	}
	c.Runs.(runs).wait = time.Millisecond
	return c
}

func write(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

func abortAnswer(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// TestWhatCostsHasOneKey: a request whose answer is lost is repeated with the same idempotency key; each other request
// has its own key.
func TestWhatCostsHasOneKey(t *testing.T) {
	t.Parallel()
	var keys []string
	var mu sync.Mutex // guards keys
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if len(keys) == 1 {
			abortAnswer(w)
		}
		w.WriteHeader(http.StatusAccepted)
		write(w, `{"id":"r","status":"running"}`)
	})
	ctx := t.Context()
	for _, do := range []func() error{
		func() error { _, err := c.Runs.StartRun(ctx, "", api.NewRun{Agent: "sage"}); return err },
		func() error { _, err := c.Runs.StartRun(ctx, "mine", api.NewRun{Agent: "sage"}); return err },
		func() error { _, err := c.Runs.AnswerRun(ctx, "r", api.Answer{}); return err },
		func() error { _, err := c.Runs.RetryRun(ctx, "r"); return err },
		func() error { _, err := c.Runs.ForkRun(ctx, "", "r", api.Fork{}); return err },
		func() error { _, err := c.Generations.StartGeneration(ctx, "", api.NewGeneration{}); return err },
		func() error { _, err := c.Generations.RetryGeneration(ctx, "g", true); return err },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if len(keys) != 8 || keys[0] == "" || keys[0] != keys[1] || keys[2] != "mine" {
		t.Fatalf("%q", keys)
	}
	rest := slices.Clone(keys[1:])
	slices.Sort(rest)
	if len(slices.Compact(rest)) != 7 || rest[0] == "" {
		t.Errorf("%q", keys)
	}
}

// TestWhatChangesIsSentOnce: a change without an idempotency key is not repeated; a read is sent maxAttempts times.
func TestWhatChangesIsSentOnce(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		sent.Add(1)
		abortAnswer(w)
	})
	for _, row := range []struct {
		do   func() error
		want int64
	}{
		{func() error { _, err := c.Media.DeleteMedia(t.Context(), "m"); return err }, 1},
		{func() error { _, err := c.Runs.CancelRun(t.Context(), "r"); return err }, 1},
		{func() error { _, err := c.Runs.Run(t.Context(), "r"); return err }, maxAttempts},
	} {
		sent.Store(0)
		// The transport of net/http repeats a read once more by itself on a reused connection.
		if err := row.do(); media.CodeOf(err) != media.CodeUnavailable || sent.Load() < row.want || row.want == 1 && sent.Load() != 1 {
			t.Errorf("sent %d times, want %d: %v", sent.Load(), row.want, err)
		}
	}
}

// TestErrorsHaveTheServersCode: a problem becomes an error with its code, message, valid values and Retry-After.
func TestErrorsHaveTheServersCode(t *testing.T) {
	t.Parallel()
	status, kind, body := 0, "", ""
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret-token" {
			status = http.StatusTeapot
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		write(w, body)
	})
	for _, row := range []struct {
		status     int
		kind, body string
		code       media.Code
		retryable  bool
		valid      int
	}{
		{429, "application/problem+json", `{"code":"rate_limited","detail":"Too much.","retryable":true}`, media.CodeRateLimited, true, 0},
		{404, "application/problem+json", `{"code":"not_found","detail":"Too much.","valid":["a","b"]}`, media.CodeNotFound, false, 2},
		{502, "text/html", `Too much.`, media.CodeUnavailable, true, 0},
		{504, "text/html", `Too much.`, media.CodeUnavailable, true, 0},
		{500, "text/html", `Too much.`, media.CodeBadResponse, false, 0},
		{302, "text/html", `Too much.`, media.CodeBadResponse, false, 0},
	} {
		status, kind, body = row.status, row.kind, row.body
		_, err := c.Runs.Run(t.Context(), "r")
		e, ok := errors.AsType[*media.Error](err)
		if !ok || e.Code != row.code || e.Retryable != row.retryable || len(e.Valid) != row.valid || !strings.Contains(e.Message, "Too much.") {
			t.Errorf("%d: %#v", row.status, err)
		}
		if row.code == media.CodeRateLimited && e.RetryAfter != 7*time.Second {
			t.Errorf("retry after %v", e.RetryAfter)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.Runs.Run(ctx, "r"); media.CodeOf(err) != media.CodeCancelled {
		t.Error(err)
	}
	for _, bad := range []string{"", "127.0.0.1:8484", "ftp://x", "http://", "http://x/?a=b"} {
		if _, err := New(Config{URL: bad}); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestALostStreamIsResumed: a lost stream continues after the last complete event, or after the log position if no
// event came; an event that was cut off is sent again; a refusal ends the stream.
func TestALostStreamIsResumed(t *testing.T) {
	t.Parallel()
	var asked []string
	var mu sync.Mutex // guards asked
	parts := []string{
		"retry: 1500\n\nid: 7\n\n:\n\n",
		"id: 8\nevent: run-started\ndata: {\"run_id\":\"r\",\"tree\":\"r\"}\n\nevent: message-delta\ndata: {\"run_id\":\"r\",\"text\":\"a\"}\n\nid: 9\nevent: turn-started\ndata: {\"run",
		"502", "503", "429", // a proxy and the server, while the server restarts; then many readers return at once
		"id: 9\nevent: turn-started\ndata: {\"run_id\":\"r\"}\n\n",
	}
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n := len(asked)
		asked = append(asked, r.Header.Get("Last-Event-ID"))
		switch {
		case n >= len(parts):
			w.WriteHeader(http.StatusNotFound)
			write(w, `{"code":"not_found","detail":"It is gone."}`)
		case parts[n] == "429":
			w.WriteHeader(http.StatusTooManyRequests)
			write(w, `{"code":"rate_limited","detail":"Too much.","retryable":true}`)
		case len(parts[n]) == 3:
			status, _ := strconv.Atoi(parts[n])
			w.WriteHeader(status)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			write(w, parts[n])
		}
	})
	var kinds []string
	var last error
	for e, err := range c.Events.Follow(t.Context(), "r", -1) {
		if err != nil {
			last = err
			continue
		}
		kinds = append(kinds, e.Kind)
		if e.RunID != "r" {
			t.Errorf("%+v", e)
		}
	}
	if want := []string{"", "7", "8", "8", "8", "8", "9"}; !slices.Equal(asked, want) {
		t.Errorf("asked behind %q, want %q", asked, want)
	}
	if want := []string{"run-started", "message-delta", "turn-started"}; !slices.Equal(kinds, want) || media.CodeOf(last) != media.CodeNotFound {
		t.Errorf("%q, then %v", kinds, last)
	}
}

// TestALoopThatEndsEndsTheStream: leaving the loop ends the stream, and so does the end of its context.
func TestALoopThatEndsEndsTheStream(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 2)
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		write(w, "id: 1\nevent: run-started\ndata: {}\n\n")
		_ = http.NewResponseController(w).Flush() // the reader may be gone
		<-r.Context().Done()
		gone <- struct{}{}
	})
	for range c.Events.Follow(t.Context(), "", 0) {
		break
	}
	<-gone
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var last error
	for _, err := range c.Events.Follow(ctx, "", 0) {
		stop()
		last = err
	}
	<-gone
	if media.CodeOf(last) != media.CodeCancelled {
		t.Error(last)
	}
}

// TestADownloadThatBreaksOffIsAnError: a truncated file or report is an error, not a short file.
func TestADownloadThatBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/media/m" {
			w.Header().Set("Content-Length", "100")
			write(w, "<html>")
			return
		}
		w.Header().Set("ETag", `"sha256-`+strings.Repeat("ab", 32)+`"`)
		length, span := "1", "0-0"
		if r.Header.Get("Range") == "bytes=10-99" {
			length, span = "90", "10-99"
		}
		w.Header().Set("Content-Range", "bytes "+span+"/100")
		w.Header().Set("Content-Length", length)
		w.WriteHeader(http.StatusPartialContent)
		write(w, "x")
	})
	content, err := c.Media.OpenMedia(t.Context(), "m", 0)
	if err != nil || content.Size != 100 {
		t.Fatalf("%+v, %v", content, err)
	}
	in, err := content.Open(t.Context(), 10, -1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(in); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	_ = in.Close()
	if err := c.Runs.WriteReport(t.Context(), "r", nil, io.Discard); media.CodeOf(err) != media.CodeUnavailable {
		t.Error(err)
	}
}

// TestASubActionsStreamIsComplete: a stream that ends without its last event, as when the server stops, is an error; so
// is a start whose stream has no event.
func TestASubActionsStreamIsComplete(t *testing.T) {
	t.Parallel()
	const accepted = "id: 1\nevent: accepted\ndata: {\"type\":\"accepted\",\"data\":{\"metadata_id\":\"s\"}}\n\n"
	body := ""
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) { write(w, body) })
	for stream, want := range map[string]media.Code{
		"": media.CodeUnavailable, accepted: media.CodeUnavailable,
		accepted + "id: 2\nevent: complete\ndata: {\"type\":\"complete\",\"data\":{}}\n\n": "",
		accepted + "id: 2\nevent: error\ndata: {\"type\":\"error\",\"data\":{}}\n\n":       "",
	} {
		body = stream
		var last error
		for _, err := range c.SubActions.FollowSubAction(t.Context(), "s", 0) {
			last = err
		}
		if media.CodeOf(last) != want {
			t.Errorf("%q: %v, want %q", stream, last, want)
		}
		if id, err := c.SubActions.StartSubAction(t.Context(), "r", "k", []byte("{}")); (err == nil) != (id == "s") {
			t.Errorf("%q: started as %q, %v", stream, id, err)
		}
	}
}

// full is a writer on a full disk.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestErrorsNameTheirCause: a file that cannot be written and a response that is not JSON are not reported as a server
// that does not respond.
func TestErrorsNameTheirCause(t *testing.T) {
	t.Parallel()
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) { write(w, "<html>") })
	for _, err := range []error{c.Runs.WriteReport(t.Context(), "r", nil, full{}), c.Media.WriteArchive(t.Context(), []string{"m"}, full{})} {
		if !errors.Is(err, errFull) || strings.Contains(err.Error(), "respond") {
			t.Error(err)
		}
	}
	if _, err := c.Runs.Run(t.Context(), "r"); media.CodeOf(err) != media.CodeBadResponse {
		t.Error(err)
	}
}

// TestALongRangeEndsWithTheItem: a range that is longer than the rest of an item returns the rest.
func TestALongRangeEndsWithTheItem(t *testing.T) {
	t.Parallel()
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"sha256-`+strings.Repeat("ab", 32)+`"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
	})
	content, err := c.Media.OpenMedia(t.Context(), "m", 0)
	if err != nil {
		t.Fatal(err)
	}
	for length, want := range map[int64]string{math.MaxInt64: "23456789", 100: "23456789", 3: "234", 0: ""} {
		in, err := content.Open(t.Context(), 2, length)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(in); err != nil || string(b) != want {
			t.Errorf("%d bytes: %q, %v", length, b, err)
		}
		_ = in.Close()
	}
}
