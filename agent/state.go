package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"atelier/agent/internal/meter"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/agent/vision"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// StateVersion is the version of [State] that this program writes. It reads all versions up to it.
const StateVersion = 1

// State is a paused run: its request and the results of its steps. To resume it, the agent's code runs again, and every
// known step returns its recorded result, including the answered question. It is small JSON without media bytes. Saved
// states stay readable in all later versions; see docs/durability.md.
type State struct {
	// Version is the [StateVersion] of the program that wrote the state.
	Version int `json:"version"`
	// Request is the prepared request, without Journal and State.
	Request Request `json:"request"`
	// Steps are the results of all finished steps of the run tree by their full names, see
	// journal.NewTranscript. They include answers.
	Steps map[string]json.RawMessage `json:"steps"`
	// Pending are the open questions, oldest first.
	Pending []Question `json:"pending"`
	// Held are replies that the guardrail wants approved, by the ID of the approval question.
	Held map[string]heldReply `json:"held,omitempty"`
	// Runs holds the start and end times of the tree's runs, by the full name of their part of the
	// journal; the root's name is empty.
	Runs map[string]Span `json:"runs,omitempty"`
	// Part counts how often the run was continued: 0 before the first answer, and for a new run
	// that only takes over steps. A process that continues a run adds one, as [Runner.Answered]
	// does. The model calls of earlier parts are recorded and not recorded again.
	Part int `json:"part"`
	// Worked is the working time of the run so far, see [Request].MaxTime.
	Worked time.Duration `json:"worked_ns"`
	// Redone is the usage of model calls that a retry repeats, by the full name of their part of
	// the journal. They count, but are not among Steps.
	Redone map[string]Use `json:"redone,omitempty"`
	// Repeated holds the part in which a retry last repeated a model call, by the full name of its step. The events of
	// such a turn are emitted again.
	Repeated map[string]int `json:"repeated,omitempty"`
	// Emitted identifies the events that the observer has, each by 16 hexadecimal digits of the SHA-256 of its key.
	// They are not emitted again. A state without them, such as one of an earlier version, emits them again.
	Emitted []string `json:"emitted,omitempty"`
}

// Span holds a start and an end time in UTC; EndedAt is zero until the end.
type Span struct {
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}

// Known returns the results of the steps in the form that journal.NewTranscript takes.
func (s State) Known() map[string][]byte {
	known := make(map[string][]byte, len(s.Steps))
	for name, b := range s.Steps {
		known[name] = b
	}
	return known
}

// check refuses states that this program cannot read; nil is valid.
func (s *State) check() error {
	switch {
	case s == nil:
	case s.Version > StateVersion:
		return media.Errorf(media.CodeUnsupported, "the run was paused by a newer version (state %d, this one reads up to %d): update atelier and resume it again", s.Version, StateVersion)
	case s.Version < 1:
		return media.Errorf(media.CodeCorrupt, "the saved state has no version: it is damaged, or not the state of a run")
	}
	return nil
}

// question returns an open question; an empty ID means the oldest one.
func (s State) question(id string) (Question, error) {
	if len(s.Pending) == 0 {
		return Question{}, media.Errorf(media.CodeConflict, "run %s has no open question: it was answered before", s.Request.RunID)
	}
	if id == "" {
		return s.Pending[0], nil
	}
	var open []string
	for _, q := range s.Pending {
		if q.ID == id {
			return q, nil
		}
		open = append(open, q.ID)
	}
	e := media.Errorf(media.CodeConflict, "question %q is not open: it was answered before, or belongs to another run; the open questions are %s", plain.Clip(media.ErrorText(id), 80), plain.Joined(open))
	e.Valid = open
	return Question{}, e
}

// Answered returns the state with a question replaced by its answer, to be saved and then run with [Request.State]. It
// first stores the pictures of the answer, as [Runner.StoreImages] does. It does not modify s. If the guardrail wants
// the answer approved, the answer is held and a question for the approval is open. Errors: [media.CodeInvalid], with
// the place, for an answer that does not match the question's form; [media.CodeModerated] for one that the guardrail
// stops; [media.CodeConflict] for a question that is not open; [media.CodeUnsupported] for a state of a newer version
// and for pictures that the agent's model does not accept; and the errors of StoreImages and of the guardrail.
func (r *Runner) Answered(ctx context.Context, s State, a Reply) (State, error) {
	if err := s.check(); err != nil {
		return s, err
	}
	q, err := s.question(a.Question)
	if err != nil {
		return s, err
	}
	s.Request.LenientImages = s.Request.LenientImages || a.LenientImages
	given, err := r.checkReply(ctx, s, q, a)
	if err != nil {
		return s, err
	}
	reason, err := r.guardReply(ctx, s, q, &given)
	if err != nil {
		return s, err
	}
	if err := r.storeReplyImages(ctx, s, a, &given); err != nil {
		return s, err
	}
	s.Part++
	switch held, isApproval := s.Held[q.ID]; {
	case isApproval: // an approval accepts the held reply; a refusal opens the question of the reply again
		s.Held = maps.Clone(s.Held)
		delete(s.Held, q.ID)
		if approvalOf(given).Approve {
			s.recordReply(q, held.Reply)
		} else {
			s.replacePending(q.ID, held.Question)
		}
	case reason != "":
		s.hold(r.cfg.NewID(), q, given, reason)
	default:
		s.recordReply(q, given)
	}
	return s, nil
}

