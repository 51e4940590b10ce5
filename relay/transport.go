package relay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier/internal/safehttp"
	"atelier/journal"
)

// Header fields between the two processes.
const (
	callField   = "Relay-Call"   // the request's name, see part
	originField = "Relay-Origin" // scheme and host where it goes
	// trustedField says that the origin is the provider's own.
	trustedField = "Relay-Trusted"
	hostField    = "Relay-Host"   // the Host that it names
	untilField   = "Relay-Until"  // its deadline in ms of Unix time
	failedField  = "Relay-Failed" // why there is no answer, quoted
	leftField    = "Relay-Left"   // that it had left this machine all the same
	keptField    = "Relay-Kept"   // that the answer is whole, in the folder
)

// abortTime is how long the wish to stop a call is tried to be told.
const abortTime = 5 * time.Second

// Transport is the program's side of the calls.
type Transport struct {
	relay *Relay
	base  http.RoundTripper
}

// Relay is what carries the calls.
func (t *Transport) Relay() journal.Relay { return t.relay }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := journal.CarriedOf(req.Context())
	if c == nil || req.Method != http.MethodPost {
		return t.base.RoundTrip(req)
	}
	if err := check(c.ID); err != nil {
		return nil, errors.Join(err, closed(req))
	}
	n := c.Next()
	id := part(c.ID, n)
	switch {
	case c.Recalled && t.fate(req.Context(), id) == journal.FateAnswered:
		return t.recall(req, id)
	case c.Recalled && t.relay.spool.has(id, void) && t.relay.spool.knows(part(c.ID, n+1)): // it was made again then, and is now
		return nil, errors.Join(errVoid, closed(req))
	case c.Recalled && (n == 1 || t.relay.spool.has(id, sent)):
		left(req.Context())
		return nil, errors.Join(errors.New("its answer is not there any more"), closed(req))
	case n > 1: // nobody has sent this one, as the one before was answered here
		if err := t.relay.prepare(id); err != nil { //nolint:contextcheck // A short look at a socket.
			return nil, errors.Join(err, closed(req))
		}
	}
	return t.carry(req, id)
}

// fate is that of one request of a call.
func (t *Transport) fate(ctx context.Context, id string) journal.Fate {
	return await(ctx, func() journal.Fate { return t.relay.spool.fate(id) })
}

// part names the requests of a call; no call has an id like those of its second and later ones.
func part(id string, n int) string {
	if n == 1 {
		return id
	}
	return id + "~" + strconv.Itoa(n)
}

func closed(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	return req.Body.Close()
}

// left tells whoever watches a request that it has left this machine.
func left(ctx context.Context) {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
}

// carry hands a request to the relay's process.
func (t *Transport) carry(req *http.Request, id string) (*http.Response, error) {
	p, err := t.relay.process() //nolint:contextcheck // A short look at a socket.
	if err != nil {
		return nil, errors.Join(err, closed(req))
	}
	ctx := req.Context()
	if ctx.Err() != nil {
		t.relay.spool.giveUp(id)
		return nil, errors.Join(context.Cause(ctx), closed(req))
	}
	w := t.watch(ctx, p, id)
	res, err := p.client.RoundTrip(wrapped(req, w.inner, id)) //nolint:contextcheck // See watch.
	if err != nil {
		w.over()
		if !w.unsent.Load() && t.departed(id) {
			left(ctx)
		}
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	a, failed := refusal(res.Header)
	if kept := res.Header.Get(keptField) != ""; kept || failed {
		_ = res.Body.Close() // it is empty
		w.over()
		if kept {
			return t.taken(req, id)
		}
		err := a.failure(ctx)
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	left(ctx)
	res.Request = req
	abort := func() { p.abort(id) } //nolint:contextcheck // It is told also after the end of the request's own.
	res.Body = &carriedBody{ReadCloser: res.Body, ctx: ctx, abort: abort, over: w.over}
	return res, nil
}

// watched is a request that is being carried.
type watched struct {
	// inner is its context on the way to the relay's process. The request's own ends with the
	// connection, which stops nothing over there, so that is told; and who watches the
	// request is not told of the way there.
	inner context.Context //nolint:containedctx // It belongs to the request.
	// unsent says that it was given up in time.
	unsent atomic.Bool
	// over ends the watch.
	over func()
}

// watch stops a call when ctx ends, but where that is left.
func (t *Transport) watch(ctx context.Context, p *process, id string) *watched {
	w := &watched{}
	inner, end := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, func() {
		if !journal.Left(ctx) {
			if w.unsent.Store(t.relay.spool.giveUp(id)); !w.unsent.Load() {
				p.abort(id) //nolint:contextcheck // It tells that the request's own has ended.
			}
		}
		end()
	})
	w.inner, w.over = inner, sync.OnceFunc(func() {
		stop()
		end()
	})
	return w
}

// refusal reads why there is no answer, if the relay's process says so.
func refusal(h http.Header) (a answer, failed bool) {
	said := h.Get(failedField)
	if exact, err := strconv.Unquote(said); err == nil {
		said = exact
	}
	return answer{Failed: said, Left: h.Get(leftField) != ""}, said != ""
}

// departed reports whether a request may have left this machine that the relay's process did not
// answer: it has ended, or nobody waits for it any more. One that was not sent never will be.
func (t *Transport) departed(id string) bool {
	switch t.relay.spool.fate(id) {
	case journal.FateUnsent:
		return false
	case journal.FateAnswered:
		a, f, err := t.relay.spool.open(id)
		if f != nil {
			_ = f.Close()
		}
		return err != nil || a.Failed == "" || a.Left
	case journal.FateUnknown, journal.FateUnderWay:
	}
	return true
}

// wrapped is a request on its way to the relay's process.
func wrapped(req *http.Request, ctx context.Context, id string) *http.Request { //nolint:revive // The request comes first here.
	out := req.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.Host = "http", "relay", ""
	out.Header.Set(callField, id)
	out.Header.Set(originField, req.URL.Scheme+"://"+req.URL.Host)
	if safehttp.Trusts(req) {
		out.Header.Set(trustedField, "true")
	}
	out.Header.Set(hostField, cmp.Or(req.Host, req.URL.Host))
	if end, ok := req.Context().Deadline(); ok {
		out.Header.Set(untilField, strconv.FormatInt(end.UnixMilli(), 10))
	}
	return out
}

// carriedBody is an answer on its way. Whoever closes it early, or whose time ends, stops the call.
type carriedBody struct {
	io.ReadCloser
	ctx   context.Context //nolint:containedctx // It belongs to the request, as with net/http.
	whole atomic.Bool     // there is no more to read
	abort func()
	over  func()
}

// Read implements io.Reader.
func (b *carriedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.whole.Store(true)
		if b.ctx.Err() != nil && !errors.Is(err, io.EOF) {
			err = context.Cause(b.ctx)
		}
	}
	return n, err
}

// Close implements io.Closer.
func (b *carriedBody) Close() error {
	if !b.whole.Load() && b.ctx.Err() == nil {
		b.abort()
	}
	defer b.over()
	return b.ReadCloser.Close()
}

// abort tells the process that nobody wants a call any more.
func (p *process) abort(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), abortTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://relay/", strings.NewReader(""))
	if err != nil {
		return
	}
	req.Header.Set(callField, id)
	if res, err := p.client.RoundTrip(req); err == nil {
		_ = res.Body.Close() // it is empty
	}
}
