package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"atelier/journal/step"
	"atelier/media"
)

// Guardrail looks at what a person wrote before a model does: the task of a run or of a
// fork, before anything paid, where an error of it fails the run; and each text of a
// [Reply], its note too, where an error refuses the reply and the run stays paused.
type Guardrail interface {
	// Check judges a text of the latest user message. It sees no earlier message, no
	// picture and nothing that a model or an action wrote. It is safe for concurrent use.
	Check(ctx context.Context, in GuardInput) (Verdict, error)
}

// GuardInput is what a [Guardrail] sees.
type GuardInput struct {
	// Text may hold refs and placeholders, never bytes.
	Text string
	// Agent is the slug of the agent that the text is for, RunID its run and Owner whose it is.
	Agent, RunID, Owner string
}

// Decision is what a [Guardrail] wants done with a message.
type Decision string

// The decisions. The empty one is DecisionAllow.
const (
	DecisionAllow  Decision = "allow"
	DecisionRedact Decision = "redact" // Verdict.Text takes the place of the text
	// DecisionPause asks a person to approve first. A no fails the run with
	// media.CodeModerated; of a reply, it opens the question again.
	DecisionPause Decision = "pause"
	// DecisionStop fails the run, or refuses the reply, with media.CodeModerated.
	DecisionStop Decision = "stop"
)

// Verdict is a guardrail's answer.
type Verdict struct {
	Decision Decision `json:"decision"`
	// Text is the message to go on with, for DecisionRedact.
	Text string `json:"text,omitempty"`
	// Reason is for people; it stands in the run's error or warning.
	Reason string `json:"reason,omitempty"`
}

// guardStep checks the message of a root run; its result is a [Verdict].
var guardStep = step.Name{Kind: step.KindGuardrail}

// screen puts the task of a root run to the guardrail.
func (r *run) screen(ctx context.Context) error {
	g := r.r.cfg.Guardrail
	if g == nil || r.depth > 0 {
		return nil
	}
	b, err := r.journal.Step(ctx, guardStep.String(), func(ctx context.Context) ([]byte, error) {
		v, err := g.Check(ctx, GuardInput{Text: r.task, Agent: r.spec.slug, RunID: r.id, Owner: r.owner})
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	if err != nil {
		return fmt.Errorf("check the message: %w", err)
	}
	var v Verdict
	if err := json.Unmarshal(b, &v); err != nil {
		return media.Errorf(media.CodeInternal, "read journalled verdict: %w", err)
	}
	return r.abide(ctx, v)
}

// why is the reason of a verdict, for people.
func (v Verdict) why() string {
	if blank(v.Reason) {
		return "the guardrail gave no reason"
	}
	return clip(strings.TrimSpace(v.Reason), 300)
}

// unknown is the error for a decision that is none.
func (v Verdict) unknown() error {
	return media.Errorf(media.CodeInternal, "the guardrail decided %q: it must be allow, redact, pause or stop", clip(string(v.Decision), 20))
}

// abide does what a guardrail decided.
func (r *run) abide(ctx context.Context, v Verdict) error {
	reason := v.why()
	switch v.Decision {
	case "", DecisionAllow:
		return nil
	case DecisionRedact:
		if blank(v.Text) {
			return media.Errorf(media.CodeModerated, "nothing is left of the message: %s", reason)
		}
		r.task = r.cleanText(ctx, v.Text)
		r.warn(ctx, "the message was changed before a model saw it: "+reason)
		return nil
	case DecisionPause:
		return r.permit(ctx, reason)
	case DecisionStop:
		return media.Errorf(media.CodeModerated, "the message was stopped before a model saw it: %s", reason)
	}
	return v.unknown()
}

// permit asks a person whether a message may go on to a model.
func (r *run) permit(ctx context.Context, reason string) error {
	p, err := r.await(ctx, guardStep.With(step.TailApproval), callIndex{}, Question{
		Kind: QuestionGuardrail, Question: "This message needs approval before a model sees it: " + reason, Schema: json.RawMessage(approvalForm),
		Details: &Details{Reason: reason},
	})
	if err != nil {
		return err
	}
	a := p.approval()
	if !a.Approve {
		return media.Errorf(media.CodeModerated, "the message was refused by a person%s", noted(p, a))
	}
	return nil
}
