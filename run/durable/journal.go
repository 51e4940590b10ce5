package durable

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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

// The prefixes of a step's row: a result follows, or there is none, because the step failed or its process died during
// it.
const (
	markResult = "="
	markNone   = "!"
)

// lostStep is the row name for the number of a step that was started and never written.
const lostStep = "lost"

// flow is one workflow in this process.
type flow struct {
	e    *Engine
	id   string
	dctx dbos.Context
	// ctx is the context of the work, and stop ends it.
	ctx  context.Context //nolint:containedctx // it lives as long as the work
	stop context.CancelCauseFunc
	// counted reports whether the engine's counter is past the steps of earlier processes.
	counted bool
	// pause is the last pause before the work was restarted.
	pause time.Duration
	// saving counts the steps whose results are not saved yet.
	saving sync.WaitGroup
	// known contains the results of earlier processes by full step name.
	known map[string]string
	// order guards the step numbers, which the engine assigns in call order.
	order sync.Mutex
}

// load reads the steps of earlier processes and moves the engine's counter past them.
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
		s, _ := r.Output.(string)
		if result, finished := strings.CutPrefix(s, markResult); finished {
			f.known[r.StepName] = result
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

// steps is the journal of a workflow or of one of its parts.
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

// Step runs fn, or returns its recorded result.
//
//nolint:contextcheck,nolintlint // the work's own context says why it ended
func (s *steps) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	if ctx.Value(inside{}) != nil {
		return fn(ctx)
	}
	f, full := s.flow, s.place.Full(name)
	if out, ok := f.known[full]; ok {
		return []byte(out), nil
	}
	if err := f.e.enter(ctx); err != nil {
		return nil, err
	}
	defer f.e.admission.RUnlock()
	b := body{heldElsewhere: f.heldElsewhere, fn: func() ([]byte, error) { return fn(context.WithValue(ctx, inside{}, true)) }}
	for try := 1; ; try++ {
		err := f.attempt(full, &b)
		if err == nil {
			break
		}
		if adopted, _ := Abandoned(f.ctx); adopted {
			_ = journal.Memory{}.Sleep(ctx, adoptedGrace) // the step's caller first sees that the work is abandoned
			return nil, context.Cause(f.ctx)
		}
		interrupted := func(sign string) bool { return strings.Contains(err.Error(), sign) }
		if try == tries || !slices.ContainsFunc(brokenConnection, interrupted) || f.ctx.Err() != nil {
			return nil, f.failure(ctx, full, err)
		}
	}
	if b.failed != nil {
		return nil, b.failed
	}
	return []byte(b.out), nil
}

// body is the function of a step. It is executed once, however often the engine has to save the result.
type body struct {
	fn            func() ([]byte, error)
	heldElsewhere func() bool // whether another process holds the work, so that nothing is saved
	mu            sync.Mutex  // guards all below, and is held while fn runs
	finished      bool        // fn has run, or never will
	out           string
	failed        error
}

// run returns the row of the step.
func (b *body) run(context.Context) (string, error) {
	row := b.do()
	if b.heldElsewhere() {
		return noRow, nil
	}
	return row, nil
}

func (b *body) do() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.finished {
		b.execute()
	}
	if b.failed != nil {
		return markNone // the caller gets the error; the engine would record it
	}
	return markResult + b.out
}

// execute runs fn. The engine would end the process on a panic.
func (b *body) execute() {
	defer media.CatchPanic(&b.failed, "a step")
	var raw []byte
	b.finished = true
	raw, b.failed = b.fn()
	b.out = string(raw)
}

// end waits for fn if it has started, and otherwise prevents it from starting.
func (b *body) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.finished {
		b.finished, b.failed = true, journal.ErrHandedOver
	}
}

// tries is the maximum number of times a step with an interrupted statement is passed to the engine.
const tries = 4

// brokenConnection are the signs of a connection that broke during a statement, which the engine does not retry.
var brokenConnection = []string{"unexpected EOF", "broken pipe", "connection reset"} //nolint:gochecknoglobals // constant

