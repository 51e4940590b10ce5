package generatetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"sync/atomic"

	"atelier/journal"
)

// Kept is how one request of a call ended.
type Kept struct {
	Status int
	Header http.Header
	Body   []byte
	// Cut says that the body ended early.
	Cut bool
	// Failed is why there is no answer, Gone that the request had left the machine.
	Failed error
	Gone   bool
}

// Relay is a journal.Relay in memory, for tests: it outlives the gateways that share it. It is safe
// for concurrent use; the zero value is empty and ready.
type Relay struct {
	// NotReady is what Prepare returns.
	NotReady error
	// OnKept, if set, runs when the answer to a request of a program is kept, before the program gets
	// it: a test may hold the program there, or with an error keep the answer from it.
	OnKept func(ctx context.Context, id string) error

	all   sync.WaitGroup
	mu    sync.Mutex // guards calls and what is in them
	calls map[string]*carriedCall
}

var _ journal.Relay = (*Relay)(nil)

// carriedCall is a call; its requests are sent one after the other.
type carriedCall struct {
	sent []*sentRequest
}

// sentRequest is a request; kept is nil while it is under way, and when its answer was lost.
type sentRequest struct {
	kept *Kept
	over chan struct{} // closed when it is no longer under way
}

// Prepare implements journal.Relay.
func (r *Relay) Prepare(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.NotReady != nil {
		return r.NotReady
	}
	if r.calls[id] != nil {
		return fmt.Errorf("the call %s is known", id)
	}
	if r.calls == nil {
		r.calls = map[string]*carriedCall{}
	}
	r.calls[id] = &carriedCall{}
	return nil
}

// Fate implements journal.Relay.
func (r *Relay) Fate(ctx context.Context, id string) journal.Fate {
	r.mu.Lock()
	c := r.calls[id]
	if c == nil {
		r.mu.Unlock()
		return journal.FateUnknown
	}
	if len(c.sent) == 0 {
		delete(r.calls, id) // now it never will be
		r.mu.Unlock()
		return journal.FateUnsent
	}
	last := c.sent[len(c.sent)-1]
	r.mu.Unlock()
	select {
	case <-last.over:
	default:
		select {
		case <-last.over:
		case <-ctx.Done():
			return journal.FateUnderWay
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if last.kept == nil {
		return journal.FateUnknown
	}
	return journal.FateAnswered
}

// Forget implements journal.Relay.
func (r *Relay) Forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, id)
}

// Known lists the calls that are not forgotten, in the order of their ids.
func (r *Relay) Known() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.calls))
}

// Send makes as if a program had sent the next request of a call and had died. The function ends
// it; with nil its answer is lost.
func (r *Relay) Send(id string) (end func(*Kept)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[string]*carriedCall{}
	}
	if r.calls[id] == nil {
		r.calls[id] = &carriedCall{}
	}
	s := &sentRequest{over: make(chan struct{})}
	r.calls[id].sent = append(r.calls[id].sent, s)
	return func(k *Kept) {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.kept = k
		close(s.over)
	}
}

// Keep makes as if the next request of a call had been answered, and its program had died.
func (r *Relay) Keep(id string, k Kept) { r.Send(id)(&k) }

// Wait waits until nothing is under way that [Relay.Transport] has sent.
func (r *Relay) Wait() { r.all.Wait() }

// Transport carries the calls; base, by default http.DefaultTransport, all else.
func (r *Relay) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return carrier{r, base}
}

// carrier is the transport of a relay.
type carrier struct {
	relay *Relay
	base  http.RoundTripper
}

// Relay is what carries the calls.
func (t carrier) Relay() journal.Relay { return t.relay }

// RoundTrip implements http.RoundTripper.
func (t carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	how := journal.CarriedOf(req.Context())
	if how == nil || req.Method != http.MethodPost {
		return t.base.RoundTrip(req)
	}
	n := how.Next()
	t.relay.mu.Lock()
	c := t.relay.calls[how.ID]
	known := c != nil && n <= len(c.sent)
	lost := c == nil || how.Recalled && n == 1 && !known || known && !how.Recalled
	var kept *Kept
	if known && how.Recalled {
		kept = c.sent[n-1].kept
		lost = kept == nil
	}
	t.relay.mu.Unlock()
	switch {
	case c == nil && !how.Recalled:
		return nil, errors.Join(errors.New("the call was given up before it was sent"), shut(req))
	case lost:
		gone(req.Context())
		return nil, errors.Join(errors.New("its answer is not there any more"), shut(req))
	case kept != nil:
		return kept.tell(req, shut(req))
	}
	return t.carry(req, how.ID)
}

// carry sends a request. The end of its context stops it, but where that is left.
func (t carrier) carry(req *http.Request, id string) (*http.Response, error) {
	ctx := req.Context()
	end := t.relay.Send(id)
	under, stop := context.WithCancel(context.WithoutCancel(ctx))
	answered := make(chan *Kept, 1)
	t.relay.all.Go(func() {
		defer stop()
		k := exchange(t.base, req.WithContext(under))
		end(&k)
		answered <- &k
	})
	select {
	case k := <-answered:
		if t.relay.OnKept != nil {
			if err := t.relay.OnKept(ctx, id); err != nil {
				gone(ctx)
				return nil, err
			}
		}
		return k.tell(req, nil)
	case <-ctx.Done():
		if !journal.Left(ctx) {
			stop()
			<-answered
		}
		gone(ctx)
		return nil, context.Cause(ctx)
	}
}

// exchange makes a request and reads its answer whole.
func exchange(base http.RoundTripper, req *http.Request) Kept {
	var left atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }}
	res, err := base.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return Kept{Failed: err, Gone: left.Load()}
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return Kept{Status: res.StatusCode, Header: res.Header, Body: b, Cut: err != nil}
}

// tell gives an answer.
func (k *Kept) tell(req *http.Request, err error) (*http.Response, error) {
	if k.Failed == nil || k.Gone {
		gone(req.Context())
	}
	if err = errors.Join(err, k.Failed); err != nil {
		return nil, err
	}
	body := io.Reader(bytes.NewReader(k.Body))
	if k.Cut {
		body = io.MultiReader(body, cutOff{})
	}
	return &http.Response{
		Status: http.StatusText(k.Status), StatusCode: k.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: k.Header.Clone(), ContentLength: -1, Request: req, Body: io.NopCloser(body),
	}, nil
}

// cutOff is the end of a body that ends early.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// gone tells whoever watches a request that it has left.
func gone(ctx context.Context) {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
}

func shut(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	return req.Body.Close()
}
