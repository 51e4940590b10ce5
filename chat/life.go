package chat

import (
	"fmt"
	"time"

	"atelier/media"
)

// LifeCycle is the release and the shutdown of a model. Zero times are unknown.
type LifeCycle struct {
	Released   time.Time `json:"released,omitzero" yaml:"released"`
	Deprecated time.Time `json:"deprecated,omitzero" yaml:"deprecated"`
	ShutDown   time.Time `json:"shut_down,omitzero" yaml:"shut_down"`
	// ReplacedBy is the id of the successor at the same provider.
	ReplacedBy string `json:"replaced_by,omitempty" yaml:"replaced_by"`
}

// warnAhead is how long before the shutdown of a model a warning is given.
const warnAhead = 30 * 24 * time.Hour

// Alive reports whether the model can be called at a time.
func (f Profile) Alive(now time.Time) bool {
	return f.Life.ShutDown.IsZero() || now.Before(f.Life.ShutDown)
}

// Change says how a requested model was replaced or treated.
type Change struct {
	// Asked is the requested name. Applied is the model that is used, or the family that it is treated as.
	Asked   string `json:"asked"`
	Applied string `json:"applied"`
	Reason  string `json:"reason"`
}

// successor follows ReplacedBy to the first model that is alive at now. Chains end, because profiles are checked for
// cycles.
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

// resolveAlive returns the model that substitutes for a requested one at a time, with the changes and warnings to
// report. The error has code media.CodeUnsupported.
func (p *Profiles) resolveAlive(requested string, f Profile, now time.Time) (next Profile, changes []Change, warnings []string, err error) {
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

// assumption says how an unlisted model is treated.
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
