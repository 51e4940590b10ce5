package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"atelier/media"
)

// call is one of the provider calls that the results are split into.
type call struct {
	number int // from 1
	first  int // index of its first slot
	n      int
}

// slots lists the indexes that the call fills.
func (c call) slots() []int {
	var out []int
	for i := range c.n {
		out = append(out, c.first+i)
	}
	return out
}

// carry takes a call through its attempts. A call is repeated only if its driver
// says that a repeat is safe and nothing came of it.
func (x *execution) carry(ctx context.Context, c call) {
	limit := x.g.limits[x.op.Provider]
	if err := limit.Acquire(ctx, 1); err != nil {
		x.fail(ctx, c, 0, asError(err))
		return
	}
	defer limit.Release(1)
	for number := 1; ; number++ {
		if ended := ctx.Err(); ended != nil {
			x.fail(ctx, c, 0, asError(ended))
			return
		}
		got, err := x.attempt(ctx, c, number)
		if err == nil && got >= c.n {
			return
		}
		if err == nil {
			x.short(ctx, c, got)
			return
		}
		wait, again := x.g.pause(err, number)
		if got > 0 || !again {
			x.fail(ctx, c, got, err)
			return
		}
		x.emit(ctx, Event{Kind: EventRetry, Error: slotError(err), Wait: wait, Progress: -1})
		if ended := x.journal.Sleep(ctx, wait); ended != nil {
			x.fail(ctx, c, got, asError(ended))
			return
		}
	}
}

// pause tells how long to wait before a repeat, and whether there is one.
func (g *Gateway) pause(err *media.Error, number int) (time.Duration, bool) {
	const base, most = time.Second, 30 * time.Second
	if !err.Retryable || number >= g.config.MaxAttempts || err.RetryAfter > g.config.MaxRetryWait {
		return 0, false
	}
	grown := min(base<<min(number-1, 10), most)
	jittered := time.Duration(float64(grown) * (0.5 + g.config.Rand()/2))
	return max(jittered, err.RetryAfter), true
}

// errRunning is the cause where a task goes on past the wait: that is no failure.
var errRunning = errors.New("task goes on")

// stillRunning tells whether a task was left to go on.
func stillRunning(err *media.Error) bool { return err != nil && errors.Is(err.Cause, errRunning) }

// attempt makes one provider call and delivers what it gives; got counts its items.
func (x *execution) attempt(ctx context.Context, c call, number int) (got int, failed *media.Error) {
	t := x.task(ctx, c)
	a := Attempt{
		ID: x.g.config.NewID(), Operation: x.op.ID, Call: c.number, Number: number, Key: t.Key,
		Provider: x.op.Provider, APIModel: x.op.APIModel, Slots: c.slots(), Status: StatusSubmitted,
		StartedAt: x.g.config.Now().UTC(),
	}
	if err := x.g.config.Operations.Attempt(ctx, a); err != nil {
		e := asError(wrap("journal call", err))
		e.Retryable = false
		return 0, e
	}
	u, failed := x.start(ctx, t, fmt.Sprintf("call-%d-attempt-%d", c.number, number))
	d := delivery{x: x, call: c}
	d.take(ctx, u)
	if failed == nil && !u.Done && u.Task != (Handle{}) {
		a.Task, a.Status = u.Task, StatusRunning
		x.logAttempt(ctx, a)
		u, failed = x.poll(ctx, t, &d, u.Task, fmt.Sprintf("call-%d-poll", c.number))
	}
	x.receive(&a, u, &d, failed)
	x.logAttempt(ctx, a)
	return d.got, failed
}

// task is the plan's pattern for one call.
func (x *execution) task(ctx context.Context, c call) Task {
	t := x.plan.task
	t.N = c.n
	t.Key = x.op.Key + "-" + strconv.Itoa(c.number)
	t.Options = maps.Clone(t.Options)
	if t.Seed != nil {
		// Each call has seeds of its own, or the calls would make equal pictures.
		seed := t.Model.foldSeed(*t.Seed + int64(c.first-1))
		t.Seed = &seed
	}
	if x.g.config.Partials && slices.Contains(t.Model.Supports, "stream") {
		t.Partial = func(slot int, b media.Blob) { x.partial(ctx, c.first+slot-1, b) }
	}
	return t
}

// outcome is what a journal remembers of a driver's answer.
type outcome struct {
	Update Update
	Err    *media.Error
}

// step runs a driver's method as a journalled step.
func (x *execution) step(ctx context.Context, name string, fn func(context.Context) (Update, error)) (Update, *media.Error) {
	raw, err := x.journal.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		u, err := fn(ctx)
		out := outcome{Update: u.clean()}
		if err != nil {
			out.Err = asError(err)
			out.Err.Cause = nil
			if errors.Is(err, ErrUnsettled) {
				out.Err.Retryable, out.Update.Usage.Unsettled = false, 1
			}
		}
		return json.Marshal(out)
	})
	if err != nil {
		return Update{}, asError(err)
	}
	var out outcome
	if err := json.Unmarshal(raw, &out); err != nil {
		return Update{}, media.Errorf(media.CodeInternal, "read journal step %s: %w", name, err)
	}
	return out.Update, out.Err
}

