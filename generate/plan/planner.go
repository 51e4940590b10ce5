// Package plan determines what a request would do before anything is spent: the [Planner] chooses the model, fits every
// setting to the model's row and records its disposition, splits the results over calls, estimates the cost, and
// converts the request's pictures for the model.
//
// Errors are media.Error values, see [Planner.Plan]. It may import media, imaging, wire, generate, generate/catalog,
// generate/driver and generate/money. It makes no provider calls.
package plan

import (
	"cmp"
	"slices"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
)

// Config sets up a [Planner]. Its fields are those of gateway.Config, without defaults.
type Config struct {
	Drivers      []driver.Driver // at least one; the planner calls Ready and Review
	Catalogue    *catalog.Catalog
	DefaultModel string
	Fallback     []string
	Partials     bool
	Storage      generate.Storage // nil means that pictures are not converted
	Now          func() time.Time
}

// Planner determines what requests would do: which model answers, with which settings, in how many calls and at what
// cost. It makes no provider calls. It is safe for concurrent use.
type Planner struct {
	config  Config
	drivers map[string]driver.Driver // by provider
}

// New creates a planner. Its error has code media.CodeInvalid.
func New(c Config) (*Planner, error) {
	if len(c.Drivers) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "generate.Config.Drivers is empty: give at least one driver")
	}
	pl := &Planner{config: c, drivers: map[string]driver.Driver{}}
	for _, d := range c.Drivers {
		p := d.Provider()
		if _, twice := pl.drivers[p]; twice {
			return nil, media.Errorf(media.CodeInvalid, "generate.Config.Drivers has two drivers for %s: leave one out", p)
		}
		pl.drivers[p] = d
	}
	return pl, nil
}

// Driver returns the driver of a provider; nil if there is none.
func (pl *Planner) Driver(provider string) driver.Driver { return pl.drivers[provider] }

// Models returns the catalogue, including retired models, in order of preference: by provider, Offline last. Models of
// one provider, and providers outside the order, stay in catalogue order.
func (pl *Planner) Models() []catalog.Model {
	const others = 4
	rank := func(m catalog.Model) int {
		if i := slices.Index([]string{"gemini", "openai", "bfl", "leonardo", others: "", Offline}, m.Provider); i >= 0 {
			return i
		}
		return others
	}
	rows := pl.config.Catalogue.Models()
	slices.SortStableFunc(rows, func(a, b catalog.Model) int { return cmp.Compare(rank(a), rank(b)) })
	return rows
}

// Lookup finds a model by display name, API id or alias. The error has code media.CodeInvalid and lists similar names.
func (pl *Planner) Lookup(name string) (catalog.Model, error) {
	m, ok := pl.config.Catalogue.Lookup(name)
	if !ok {
		return catalog.Model{}, pl.unknown(name)
	}
	return m, nil
}

// Provider says whether a provider can be used.
type Provider struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// Reason says how to make it ready; empty if it is.
	Reason string `json:"reason,omitempty"`
	// Models are the display names of the provider's living models.
	Models []string `json:"models"`
}

// Providers returns the program's providers in order of preference.
func (pl *Planner) Providers() []Provider {
	var names []string
	models := map[string][]string{}
	for _, m := range pl.Models() {
		names = append(names, m.Provider)
		if m.Alive(pl.config.Now()) {
			models[m.Provider] = append(models[m.Provider], m.Name)
		}
	}
	for _, d := range pl.config.Drivers {
		names = append(names, d.Provider())
	}
	var out []Provider
	for _, name := range names {
		d := pl.drivers[name]
		if d == nil || slices.ContainsFunc(out, func(p Provider) bool { return p.Name == name }) {
			continue
		}
		p := Provider{Name: name, Ready: true, Models: models[name]}
		if err := d.Ready(); err != nil {
			p.Ready, p.Reason = false, err.Error()
		}
		out = append(out, p)
	}
	return out
}
