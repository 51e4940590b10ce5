package durable

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// What a step's row begins with: its result follows, or it has none, because it failed
// or its process died in it.
const (
	markResult = "="
	markNone   = "!"
)

// lostStep is the name of the row that fills the number of a step that was begun and
// never written.
const lostStep = "lost"

// flow is one workflow in this process.
type flow struct {
	e    *Engine
	id   string
	dctx dbos.Context
	// ctx is that of the work, and stop ends it.
	ctx  context.Context //nolint:containedctx // it lives as long as the work
	stop context.CancelCauseFunc
	// counted tells that the engine's counter is behind the steps of earlier processes.
	counted bool
	// pause is the last one before the work began again.
	pause time.Duration
	// saving counts the steps whose results are not saved yet.
	saving sync.WaitGroup
	// known are the results of earlier processes by the full names of their steps.
	known map[string]string
	// order guards the numbers of steps, which the engine gives in order of calling.
	order sync.Mutex
}

// load reads what earlier processes did and brings the engine's counter behind it.
func (f *flow) load() error {
	rows, err := dbos.GetWorkflowSteps(f.e.root, f.id, dbos.WithStepsLoadOutput(true))
	if err != nil || len(rows) == 0 {
		f.counted = f.counted || err == nil
		return err
	}
	names := map[int]string{}
	last := 0
	f.known = make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.StepID], last = r.StepName, max(last, r.StepID)
		if s, ok := r.Output.(string); ok && strings.HasPrefix(s, markResult) {
			f.known[r.StepName] = s[len(markResult):]
		}
	}
	if f.counted {
		return nil
	}
	f.counted = true
	for number := 0; number <= last; number++ {
		name, ok := names[number]
		if !ok {
			name = lostStep
		}
		none := func(context.Context) (string, error) { return markNone, nil }
		if _, err := dbos.RunAsStep(f.dctx, none, dbos.WithStepName(name)); err != nil {
			return err
		}
	}
	return nil
}

// steps is the journal of a workflow or of a part of it.
type steps struct {
	flow  *flow
	place step.Place
	slept atomic.Int64
}

var (
	_ journal.Journal  = (*steps)(nil)
	_ journal.Recaller = (*steps)(nil)
)

type inside struct{}

// Step runs fn, or gives what it gave before.
func (s *steps) Step(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if ctx.Value(inside{}) != nil {
		return fn(ctx)
	}
	name = s.place.Full(name)
	if out, ok := s.flow.known[name]; ok {
		return []byte(out), nil
	}
	if err := s.flow.e.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer s.flow.e.gate.leave()
	return s.flow.step(ctx, name, fn)
}

func (f *flow) step(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	b := body{fn: func() ([]byte, error) { return fn(context.WithValue(ctx, inside{}, true)) }}
	for try := 1; ; try++ {
		err := f.attempt(name, &b)
		if err == nil {
			break
		}
		if try == tries || !cutOff(err) || f.ctx.Err() != nil {
			return nil, f.failure(ctx, name, err)
		}
	}
	if b.failed != nil {
		return nil, b.failed
	}
	return []byte(b.out), nil
}

// body is what a step does: once, however often the engine is asked to save it.
type body struct {
	fn     func() ([]byte, error)
	mu     sync.Mutex // guards all below, and is held while fn runs
	over   bool       // fn has run, or never will
	out    string
	failed error
}

// run gives the row of the step.
func (b *body) run(context.Context) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		var raw []byte
		raw, b.failed = b.fn()
		b.over, b.out = true, string(raw)
	}
	if b.failed != nil {
		return markNone, nil // the caller gets it; the engine would remember it
	}
	return markResult + b.out, nil
}

// end waits for fn if it has begun, and keeps it from beginning if it has not.
func (b *body) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.over, b.failed = true, journal.ErrLeft
	}
}

// tries is how often a step is handed to the engine whose statement was cut off.
const tries = 4

// cutOff tells errors of a connection that broke within a statement, after which the
// engine itself does not try again.
func cutOff(err error) bool {
	for _, sign := range []string{"unexpected EOF", "broken pipe", "connection reset"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// attempt hands a step to the engine and waits until it is saved. After one that failed,
// another has a number of its own, and what had run does not run again.
func (f *flow) attempt(name string, b *body) error {
	f.order.Lock()
	done, err := dbos.Go(f.dctx, b.run, dbos.WithStepName(name))
	f.order.Unlock()
	if err != nil {
		return err
	}
	f.saving.Add(1)
	ended := make(chan error, 1)
	go func() {
		defer f.saving.Done()
		ended <- (<-done).Err
	}()
	return f.await(b, ended)
}

// await waits for the end of a step. When its database is lost, what it does is waited
// for, which ends soon, and not that it is saved: nobody knows when that can be.
func (f *flow) await(b *body, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-f.ctx.Done():
	}
	if why := Lost(f.ctx); why != nil {
		b.end()
		return &lost{why: why}
	}
	return <-ended
}

// failure is an error of the engine itself. A workflow that was cancelled from outside
// stops here, and one whose step cannot be saved is left as it is.
func (f *flow) failure(ctx context.Context, name string, err error) error {
	if journal.Left(ctx) {
		return context.Cause(ctx)
	}
	if errors.Is(err, dbos.ErrWorkflowCancelled) {
		why := cancelled()
		f.stop(why)
		return why
	}
	gone := &lost{why: f.e.failure("save step "+name, err)}
	f.stop(gone)
	return gone
}

// Sleep waits until a time that is remembered.
func (s *steps) Sleep(ctx context.Context, d time.Duration) error {
	now := s.flow.e.cfg.Now
	name := step.Name{Kind: step.KindSleep, Index: int(s.slept.Add(1))}.String()
	b, err := s.Step(ctx, name, func(context.Context) ([]byte, error) {
		return strconv.AppendInt(nil, now().Add(d).UnixMilli(), 10), nil
	})
	if err != nil {
		return err
	}
	until, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return media.Errorf(media.CodeCorrupt, "read the end of %s%s: %w", s.place, name, err)
	}
	return journal.Memory{}.Sleep(ctx, time.UnixMilli(until).Sub(now()))
}

// Child gives the journal of a part.
func (s *steps) Child(_ context.Context, name string) (journal.Journal, error) {
	if !step.Single(name) {
		return nil, media.Errorf(media.CodeInvalid, "a part of a workflow needs a name without slashes, not %.40q", name)
	}
	return &steps{flow: s.flow, place: s.place.Part(name)}, nil
}

// gate lets steps begin until it closes, and knows when the last one has ended.
type gate struct {
	mu     sync.Mutex // guards all below
	inside int
	closed bool
	empty  chan struct{} // closed when the gate is closed and nobody is inside
}

// enter lets a step begin. Behind a closed gate it waits for the end of ctx.
func (g *gate) enter(ctx context.Context) error {
	g.mu.Lock()
	if !g.closed {
		defer g.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		g.inside++
		return nil
	}
	g.mu.Unlock()
	<-ctx.Done()
	return context.Cause(ctx)
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.closed && g.inside == 0 {
		close(g.empty)
	}
}

// close lets no more steps begin; the channel tells when the last one has ended.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed, g.empty = true, make(chan struct{})
		if g.inside == 0 {
			close(g.empty)
		}
	}
	return g.empty
}

// String names the workflow in messages.
func (f *flow) String() string { return fmt.Sprintf("workflow %s", f.id) }
