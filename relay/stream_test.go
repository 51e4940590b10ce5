//go:build unix

package relay_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"

	"atelier/journal"
)

// events is the type of answers that are handed on as they come.
const events = "text/event-stream"

// streams is a provider whose stream comes in two parts.
func streams(t *testing.T) *held {
	t.Helper()
	return halves(t, events)
}

// halves is a provider whose answer comes in two parts.
func halves(t *testing.T, kind string) *held {
	t.Helper()
	h := &held{came: make(chan struct{}), let: make(chan struct{}), gone: make(chan struct{}, 1)}
	h.provider = serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, workDone[:10])
		_ = http.NewResponseController(w).Flush()
		close(h.came)
		select {
		case <-h.let:
			_, _ = io.WriteString(w, workDone[10:])
		case <-r.Context().Done():
			h.gone <- struct{}{}
		}
	})
	t.Cleanup(h.CloseClientConnections)
	return h
}

func TestLeftInTheAnswer(t *testing.T) {
	t.Parallel()
	p := streams(t)
	r := open(t, t.TempDir())
	ctx, leave := context.WithCancelCause(carried(t, r, "a"))
	res, err := r.Transport(nil).RoundTrip(post(t, ctx, p.URL, "x"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadFull(res.Body, make([]byte, 10))
	leave(journal.ErrLeft)
	if _, err2 := io.ReadAll(res.Body); err != nil || !errors.Is(err2, journal.ErrLeft) {
		t.Errorf("%v, %v", err, err2)
	}
	_ = res.Body.Close()
	close(p.let)
	fate(t, r, "a", journal.FateAnswered)
	if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); o.Err != nil || o.Body != workDone {
		t.Errorf("recalled: %+v", o)
	}
}

// TestStoppedInTheAnswer: by whoever closes it, or whose time is over. What came is kept as cut.
func TestStoppedInTheAnswer(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"closed", "cancelled"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := streams(t)
			r := open(t, t.TempDir())
			ctx, stop := context.WithCancel(carried(t, r, "a"))
			defer stop()
			res, err := r.Transport(nil).RoundTrip(post(t, ctx, p.URL, "x"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(res.Body, make([]byte, 10)); err != nil {
				t.Error(err)
			}
			if how == "cancelled" {
				stop()
				if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
					t.Errorf("the rest: %v", err)
				}
			}
			_ = res.Body.Close()
			<-p.gone
			fate(t, r, "a", journal.FateAnswered)
			if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); !errors.Is(o.Err, io.ErrUnexpectedEOF) || o.Body != workDone[:10] {
				t.Errorf("recalled: %+v", o)
			}
		})
	}
}

// TestStoppedBeforeTheAnswerIsWhole, where it is no stream of events: nothing of it is seen, and what
// came is kept as cut.
func TestStoppedBeforeTheAnswerIsWhole(t *testing.T) {
	t.Parallel()
	p := halves(t, "application/json")
	folder := t.TempDir()
	r := open(t, folder)
	ctx, stop := context.WithCancel(carried(t, r, "a"))
	go func() {
		eventually(t, "the answer begins", func() bool { return slices.Contains(files(t, folder), "a.body") })
		stop()
	}()
	if o := ask(r.Transport(nil), post(t, ctx, p.URL, "x")); !errors.Is(o.Err, context.Canceled) || !o.Sent {
		t.Errorf("%v, sent %v", o.Err, o.Sent)
	}
	<-p.gone
	fate(t, r, "a", journal.FateAnswered)
	if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); !errors.Is(o.Err, io.ErrUnexpectedEOF) || o.Body != workDone[:10] {
		t.Errorf("recalled: %+v", o)
	}
}
