package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"atelier/internal/safehttp"
)

const (
	// longestCall is how long a call may take that has no deadline.
	longestCall = time.Hour
	// smallBody is what is kept of a request in memory.
	smallBody = 1 << 20
	// largestAnswer bounds what is kept of one answer.
	largestAnswer = 1 << 30
	// sweepEvery is how often the folder is swept.
	sweepEvery = 24 * time.Hour
	// mostRescued is how much of an answer is taken into memory when the disk is full.
	mostRescued = 64 << 20
	// headerTime is how long a connection of the program may be there before its first request.
	headerTime = time.Minute
)

// Main is the process of a relay: there it works until its program has ended and nothing is
// under way any more, and exits. Everywhere else it returns at once. A program that uses a relay
// calls it first of all.
func Main() {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		return
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := serve(spool{folder}, os.Stdin, os.NewFile(3, "listener")); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve works on calls until life ends.
func serve(s spool, life io.Reader, listener *os.File) error {
	l, err := net.FileListener(listener)
	if err != nil {
		return err
	}
	s.sweep(time.Now()) //nolint:forbidigo // Files have the times of the clock.
	go func() {
		for now := range time.Tick(sweepEvery) {
			s.sweep(now)
		}
	}()
	w := &worker{spool: s, names: &syncer{folder: s.folder}, base: safehttp.Transport(), under: map[string]underWay{}}
	srv := &http.Server{Handler: w, ReadHeaderTimeout: headerTime}
	over := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, life) // its end is all that it tells
		socket := l.Addr().String()
		_ = errors.Join(os.Remove(socket), os.Remove(filepath.Dir(socket))) // else nobody does where the program was killed
		over <- srv.Shutdown(context.Background())                          // when nothing is under way
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-over
}

// worker carries the calls of one program.
type worker struct {
	spool spool
	names *syncer // of the folder
	base  http.RoundTripper

	mu    sync.Mutex // guards under
	under map[string]underWay
}

// underWay is a call on its way.
type underWay struct {
	stop context.CancelFunc
	// known is closed when it is kept why there is no answer, or the answer begins.
	known chan struct{}
}

// ServeHTTP implements http.Handler: POST carries a call, DELETE stops one.
func (w *worker) ServeHTTP(out http.ResponseWriter, req *http.Request) {
	id := req.Header.Get(callField)
	switch {
	case !partForm.MatchString(id):
		refuse(out, answer{Failed: "a call without an id"})
	case req.Method == http.MethodDelete:
		w.stop(req.Context(), id)
	default:
		w.carry(out, req, id) //nolint:contextcheck // The request's context ends with the program, and the call does not.
	}
}

// stop ends a call, and waits until it is known whether it was sent.
func (w *worker) stop(ctx context.Context, id string) {
	w.mu.Lock()
	u, ok := w.under[id]
	w.mu.Unlock()
	if !ok {
		return
	}
	u.stop()
	select {
	case <-u.known:
	case <-ctx.Done():
	}
}

// begin notes a call as under way; the function that it gives tells that its end is known. It is
// nil if the call is under way already.
func (w *worker) begin(id string, stop context.CancelFunc) (known func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, twice := w.under[id]; twice {
		return nil
	}
	u := underWay{stop, make(chan struct{})}
	w.under[id] = u
	return sync.OnceFunc(func() { close(u.known) })
}

func (w *worker) end(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.under, id)
}

// carry makes a call. Nothing that happens to the program's connection ends it.
func (w *worker) carry(out http.ResponseWriter, req *http.Request, id string) {
	ctx, stop := context.WithDeadline(context.Background(), until(req.Header))
	defer stop()
	known := w.begin(id, stop)
	if known == nil {
		refuse(out, answer{Failed: "the call is under way", Left: true})
		return
	}
	defer w.end(id)
	defer known()
	load, err := w.spool.take(req)
	if err != nil { // the program has ended, or cannot send; nobody was asked
		refuse(out, answer{Failed: err.Error()})
		return
	}
	defer func() { _ = load.Close() }()
	lock, err := w.spool.send(id)
	if err != nil {
		refuse(out, answer{Failed: err.Error(), Left: w.spool.has(id, sent) || w.spool.answered(id)})
		return
	}
	defer func() { _ = lock.Close() }()
	defer w.spool.tidy(id)
	res, a := w.ask(ctx, req, load)
	if res == nil {
		_ = w.spool.end(id, a) // what is not kept is a call whose answer was lost
		refuse(out, a)
		return
	}
	defer func() { _ = res.Body.Close() }()
	known()
	w.answer(out, id, res)
}

// ask sends a request on. Without an answer it tells why.
func (w *worker) ask(ctx context.Context, req *http.Request, load payload) (*http.Response, answer) {
	if err := w.names.sync(); err != nil {
		return nil, answer{Failed: err.Error()}
	}
	var gone atomic.Bool
	up := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { gone.Store(true) }})
	outgoing, err := onward(up, req, load)
	if err != nil {
		return nil, answer{Failed: err.Error()}
	}
	res, err := w.base.RoundTrip(outgoing)
	if err != nil {
		return nil, answer{Failed: err.Error(), Left: gone.Load()}
	}
	if res.StatusCode < http.StatusContinue { // it cannot be handed on
		return nil, answer{Failed: "malformed HTTP status code " + strconv.Itoa(res.StatusCode), Left: true}
	}
	return res, answer{}
}

func refuse(out http.ResponseWriter, a answer) {
	out.Header().Set(failedField, strconv.QuoteToASCII(a.Failed))
	if a.Left {
		out.Header().Set(leftField, "true")
	}
	out.WriteHeader(http.StatusBadGateway)
}

// until is when a call is over.
func until(h http.Header) time.Time {
	end := time.Now().Add(longestCall) //nolint:forbidigo // Deadlines are times of the clock.
	if ms, err := strconv.ParseInt(h.Get(untilField), 10, 64); err == nil && time.UnixMilli(ms).Before(end) {
		return time.UnixMilli(ms)
	}
	return end
}

// onward is the request as the provider gets it.
func onward(ctx context.Context, req *http.Request, load payload) (*http.Request, error) {
	scheme, host, ok := strings.Cut(req.Header.Get(originField), "://")
	if !ok {
		return nil, errors.New("a call without an address")
	}
	if req.Header.Get(trustedField) != "" {
		ctx = safehttp.WithTrusted(ctx, scheme+"://"+host)
	}
	out := req.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = scheme, host, req.Header.Get(hostField), ""
	out.Body, out.GetBody = http.NoBody, nil
	if load.size > 0 || req.ContentLength != 0 {
		out.Body, _ = load.open()
		out.GetBody = load.open
	}
	if once(req.Header) { // else net/http would send it anew where it may have arrived
		out.GetBody = nil
	}
	if _, ok := req.Header["User-Agent"]; !ok { // else one would be made up
		out.Header["User-Agent"] = []string{""}
	}
	for _, name := range []string{callField, originField, trustedField, hostField, untilField} {
		out.Header.Del(name)
	}
	return out, nil
}

// once tells of a request that net/http takes as one that may be repeated.
func once(h http.Header) bool {
	return h.Get("Idempotency-Key") != "" || h.Get("X-Idempotency-Key") != ""
}
