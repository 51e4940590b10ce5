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
	"time"

	"atelier/journal/step"
	"atelier/media"
)

// ErrPaused is what waits for a person ends with: the run pauses, and its code runs again
// when the answer is there. Go agents hand it on, as they do every error.
var ErrPaused = errors.New("the run waits for a person")

// waiting is what a run tree waits for, and when its runs worked.
type waiting struct {
	// before is the state from which the tree goes on; nil where it begins.
	before *State
	// began is when this part of the work began.
	began time.Time

	mu   sync.Mutex // guards what follows
	open []Question
	runs map[string]Span
	held map[*run][]heldAct
	// emitted are the marks of the events that the observer has.
	emitted map[string]bool
}

func newWaiting(before *State, now time.Time) *waiting {
	w := &waiting{before: before, began: now, runs: map[string]Span{}, held: map[*run][]heldAct{}, emitted: map[string]bool{}}
	if before != nil {
		for _, mark := range before.Emitted {
			w.emitted[mark] = true
		}
	}
	return w
}

// fresh reports whether an event was not emitted before, and notes it. One without a key
// always is.
func (w *waiting) fresh(key string) bool {
	if key == "" {
		return true
	}
	sum := sha256.Sum256([]byte(key))
	mark := hex.EncodeToString(sum[:8])
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.emitted[mark] {
		return false
	}
	w.emitted[mark] = true
	return true
}

// hold notes that an act of a run waits.
func (w *waiting) hold(r *run, h heldAct) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[r] = append(w.held[r], h)
}

// release gives the acts of a run that wait, and forgets them.
func (w *waiting) release(r *run) []heldAct {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held[r]
	delete(w.held, r)
	return held
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
func (w *waiting) drop(place string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = slices.DeleteFunc(w.open, func(q Question) bool { return step.Place(place).Has(q.Step) })
}

// questions are the open ones, the oldest first.
func (w *waiting) questions() []Question {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := slices.Clone(w.open)
	slices.SortFunc(open, func(a, b Question) int {
		return cmp.Or(a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.Step, b.Step))
	})
	return open
}

// started notes when a run began: at now, unless it began before.
func (w *waiting) started(place string, now time.Time) time.Time {
	if w.before != nil {
		if s, ok := w.before.Runs[place]; ok && !s.StartedAt.IsZero() {
			now = s.StartedAt
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[place] = Span{StartedAt: now}
	return now
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

// before reports whether a step was done before this part of the run began.
func (r *run) before(name step.Name) bool {
	if r.wait.before == nil {
		return false
	}
	_, ok := r.wait.before.Steps[r.journal.Name(name.String())]
	return ok
}

// wentOn reports whether the agent did something after the answer of the turn that comes, in
// a part of the run before: then the turn was not its last one.
func (r *run) wentOn() bool {
	for full := range r.wait.before.Steps {
		own, ok := r.journal.Place().Top(full)
		if ok && (own.Turn == r.turns+1 && own.Asked() || own.Turn == r.turns+2) {
			return true
		}
	}
	return false
}

// said reports whether a step was done, and put on record, before the run paused.
func (r *run) said(name step.Name) bool {
	return r.part > 0 && r.before(name)
}

// state is what resumes the run tree of a root.
func (r *run) state() *State {
	w := r.wait
	s := &State{
		Version: StateVersion, Request: r.request, Steps: map[string]json.RawMessage{}, Pending: w.questions(),
		Runs: map[string]Span{}, Part: r.part, Worked: r.r.cfg.Now().Sub(w.began),
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
	for place, span := range w.runs {
		s.Runs[place] = span
	}
	s.Emitted = slices.Sorted(maps.Keys(w.emitted))
	return s
}

// await gives the reply to a question. Where there is none yet the question is open from
// now on, and the error is ErrPaused.
func (r *run) await(ctx context.Context, name step.Name, at callIndex, q Question) (replied, error) {
	var p replied
	b, err := r.journal.Step(ctx, name.String(), func(context.Context) ([]byte, error) {
		return nil, r.pause(name, at, q)
	})
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, media.Errorf(media.CodeCorrupt, "read the answer to %q: %w", clip(q.Question, 80), err)
	}
	r.warn(ctx, p.Warning)
	return p, nil
}

// pause opens a question.
func (r *run) pause(name step.Name, at callIndex, q Question) error {
	q.ID, q.RunID, q.AgentPath = r.newID("question "+name.String(), at), r.id, r.path
	q.Step, q.AskedAt = r.journal.Name(name.String()), r.r.cfg.Now()
	r.wait.ask(q)
	r.paused.Store(true)
	return ErrPaused
}
