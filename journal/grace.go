package journal

import (
	"context"
	"sync"
	"time"

	"atelier/journal/step"
)

// Recaller is an optional interface of a [Journal]: it reports which steps were finished in an earlier process or part
// of the work.
type Recaller interface {
	// Knows reports whether a step of this part is finished, so that its result is returned without running it.
	Knows(name step.Name) bool
	// Recalled returns the names of the finished steps of this part that were known when the work started, in no
	// particular order and without those of its children.
	Recalled() []step.Name
}

// WithGrace returns a context for partly finished work: it ends with ctx, but not before the work reaches something
// new, see [Live]. Replayed steps cost nothing and call no provider, and belong to the result of the work even if it is
// ended. If ctx ends with [ErrHandedOver], the context ends at once, and in any case a minute after ctx: code that does
// more than its steps is not awaited. The caller must call the function when the work has ended.
func WithGrace(ctx context.Context) (graced context.Context, over func()) {
	s := newGraceContext(ctx, ctx)
	return s, s.over
}

// Fork returns the context of one of several parts that continue concurrently under a context with grace: each part
// reaches something new by itself. Call join when the part has ended: if the part has reached something new, so has the
// whole. The part also ends if ctx has its own end, such as a timeout. For any other context, Fork returns ctx.
func Fork(ctx context.Context) (part context.Context, join func()) {
	whole, ok := ctx.Value(graceKey{}).(*graceContext)
	if !ok || whole.isLive() {
		return ctx, func() {}
	}
	s := newGraceContext(ctx, whole.caller)
	unbind := context.AfterFunc(ctx, func() {
		if whole.Err() == nil || whole.caller.Err() == nil { // otherwise the caller has ended, and the part is in its grace
			s.end(ctx.Err(), context.Cause(ctx))
		}
	})
	return s, func() {
		unbind()
		if s.isLive() {
			whole.goLive()
		}
		s.over()
	}
}

// Live reports that the work under ctx reaches something new: from then on, a context with grace ends with its caller.
// The error is why the caller has ended; it is nil if it has not, and for any other context.
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

// graceLimit is the maximum time that a context outlasts its caller.
const graceLimit = time.Minute

type graceKey struct{}

// graceContext is a context with grace.
type graceContext struct {
	context.Context //nolint:containedctx // it is a context: the values, and the cause of the end
	// caller is the context that this one outlasts.
	caller context.Context //nolint:containedctx // it is a context itself
	cancel context.CancelCauseFunc
	done   chan struct{}
	// unbind stops watching the caller.
	unbind func() bool

	mu    sync.Mutex // guards the following
	live  bool
	limit *time.Timer // since the caller has ended
	ended error       // returned by Err
}

// newGraceContext returns a graceContext with the values of ctx.
func newGraceContext(ctx, caller context.Context) *graceContext {
	s := &graceContext{caller: caller, done: make(chan struct{})}
	s.Context, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.unbind = context.AfterFunc(caller, s.look)
	return s
}

// look ends the graceContext if its caller has ended and no finished steps remain to be replayed.
func (s *graceContext) look() {
	reason := s.caller.Err()
	s.mu.Lock()
	graced := reason != nil && s.ended == nil && !s.live && !HandedOver(s.caller)
	if graced && s.limit == nil {
		s.limit = time.AfterFunc(graceLimit, s.goLive)
	}
	s.mu.Unlock()
	if reason != nil && !graced {
		s.end(reason, context.Cause(s.caller))
	}
}

// end ends the graceContext, once.
func (s *graceContext) end(reason, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return
	}
	s.ended = reason
	if s.limit != nil {
		s.limit.Stop()
	}
	s.cancel(cause)
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

// over ends the graceContext when its work has ended.
func (s *graceContext) over() {
	s.unbind()
	s.end(context.Canceled, nil)
}

// Done returns a channel that is closed when the graceContext ends. It is not the channel of the embedded context,
// whose error would always be context.Canceled.
func (s *graceContext) Done() <-chan struct{} { return s.done }

// Err returns the error of the caller.
func (s *graceContext) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Value returns the graceContext for its key.
func (s *graceContext) Value(key any) any {
	if key == (graceKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// AfterFunc lets package context watch the graceContext without a goroutine for each child.
func (s *graceContext) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(s.Context, f) }
