//go:build unix

package relay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/journal"
	"atelier/relay"
)

// TestGivenUp: what was told to be unsent is not sent any more.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	p := hold(t)
	folder := t.TempDir()
	r, other := open(t, folder), another(t, folder)
	ctx := carried(t, r, "a")
	fate(t, other, "a", journal.FateUnsent)
	if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); o.Err == nil || o.Sent || p.calls.Load() > 0 {
		t.Errorf("%+v, %d calls", o, p.calls.Load())
	}
}

// TestAskedAtOnce: two who ask at once, and one who sends, agree.
func TestAskedAtOnce(t *testing.T) {
	t.Parallel()
	var arrived sync.Map
	p := serve(t, func(_ http.ResponseWriter, r *http.Request) { arrived.Store(r.Header.Get("X-Call"), true) })
	folder := t.TempDir()
	r, other := open(t, folder), another(t, folder)
	for i := range 100 {
		id := fmt.Sprintf("call-%d", i)
		req := post(t, carried(t, r, id), p.URL, "x")
		req.Header.Set("X-Call", id)
		var fates [2]journal.Fate
		var all sync.WaitGroup
		sends := i%2 == 0
		var o outcome
		if sends {
			all.Go(func() { o = ask(r.Transport(nil), req) })
		}
		for k := range fates {
			all.Go(func() { fates[k] = other.Fate(t.Context(), id) })
		}
		all.Wait()
		unsent := fates[0] == journal.FateUnsent || fates[1] == journal.FateUnsent
		if !sends {
			o = ask(r.Transport(nil), req)
		}
		_, there := arrived.Load(id)
		if !sends && !unsent || unsent == there || unsent == o.Sent || unsent == (o.Err == nil) {
			t.Errorf("%s: %v, arrived %v, %+v", id, fates, there, o)
		}
	}
}

// TestSentTwice: a call is sent at most once, also by a program that tries to send it again.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	p := hold(t)
	r := open(t, t.TempDir())
	tr := r.Transport(nil)
	ctx := carried(t, r, "a")
	again := journal.WithCarried(t.Context(), &journal.Carried{ID: "a"})
	var all sync.WaitGroup
	all.Go(func() {
		if o := ask(tr, post(t, ctx, p.URL, "x")); o.Err != nil {
			t.Error(o.Err)
		}
	})
	<-p.came
	if o := ask(tr, post(t, again, p.URL, "x")); o.Err == nil || !o.Sent {
		t.Errorf("under way: %+v", o)
	}
	close(p.let)
	all.Wait()
	again = journal.WithCarried(t.Context(), &journal.Carried{ID: "a"})
	if o := ask(tr, post(t, again, p.URL, "x")); o.Err == nil || !o.Sent || p.calls.Load() != 1 {
		t.Errorf("answered: %+v, %d calls", o, p.calls.Load())
	}
}

// steps is a provider of calls that take two requests.
func steps(t *testing.T) *held {
	t.Helper()
	h := &held{came: make(chan struct{}, 100), let: make(chan struct{})}
	h.provider = serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/1" {
			_, _ = io.WriteString(w, "one "+string(b))
			return
		}
		h.came <- struct{}{}
		select {
		case <-h.let:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "two "+string(b))
	})
	t.Cleanup(h.CloseClientConnections)
	return h
}

// recall goes through the requests of a call once more.
func (h *held) recall(t *testing.T, r *relay.Relay) (one, two outcome) {
	t.Helper()
	ctx := recalled(t, "a")
	one = ask(r.Transport(nil), post(t, ctx, h.URL+"/1", "x"))
	two = ask(r.Transport(nil), post(t, ctx, h.URL+"/2", "y"))
	return one, two
}

func TestSeveralRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second func(t *testing.T, h *held, r *relay.Relay, folder string, ctx context.Context)
		fate   journal.Fate
		calls  int32
	}{
		"not begun": {fate: journal.FateAnswered, calls: 2},
		"prepared": {fate: journal.FateAnswered, calls: 2, second: func(t *testing.T, _ *held, _ *relay.Relay, folder string, _ context.Context) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(folder, "a~2.ready"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}},
		"answered": {fate: journal.FateAnswered, calls: 2, second: func(t *testing.T, h *held, r *relay.Relay, _ string, ctx context.Context) {
			t.Helper()
			close(h.let)
			if o := ask(r.Transport(nil), post(t, ctx, h.URL+"/2", "y")); o.Body != "two y" {
				t.Errorf("%+v", o)
			}
		}},
		"under way": {fate: journal.FateAnswered, calls: 2, second: func(t *testing.T, h *held, r *relay.Relay, _ string, ctx context.Context) {
			t.Helper()
			ctx, leave := context.WithCancelCause(ctx)
			go func() {
				<-h.came
				leave(journal.ErrLeft)
			}()
			if o := ask(r.Transport(nil), post(t, ctx, h.URL+"/2", "y")); !errors.Is(o.Err, journal.ErrLeft) {
				t.Error(o.Err)
			}
			if got := glance(t, r, "a"); got != journal.FateUnderWay { //nolint:contextcheck // The call's own has ended.
				t.Errorf("its fate: %d", got)
			}
			close(h.let)
		}},
		"lost": {fate: journal.FateUnknown, calls: 2, second: func(t *testing.T, h *held, r *relay.Relay, folder string, ctx context.Context) {
			t.Helper()
			dead := make(chan struct{})
			go func() {
				<-h.came
				slay(t, folder)
				close(dead)
			}()
			if o := ask(r.Transport(nil), post(t, ctx, h.URL+"/2", "y")); o.Err == nil {
				t.Errorf("%+v", o)
			}
			<-dead
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := steps(t)
			folder := t.TempDir()
			r := open(t, folder)
			ctx := carried(t, r, "a")
			neighbour := carried(t, r, "a-2") // the id of another call
			if o := ask(r.Transport(nil), post(t, ctx, h.URL+"/1", "x")); o.Body != "one x" {
				t.Fatalf("%+v", o)
			}
			if c.second != nil {
				c.second(t, h, r, folder, ctx)
			}
			fate(t, r, "a", c.fate)
			if h.calls.Load() == 1 {
				close(h.let)
			}
			one, two := h.recall(t, r)
			lost := c.fate == journal.FateUnknown
			if one.Body != "one x" || (two.Body != "two y") != lost || (two.Err != nil) != lost || !two.Sent || h.calls.Load() != c.calls {
				t.Errorf("%+v, %+v, %d calls", one, two, h.calls.Load())
			}
			if o := ask(r.Transport(nil), post(t, neighbour, h.URL+"/1", "z")); o.Body != "one z" {
				t.Errorf("the neighbour: %+v", o)
			}
			r.Forget("a")
			r.Forget("a-2")
			if left := files(t, folder); len(left) > 0 {
				t.Errorf("forgotten: %v", left)
			}
		})
	}
}

// TestRedirects: where a client follows one, the call has two requests.
func TestRedirects(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.Copy(w, r.Body)
	})
	r := open(t, t.TempDir())
	client := &http.Client{Transport: r.Transport(nil)}
	for _, ctx := range []context.Context{carried(t, r, "a"), recalled(t, "a")} {
		res, err := client.Do(post(t, ctx, p.URL, "picture"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if string(b) != "picture" || err != nil || res.Body.Close() != nil || p.calls.Load() != 2 {
			t.Errorf("%q, %v after %d calls", b, err, p.calls.Load())
		}
	}
}

// TestForgottenWhileUnderWay: nothing stays when the call ends.
func TestForgottenWhileUnderWay(t *testing.T) {
	t.Parallel()
	for name, provider := range map[string]func(t *testing.T) *held{"no answer": hold, "in the answer": streams} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider(t)
			folder := t.TempDir()
			r := open(t, folder)
			ctx, leave := context.WithCancelCause(carried(t, r, "a"))
			var told atomic.Bool
			go func() {
				eventually(t, "the call is under way", func() bool { return p.calls.Load() == 1 })
				if name == "in the answer" {
					eventually(t, "the answer begins", func() bool {
						_, err := os.Stat(filepath.Join(folder, "a.body"))
						return err == nil
					})
				}
				told.Store(true)
				leave(journal.ErrLeft)
			}()
			if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); !errors.Is(o.Err, journal.ErrLeft) || !told.Load() {
				t.Errorf("%+v", o)
			}
			r.Forget("a")
			close(p.let)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			alone(t, folder)
			if left := files(t, folder); len(left) > 0 {
				t.Errorf("forgotten: %v", left)
			}
		})
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, days := range map[string]int{"old.head": 31, "old.body": 31, ".request-1": 31, "young.head": 29, "young.body": 29} {
		path := filepath.Join(folder, name)
		at := time.Now().AddDate(0, 0, -days)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	r := open(t, folder)
	if o := ask(r.Transport(nil), post(t, carried(t, r, "a"), "http://127.0.0.1:1", "")); o.Err == nil {
		t.Errorf("%+v", o)
	}
	if got := strings.Join(files(t, folder), " "); got != "a.head a.sent young.body young.head" {
		t.Error(got)
	}
}
