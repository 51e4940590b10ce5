package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atelier/journal"
	"atelier/journal/step"
)

// ErrPaused is the error of calls that wait for a person: the run pauses, and its code runs again
// once the answer exists. Go agents must return it, like every error.
var ErrPaused = errors.New("the run waits for a person")

// waiting holds the open questions of a run tree and the times of its runs.
type waiting struct {
	// before is the state from which the tree is resumed; nil for a new tree.
	before *State
	// recorded reports whether the observer has recorded an event; nil if the observer cannot tell.
	recorded func(Event) bool

	mu   sync.Mutex // guards the fields below
	open []Question
	runs map[string]Span
	// emitted holds the marks of the events that the observer has, as in [State].
	emitted map[string]bool
}

func newWaiting(before *State) *waiting {
	w := &waiting{before: before, runs: map[string]Span{}, emitted: map[string]bool{}}
	if before != nil {
		maps.Copy(w.runs, before.Runs)
		for _, mark := range before.Emitted {
			w.emitted[mark] = true
		}
	}
	return w
}

// markEmitted reports whether an event has not been emitted before, and marks it as emitted. An event
// without a key is always fresh.
func (w *waiting) markEmitted(e Event) bool {
	if e.Key == "" {
		return true
	}
	sum := sha256.Sum256([]byte(e.Key))
	mark := hex.EncodeToString(sum[:8])
	w.mu.Lock()
	before := w.emitted[mark]
	w.emitted[mark] = true
	w.mu.Unlock()
	return !before && (w.recorded == nil || !w.recorded(e))
}

// ask opens a question. A question that was already open keeps its ID and time.
func (w *waiting) ask(q Question) {
	if w.before != nil {
		for _, known := range w.before.Pending {
			switch {
			case known.Step != q.Step:
			case known.Kind == QuestionGuardrail: // the answer to q is held for approval
				q = known
			default:
				q.ID, q.AskedAt = known.ID, known.AskedAt
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.open, func(o Question) bool { return o.Step == q.Step }) {
		w.open = append(w.open, q)
	}
}

// drop removes the questions of a run that ended without their answers, and those of its sub-agents.
func (w *waiting) drop(place step.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = slices.DeleteFunc(w.open, func(q Question) bool { return place.Has(q.Step) })
}

// started records the start time of a run: now, unless the run started in an earlier part.
func (w *waiting) started(place string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runs[place]
	w.runs[place] = Span{StartedAt: cmp.Or(s.StartedAt, now), EndedAt: s.EndedAt}
}

// ended records the end time of a run: now, unless the run ended in an earlier part. It returns that time.
func (w *waiting) ended(place string, now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runs[place]
	s.EndedAt = cmp.Or(s.EndedAt, now)
	w.runs[place] = s
	return s.EndedAt
}

func (w *waiting) span(place string) Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[place]
}

// state returns the state that resumes the run tree of a root.
func (r *run) state() *State {
	w := r.wait
	s := &State{
		Version: StateVersion, Request: r.request, Steps: map[string]json.RawMessage{}, Part: r.part, Worked: r.meter.Worked(r.now()),
	}
	if w.before != nil {
		s.Redone, s.Repeated, s.Held = w.before.Redone, w.before.Repeated, w.before.Held
	}
	s.Request.Journal, s.Request.State, s.Request.OnClose = nil, nil, nil
	for name, b := range r.journal.Steps() {
		s.Steps[name] = json.RawMessage(b)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Pending, s.Runs = slices.Clone(w.open), maps.Clone(w.runs)
	slices.SortFunc(s.Pending, func(a, b Question) int { // oldest first
		return cmp.Or(a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.Step, b.Step))
	})
	s.Emitted = slices.Sorted(maps.Keys(w.emitted))
	return s
}

// pauses holds what a run itself, without its sub-agents, waits for a person for.
type pauses struct {
	log        *runLog
	journal    *journal.Transcript
	anyWaiting atomic.Bool // whether anything is waiting

	mu   sync.Mutex // guards held, and the sights of the run while code asks
	held []heldAct
}

// heldAct is an act that waits for a person.
type heldAct struct {
	rec StepRecord
	// child is the waiting sub-agent; nil if the act itself waits.
	child *run
}

// await returns the reply to a question. If there is no reply, the question becomes open and the error is ErrPaused.
func (p *pauses) await(ctx context.Context, name step.Name, at callIndex, q Question) (step.Reply, error) {
	return p.awaitIf(ctx, name, at, func(context.Context) (*Question, error) { return &q, nil })
}

// awaitIf is await for a question that may not be needed: if need returns nil, the reply is marked as NotNeeded.
func (p *pauses) awaitIf(ctx context.Context, name step.Name, at callIndex, need func(context.Context) (*Question, error)) (step.Reply, error) {
	reply, err := journal.Do(ctx, p.journal, name, func(ctx context.Context) (step.Reply, error) {
		q, err := need(ctx)
		if err != nil || q == nil {
			return step.Reply{NotNeeded: true}, err
		}
		q.ID, q.RunID, q.AgentPath = p.log.newID("question "+name.String(), at), p.log.id, p.log.path
		q.Step, q.AskedAt = p.journal.Name(name), p.log.now()
		p.log.wait.ask(*q)
		p.anyWaiting.Store(true)
		return step.Reply{}, ErrPaused
	})
	if err != nil {
		return reply, err
	}
	p.log.warn(ctx, reply.Warning)
	return reply, nil
}

// hold saves an act that waits for a person; child is the waiting sub-agent, nil if the act itself waits.
func (p *pauses) hold(ctx context.Context, rec StepRecord, child *run) {
	p.anyWaiting.Store(true)
	rec.Status, rec.FinishedAt = StatusPaused, time.Time{}
	p.mu.Lock()
	p.held = append(p.held, heldAct{rec, child})
	p.mu.Unlock()
	p.log.saveStep(ctx, rec)
	p.log.outcome.update(func(t *tally) { t.steps = append(t.steps, rec) })
}

// endWaiting ends the acts that wait for a person when their run ends because it is cancelled or
// its time has elapsed. A retry asks again.
func (r *run) endWaiting(ctx context.Context, reason error) {
	r.pauses.mu.Lock()
	held := r.pauses.held
	r.pauses.held = nil
	r.pauses.mu.Unlock()
	if len(held) == 0 {
		return
	}
	r.outcome.update(func(t *tally) {
		t.steps = slices.DeleteFunc(slices.Clone(t.steps), func(s StepRecord) bool { return s.Status == StatusPaused })
	})
	for _, h := range held {
		if h.child != nil {
			res, err := h.child.finish(h.child.scoped(ctx), reason)
			r.recordDelegation(ctx, h.rec, h.child, res, err)
			r.outcome.update(func(t *tally) {
				for _, s := range res.Steps {
					if !slices.ContainsFunc(t.steps, func(own StepRecord) bool { return own.ID == s.ID }) {
						t.steps = append(t.steps, s)
					}
				}
			})
			continue
		}
		rec, out := h.rec, refused(h.rec.Name, reason)
		rec.Status, rec.Code, rec.Message = StatusCancelled, out.Code, out.Message
		r.end(ctx, rec)
		if rec.Kind != StepCode { // a stage ends with its agent's code
			r.emit(ctx, EventActionFinished, ActionFinished{
				StepID: rec.ID, Name: rec.Name, Turn: rec.Turn, Code: out.Code, Message: out.Message, Interrupted: true,
			})
		}
	}
}