// attempt passes a step to the engine and waits until it is saved. An attempt after a failed one has its own number,
// and does not call fn again.
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
	select {
	case err := <-ended:
		return err
	case <-f.ctx.Done():
	}
	// The response to a call in progress is received, but the step may never be saved.
	if _, why := Abandoned(f.ctx); why != nil {
		b.end()
		return context.Cause(f.ctx)
	}
	return <-ended
}

// failure handles an error of the engine itself: a workflow whose step cannot be saved is abandoned.
func (f *flow) failure(ctx context.Context, name string, err error) error {
	if journal.HandedOver(ctx) {
		return context.Cause(ctx)
	}
	gone := &abandonedError{why: f.e.failure("save step "+name, err)}
	f.stop(gone)
	return gone
}

// Sleep waits until a recorded time.
func (s *steps) Sleep(ctx context.Context, d time.Duration) error {
	name := step.Name{Kind: step.KindSleep, Index: int(s.slept.Add(1))}
	b, err := s.Step(ctx, name, func(context.Context) ([]byte, error) {
		return strconv.AppendInt(nil, time.Now().Add(d).UnixMilli(), 10), nil //nolint:forbidigo // a later process reads it
	})
	if err != nil {
		return err
	}
	until, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return media.Errorf(media.CodeCorrupt, "read the end of %s%s: %w", s.place, name, err)
	}
	return journal.Memory{}.Sleep(ctx, time.Until(time.UnixMilli(until)))
}

// Child returns the journal of a part.
func (s *steps) Child(_ context.Context, name step.Name) (journal.Journal, error) {
	if !step.Single(name.String()) {
		return nil, media.Errorf(media.CodeInvalid, "a part of a workflow cannot be named %.40q: use a name without slashes", name.String())
	}
	return &steps{flow: s.flow, place: s.place.Part(name)}, nil
}

// enter admits a step. Once the engine closes, it waits for the end of ctx.
func (e *Engine) enter(ctx context.Context) error {
	if !e.admission.TryRLock() {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if ctx.Err() != nil {
		e.admission.RUnlock()
		return context.Cause(ctx)
	}
	return nil
}

// Step is a finished step of work.
type Step struct {
	// Name is the full name: the names of the step's parts and its own, joined by slashes.
	Name string
	// Result is the result as recorded.
	Result []byte
	// FinishedAt is the end of the step in UTC.
	FinishedAt time.Time
}

// Steps lists the finished steps of work in the order in which they started; one whose result had to be saved again may
// occur twice. Unknown work has none.
func (e *Engine) Steps(id string) ([]Step, error) {
	rows, err := dbos.GetWorkflowSteps(e.root, id, dbos.WithStepsLoadOutput(true))
	if err != nil {
		return nil, media.Errorf(media.CodeUnavailable, "read the steps of work %s: %w", id, readableError(err))
	}
	var out []Step
	for _, r := range rows {
		s, _ := r.Output.(string)
		if result, finished := strings.CutPrefix(s, markResult); finished {
			out = append(out, Step{Name: r.StepName, Result: []byte(result), FinishedAt: r.CompletedAt.UTC()})
		}
	}
	return out, nil
}

// Knows reports whether an earlier process finished a step.
func (s *steps) Knows(name step.Name) bool {
	_, ok := s.flow.known[s.place.Full(name)]
	return ok
}

// Recalled returns the names of the steps of this part that earlier processes finished.
func (s *steps) Recalled() []step.Name {
	var names []step.Name
	for full := range s.flow.known {
		if own, ok := s.place.Own(full); ok {
			names = append(names, own)
		}
	}
	return names
}

// noRow is the result of a step that must not be saved: its encoding fails, so the engine writes nothing.
const noRow = "\x00no row"

// text writes values to the engine's tables as plain text. The engine's own format is base64, which cannot be searched.
type text struct{}

// Name identifies the format in the tables.
func (text) Name() string { return "atelier_text" }

// Encode writes text unchanged, and other values as JSON.
func (text) Encode(v any) (*string, error) {
	if s, ok := v.(string); ok {
		if s == noRow {
			return nil, errors.New("another process is working on this")
		}
		return &s, nil
	}
	b, err := json.Marshal(v)
	s := string(b)
	return &s, err
}

// Decode reads text; a missing value is empty.
func (text) Decode(s *string) (any, error) {
	if s == nil {
		return "", nil
	}
	return *s, nil
}
