package safehttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier/media"
)

// call posts to a URL as a provider's client does, and reads the answer.
func call(t *testing.T, c *http.Client, url string) (status int, body string, err error) {
	t.Helper()
	t.Cleanup(c.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("prompt"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Goog-Api-Key", "secret")
	res, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), errors.Join(err, res.Body.Close())
}

// TestProvidersDoNotTrustEachOther: an address of this machine that one provider may reach is blocked for another one,
// and for fetches.
func TestProvidersDoNotTrustEachOther(t *testing.T) {
	t.Parallel()
	a := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a") })
	b := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "b") })
	ofA, ofB := NewProvider(Provider{Name: "A", Origin: a + "/v1"}), NewProvider(Provider{Name: "B", Origin: b})
	for name, c := range map[string]struct {
		by  *http.Client
		url string
		ok  bool
	}{
		"own":                 {ofA, a + "/elsewhere", true},
		"own, of B":           {ofB, b, true},
		"A at B's":            {ofA, b, false},
		"B at A's":            {ofB, a, false},
		"no origin":           {NewProvider(Provider{Name: "C"}), a, false},
		"own, after one more": {ofA, a, true},
	} {
		_, body, err := call(t, c.by, c.url)
		if c.ok && (err != nil || body == "") || !c.ok && media.CodeOf(err) != media.CodeBlockedAddress {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	if _, err := get(t.Context(), client(t, Config{}), a); media.CodeOf(err) != media.CodeBlockedAddress {
		t.Errorf("a fetch: %v", err)
	}
}

func TestProvidersFollowNoRedirect(t *testing.T) {
	t.Parallel()
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed to another origin") })
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, other, http.StatusTemporaryRedirect)
		case "/stay":
			http.Redirect(w, r, "/there", http.StatusPermanentRedirect)
		default:
			t.Error("a redirect was followed on its origin")
		}
	})
	c := NewProvider(Provider{Name: "X", Origin: base})
	for path, want := range map[string]int{"/out": 307, "/stay": 308} {
		if status, _, err := call(t, c, base+path); status != want || err != nil {
			t.Errorf("%s: %d, %v", path, status, err)
		}
	}
}

// endlessBody is a body that never ends.
type endlessBody struct{ read int64 }

func (e *endlessBody) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

// answering is a transport whose answer has the body that it returns.
type answering func() io.ReadCloser

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: a(), Request: req}, nil
}

func TestProviderAnswersAreBounded(t *testing.T) {
	t.Parallel()
	var e *endlessBody
	c := NewProvider(Provider{Name: "X", Setting: "X_MAX", Base: answering(func() io.ReadCloser { e = &endlessBody{}; return io.NopCloser(e) })})
	_, body, err := call(t, c, "http://x.example")
	if len(body) != DefaultAnswer || e.read > 2*DefaultAnswer || media.CodeOf(err) != media.CodeTooLarge || media.Retryable(err) || !strings.Contains(err.Error(), "16 MiB, the limit of X_MAX") {
		t.Errorf("%d bytes given, %d read: %v", len(body), e.read, err)
	}
	for n, want := range map[int]media.Code{9: "", 10: "", 11: media.CodeTooLarge} {
		c := NewProvider(Provider{Name: "X", MaxAnswer: 10, Base: answering(func() io.ReadCloser { return io.NopCloser(strings.NewReader(strings.Repeat("x", n))) })})
		if _, body, err := call(t, c, "http://x.example"); len(body) != min(n, 10) || media.CodeOf(err) != want {
			t.Errorf("%d bytes: %d, %v", n, len(body), err)
		}
	}
}

// blockedBody is a body that returns some bytes slowly, and then blocks until its request ends.
type blockedBody struct {
	ctx   context.Context //nolint:containedctx // it belongs to the request
	after int
}

func (s *blockedBody) Read(p []byte) (int, error) {
	if s.after--; s.after >= 0 {
		time.Sleep(silenceTimeout - time.Second)
		p[0] = 'x'
		return 1, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

type blockingTransport int

func (s blockingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&blockedBody{req.Context(), int(s)}), Request: req}, nil
}

// TestAnswerThatStopsEnds: a silent answer ends with an error; a slow one does not.
func TestAnswerThatStopsEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x.example", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		res, err := watched(blockingTransport(3), req, silenceTimeout)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if took := time.Since(began); string(b) != "xxx" || !errors.Is(err, errSilent) || took > 4*silenceTimeout || res.Body.Close() != nil {
			t.Errorf("%q after %s: %v", b, took, err)
		}
	})
	if g := shared(); g.open.ResponseHeaderTimeout != headerTimeout || g.closed.ResponseHeaderTimeout != headerTimeout {
		t.Error("nothing bounds the wait for a head")
	}
}
