package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/agent/contract"
	"atelier/agent/internal/object"
	"atelier/agent/internal/plain"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// Guardrail checks what a person wrote before a model sees it: the task of a run or a fork, before
// any paid call, where its error fails the run; and each text of a [Reply], including its note,
// where its error refuses the reply and the run stays paused.
type Guardrail interface {
	// Check judges a text of the latest user message. It gets no earlier messages, no pictures, and
	// nothing written by a model or an action. It must be safe for concurrent use.
	Check(ctx context.Context, in GuardInput) (Verdict, error)
}

// GuardInput is the input of a [Guardrail].
type GuardInput struct {
	// Text may contain refs and placeholders, never bytes.
	Text string
	// Agent is the slug of the receiving agent, RunID the ID of its run, and Owner the owner of the run.
	Agent, RunID, Owner string
}

// Decision is what a [Guardrail] decides about a message.
type Decision = step.Decision

// The decisions. An empty decision means DecisionAllow.
const (
	DecisionAllow  Decision = "allow"
	DecisionRedact Decision = "redact" // Verdict.Text replaces the text
	// DecisionPause asks a person for approval first. A refusal fails the run with
	// media.CodeModerated; for a reply, it opens the question again.
	DecisionPause Decision = "pause"
	// DecisionStop fails the run, or refuses the reply, with media.CodeModerated.
	DecisionStop Decision = "stop"
)

// Verdict is the result of a guardrail. Text is the replacement for DecisionRedact; Reason is for people.
type Verdict = step.Verdict

// guardStep is the step that checks the message of a root run; its result is a [Verdict].
var guardStep = step.Name{Kind: step.KindGuardrail}

// screen passes the task of a root run to the guardrail and applies the verdict to the task. The
// verdict is a durable step.
func (r *run) screen(ctx context.Context) error {
	v, err := journal.Do(ctx, r.journal, guardStep, func(ctx context.Context) (Verdict, error) {
		return r.r.cfg.Guardrail.Check(ctx, GuardInput{Text: r.task, Agent: r.spec.slug, RunID: r.id, Owner: r.owner})
	})
	if err != nil {
		return fmt.Errorf("check the message: %w", err)
	}
	text, redacted, pause, err := decide(v, "message", r.task)
	if err != nil {
		return err
	}
	if redacted != "" {
		r.task = r.intake.text(ctx, text)
		r.warn(ctx, "the message was changed before a model saw it: "+redacted)
	}
	if pause == "" {
		return nil
	}
	p, err := r.pauses.await(ctx, guardStep.With(step.TailApproval), callIndex{}, Question{
		Kind: QuestionGuardrail, Question: "This message needs approval before a model sees it: " + pause, Schema: json.RawMessage(approvalForm),
		Details: &Details{Reason: pause},
	})
	if err != nil {
		return err
	}
	if a := approvalOf(p); !a.Approve {
		return media.Errorf(media.CodeModerated, "the message was refused by a person%s", noteSuffix(p, a))
	}
	return nil
}

// decide applies a verdict to a text: it returns the text to use, with the reason if it was redacted or if a
// person must approve it. what names the text in errors.
func decide(v Verdict, what, text string) (out, redacted, pause string, err error) {
	reason := "the guardrail gave no reason"
	if !plain.Blank(v.Reason) {
		reason = plain.Clip(strings.TrimSpace(v.Reason), 300)
	}
	switch v.Decision {
	case "", DecisionAllow:
		return text, "", "", nil
	case DecisionRedact:
		if plain.Blank(v.Text) {
			return text, "", "", media.Errorf(media.CodeModerated, "nothing is left of the %s: %s", what, reason)
		}
		return v.Text, reason, "", nil
	case DecisionPause:
		return text, "", reason, nil
	case DecisionStop:
		return text, "", "", media.Errorf(media.CodeModerated, "the %s was stopped before a model saw it: %s", what, reason)
	}
	return text, "", "", media.Errorf(media.CodeInternal, "the guardrail decided %q: it must be allow, redact, pause or stop", plain.Clip(string(v.Decision), 20))
}

// blockedTerms is the guardrail of [BlockedTerms].
type blockedTerms struct {
	find   *regexp.Regexp
	decide Decision
}

var _ Guardrail = (*blockedTerms)(nil)

// redacted replaces a blocked term.
const redacted = "[removed]"

