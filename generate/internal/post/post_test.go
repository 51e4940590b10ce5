package post_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

func TestClean(t *testing.T) {
	t.Parallel()
	c, err := post.New(post.Config{Name: "X", Config: driver.Config{APIKey: "sk-very-secret", Codec: wiretest.NewCodec(t)}})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"a\n  b\tc":                 "a b c",
		"key sk-very-secret is bad": "key [key] is bad",
		"x " + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 8): "x [base64, 192 characters]",
		strings.Repeat("ü ", 200):                            strings.TrimSuffix(strings.Repeat("ü ", 100), "") + "…",
	} {
		if got := c.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// clientOf returns a client of a server.
func clientOf(t *testing.T, base string) *post.Client {
	t.Helper()
	c, err := post.New(post.Config{Name: "X", BaseVariable: "X_BASE_URL", Config: driver.Config{BaseURL: base, APIKey: "hush-hush-hush", Codec: wiretest.NewCodec(t)}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/a", http.RedirectHandler("/b", http.StatusTemporaryRedirect))
	mux.HandleFunc("/b", func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	c := clientOf(t, srv.URL)
	a, err := c.Send(t.Context(), srv.URL+"/a", "body")
	if err != nil || a.Status != http.StatusTemporaryRedirect || a.Broken != nil {
		t.Errorf("answer %+v, error %v", a, err)
	}
}

func TestUnusableCalls(t *testing.T) {
	t.Parallel()
	c := clientOf(t, "")
	for name, f := range map[string]func() error{
		"address": func() error { _, err := c.Send(t.Context(), "http://[hush-hush-hush", 1); return err },
		"body":    func() error { _, err := c.Send(t.Context(), "http://localhost", func() {}); return err },
	} {
		err := f()
		if media.CodeOf(err) != media.CodeInvalid || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPossiblyBilledCallsAreReported: the error of a call that may have been billed says so, for callers that count
// money.
func TestPossiblyBilledCallsAreReported(t *testing.T) {
	t.Parallel()
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>")) // the client may have disconnected
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		closed  bool
		want    bool
	}{
		"nobody there":      {handler: page(200), closed: true},
		"closed connection": {handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: true},
		"refused key":       {handler: page(401)}, "refused account": {handler: page(403)}, "too many": {handler: page(429)},
		"gateway page": {handler: page(502), want: true}, "web page": {handler: page(200), want: true},
		"half an answer": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"data":[`)) // truncated on purpose
		}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(c.handler)
			t.Cleanup(srv.Close)
			if c.closed {
				srv.Close()
			}
			p := clientOf(t, srv.URL)
			a, err := p.Send(t.Context(), srv.URL, "body")
			if err == nil {
				var v any
				if err = p.Decode(a, &v); a.Cut() {
					err = p.Lost(t.Context(), a.Broken, 0)
				}
			}
			if err == nil || errors.Is(err, driver.ErrUnsettled) != c.want || c.want && media.Retryable(err) {
				t.Errorf("unsettled %v, retryable %v: %v", errors.Is(err, driver.ErrUnsettled), media.Retryable(err), err)
			}
		})
	}
}

// TestAbandonedCallMayBeBilled: a cancelled call may have been billed, even if the cause of the cancellation has
// its own code.
func TestAbandonedCallMayBeBilled(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is the closed connection noticed
		close(arrived)
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(media.Errorf(media.CodeCancelled, "the run was cancelled"))
	}()
	c := clientOf(t, srv.URL)
	_, err := c.Send(ctx, srv.URL, "body")
	if media.CodeOf(err) != media.CodeCancelled || !errors.Is(err, driver.ErrUnsettled) {
		t.Errorf("%v", err)
	}
}

// TestAnswersThatAreTooLong: a billed answer, an error and a free answer are cut off at the limit and not retried.
func TestAnswersThatAreTooLong(t *testing.T) {
	t.Parallel()
	long := []byte(strings.Repeat("far too much ", 80_000))
	for _, status := range []int{200, 400, 429, 500, 503} {
		for _, body := range []any{nil, post.Body{"a": 1}} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, err := io.WriteString(w, `{"error":"`)
				for range 40 {
					if err == nil {
						_, err = w.Write(long)
					}
				}
			}))
			t.Cleanup(srv.Close)
			c, err := post.New(post.Config{Name: "X", Config: driver.Config{BaseURL: srv.URL, Codec: wiretest.NewCodec(t)}, Explain: func(*post.Answer) (post.Fault, bool) { return post.Fault{}, false }})
			if err != nil {
				t.Fatal(err)
			}
			var into struct{}
			_, err = c.Do(t.Context(), post.Call{Path: "/", Body: body, Of: "it", Into: &into})
			if media.CodeOf(err) != media.CodeTooLarge || media.Retryable(err) || len(err.Error()) > 1000 || errors.Is(err, driver.ErrUnsettled) != (body != nil) {
				t.Errorf("%d, %v: unsettled %v, %.1100v", status, body, errors.Is(err, driver.ErrUnsettled), err)
			}
		}
	}
}
