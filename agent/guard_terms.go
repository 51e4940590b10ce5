package agent

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"atelier/media"
)

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
