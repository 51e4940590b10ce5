//go:build unix

package relay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"atelier/journal"
)

// failing is a connection that ends in one way.
type failing struct {
	how  func(w http.ResponseWriter, r *http.Request) // nil if nobody listens
	sent bool
	says string
	part string // what comes of the body
}

func failures() map[string]failing {
	return map[string]failing{
		"refused": {says: "connection refused"},
		"lost": {sent: true, says: "EOF", how: func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}},
		"cut": {sent: true, says: "unexpected EOF", part: "half", how: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "8")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
		"cut stream": {sent: true, says: "unexpected EOF", part: "half", how: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}},
		"nonsense": {sent: true, says: "malformed HTTP", how: func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(c, "\x15\x03\x01 caf\xe9\n\n")
			_ = c.Close()
		}},
		"number": {sent: true, says: "malformed HTTP status code 99", how: func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(c, "HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n")
			_ = c.Close()
		}},
	}
}

// TestFailures: how a call fails is told as it is without a relay, also when it is recalled.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range failures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := "http://127.0.0.1:1"
			if c.how != nil {
				url = serve(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					c.how(w, r)
				}).URL
			}
			r := open(t, t.TempDir())
			tr := r.Transport(nil)
			first := ask(tr, post(t, carried(t, r, "a"), url, "x"))
			fate(t, r, "a", journal.FateAnswered)
			again := ask(tr, post(t, recalled(t, "a"), url, "x"))
			for what, o := range map[string]outcome{"carried": first, "recalled": again} {
				if o.Err == nil || !strings.Contains(o.Err.Error(), c.says) || o.Sent != c.sent || o.Body != c.part {
					t.Errorf("%s: %q %v, sent %v", what, o.Body, o.Err, o.Sent)
				}
			}
			if first.Err.Error() != again.Err.Error() {
				t.Errorf("recalled as %q, was %q", again.Err, first.Err)
			}
		})
	}
}

func TestTheEndOfTheContextStopsTheCall(t *testing.T) {
	t.Parallel()
	p := hold(t)
	r := open(t, t.TempDir())
	errEnough := errors.New("enough")
	ctx, stop := context.WithCancelCause(carried(t, r, "a"))
	go func() {
		<-p.came
		stop(errEnough)
	}()
	if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); !errors.Is(o.Err, errEnough) || !o.Sent {
		t.Errorf("%v, sent %v", o.Err, o.Sent)
	}
	<-p.gone
	fate(t, r, "a", journal.FateAnswered)
	if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); o.Err == nil || !o.Sent {
		t.Errorf("recalled: %+v", o)
	}
}

// TestStoppedBeforeItIsSent: whoever cancels while there is no connection yet has nothing to pay.
func TestStoppedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r := open(t, t.TempDir())
	ctx, stop := context.WithCancel(carried(t, r, "a"))
	met := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			met <- c // it says nothing, so there is no TLS
		}
		stop()
	}()
	o := ask(r.Transport(nil), post(t, ctx, "https://"+l.Addr().String(), "x"))
	if !errors.Is(o.Err, context.Canceled) || o.Sent {
		t.Errorf("%v, sent %v", o.Err, o.Sent)
	}
	_ = (<-met).Close()
	ended, end := context.WithCancel(carried(t, r, "b"))
	end()
	if o := ask(r.Transport(nil), post(t, ended, "https://"+l.Addr().String(), "x")); !errors.Is(o.Err, context.Canceled) || o.Sent {
		t.Errorf("ended before: %v, sent %v", o.Err, o.Sent)
	}
}

