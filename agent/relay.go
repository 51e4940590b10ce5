package agent

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"atelier/journal"
	"atelier/media"
)

// mostCalls bounds how many names of a call are tried that earlier ones left behind.
const mostCalls = 100

// relay is what carries the calls of the run's model; nil if nothing does.
func (r *run) relay() journal.Relay { return journal.RelayOf(r.model) }

// carried says how a model call is made, nil if nothing carries it, and how often it was lost:
// made is how often earlier processes ended in it, and of the last of these calls the relay may
// have the answer, or know that it was never sent.
func (r *run) carried(ctx context.Context, step, id string, made int) (how *journal.Carried, lost int) {
	relay := r.relay()
	switch {
	case relay == nil:
		return nil, made
	case r.journal.Knows(step): // its process may have died before it let go of the call
		relay.Forget(callID(id, r.losses(step)))
		return nil, made
	case r.begins(ctx, step) != nil:
		return nil, made
	}
	lost, first := made, max(0, made-1)
	for n := first; n < first+mostCalls; n++ {
		how := &journal.Carried{ID: callID(id, n)}
		switch fate := r.fate(ctx, how.ID); {
		case fate == journal.FateAnswered || fate == journal.FateUnderWay: // the latter where ctx ended
			how.Recalled = true
			return how, min(lost, n)
		case fate == journal.FateUnsent:
			lost = min(lost, n)
		case n < made: // that was the call without an answer
			continue
		}
		err := relay.Prepare(how.ID)
		if err == nil {
			return how, lost
		}
		if !errors.Is(err, fs.ErrExist) {
			r.warn(ctx, "the relay cannot be used, so a model call is lost, and made again, if this process is killed while it waits for the answer: "+media.ErrorText(err.Error()))
			break
		}
	}
	return nil, lost
}

// fate is what became of a call of an earlier process.
func (r *run) fate(ctx context.Context, id string) journal.Fate {
	if !r.replays {
		return journal.FateUnknown
	}
	return r.relay().Fate(ctx, id)
}

// callID names a model call for the relay; n is how often it was lost before.
func callID(id string, n int) string { return id + "-call-" + strconv.Itoa(n) }

// forget releases a call whose step is saved.
func (r *run) forget(how *journal.Carried) {
	if how != nil {
		r.relay().Forget(how.ID)
	}
}