// start makes the call within the model's time.
func (x *execution) start(ctx context.Context, t Task, step string) (Update, *media.Error) {
	limit := cmp.Or(time.Duration(t.Model.TimeoutSeconds)*time.Second, defaultTimeout)
	u, err := x.step(ctx, step, func(ctx context.Context) (Update, error) {
		ctx, stop := context.WithTimeout(ctx, limit)
		defer stop()
		return x.plan.driver.Start(ctx, t)
	})
	if err != nil && err.Code == media.CodeDeadline && ctx.Err() == nil {
		err = media.Errorf(media.CodeDeadline, "%s gave no answer within %s; the call may have been billed", t.Model.Name, limit)
	}
	return u, err
}

// poll asks for a task until it is done, the wait is over or ctx ends. A failed poll
// says nothing about the task, so polling goes on; only an answer about the task
// itself ends it.
func (x *execution) poll(ctx context.Context, t Task, d *delivery, h Handle, step string) (Update, *media.Error) {
	every := cmp.Or(time.Duration(t.Model.PollSeconds)*time.Second, defaultPoll)
	wait := cmp.Or(time.Duration(t.Model.WaitSeconds)*time.Second, defaultWait)
	last := Update{Task: h}
	for number := 1; ; number++ {
		if time.Duration(number)*every > wait {
			x.mu.Lock()
			x.running = true
			x.mu.Unlock()
			return last, media.Errorf(media.CodeDeadline, "wait %s for %s: %w", wait, t.Model.Name, errRunning)
		}
		if err := x.journal.Sleep(ctx, every); err != nil {
			return last, x.cancelTask(ctx, h, err)
		}
		u, err := x.step(ctx, step+"-"+strconv.Itoa(number), func(ctx context.Context) (Update, error) {
			return x.plan.driver.Poll(ctx, t, h)
		})
		switch {
		case ctx.Err() != nil:
			d.take(ctx, u)
			return last, x.cancelTask(ctx, h, ctx.Err())
		case err != nil && !transient(err):
			d.take(ctx, u)
			err.Retryable = false // the task was paid for: the call is not made again
			return u, err
		case err != nil:
			continue
		}
		last = u
		d.take(ctx, u)
		if u.Done {
			return u, nil
		}
		x.emit(ctx, Event{Kind: EventProgress, Progress: u.Progress, Status: StatusRunning})
	}
}

// transient tells a failed poll from an answer about the task.
func transient(err *media.Error) bool {
	switch err.Code {
	case media.CodeUnavailable, media.CodeRateLimited, media.CodeBadResponse, media.CodeDeadline, media.CodeInternal:
		return true
	default:
		return err.Retryable
	}
}

// cancelTask asks the provider to stop.
func (x *execution) cancelTask(ctx context.Context, h Handle, why error) *media.Error {
	save, done := saving(ctx)
	defer done()
	if err := x.plan.driver.Cancel(save, h); err != nil {
		x.warn("the provider could not be told to stop: " + asError(err).Message)
	}
	return asError(why)
}

// receive turns an answer into the receipt of its attempt.
func (x *execution) receive(a *Attempt, u Update, d *delivery, failed *media.Error) {
	a.Usage, a.ReportedUSD = u.Usage, u.ReportedUSD
	a.Status, a.Error = d.status(failed), nil
	if failed != nil {
		a.Error = slotError(failed)
	}
	if a.Status != StatusRunning {
		a.FinishedAt = x.g.config.Now().UTC()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if d.got > 0 || u.Usage != (Usage{}) || u.ReportedUSD != "" {
		x.receipts = append(x.receipts, receipt{usage: u.Usage, reportedUSD: u.ReportedUSD})
	}
	x.usage.add(u.Usage)
	if u.Usage.Calls == 0 {
		x.usage.Calls++
	}
	if u.Usage.Images == 0 {
		x.usage.Images += d.made
	}
	for k, v := range u.Metadata {
		if x.metadata == nil {
			x.metadata = map[string]any{}
		}
		x.metadata[k] = v
	}
}

// logAttempt saves an attempt that has been made; a failure warns.
func (x *execution) logAttempt(ctx context.Context, a Attempt) {
	save, done := saving(ctx)
	defer done()
	if err := x.g.config.Operations.Attempt(save, a); err != nil {
		x.warn("a provider call could not be journalled: " + asError(err).Message)
	}
}

// add sums up.
func (u *Usage) add(v Usage) {
	u.Calls += v.Calls
	u.Images += v.Images
	u.Unsettled += v.Unsettled
	u.InputTokens = sum(u.InputTokens, v.InputTokens)
	u.OutputTokens = sum(u.OutputTokens, v.OutputTokens)
	u.ImageInputTokens = sum(u.ImageInputTokens, v.ImageInputTokens)
	u.ImageOutputTokens = sum(u.ImageOutputTokens, v.ImageOutputTokens)
}

// sum adds counts that a provider named, and does not wrap round.
func sum(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + max(b, 0)
}