// TestStoppedAtAnyTime: a call that is said not to have been sent never arrives.
func TestStoppedAtAnyTime(t *testing.T) {
	t.Parallel()
	var arrived sync.Map
	p := serve(t, func(_ http.ResponseWriter, r *http.Request) { arrived.Store(r.Header.Get("X-Call"), true) })
	folder := t.TempDir()
	r := open(t, folder)
	kept := map[string]bool{}
	for i := range 200 {
		id := fmt.Sprintf("call-%d", i)
		ctx, stop := context.WithCancel(carried(t, r, id))
		req := post(t, ctx, p.URL, strings.Repeat("x", i*1000))
		req.Header.Set("X-Call", id)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			for range i * 100 { // a little later each time
				_ = ctx.Err()
			}
			stop()
		})
		kept[id] = ask(r.Transport(nil), req).Sent
		waiting.Wait()
	}
	if err := r.Close(); err != nil { // what is under way comes to its end
		t.Fatal(err)
	}
	alone(t, folder)
	for id, sent := range kept {
		if _, there := arrived.Load(id); there && !sent {
			t.Errorf("%s arrived, though it was not sent", id)
		}
	}
}

func TestLeftCallsGoOn(t *testing.T) {
	t.Parallel()
	p := hold(t)
	r := open(t, t.TempDir())
	ctx, leave := context.WithCancelCause(carried(t, r, "a"))
	go func() {
		<-p.came
		leave(journal.ErrLeft)
	}()
	if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); !errors.Is(o.Err, journal.ErrLeft) || !o.Sent {
		t.Errorf("%v, sent %v", o.Err, o.Sent)
	}
	if got := glance(t, r, "a"); got != journal.FateUnderWay {
		t.Errorf("its fate: %d", got)
	}
	close(p.let)
	fate(t, r, "a", journal.FateAnswered)
	if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); o.Err != nil || o.Body != workDone || !o.Sent {
		t.Errorf("recalled: %+v", o)
	}
	if n := p.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestTheRelayIsKilled: nobody knows what becomes of the call; the next one has a new process.
func TestTheRelayIsKilled(t *testing.T) {
	t.Parallel()
	p := hold(t)
	folder := t.TempDir()
	r := open(t, folder)
	ctx := carried(t, r, "a")
	later := carried(t, r, "later")
	dead := make(chan struct{})
	go func() {
		<-p.came
		slay(t, folder)
		close(dead)
	}()
	if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); o.Err == nil || !o.Sent {
		t.Errorf("%v, sent %v", o.Err, o.Sent)
	}
	<-dead
	fate(t, r, "a", journal.FateUnknown)
	if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); o.Err == nil || !o.Sent {
		t.Errorf("recalled: %+v", o)
	}
	if n := p.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
	close(p.let)
	for what, ctx := range map[string]context.Context{"prepared before": later, "new": carried(t, r, "b")} {
		if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); o.Err != nil || o.Body != workDone {
			t.Errorf("%s: %+v", what, o)
		}
	}
}

// TestClosedWhileUnderWay: the call goes on for whoever recalls it, and for its own program.
func TestClosedWhileUnderWay(t *testing.T) {
	t.Parallel()
	p := hold(t)
	folder := t.TempDir()
	r := open(t, folder)
	ctx := carried(t, r, "a")
	go func() {
		<-p.came
		_ = r.Close()
		close(p.let)
	}()
	if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); o.Err != nil || o.Body != workDone {
		t.Errorf("%+v", o)
	}
	alone(t, folder)
	if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); o.Err != nil || o.Body != workDone {
		t.Errorf("recalled: %+v", o)
	}
	if o := ask(r.Transport(nil), post(t, carried(t, r, "b"), p.URL, "x")); o.Err != nil || o.Body != workDone {
		t.Errorf("after Close: %+v", o)
	}
}

func TestTheDeadlinePassesOn(t *testing.T) {
	t.Parallel()
	h := hold(t)
	folder := t.TempDir()
	p := begin(t, order{Folder: folder, URL: h.URL, Do: "call", Seconds: 2})
	<-h.came
	p.kill()
	<-h.gone
	r := open(t, folder)
	fate(t, r, theCall, journal.FateAnswered)
	o := ask(r.Transport(nil), post(t, recalled(t, theCall), h.URL, ""))
	if o.Err == nil || !strings.Contains(o.Err.Error(), context.DeadlineExceeded.Error()) || !o.Sent {
		t.Errorf("%+v", o)
	}
}