// BlockedTerms returns a guardrail that searches for terms as whole words, ignoring case and the
// amount of space between their words. It redacts, pauses or stops; an empty decision means stop.
// No terms, or another decision, is [media.CodeInvalid].
func BlockedTerms(decide Decision, terms ...string) (Guardrail, error) {
	if decide == "" {
		decide = DecisionStop
	}
	if decide != DecisionStop && decide != DecisionPause && decide != DecisionRedact {
		return nil, media.Errorf(media.CodeInvalid, "blocked terms can redact, pause or stop, not %q", plain.Clip(string(decide), 20))
	}
	var alternatives []string
	for _, t := range terms {
		if words := strings.Fields(regexp.QuoteMeta(t)); len(words) > 0 {
			alternatives = append(alternatives, strings.Join(words, `[\s\pZ]+`))
		}
	}
	if len(alternatives) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "blocked terms: give at least one term")
	}
	find, err := regexp.Compile(`(?i)(^|[^\pL\pN_])(` + strings.Join(alternatives, "|") + `)($|[^\pL\pN_])`)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "blocked terms: %w", err)
	}
	find.Longest() // of two terms that begin alike, the longer one
	return &blockedTerms{find: find, decide: decide}, nil
}

// Check implements [Guardrail].
func (b *blockedTerms) Check(_ context.Context, in GuardInput) (Verdict, error) {
	var text strings.Builder
	rest, found := in.Text, 0
	for at := b.find.FindStringSubmatchIndex(rest); at != nil; at = b.find.FindStringSubmatchIndex(rest) {
		found++
		text.WriteString(rest[:at[4]] + redacted)
		rest = rest[at[5]:] // begins with the boundary after the term, which can be the one before the next term
	}
	if found == 0 {
		return Verdict{Decision: DecisionAllow}, nil
	}
	v := Verdict{Decision: b.decide, Reason: fmt.Sprintf("blocked terms in it: %d", found)}
	if b.decide == DecisionRedact {
		v.Text = text.String() + rest
	}
	return v, nil
}

// heldReply is a reply that a person must approve before a model sees it.
type heldReply struct {
	// Question is the question that the reply answers; a refusal opens it again.
	Question Question   `json:"question"`
	Reply    step.Reply `json:"reply"`
}

// guardReply passes each text of a reply to the guardrail separately: the strings of its value, keys that the
// form does not name, and the note. It changes p if the guardrail redacts, and returns the reason if a person
// must approve the reply first. After an error the reply is not accepted.
func (r *Runner) guardReply(ctx context.Context, s State, q Question, p *step.Reply) (pause string, err error) {
	if r.cfg.Guardrail == nil || q.Kind == QuestionGuardrail { // no model sees an approver's note
		return "", nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(p.Value))
	if err != nil {
		return "", media.Errorf(media.CodeInternal, "read the answer: %w", err)
	}
	redacted := ""
	check := func(text string) string {
		if err != nil || plain.Blank(text) {
			return text
		}
		var v Verdict
		v, err = r.cfg.Guardrail.Check(ctx, GuardInput{Text: text, Agent: path.Base(q.AgentPath), RunID: q.RunID, Owner: s.Request.Owner})
		if err != nil {
			err = fmt.Errorf("check the answer: %w", err)
			return text
		}
		out, changed, held, wrong := decide(v, "answer", text)
		if media.CodeOf(wrong) == media.CodeModerated {
			wrong = media.Errorf(media.CodeModerated, "%w: give another answer", wrong)
		}
		err, redacted, pause = wrong, cmp.Or(changed, redacted), cmp.Or(held, pause)
		return out
	}
	value = object.MapKeys(object.MapStrings(value, check), func(key string) string {
		if bytes.Contains(q.Schema, plain.JSON(key)) {
			return key
		}
		return check(key)
	})
	p.Note = check(p.Note)
	switch {
	case err != nil:
		return "", err
	case redacted != "":
		p.Value = plain.JSON(value)
		if err := q.fits(p.Value); err != nil {
			return "", media.Errorf(media.CodeModerated, "the answer was changed (%s) and does not fit the form now: give another answer", redacted)
		}
		p.Warning = "the answer was changed before a model saw it: " + redacted
	}
	return pause, nil
}

// hold replaces the answered question with a question for approval.
func (s *State) hold(id string, q Question, given step.Reply, reason string) {
	approval := q
	approval.ID, approval.Kind, approval.Schema, approval.Details = id, QuestionGuardrail, json.RawMessage(approvalForm), &Details{Reason: reason}
	approval.Question = plain.Clip(fmt.Sprintf("The answer to %q needs approval before a model sees it: %s", plain.Clip(q.Question, 200), reason), contract.MaxQuestion)
	s.replacePending(q.ID, approval)
	s.Held = maps.Clone(s.Held)
	if s.Held == nil {
		s.Held = map[string]heldReply{}
	}
	s.Held[id] = heldReply{Question: q, Reply: given}
}

func (s *State) replacePending(id string, by Question) {
	s.Pending = slices.Clone(s.Pending)
	for i, p := range s.Pending {
		if p.ID == id {
			s.Pending[i] = by
		}
	}
}
