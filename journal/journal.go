// Package journal is the seam to durable execution: the few verbs that an agent
// run or a generation needs so that it can be replayed after a crash. agent and
// generate know only this package; the durable engine implements it in room run.
//
// It imports the standard library only.
package journal

import (
	"context"
	"time"
)

// Journal runs the steps of one workflow.
//
// Step outputs are small JSON values; media bytes never pass through a journal
// (law 1). Implementations are safe for concurrent use by the goroutines of one run.
type Journal interface {
	// Step runs fn and remembers its result under name. When the workflow is
	// replayed, a finished step returns its remembered result and fn does not run.
	// Names are unique within a workflow and do not depend on timing.
	Step(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error)
	// Sleep waits, durably where the engine is durable; it ends early with ctx.Err().
	Sleep(ctx context.Context, d time.Duration) error
	// Child gives the journal of a child workflow with a stable id derived from name.
	Child(ctx context.Context, name string) (Journal, error)
}

// Memory is the journal of library use and tests: every step runs once, nothing
// is remembered.
type Memory struct{}

var _ Journal = Memory{}

// Step runs fn.
func (Memory) Step(ctx context.Context, _ string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
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

// Child gives the same journal.
func (m Memory) Child(context.Context, string) (Journal, error) { return m, nil }
