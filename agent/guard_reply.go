package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/media"
)

// heldReply is a reply that a person has to approve before a model sees it.
type heldReply struct {
	// Question is what the reply answers; a no opens it again.
	Question Question `json:"question"`
	Reply    replied  `json:"reply"`
}

// guardReply puts the texts of a reply to the guardrail, each by itself: the strings of its value, keys
// that the form does not name, and the note. It changes p where the guardrail redacts, and
// gives the reason where a person has to approve the reply first. After an error the reply is not taken.
func (r *Runner) guardReply(ctx context.Context, s State, q Question, p *replied) (pause string, err error) {
	if r.cfg.Guardrail == nil || q.Kind == QuestionGuardrail { // no model sees an approver's note
		return "", nil
	}
	g := replyGuard{rail: r.cfg.Guardrail, in: GuardInput{
		Agent: q.AgentPath[strings.LastIndexByte(q.AgentPath, '/')+1:], RunID: q.RunID, Owner: s.Request.Owner,
	}}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(p.Value))
	if err != nil {
		return "", media.Errorf(media.CodeInternal, "read the answer: %w", err)
	}
	check := func(text string) string { return g.check(ctx, text) }
	value = mapKeys(mapStrings(value, check), func(key string) string {
		if bytes.Contains(q.Schema, plain(key)) {
			return key
		}
		return check(key)
	})
	p.Note = check(p.Note)
	switch {
	case g.err != nil:
		return "", g.err
	case g.redacted != "":
		p.Value = plain(value)
		if err := q.fits(p.Value); err != nil {
			return "", media.Errorf(media.CodeModerated, "the answer was changed (%s) and does not fit the form now: give another answer", g.redacted)
		}
		p.Warning = "the answer was changed before a model saw it: " + g.redacted
	}
	return g.pause, nil
}

// replyGuard puts one text after another to a guardrail. After an error it asks no more.
type replyGuard struct {
	rail            Guardrail
	in              GuardInput
	err             error
	redacted, pause string // the reasons
}

// check gives the text that takes the place of one.
func (g *replyGuard) check(ctx context.Context, text string) string {
	if g.err != nil || blank(text) {
		return text
	}
	in := g.in
	in.Text = text
	v, err := g.rail.Check(ctx, in)
	if err != nil {
		g.err = fmt.Errorf("check the answer: %w", err)
		return text
	}
	switch v.Decision {
	case "", DecisionAllow:
	case DecisionRedact:
		if blank(v.Text) {
			g.err = media.Errorf(media.CodeModerated, "nothing is left of the answer: %s: give another answer", v.why())
		}
		g.redacted = v.why()
		return v.Text
	case DecisionPause:
		g.pause = v.why()
	case DecisionStop:
		g.err = media.Errorf(media.CodeModerated, "the answer was stopped before a model saw it: %s: give another answer", v.why())
	default:
		g.err = v.unknown()
	}
	return text
}

// hold puts the question for an approval in the place of the question that was answered.
func (s *State) hold(id string, q Question, given replied, reason string) {
	approval := q
	approval.ID, approval.Kind, approval.Schema, approval.Details = id, QuestionGuardrail, json.RawMessage(approvalForm), &Details{Reason: reason}
	approval.Question = clip(fmt.Sprintf("The answer to %q needs approval before a model sees it: %s", clip(q.Question, 200), reason), maxQuestion)
	s.replacePending(q.ID, approval)
	s.Held = maps.Clone(s.Held)
	if s.Held == nil {
		s.Held = map[string]heldReply{}
	}
	s.Held[id] = heldReply{Question: q, Reply: given}
}

// release ends the approval of a reply: given is the approver's. A yes takes the reply that was
// held, a no opens its question again.
func (s *State) release(q Question, given replied) {
	held := s.Held[q.ID]
	s.Held = maps.Clone(s.Held)
	delete(s.Held, q.ID)
	if given.approval().Approve {
		s.take(q, held.Reply)
		return
	}
	s.replacePending(q.ID, held.Question)
}

func (s *State) replacePending(id string, by Question) {
	s.Pending = slices.Clone(s.Pending)
	for i, p := range s.Pending {
		if p.ID == id {
			s.Pending[i] = by
		}
	}
}

// mapKeys rebuilds a JSON value with f applied to every key in it.
func mapKeys(v any, f func(string) string) any {
	switch t := v.(type) {
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = mapKeys(e, f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[f(k)] = mapKeys(e, f)
		}
		return out
	}
	return v
}
