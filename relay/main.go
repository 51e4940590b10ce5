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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// longestCall is how long a call may take that has no deadline.
	longestCall = time.Hour
	// smallBody is what is kept of a request in memory.
	smallBody = 1 << 20
	// largestAnswer bounds what is kept of one answer.
	largestAnswer = 1 << 30
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
	w := &worker{spool: s, base: http.DefaultTransport, under: map[string]context.CancelFunc{}}
	srv := &http.Server{Handler: w, ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, life) // its end is all that it tells
		_ = srv.Shutdown(context.Background())
		w.all.Wait()
		_ = srv.Close()
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	w.all.Wait()
	return nil
}

// worker carries the calls of one program.
type worker struct {
	spool spool
	base  http.RoundTripper
	all   sync.WaitGroup

	mu    sync.Mutex // guards under
	under map[string]context.CancelFunc
}

// ServeHTTP implements http.Handler: POST carries a call, DELETE stops one.
func (w *worker) ServeHTTP(out http.ResponseWriter, req *http.Request) {
	id := req.Header.Get(callField)
	if check(id) != nil {
		http.Error(out, "no call", http.StatusBadRequest)
		return
	}
	w.all.Add(1)
	defer w.all.Done()
	if req.Method == http.MethodDelete {
		w.mu.Lock()
		defer w.mu.Unlock()
		if stop, ok := w.under[id]; ok {
			stop()
		}
		return
	}
	w.carry(out, req, id)
}

// carry makes a call. Nothing that happens to the program's connection ends it.
func (w *worker) carry(out http.ResponseWriter, req *http.Request, id string) {
	payload, err := w.spool.take(req)
	if err != nil { // the program has ended, or cannot send; nobody was asked
		refuse(out, answer{Failed: err.Error()})
		return
	}
	defer func() { _ = payload.Close() }()
	ctx, stop := context.WithDeadline(context.Background(), until(req.Header))
	defer stop()
	w.mu.Lock()
	w.under[id] = stop
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.under, id)
		w.mu.Unlock()
	}()
	lock, err := w.spool.send(id)
	if err != nil {
		refuse(out, answer{Failed: err.Error()})
		return
	}
	defer func() { _ = lock.Close() }()
	var gone atomic.Bool
	up := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { gone.Store(true) }})
	outgoing, err := onward(up, req, payload)
	if err != nil {
		w.fail(out, id, answer{Failed: err.Error()})
		return
	}
	res, err := w.base.RoundTrip(outgoing)
	if err != nil {
		w.fail(out, id, answer{Failed: err.Error(), Left: gone.Load()})
		return
	}
	defer func() { _ = res.Body.Close() }()
	w.answer(out, id, res)
}

// fail keeps and tells that a call has no answer.
func (w *worker) fail(out http.ResponseWriter, id string, a answer) {
	_ = w.spool.end(id, a) // what is not kept is a call whose answer was lost
	refuse(out, a)
}

func refuse(out http.ResponseWriter, a answer) {
	out.Header().Set(failedField, strings.Join(strings.Fields(a.Failed), " "))
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
func onward(ctx context.Context, req *http.Request, payload io.Reader) (*http.Request, error) {
	out := req.Clone(ctx)
	scheme, host, ok := strings.Cut(req.Header.Get(originField), "://")
	if !ok {
		return nil, errors.New("a call without an address")
	}
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = scheme, host, req.Header.Get(hostField), ""
	out.Body = io.NopCloser(payload) // its owner closes it
	for _, name := range []string{callField, originField, hostField, untilField} {
		out.Header.Del(name)
	}
	return out, nil
}
