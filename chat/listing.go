package chat

import (
	"fmt"
	"time"
)

// Listed is a model as its provider lists it.
type Listed struct {
	ID string `json:"id"`
	// Vision reports whether it takes pictures; nil where the list does not say.
	Vision *bool `json:"vision,omitempty"`
	// ContextTokens is 0, and ShutDown zero, where the list does not say.
	ContextTokens int64     `json:"context_tokens,omitempty"`
	ShutDown      time.Time `json:"shut_down,omitzero"`
}

// FindingKind is the kind of a difference between a list and the profiles.
type FindingKind string

// The kinds.
const (
	FindingNew     FindingKind = "new"     // listed there, and no row here
	FindingGone    FindingKind = "gone"    // a living row here, and not listed there
	FindingVision  FindingKind = "vision"  // pictures are taken there and not sent here, or the other way round
	FindingContext FindingKind = "context" // another size of context
	FindingEnd     FindingKind = "end"     // another day of shutting down
)

// Finding is one difference.
type Finding struct {
	Model string      `json:"model"`
	Kind  FindingKind `json:"kind"`
	Note  string      `json:"note"`
}

// Compare tells how a provider's list differs from the profiles at a time.
func (p *Profiles) Compare(provider string, listed []Listed, now time.Time) []Finding {
	var out []Finding
	add := func(id string, kind FindingKind, format string, args ...any) {
		out = append(out, Finding{Model: id, Kind: kind, Note: fmt.Sprintf(format, args...)})
	}
	prov, _ := p.Provider(provider)
	there := map[string]bool{}
	for _, l := range listed {
		there[l.ID] = true
		f, known := p.listed(provider, l.ID)
		if !known {
			if f = p.custom(prov, l.ID); f.Assumed != "" {
				add(l.ID, FindingNew, "%s", f.assumption())
			} else {
				add(l.ID, FindingNew, "its family is unknown: it is shown no pictures, and its price is unknown")
			}
		}
		if l.Vision != nil && *l.Vision != f.SupportsVision {
			add(l.ID, FindingVision, "accepts pictures at the provider: %t, here: %t", *l.Vision, f.SupportsVision)
		}
		if known && l.ContextTokens > 0 && f.ContextTokens > 0 && l.ContextTokens != f.ContextTokens {
			add(l.ID, FindingContext, "%d tokens at the provider, %d here", l.ContextTokens, f.ContextTokens)
		}
		if !l.ShutDown.IsZero() && !l.ShutDown.Equal(f.Life.ShutDown) {
			add(l.ID, FindingEnd, "it is shut down on %s", l.ShutDown.Format(time.DateOnly))
		}
	}
	for _, m := range p.models {
		if m.Provider == provider && m.Alive(now) && !there[m.ID] && len(listed) > 0 {
			add(m.ID, FindingGone, "the provider does not list it")
		}
	}
	return out
}