// recordReply replaces a question with its reply.
func (s *State) recordReply(q Question, given step.Reply) {
	s.Steps = maps.Clone(s.Steps)
	if s.Steps == nil {
		s.Steps = map[string]json.RawMessage{}
	}
	s.Steps[q.Step] = plain.JSON(given)
	s.Pending = slices.DeleteFunc(slices.Clone(s.Pending), func(p Question) bool { return p.ID == q.ID })
}

// Resume answers a paused run and continues it: [Runner.Answered], then [Runner.Run]. A run that
// needs more answers pauses again.
func (r *Runner) Resume(ctx context.Context, s State, a Reply) (*Result, error) {
	s, err := r.Answered(ctx, s, a)
	if err != nil {
		return nil, err
	}
	req := s.Request
	req.State = &s
	return r.Run(ctx, req)
}

// transcript returns the journal of a run tree, which remembers the steps that a state needs.
func (r *Runner) transcript(req Request) *journal.Transcript {
	j := req.Journal
	if j == nil {
		j = r.cfg.Journal
	}
	if t, ok := j.(*journal.Transcript); ok {
		return t
	}
	var known map[string][]byte
	if req.State != nil {
		known = req.State.Known()
	}
	return journal.NewTranscript(j, known)
}

// ReadCall decodes the result of a model call's step. ok is false for other steps.
func ReadCall(name step.Name, result []byte) (c CallResult, ok bool) {
	ok = name.Calls() && !name.Has(step.TailMedia) && !name.Has(step.TailAgain)
	return c, ok && json.Unmarshal(result, &c) == nil
}

// ReadAct decodes the result of an act's step. ok is false for other steps.
func ReadAct(name step.Name, result []byte) (a ActResult, ok bool) {
	return a, name.Acts() && json.Unmarshal(result, &a) == nil
}

// ReadBudget decodes which budget ends with the turn of a step; empty if none does. ok is false for other steps.
func ReadBudget(name step.Name, result []byte) (reason string, ok bool) {
	return reason, name.Kind == step.KindBudget && json.Unmarshal(result, &reason) == nil
}

// Failed reports whether the stored call failed.
func (a CallResult) Failed() bool { return a.Failure != nil }

// Finishes reports whether the answer is a step with done set. An answer that is not plain JSON does not count.
func (a CallResult) Finishes() bool {
	var s struct {
		Done bool `json:"done"`
	}
	return json.Unmarshal([]byte(a.Response.Text), &s) == nil && s.Done
}

// contentOf returns an empty value for decoding a step's result; nil for steps that store no media.
func contentOf(n step.Name) step.Media {
	switch {
	case n.Ends(step.TailApproval), n.Ends(step.TailAsk), n.Kind == step.KindQuestion, n.Kind == step.KindCodeQuestion, n.Kind == step.KindStageAsk:
		return &step.Reply{}
	case n.Has(step.TailAgain):
		return nil
	case n.Calls() && n.Has(step.TailMedia):
		return &step.Pictures{}
	case n.Calls():
		return &CallResult{}
	case n.Acts():
		return &ActResult{}
	case n.Kind == step.KindImages:
		return &vision.Admission{}
	case n.Kind == step.KindView, n.Kind == step.KindShow, n.Kind == step.KindAnswer:
		return &vision.Fitted{}
	}
	return nil
}

// EachMedia implements [step.Media].
func (a *CallResult) EachMedia(each func(*media.Output)) { step.EachOf(a.Response.Media, each) }

// Rename replaces IDs of media records and runs, for a state that another run continues: in all media, and in
// parameters and results that consist of an ID. Other texts are unchanged. It modifies s.
func (s *State) Rename(ids map[string]string) error {
	changed := false
	id := func(old string) string {
		if other, ok := ids[old]; ok {
			changed = true
			return other
		}
		return old
	}
	item := func(o *media.Output) { o.ID = id(o.ID) }
	q := &s.Request
	q.RunID = id(q.RunID)
	step.EachOf(q.Granted, item)
	step.EachOf(q.Extracted, item)
	for i := range q.Images {
		q.Images[i].ID = id(q.Images[i].ID)
	}
	for i := range q.Fitted {
		item(&q.Fitted[i].Output)
	}
	if q.Input != nil {
		q.Input, _ = object.MapStrings(map[string]any(q.Input), id).(map[string]any)
	}
	for name, b := range s.Steps {
		c := contentOf(step.ParsePath(name).Own())
		if c == nil {
			continue
		}
		if err := object.Decode(b, c); err != nil {
			return media.Errorf(media.CodeCorrupt, "read step %s: %w", name, err)
		}
		changed = false
		c.EachMedia(item)
		if a, ok := c.(*ActResult); ok {
			a.Outcome.Outputs, _ = object.MapStrings(a.Outcome.Outputs, id).(map[string]any)
		}
		if changed {
			s.Steps[name] = plain.JSON(c)
		}
	}
	return nil
}

// worked returns the working time of the steps of earlier parts; 0 for nil.
func (s *State) worked() time.Duration {
	if s == nil {
		return 0
	}
	var m meter.Meter
	for name, result := range s.Steps {
		own := step.ParsePath(name).Own()
		if did, ok := ReadCall(own, result); ok {
			m.Add(did.Began, did.Ended)
		} else if did, ok := ReadAct(own, result); ok {
			m.Add(did.Began, did.Ended)
		}
	}
	return m.Worked(time.Time{})
}
