//go:build unix

package relay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/internal/safehttp"
	"atelier/journal"
)

// seen is what a provider gets.
type seen struct {
	URI, Host, Sum string
	Header         http.Header
	Length         int64
	Encoding       []string
}

func look(r *http.Request) (s seen, body []byte) {
	body, _ = io.ReadAll(r.Body)
	return seen{r.RequestURI, r.Host, fmt.Sprintf("%x", sha256.Sum256(body)), r.Header, r.ContentLength, r.TransferEncoding}, body
}

// echo answers with what it got, and as the case wants.
func echo(answer func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s, _ := look(r)
		b, _ := json.Marshal(s)
		w.Header()["Date"] = nil
		w.Header().Set("Content-Type", "application/json")
		if answer != nil {
			answer(w, r)
		}
		if w.Header().Get("Content-Encoding") != "" {
			z := gzip.NewWriter(w)
			_, _ = z.Write(b)
			_ = z.Close()
			return
		}
		_, _ = w.Write(b)
	}
}

func zipped(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Encoding", r.Header.Get("Accept-Encoding"))
}

// TestIdentical makes each request without a relay and with one, and has it recalled.
func TestIdentical(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path   string
		body   io.Reader
		change func(r *http.Request)
		answer func(w http.ResponseWriter, r *http.Request)
	}{
		"plain":         {path: "/v1/images?n=2&q=a+b%20c", body: strings.NewReader(`{"prompt":"a cat"}`)},
		"escapes":       {path: "/a%2Fb//c%20d/ü?x=%26&x=;&empty", body: strings.NewReader("x")},
		"question mark": {path: "?", body: strings.NewReader("x")},
		"no path":       {body: strings.NewReader("x")},
		"no body":       {path: "/"},
		"empty body":    {path: "/", body: strings.NewReader("")},
		"unknown empty": {path: "/", body: io.MultiReader()},
		"unknown":       {path: "/", body: io.MultiReader(strings.NewReader("unknown"))},
		"unknown large": {path: "/", body: io.MultiReader(strings.NewReader(strings.Repeat("large", 300_000)))},
		"limit":         {path: "/", body: strings.NewReader(strings.Repeat("x", 1<<20))},
		"header": {path: "/", body: strings.NewReader("x"), change: func(r *http.Request) {
			r.Host = "api.example.com"
			r.Header = http.Header{"Authorization": {"Bearer k"}, "X-Many": {"a", "b", ""}, "User-Agent": {"me"}, "Cookie": {"a=b"}}
		}},
		"no user agent": {path: "/", body: strings.NewReader("x"), change: func(r *http.Request) { r.Header.Set("User-Agent", "") }},
		"zip not asked": {path: "/", body: strings.NewReader("x"), answer: zipped},
		"zip asked": {
			path: "/", body: strings.NewReader("x"), answer: zipped,
			change: func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") },
		},
		"refused": {path: "/", body: strings.NewReader("x"), answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		}},
		"nothing": {path: "/", body: strings.NewReader("x"), answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
		"odd":     {path: "/", body: strings.NewReader("x"), answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(799) }},
		"redirect": {path: "/", body: strings.NewReader("x"), answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusPermanentRedirect)
		}},
		"answer's header": {path: "/", body: strings.NewReader("x"), answer: func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h["Content-Type"], h["Date"] = nil, []string{"yesterday"}
			h["Set-Cookie"], h["X-Latin"] = []string{"a", "b"}, []string{"caf\xe9 <&>"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, echo(c.answer))
			r := open(t, t.TempDir())
			base := safehttp.Transport()
			body := []byte(nil)
			if c.body != nil {
				body, _ = io.ReadAll(c.body)
			}
			_, known := c.body.(*strings.Reader)
			request := func(ctx context.Context) *http.Request {
				var again io.Reader
				if c.body != nil {
					again = bytes.NewReader(body)
					if !known {
						again = io.MultiReader(again)
					}
				}
				req, err := http.NewRequestWithContext(safehttp.WithTrusted(ctx, p.URL), http.MethodPost, p.URL+c.path, again)
				if err != nil {
					t.Fatal(err)
				}
				if c.change != nil {
					c.change(req)
				}
				return req
			}
			direct := ask(base, request(t.Context()))
			direct.Header.Del("Content-Length") // it has none on the way
			if direct.Err != nil || !direct.Sent {
				t.Fatalf("%+v", direct)
			}
			tr := r.Transport(base)
			if d := cmp.Diff(direct, ask(tr, request(carried(t, r, "a")))); d != "" {
				t.Errorf("carried:\n%s", d)
			}
			fate(t, r, "a", journal.FateAnswered)
			if d := cmp.Diff(direct, ask(tr, request(recalled(t, "a")))); d != "" {
				t.Errorf("recalled:\n%s", d)
			}
			if n := p.calls.Load(); n != 2 {
				t.Errorf("the provider was asked %d times", n)
			}
		})
	}
}

