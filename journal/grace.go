package journal

import (
	"context"
	"sync"
	"time"

	"atelier/journal/step"
)

// Recaller is an optional ability of a [Journal]: it tells what was done before, in an
// earlier process or part of the work.
type Recaller interface {
	// Knows reports whether a step of this part is finished, so that its result is returned without running it.
	Knows(name step.Name) bool
	// Recalled names the finished steps of this part that were known when the work began,
	// in no order; those of its children are not among them.
	Recalled() []step.Name
}

// WithGrace returns a context for work that was done in part before: it ends with ctx, but not before the work comes to
// something new, see [Live]. What is known costs nothing and asks nobody, and belongs to what the work gives, also
// where it is ended. Where ctx ends because it is left, see [ErrHandedOver], the context ends at once, and a minute
// after its caller in any case: code that does more than its steps is not waited for. The caller calls the function
// when the work has ended.
func WithGrace(ctx context.Context) (graced context.Context, over func()) {
	s := newGraceContext(ctx, ctx)
	return s, s.over
}

// Fork returns the context of one of several parts that continue at once under a context with grace: each comes to
// something new by itself. The function is called when the part has ended: where the part has come to something new, so
// has the whole. Any other context is given back.
func Fork(ctx context.Context) (part context.Context, join func()) {
	whole, ok := ctx.Value(graceKey{}).(*graceContext)
	if !ok || whole.isLive() {
		return ctx, func() {}
	}
	s := newGraceContext(ctx, whole.caller)
	return s, func() {
		if s.isLive() {
			whole.goLive()
		}
		s.over()
	}
}

// Live says that the work under ctx comes to something that was not done before: from now on a context with grace ends
// with its caller's. The error is why that has ended, and nil also for any other context.
func Live(ctx context.Context) error {
	s, ok := ctx.Value(graceKey{}).(*graceContext)
	if !ok {
		return nil
	}
	s.goLive()
	if s.caller.Err() == nil {
		return nil
	}
	return context.Cause(s.caller) //nolint:contextcheck // it is what ctx outlasts
}

// graceLimit is how long a context outlasts its caller at most.
const graceLimit = time.Minute

type graceKey struct{}

// graceContext is a context with grace.
type graceContext struct {
	context.Context //nolint:containedctx // it is a context: the values, and the cause of the end
	// caller is the context that this one outlasts.
	caller context.Context //nolint:containedctx // it is a context itself
	cancel context.CancelCauseFunc
	done   chan struct{}
	// unbind ends the watch of the caller.
	unbind func() bool

	mu    sync.Mutex // guards what follows
	live  bool
	limit *time.Timer // since the caller has ended
	ended error       // what Err gives
}

// newGraceContext makes a graceContext with the values of ctx.
func newGraceContext(ctx, caller context.Context) *graceContext {
	s := &graceContext{caller: caller, done: make(chan struct{})}
	s.Context, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.unbind = context.AfterFunc(caller, s.look)
	return s
}

// look ends the graceContext if its caller has ended and nothing is left to be recalled.
func (s *graceContext) look() {
	reason := s.caller.Err()
	s.mu.Lock()
	graced := reason != nil && s.ended == nil && !s.live && !HandedOver(s.caller)
	if graced && s.limit == nil {
		s.limit = time.AfterFunc(graceLimit, s.goLive)
	}
	if reason == nil || s.ended != nil || graced {
		s.mu.Unlock()
		return
	}
	s.ended = reason
	s.mu.Unlock()
	s.cancel(context.Cause(s.caller))
	close(s.done)
}

func (s *graceContext) isLive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

func (s *graceContext) goLive() {
	s.mu.Lock()
	s.live = true
	s.mu.Unlock()
	s.look()
}

// over ends the graceContext with its work.
func (s *graceContext) over() {
	s.unbind()
	s.mu.Lock()
	ended := s.ended != nil
	if !ended {
		s.ended = context.Canceled
	}
	if s.limit != nil {
		s.limit.Stop()
	}
	s.mu.Unlock()
	if !ended {
		s.cancel(nil)
		close(s.done)
	}
}

// Done is closed when the graceContext ends. It is not that of the context within, whose end
// would always be context.Canceled.
func (s *graceContext) Done() <-chan struct{} { return s.done }

// Err is that of the caller.
func (s *graceContext) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Value knows the graceContext by its key.
func (s *graceContext) Value(key any) any {
	if key == (graceKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// AfterFunc lets package context follow the graceContext without a goroutine each.
func (s *graceContext) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(s.Context, f) }
