package generate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"atelier/media"
)

const (
	// looks is how many lists are read without the task: the provider may still be at work on
	// the request.
	looks = 3
	// findTime is how long is waited for a list that does not come: what lost the answer often
	// goes on for a while.
	findTime = time.Minute
	// lookTime is the most that one look takes, longestLook the longest pause before the next.
	lookTime, longestLook = 30 * time.Second, 10 * time.Second
)

// recover does what can be done for a call that an earlier process sent, or was about to
// send, and that was not answered: it goes on with the task that its provider lists, or keeps
// what arrived.
func (x *execution) recover(ctx context.Context, c call, a Attempt) {
	h, elsewhere := x.find(ctx, c, a)
	switch {
	case elsewhere != nil:
		x.fail(ctx, c, 0, elsewhere)
	case h == (Handle{}):
		x.adopt(ctx, c, a)
	default:
		a.Task, a.Status = h, StatusRunning
		x.followTask(ctx, c, a, func() { x.logAttempt(ctx, a) })
	}
}

// trace goes after a call of this process whose answer was lost. Without a trace of it the
// answer is what it was.
func (x *execution) trace(ctx context.Context, c call, a Attempt, u Update, lost *media.Error) (Update, *media.Error) {
	h, elsewhere := x.find(ctx, c, a)
	switch {
	case elsewhere != nil:
		return Update{}, elsewhere
	case h == (Handle{}):
		return u, lost
	}
	return Update{Task: h, Progress: -1}, nil
}

// find asks for the task of a call whose answer was lost; zero if the provider lists none,
// or more than one, that can be it. The error is that somebody else goes on with the call, or
// whoever is let in: a list that refuses the key says nothing about the task.
func (x *execution) find(ctx context.Context, c call, a Attempt) (Handle, *media.Error) {
	d, ok := c.plan.driver.(Listed)
	if !ok {
		return Handle{}, nil
	}
	t := x.task(ctx, c)
	t.Key = a.Key
	every := cmp.Or(time.Duration(t.Model.PollSeconds)*time.Second, defaultPoll)
	read, pause, waited := 0, time.Duration(0), time.Duration(0)
	for ctx.Err() == nil {
		h, err := x.look(ctx, d, t, a.StartedAt)
		if err == nil {
			read++
		}
		if h != (Handle{}) {
			return h, nil
		}
		if err != nil && ctx.Err() == nil && refused(asError(err)) && x.resumable() {
			return Handle{}, x.shutOut(asError(err), "whether a call arrived whose answer was lost is told by its list of tasks alone, so it was left to be looked for when the key is let in")
		}
		pause = min(pause+every, longestLook)
		waited += pause
		if err != nil && !transient(asError(err)) || read == looks || waited > findTime || x.journal.Sleep(ctx, pause) != nil {
			break
		}
	}
	if left(ctx) {
		return Handle{}, x.ended(ctx)
	}
	return Handle{}, nil
}

// look asks once. Tasks that the log knows are those of other calls.
func (x *execution) look(ctx context.Context, d Listed, t Task, since time.Time) (Handle, error) {
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	all, err := Find(ctx, d, t, since)
	if err != nil {
		return Handle{}, err
	}
	if log, ok := x.g.config.Operations.(Resumer); ok {
		all = slices.DeleteFunc(all, func(h Handle) bool {
			_, _, unknown := log.TaskOf(ctx, t.Model.Provider, h.ID)
			if media.CodeOf(unknown) != media.CodeNotFound {
				err = errors.Join(err, unknown)
				return true
			}
			return false
		})
	}
	if err != nil || len(all) != 1 {
		return Handle{}, err
	}
	return all[0], nil
}
