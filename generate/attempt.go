package generate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"atelier/journal/step"
	"atelier/media"
)

// call is one of the provider calls that the results are split into.
type call struct {
	plan   *Plan
	number int   // from 1
	slots  []int // indexes, from 1, that it fills
}

func (c call) n() int { return len(c.slots) }

// carry takes a call through its attempts. A call is repeated only if its driver
// says that a repeat is safe and nothing came of it.
func (x *execution) carry(ctx context.Context, c call) {
	done, refused := x.g.lanes[c.plan.Model.Provider].admit(ctx, c.plan.Model)
	switch {
	case refused == nil:
		defer done()
	case left(ctx) || len(x.past[c.number]) == 0:
		x.fail(ctx, c, 0, x.ended(ctx))
		return
	default: // what an earlier process began is ended, which asks for nothing that has to wait its turn
	}
	b := x.takeUp(ctx, c)
	var waited time.Time
	for number := b.next; !b.over; number++ {
		got, called, err := x.advance(ctx, c, number, waited)
		switch {
		case !called:
			x.fail(ctx, c, 0, err)
			return
		case err == nil && got >= c.n():
			return
		case err == nil:
			x.short(ctx, c, got)
			return
		case unmade(ctx, err):
			x.fail(ctx, c, got, x.ended(ctx))
			return
		}
		if waited, err = x.before(ctx, c, number, got, err); err != nil {
			x.fail(ctx, c, got, err)
			return
		}
	}
}

// advance makes the next attempt of a call when it is its turn. Where it is not called, the error
// is why.
func (x *execution) advance(ctx context.Context, c call, number int, waited time.Time) (got int, called bool, failed *media.Error) {
	if failed = x.turn(ctx, c, waited); failed != nil {
		return 0, false, x.uncalled(ctx, c, number, failed)
	}
	got, failed = x.attempt(ctx, c, number)
	return got, true, failed
}

// pause tells how long to wait before a repeat, and whether there is one.
func (g *Gateway) pause(err *media.Error, number int) (time.Duration, bool) {
	const base, most = time.Second, 30 * time.Second
	attempts := g.config.MaxAttempts
	if errors.Is(err, ErrContested) {
		attempts = min(attempts, 2)
	}
	if !err.Retryable || number >= attempts || err.RetryAfter > g.config.MaxRetryWait {
		return 0, false
	}
	grown := min(base<<min(number-1, 10), most)
	jittered := time.Duration(float64(grown) * (0.5 + g.config.Rand()/2))
	return max(jittered, err.RetryAfter), true
}

// attempt makes one provider call and delivers what it gives; got counts its items.
func (x *execution) attempt(ctx context.Context, c call, number int) (got int, failed *media.Error) {
	t := x.task(ctx, c)
	leave, failed := x.g.lanes[c.plan.Model.Provider].enter(ctx, c.plan.Model)
	if failed != nil {
		return 0, x.uncalled(ctx, c, number, failed)
	}
	defer func() {
		leave(failed)
		x.g.heed(c.plan.Model, failed)
	}()
	enough, failed := x.g.room(ctx, c.plan, c.n())
	if failed != nil {
		return 0, failed
	}
	defer enough()
	a := x.attemptAt(c, number)
	if err := x.g.config.Operations.Attempt(ctx, a); err != nil {
		e := asError(wrap("journal call", err))
		e.Retryable = false
		return 0, e
	}
	return x.submit(ctx, c, t, a)
}

// submit makes the provider call of an attempt and delivers what it gives.
func (x *execution) submit(ctx context.Context, c call, t Task, a Attempt) (got int, failed *media.Error) {
	var u Update
	u, failed = x.start(ctx, c, t, step.Name{Kind: step.KindAttempt, Call: c.number, Index: a.Number})
	if unmade(ctx, failed) {
		failed.Retryable = true // by whoever goes on with it
	}
	d := delivery{x: x, call: c, begun: a.StartedAt, asks: u.Task != (Handle{})}
	d.take(ctx, u)
	if failed == nil && u.Done {
		d.insist(ctx, u)
	}
	if u.Usage.Unsettled > 0 && d.got == 0 {
		u, failed = x.trace(ctx, c, a, u, failed)
	}
	if failed == nil && !u.Done && u.Task != (Handle{}) {
		a.Task, a.Status, a.ReportedUSD = u.Task, StatusRunning, reported(c.plan.Model, u)
		started := u
		p := polling{call: c, task: t, handle: u.Task}
		u, failed = x.poll(ctx, p, &d, func() { x.logAttempt(ctx, a) })
		u.Metadata = join(started.Metadata, u.Metadata)
	}
	d.end(ctx, a, u, failed)
	return d.got, failed
}

// attemptAt is an attempt that is about to begin.
func (x *execution) attemptAt(c call, number int) Attempt {
	return Attempt{
		ID: x.g.config.NewID(), Operation: x.op.ID, Call: c.number, Number: number, Key: x.key(c),
		Provider: c.plan.Model.Provider, APIModel: c.plan.Model.APIModel, Slots: c.slots, Status: StatusSubmitted,
		StartedAt: x.g.config.Now().UTC(),
	}
}

// key is the idempotency key of a call.
func (x *execution) key(c call) string { return x.op.ID + "-" + strconv.Itoa(c.number) }

