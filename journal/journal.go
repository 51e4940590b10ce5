// Package journal is the seam to durable execution: the few verbs that an agent
// run or a generation needs so that it can be replayed after a crash. agent and
// generate know only this package; the durable engine implements it in room run.
//
// Steps are named by the types of journal/step, which alone writes and reads names as text.
//
// It imports journal/step and the standard library only.
package journal

import (
	"context"
	"errors"
	"time"

	"atelier/journal/step"
)

// ErrHandedOver is the cause of a context that ends because the process stops and another one will
// continue: nothing is finished and nothing is reported, the replay will do both.
var ErrHandedOver = errors.New("handed over to another process")

// HandOver is [ErrHandedOver] with time for what is in progress: calls that may be billed and cannot
// be asked for again may end within the grace. Nothing else continues for it.
func HandOver(grace time.Duration) error { return &handOverError{grace} }

type handOverError struct{ grace time.Duration }

func (l *handOverError) Error() string { return ErrHandedOver.Error() }

// Unwrap makes it ErrHandedOver.
func (l *handOverError) Unwrap() error { return ErrHandedOver }

// Ending returns the context of a call that may be billed: it ends with ctx, and where that
// is left with [HandOver] after the grace. The caller calls the function when the call has ended.
func Ending(ctx context.Context) (context.Context, context.CancelFunc) {
	call, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if l, ok := errors.AsType[*handOverError](context.Cause(ctx)); ok {
			_ = Memory{}.Sleep(call, l.grace)
		}
		end(context.Cause(ctx))
	})
	return call, func() {
		stop()
		end(nil)
	}
}

// HandedOver reports whether the work under ctx continues elsewhere.
func HandedOver(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrHandedOver) }

// Journal runs the steps of one workflow.
//
// Step outputs are small JSON values; media bytes never pass through a journal (law 1). Implementations are safe for
// concurrent use by the goroutines of one run. The suite in journaltest holds every clause of this contract.
type Journal interface {
	// Step runs fn and remembers its result under name. When the workflow is replayed, a finished step returns its
	// remembered result and fn does not run. An error is handed on and not remembered: the step runs again in a replay,
	// so a failure that has to stay is part of the result. A step within a step is part of the outer one. Names are
	// unique within a workflow and do not depend on timing.
	Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error)
	// Sleep waits, durably if the engine is durable; it ends early with ctx.Err(). Sleeps of one
	// journal are sequential; concurrent ones have their own Child.
	Sleep(ctx context.Context, d time.Duration) error
	// Child returns the journal of a part of the workflow, whose names are its own: name
	// is unique within the journal that it is a child of.
	Child(ctx context.Context, name step.Name) (Journal, error)
}

// Memory is the journal of library use and tests: every step runs once, nothing is remembered.
type Memory struct{}

var _ Journal = Memory{}

// Step runs fn.
func (Memory) Step(ctx context.Context, _ step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	return fn(ctx)
}

// Sleep waits for d or for the end of ctx.
func (Memory) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Child returns the same journal.
func (m Memory) Child(context.Context, step.Name) (Journal, error) { return m, nil }
