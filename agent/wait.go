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

	"atelier/agent/internal/memo"
	"atelier/journal"
	"atelier/journal/step"
)

// ErrPaused is what waits for a person ends with: the run pauses, and its code runs again
// when the answer is there. Go agents hand it on, as they do every error.
var ErrPaused = errors.New("the run waits for a person")

// waiting is what a run tree waits for, and when its runs worked.
type waiting struct {
	// before is the state from which the tree is resumed; nil where it begins.
	before *State
	// began is when this part of the work began.
	began time.Time
	// recorded reports whether the observer has an event on record; nil where it cannot tell.
	recorded func(Event) bool

	mu   sync.Mutex // guards what follows
	open []Question
	runs map[string]Span
	// emitted are the marks of the events that the observer has; nil before the first.
	emitted map[eventMark]bool
}

func newWaiting(before *State, now time.Time) *waiting {
	w := &waiting{before: before, began: now, runs: map[string]Span{}}
	if before != nil {
		w.emitted = make(map[eventMark]bool, len(before.Emitted))
		for _, text := range before.Emitted {
			if b, err := hex.DecodeString(text); err == nil && len(b) == len(eventMark{}) {
				w.emitted[eventMark(b)] = true
			}
		}
	}
	return w
}

// eventMark stands for the key of an event: the first bytes of its SHA-256, saved in hexadecimal.
type eventMark [8]byte

// shortRun is about how many events a run of a few turns has.
const shortRun = 16

// fresh reports whether an event was not emitted before, and notes it. One without a key
// always is.
func (w *waiting) fresh(e Event) bool {
	if e.Key == "" {
		return true
	}
	sum := sha256.Sum256([]byte(e.Key))
	mark := eventMark(sum[:8])
	w.mu.Lock()
	before := w.emitted[mark]
	if w.emitted == nil {
		w.emitted = make(map[eventMark]bool, shortRun)
	}
	w.emitted[mark] = true
	w.mu.Unlock()
	return !before && (w.recorded == nil || !w.recorded(e))
}

// ask opens a question. One that was open before keeps its id and its time.
func (w *waiting) ask(q Question) {
	if w.before != nil {
		for _, known := range w.before.Pending {
			switch {
			case known.Step != q.Step:
			case known.Kind == QuestionGuardrail: // the answer to q is held for an approval
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

// drop forgets the questions of a run that ended all the same, and of those below it.
func (w *waiting) drop(place step.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = slices.DeleteFunc(w.open, func(q Question) bool { return place.Has(q.Step) })
}

// started notes when a run began: at now, unless it began before.
func (w *waiting) started(place string, now time.Time) {
	if w.before != nil {
		if s, ok := w.before.Runs[place]; ok && !s.StartedAt.IsZero() {
			now = s.StartedAt
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[place] = Span{StartedAt: now}
}

// ended notes when a run ended: at now, unless it ended before.
func (w *waiting) ended(place string, now time.Time) time.Time {
	if w.before != nil {
		if s, ok := w.before.Runs[place]; ok && !s.EndedAt.IsZero() {
			now = s.EndedAt
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.runs[place]
	s.EndedAt = now
	w.runs[place] = s
	return now
}

func (w *waiting) span(place string) Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[place]
}

// state is what resumes the run tree of a root.
func (r *run) state() *State {
	w := r.wait
	s := &State{
		Version: StateVersion, Request: r.request, Steps: map[string]json.RawMessage{}, Part: r.part, Worked: r.r.cfg.Now().Sub(w.began),
	}
	if w.before != nil {
		s.Worked += w.before.Worked
		s.Redone, s.Held = w.before.Redone, w.before.Held
	}
	s.Request.Journal, s.Request.State, s.Request.Closing = nil, nil, nil
	for name, b := range r.journal.Steps() {
		s.Steps[name] = json.RawMessage(b)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Pending, s.Runs = slices.Clone(w.open), maps.Clone(w.runs)
	slices.SortFunc(s.Pending, func(a, b Question) int { // the oldest first
		return cmp.Or(a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.Step, b.Step))
	})
	s.Emitted = make([]string, 0, len(w.emitted))
	for mark := range w.emitted {
		s.Emitted = append(s.Emitted, hex.EncodeToString(mark[:]))
	}
	slices.Sort(s.Emitted)
	return s
}

// pauses are what a run waits for a person for, its sub-agents not included.
type pauses struct {
	log     *runLog
	journal *journal.Transcript
	tree    *waiting
	some    atomic.Bool // something waits

	mu   sync.Mutex // guards held
	held []heldAct
}

// heldAct is an act that waits for a person.
type heldAct struct {
	rec StepRecord
	// child is the sub-agent that waits; nil where the act itself does.
	child *run
}

// await gives the reply to a question. Without one the question is open from now on, and the
// error is ErrPaused.
func (p *pauses) await(ctx context.Context, name step.Name, at callIndex, q Question) (replied, error) {
	return p.awaitIf(ctx, name, at, func(context.Context) (*Question, error) { return &q, nil })
}

// awaitIf is await for a question that may not be needed: then need gives nil, and the reply is
// marked as free.
func (p *pauses) awaitIf(ctx context.Context, name step.Name, at callIndex, need func(context.Context) (*Question, error)) (replied, error) {
	reply, err := memo.Do(ctx, p.journal, name, func(ctx context.Context) (replied, error) {
		q, err := need(ctx)
		if err != nil || q == nil {
			return replied{Free: true}, err
		}
		q.ID, q.RunID, q.AgentPath = p.log.newID("question "+name.String(), at), p.log.id, p.log.path
		q.Step, q.AskedAt = p.journal.Name(name), p.log.now()
		p.tree.ask(*q)
		p.some.Store(true)
		return replied{}, ErrPaused
	})
	if err != nil {
		return reply, err
	}
	p.log.warn(ctx, reply.Warning)
	return reply, nil
}

// hold saves an act that waits for a person; child is the sub-agent that waits, nil where the act does.
func (p *pauses) hold(ctx context.Context, rec StepRecord, child *run) {
	p.some.Store(true)
	rec.Status, rec.FinishedAt = StatusPaused, time.Time{}
	p.mu.Lock()
	p.held = append(p.held, heldAct{rec, child})
	p.mu.Unlock()
	p.log.saveStep(ctx, rec)
	p.log.outcome.update(func(t *tally) { t.steps = append(t.steps, rec) })
}

// endWaiting ends the acts that wait for a person where their run ends all the same, because it
// is cancelled or its time is over. A retry asks again.
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
			r.delegated(ctx, h.rec, h.child, res, err)
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
		if rec.Kind != StepCode { // a stage ends with the code of its agent
			r.emit(ctx, EventActionFinished, ActionFinished{
				StepID: rec.ID, Name: rec.Name, Turn: rec.Turn, Code: out.Code, Message: out.Message, Cut: true,
			})
		}
	}
}