// uncalled writes down that the provider was not called, and why: whoever goes on with the
// operation, perhaps while another model stands in, does not call it either.
func (x *execution) uncalled(ctx context.Context, c call, number int, why *media.Error) *media.Error {
	if why.Code != media.CodeUnavailable && why.Code != media.CodeRateLimited {
		return why // it was the caller's time
	}
	a := x.attemptAt(c, number)
	a.Status, a.Error, a.FinishedAt = StatusFailed, slotError(why), a.StartedAt
	x.logAttempt(ctx, a)
	return why
}

// unmade reports whether a call came to nothing, and cost nothing, because the work was left.
func unmade(ctx context.Context, failed *media.Error) bool {
	return failed != nil && failed.Code == media.CodeCancelled && left(ctx) && !errors.Is(failed, ErrUnsettled)
}

// task is the plan's pattern for one call.
func (x *execution) task(ctx context.Context, c call) Task {
	t := c.plan.task
	t.N = c.n()
	t.Key = x.key(c)
	t.Options = maps.Clone(t.Options)
	if t.Seed != nil {
		// Each call has seeds of its own, or the calls would make equal pictures.
		seed := t.Model.foldSeed(*t.Seed + int64(c.slots[0]-1))
		t.Seed = &seed
	}
	t = Marked(c.plan.driver, t)
	if x.g.config.Notify != nil {
		t.NotifyURL, t.NotifySecret = x.g.config.Notify(t.Model.Provider)
		t.NotifyURL = addressOf(t.NotifyURL, t.Key)
	}
	if x.streams(c) && x.plan.frames { // else whoever goes on could not tell a frame from the picture
		t.Partial = func(slot int, b media.Blob) { x.partial(ctx, c, slot, b) }
	}
	return t
}

// streams reports whether a call gives preview frames.
func (x *execution) streams(c call) bool {
	return x.g.config.Partials && c.plan.Model.streams()
}

// start makes the call within the model's time; where the work is left or let go, within
// the grace.
func (x *execution) start(ctx context.Context, c call, t Task, name step.Name) (Update, *media.Error) {
	limit := cmp.Or(time.Duration(t.Model.TimeoutSeconds)*time.Second, defaultTimeout)
	u, err := x.step(ctx, name, func(ctx context.Context) (Update, error) {
		call, over := sending(ctx, t.Model)
		defer over()
		call, stop := context.WithTimeout(call, limit)
		defer stop()
		u, err := c.plan.driver.Start(call, t)
		return u, late(ctx, t.Model, err)
	})
	if err != nil && err.Code == media.CodeDeadline && ctx.Err() == nil {
		err = media.Errorf(media.CodeDeadline, "%s gave no answer within %s; the call may have been billed", t.Model.Name, limit)
	}
	return u, err
}

// late tells a call that was cut off because the caller's time was over from one that was
// cancelled: its own context knows of neither.
func late(ctx context.Context, m Model, err error) error {
	if media.CodeOf(err) != media.CodeCancelled || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	e := asError(err)
	e.Code, e.Message, e.Cause = media.CodeDeadline, "the time was over before "+m.Name+" answered", err
	return e
}

// receive turns an answer into the receipt of its attempt.
func (x *execution) receive(a *Attempt, u Update, d *delivery, failed *media.Error) {
	// Some providers name the price when the task begins, and not again.
	a.Usage, a.ReportedUSD = u.Usage, cmp.Or(reported(d.call.plan.Model, u), a.ReportedUSD)
	if a.Usage.Calls == 0 {
		a.Usage.Calls = 1
	}
	if a.Usage.Images == 0 {
		a.Usage.Images = d.given
	}
	a.Status, a.Error = d.status(failed), d.why
	if a.Status == StatusRunning && a.Task == (Handle{}) {
		a.Status = StatusSubmitted // its task has yet to be found
	}
	if failed != nil && !stillRunning(failed) {
		a.Error = slotError(failed)
	}
	if a.Status != StatusRunning && a.Status != StatusSubmitted {
		a.FinishedAt = x.g.config.Now().UTC()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.count(d.call.plan, *a)
	for _, index := range d.call.slots {
		x.unsettled[index] = x.unsettled[index] || u.Usage.Unsettled > 0
	}
	x.note(u.Metadata)
}

// reported is what the provider says that a call costs; empty if it does not say.
func reported(m Model, u Update) string {
	return cmp.Or(u.ReportedUSD, m.creditCost(u.ReportedCredits))
}

// join adds what was said later to what was said first.
func join(first, later map[string]any) map[string]any {
	if len(first) == 0 {
		return later
	}
	out := maps.Clone(first)
	maps.Copy(out, later)
	return out
}

// logAttempt saves an attempt that has been made; a failure warns.
func (x *execution) logAttempt(ctx context.Context, a Attempt) {
	save, done := saving(ctx)
	defer done()
	err := x.g.config.Operations.Attempt(save, a)
	x.mu.Lock()
	if delete(x.unlogged, a.ID); err != nil && (!a.FinishedAt.IsZero() || a.Task != (Handle{})) {
		if x.unlogged == nil {
			x.unlogged = map[string]Attempt{}
		}
		x.unlogged[a.ID] = a
	}
	x.mu.Unlock()
	if err != nil {
		x.warn("a provider call could not be journalled: " + asError(err).Message)
	}
}
