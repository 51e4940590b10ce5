package catalog

import (
	"fmt"
	"slices"
	"time"

	"atelier/media"
)

// Finding is one fact of a catalogue that is out of date or about to be.
type Finding struct {
	// Provider and Model, a display name, identify the row.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Problem describes the problem in words.
	Problem string `json:"problem"`
}

// Stale lists what is out of date on a day, or will be within 30 days: successors and default models that end, and
// prices that have ended. A default is the first living model of a provider for one modality. Rows that are merely old
// are not reported: their successors answer.
func (c *Catalog) Stale(day time.Time) []Finding {
	var out []Finding
	add := func(m Model, format string, args ...any) {
		out = append(out, Finding{m.Provider, m.Name, fmt.Sprintf(format, args...)})
	}
	ends := func(m Model) bool { return !m.Life.ShutDown.IsZero() && m.Life.ShutDown.Sub(day) <= WarnAhead }
	seen := map[string][]media.Modality{}
	for _, m := range c.rows {
		if next, ok := c.LookupForProvider(m.Provider, m.Life.ReplacedBy); ok && ends(next) {
			add(m, "its successor %s ends on %s", next.Name, next.Life.ShutDown.Format(time.DateOnly))
		}
		if !m.Alive(day) {
			continue
		}
		if !slices.Contains(seen[m.Provider], m.Modality) && ends(m) {
			add(m, "it is the default of %s for %s and ends on %s", m.Provider, m.Modality, m.Life.ShutDown.Format(time.DateOnly))
		}
		seen[m.Provider] = append(seen[m.Provider], m.Modality)
		for _, p := range m.Prices {
			if !slices.ContainsFunc(m.PricedOn(day).Prices, p.sameThing) {
				add(m, "its price for %s ended on %s and none follows", p.Unit, p.Until)
			}
		}
	}
	return out
}

// WarnAhead is how long before a model's shutdown its users are warned.
const WarnAhead = 30 * 24 * time.Hour
