package generate

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"atelier/media"
)

// callParameter is what the address that a provider is to tell says of the call. By it a task
// is known whose name was lost with the answer.
const callParameter = "call"

// addressOf is where a provider is to tell how the task of one call goes on.
func addressOf(base, key string) string {
	at, err := url.Parse(base)
	if base == "" || err != nil {
		return base
	}
	query := at.Query()
	query.Set(callParameter, key)
	at.RawQuery = query.Encode()
	return at.String()
}

// heard goes on with a call whose answer was lost, when the provider tells how its task ended. It
// is believed only where the provider signs. An operation that was cancelled stays so.
// The error has code media.CodeNotFound if there is no such call, and media.CodeConflict while
// somebody works on its operation, so that the answer may yet come, or while that cannot end.
func (g *Gateway) heard(ctx context.Context, log Resumer, provider string, n Notification, u Update) error {
	unknown := media.Errorf(media.CodeNotFound, "no operation waits for this task")
	key := strings.Join(n.Query[callParameter], "")
	cut := strings.LastIndexByte(key, '-')
	if !u.Done || cut < 0 {
		return unknown
	}
	id := key[:cut]
	scope, err := log.ScopeOf(ctx, id)
	if err != nil {
		return err
	}
	ctx = media.WithScope(ctx, scope)
	if err := g.here.enter(id); err != nil {
		return err
	}
	defer g.here.leave(id)
	for range 3 { // its operation may have to end first, and another process may come between
		saved, err := log.Saved(ctx, id)
		if err != nil {
			return err
		}
		a, lost := saved.nameless(provider, key)
		if !lost {
			return unknown
		}
		a.Task = u.Task
		if known, err := g.hear(ctx, log, saved, a); err != nil || known {
			return err
		}
	}
	return unfinished(id) // its end cannot be saved, for instance
}

// hear goes on with an operation, and with a call of it whose task is known by now. Where the
// call was given up, and the operation is not finished, that comes first; known tells
// whether the task was taken.
func (g *Gateway) hear(ctx context.Context, log Resumer, before *Saved, a Attempt) (known bool, err error) {
	id := before.Operation.ID
	if err := log.Hold(ctx, id, g.holder, g.config.Now().Add(holdTime)); err != nil {
		return false, err
	}
	// What was read before the right to work on it may be old.
	saved, err := log.Saved(ctx, id)
	if err != nil {
		return false, g.release(ctx, log, id, err)
	}
	if now, lost := saved.nameless(a.Provider, a.Key); !lost || !now.FinishedAt.Equal(a.FinishedAt) {
		return false, g.release(ctx, log, id, nil) // somebody went on with it
	}
	known = true
	switch open := saved.Operation.FinishedAt.IsZero(); {
	case open && !a.FinishedAt.IsZero():
		known = false
	case open:
		if err := g.config.Operations.Attempt(ctx, a.underWay()); err != nil {
			return false, g.release(ctx, log, id, wrap("journal call", err))
		}
		saved, err = log.Saved(ctx, id)
	default:
		saved, err = g.takeBack(ctx, log, saved, a)
	}
	if err != nil {
		return false, g.release(ctx, log, id, err)
	}
	res, err := g.goOn(ctx, saved, false)
	switch {
	case err != nil:
		err = g.release(ctx, log, id, err)
	case !known && res.Status == StatusRunning:
		err = unfinished(id)
	}
	return known, err
}

// nameless finds the call with a key whose task nobody knows: it is under way, or may have
// been billed and was given up.
func (s *Saved) nameless(provider, key string) (Attempt, bool) {
	if s.Operation.Status == StatusCancelled {
		return Attempt{}, false
	}
	lost := s.givenUp()
	for _, a := range s.Attempts {
		if a.Status == StatusSubmitted && a.Task == (Handle{}) && s.Operation.FinishedAt.IsZero() {
			lost = append(lost, a)
		}
	}
	i := slices.IndexFunc(lost, func(a Attempt) bool { return a.Provider == provider && a.Key == key })
	if i < 0 {
		return Attempt{}, false
	}
	return lost[i], true
}