// TestRelaysOwnFields: what a provider says cannot be taken for what the relay says.
func TestRelaysOwnFields(t *testing.T) {
	t.Parallel()
	p := serve(t, echo(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Relay-Failed", "no")
		w.WriteHeader(http.StatusBadGateway)
	}))
	r := open(t, t.TempDir())
	o := ask(r.Transport(nil), post(t, carried(t, r, "a"), p.URL, "x"))
	if o.Err != nil || o.Status != http.StatusBadGateway || !o.Sent {
		t.Errorf("%+v", o)
	}
}

func TestLargeBodies(t *testing.T) {
	t.Parallel()
	sent := make([]byte, 40<<20)
	noise := rand.NewChaCha8([32]byte{1})
	_, _ = noise.Read(sent)
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, b := look(r) // all of it first: net/http would end it with the answer
		_, _ = w.Write(b)
	})
	r := open(t, t.TempDir())
	want := sha256.Sum256(sent)
	for _, ctx := range []context.Context{carried(t, r, "a"), recalled(t, "a")} {
		req, err := http.NewRequestWithContext(safehttp.WithTrusted(ctx, p.URL), http.MethodPost, p.URL, bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		if o := ask(r.Transport(nil), req); o.Err != nil || sha256.Sum256([]byte(o.Body)) != want {
			t.Errorf("recalled: %v, %d bytes, %v", journal.Recalled(ctx), len(o.Body), o.Err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const many = 64
	all := make(chan struct{})
	var there sync.WaitGroup
	there.Add(many)
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		there.Done()
		<-all // so that they are under way at once
		_, _ = w.Write(append(b, '!'))
	})
	r := open(t, t.TempDir())
	tr := r.Transport(nil)
	var done sync.WaitGroup
	for i := range many {
		id := fmt.Sprintf("call-%d", i)
		req := post(t, carried(t, r, id), p.URL, strings.Repeat(id, 1000))
		done.Go(func() {
			if o := ask(tr, req); o.Err != nil || o.Body != strings.Repeat(id, 1000)+"!" {
				t.Errorf("%s: %d bytes, %v", id, len(o.Body), o.Err)
			}
		})
	}
	there.Wait()
	close(all)
	done.Wait()
	for i := range many {
		id := fmt.Sprintf("call-%d", i)
		if o := ask(tr, post(t, recalled(t, id), p.URL, "")); o.Err != nil || o.Body != strings.Repeat(id, 1000)+"!" {
			t.Errorf("%s recalled: %d bytes, %v", id, len(o.Body), o.Err)
		}
	}
	if n := p.calls.Load(); n != many {
		t.Errorf("%d calls", n)
	}
}

// TestEventByEvent: the provider sends an event when the one before was read.
func TestEventByEvent(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 20 {
			_, _ = fmt.Fprintf(w, "data: %2d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			<-read
		}
	})
	r := open(t, t.TempDir())
	res, err := r.Transport(nil).RoundTrip(post(t, carried(t, r, "a"), p.URL, "x"))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for i := range 20 {
		b := make([]byte, len("data: 00\n\n"))
		if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != fmt.Sprintf("data: %2d\n\n", i) {
			t.Errorf("event %d: %q, %v", i, b, err)
		}
		all += string(b)
		read <- struct{}{}
	}
	if rest, err := io.ReadAll(res.Body); len(rest) > 0 || err != nil || res.Body.Close() != nil {
		t.Errorf("after the last: %q, %v", rest, err)
	}
	if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); o.Body != all || o.Err != nil {
		t.Errorf("recalled: %+v", o)
	}
}
