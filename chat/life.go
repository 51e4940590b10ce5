package chat

import (
	"fmt"
	"time"

	"atelier/media"
)

// LifeCycle is when a model was released and is shut down; zero times are unknown.
type LifeCycle struct {
	Released   time.Time `json:"released,omitzero" yaml:"released"`
	Deprecated time.Time `json:"deprecated,omitzero" yaml:"deprecated"`
	ShutDown   time.Time `json:"shut_down,omitzero" yaml:"shut_down"`
	// ReplacedBy is the id of the one successor, at the same provider.
	ReplacedBy string `json:"replaced_by,omitempty" yaml:"replaced_by"`
}

// warnAhead is how long before a model's end its users are warned.
const warnAhead = 30 * 24 * time.Hour

// Alive reports whether the model can be called at a time.
func (f Profile) Alive(now time.Time) bool {
	return f.Life.ShutDown.IsZero() || now.Before(f.Life.ShutDown)
}

// Change is what became of a model that was named.
type Change struct {
	// Asked is the requested name, Applied the model that is used or the family as which it is
	// treated.
	Asked   string `json:"asked"`
	Applied string `json:"applied"`
	Reason  string `json:"reason"`
}

// successor follows replaced_by to the first model alive at now. Chains end: profiles are
// checked for circles.
func (p *Profiles) successor(f Profile, now time.Time) (Profile, bool) {
	for !f.Alive(now) {
		next, ok := p.listed(f.Provider, f.Life.ReplacedBy)
		if !ok {
			return f, false
		}
		f = next
	}
	return f, true
}

// living is the model that answers for one that was named at a time, with what has to be
// said about it. The error has code media.CodeUnsupported.
func (p *Profiles) living(requested string, f Profile, now time.Time) (next Profile, changes []Change, warnings []string, err error) {
	next, ok := p.successor(f, now)
	if !ok {
		return f, nil, nil, media.Errorf(media.CodeUnsupported, "%s was shut down on %s and has no successor: choose another model (atelier models list --chat)",
			f.Name, f.Life.ShutDown.Format(time.DateOnly))
	}
	if next.ID != f.ID {
		changes = append(changes, Change{Asked: requested, Applied: next.Name, Reason: fmt.Sprintf("%s was shut down on %s; %s replaces it", f.Name, f.Life.ShutDown.Format(time.DateOnly), next.Name)})
	}
	if next.Assumed != "" {
		changes = append(changes, Change{Asked: requested, Applied: next.Assumed, Reason: next.assumption()})
	}
	if end := next.Life.ShutDown; !end.IsZero() && end.Sub(now) <= warnAhead {
		w := fmt.Sprintf("%s will be shut down on %s", next.Name, end.Format(time.DateOnly))
		if after, ok := p.successor(next, end); ok {
			w += "; after that " + after.Name + " replaces it"
		}
		warnings = append(warnings, w)
	}
	return next, changes, warnings, nil
}

// assumption says as what a model is treated that no row names.
func (f Profile) assumption() string {
	sees, price := "it is shown no pictures", "its price is unknown"
	if f.SupportsVision {
		sees = "it is shown pictures"
	}
	if f.Priced() {
		price = "it has the same price"
	}
	if f.ReportsCost {
		price = "it reports its cost"
	}
	return fmt.Sprintf("%s is not a listed model: it is treated as %s; %s, and %s", f.ID, f.Assumed, sees, price)
}
