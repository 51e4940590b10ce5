package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"atelier/media"
)

// Guardrail looks at what a person wrote before a model does. It is asked once per
// message, before the run and anything paid; an error of it stops the run.
type Guardrail interface {
	// Check judges the text of the latest user message. It sees no earlier message, no
	// picture and nothing that a model or an action wrote. It is safe for concurrent use.
	Check(ctx context.Context, in GuardInput) (Verdict, error)
}

// GuardInput is what a [Guardrail] sees.
type GuardInput struct {
	// Text may hold refs and placeholders, never bytes.
	Text string
	// Agent is the slug, RunID the run and Owner whose it is.
	Agent, RunID, Owner string
}

// Decision is what a [Guardrail] wants done with a message.
type Decision string

// The decisions. The empty one is DecisionAllow.
const (
	DecisionAllow  Decision = "allow"
	DecisionRedact Decision = "redact" // the run goes on with Verdict.Text
	DecisionPause  Decision = "pause"  // a person has to approve first; a no is media.CodeModerated
	DecisionStop   Decision = "stop"   // the run fails with media.CodeModerated
)

// Verdict is a guardrail's answer.
type Verdict struct {
	Decision Decision `json:"decision"`
	// Text is the message to go on with, for DecisionRedact.
	Text string `json:"text,omitempty"`
	// Reason is for people; it stands in the run's error or warning.
	Reason string `json:"reason,omitempty"`
}

// screen puts the task of a root run to the guardrail.
func (r *run) screen(ctx context.Context) error {
	g := r.r.cfg.Guardrail
	if g == nil || r.depth > 0 {
		return nil
	}
	b, err := r.journal.Step(ctx, "guardrail", func(ctx context.Context) ([]byte, error) {
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

// abide does what a guardrail decided.
func (r *run) abide(ctx context.Context, v Verdict) error {
	reason := clip(media.Scrub(strings.TrimSpace(v.Reason)), 300)
	if reason == "" {
		reason = "the guardrail gave no reason"
	}
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
	return media.Errorf(media.CodeInternal, "the guardrail decided %q: it must be allow, redact, pause or stop", clip(string(v.Decision), 20))
}

// permit asks a person whether a message may go on to a model.
func (r *run) permit(ctx context.Context, reason string) error {
	p, err := r.await(ctx, "guardrail-approval", callIndex{}, Question{
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

// blockedTerms is the guardrail of [BlockedTerms].
type blockedTerms struct {
	find   *regexp.Regexp
	decide Decision
}

var _ Guardrail = (*blockedTerms)(nil)

// redacted stands where a blocked term was.
const redacted = "[removed]"

// BlockedTerms is a guardrail that looks for terms as whole words, without regard to
// case and to how much space lies between their words. It redacts, pauses or stops; an
// empty decision stops. No term, or another decision, is [media.CodeInvalid].
func BlockedTerms(decide Decision, terms ...string) (Guardrail, error) {
	if decide == "" {
		decide = DecisionStop
	}
	if decide != DecisionStop && decide != DecisionPause && decide != DecisionRedact {
		return nil, media.Errorf(media.CodeInvalid, "blocked terms can redact, pause or stop, not %q", clip(string(decide), 20))
	}
	var alternatives []string
	for _, t := range terms {
		words := strings.Fields(t)
		for i := range words {
			words[i] = regexp.QuoteMeta(words[i])
		}
		if len(words) > 0 {
			alternatives = append(alternatives, strings.Join(words, `\s+`))
		}
	}
	if len(alternatives) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "blocked terms: give at least one term")
	}
	find, err := regexp.Compile(`(?i)(^|[^\pL\pN_])(` + strings.Join(alternatives, "|") + `)($|[^\pL\pN_])`)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "blocked terms: %w", err)
	}
	return &blockedTerms{find: find, decide: decide}, nil
}

// Check implements [Guardrail].
func (b *blockedTerms) Check(_ context.Context, in GuardInput) (Verdict, error) {
	text, from, found := in.Text, 0, 0
	for {
		at := b.find.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		found++
		start, end := from+at[4], from+at[5]
		// The search goes on behind what stands there now, whose end can begin the next.
		text, from = text[:start]+redacted+text[end:], start+len(redacted)-1
	}
	if found == 0 {
		return Verdict{Decision: DecisionAllow}, nil
	}
	v := Verdict{Decision: b.decide, Reason: fmt.Sprintf("blocked terms in it: %d", found)}
	if b.decide == DecisionRedact {
		v.Text = text
	}
	return v, nil
}
