package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// steps runs the methods of drivers as durable steps of one operation: a step that an earlier process
// finished gives its saved outcome, and the driver is not called. Errors are those of the driver, with
// driver.ErrUnsettled or driver.ErrContested as their cause where they had it, and media.CodeInternal
// for a saved outcome that cannot be read.
type steps struct{ journal.Journal }

// run runs a driver's method as a journalled step.
func (s steps) run(ctx context.Context, name step.Name, fn func(context.Context) (driver.Update, error)) (driver.Update, *media.Error) {
	raw, err := s.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		u, err := fn(ctx)
		out := outcome{Update: u.Clean()}
		if err != nil {
			out.fail(err)
		}
		return json.Marshal(out)
	})
	if err != nil {
		return driver.Update{}, fault.Of(err)
	}
	var out outcome
	if err := json.Unmarshal(raw, &out); err != nil {
		return driver.Update{}, media.Errorf(media.CodeInternal, "read journal step %s: %w", name, err)
	}
	return out.Update, out.failure()
}

// start makes the call within the model's time, and after the end of ctx within the grace of
// [sending].
func (s steps) start(ctx context.Context, c call, t driver.Task, name step.Name) (driver.Update, *media.Error) {
	limit := cmp.Or(time.Duration(t.Model.TimeoutSeconds)*time.Second, defaultTimeout)
	u, err := s.run(ctx, name, func(ctx context.Context) (driver.Update, error) {
		call, over := sending(ctx, t.Model)
		defer over()
		call, stop := context.WithTimeout(call, limit)
		defer stop()
		u, err := c.plan.Driver.Start(call, t)
		return u, late(ctx, t.Model, err)
	})
	if err != nil && err.Code == media.CodeDeadline && ctx.Err() == nil {
		err = media.Errorf(media.CodeDeadline, "%s gave no answer within %s; the call may have been billed", t.Model.Name, limit)
	}
	return u, err
}

// late tells a call that was cut off because the caller's time was over from one that was
// cancelled: its own context knows of neither.
func late(ctx context.Context, m catalog.Model, err error) error {
	if media.CodeOf(err) != media.CodeCancelled || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	e := fault.Of(err)
	e.Code, e.Message, e.Cause = media.CodeDeadline, "the time was over before "+m.Name+" answered", err
	return e
}

// ask gives the state of a task: what its provider told, or the answer of a poll.
func (s steps) ask(ctx context.Context, p polling, notices *waiting, number int) (driver.Update, *media.Error) {
	if news := notices.take(); news != nil && (news.Done || len(news.Items) > 0) {
		return *news, nil
	}
	return s.run(ctx, step.Name{Kind: step.KindPoll, Call: p.call.number, Index: number}, func(ctx context.Context) (driver.Update, error) {
		brief, stop := context.WithTimeout(ctx, p.limit)
		defer stop()
		if number > 1 {
			brief, stop = context.WithDeadline(brief, p.end)
			defer stop()
		}
		u, err := within(brief, func() (driver.Update, error) { return p.call.plan.Driver.Poll(brief, p.task, p.handle) }, func(driver.Update) {})
		if err != nil && brief.Err() != nil && ctx.Err() == nil {
			err = media.Errorf(media.CodeDeadline, "%s did not report the state of a task in time", p.task.Model.Name)
		}
		return u, err
	})
}

// rest waits until the next poll, or until the provider tells something.
func (s steps) rest(ctx context.Context, pause time.Duration, notices *waiting) error {
	if notices.pending() {
		return ctx.Err()
	}
	nap, wake := context.WithCancel(ctx)
	defer wake()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-notices.bell:
			wake()
		case <-done:
		}
	}()
	_ = s.Sleep(nap, pause) // its only failure that counts is the end of ctx
	return ctx.Err()
}

// outcome is what a journal remembers of a driver's answer.
type outcome struct {
	Update driver.Update
	Err    *media.Error
	// Contested says that the error is [driver.ErrContested].
	Contested bool `json:",omitempty"`
}

// fail keeps a driver's error. A driver's conflict is one at its provider, and must not be
// taken for that of two processes over one operation.
func (o *outcome) fail(err error) {
	o.Err = fault.Of(err)
	o.Err.Cause = nil
	if o.Contested = errors.Is(err, driver.ErrContested) || o.Err.Code == media.CodeConflict; o.Contested {
		o.Err.Code = media.CodeUnavailable
	}
	if errors.Is(err, driver.ErrUnsettled) {
		o.Err.Retryable, o.Update.Usage.Unsettled = false, 1
	}
}

// failure is the error that was kept; nil if there was none.
func (o *outcome) failure() *media.Error {
	switch {
	case o.Err == nil:
	case o.Update.Usage.Unsettled > 0:
		o.Err.Cause = driver.ErrUnsettled
	case o.Contested:
		o.Err.Cause = driver.ErrContested
	}
	return o.Err
}
