package plan

import (
	"slices"

	"atelier/generate/catalog"
)

// Models lists the catalogue, retired models included, in the order of preference.
func (pl *Planner) Models() []catalog.Model { return pl.inOrder() }

// Lookup finds a model by display name, API id or alias. The error has code
// media.CodeInvalid and lists names that come near.
func (pl *Planner) Lookup(name string) (catalog.Model, error) {
	m, ok := pl.config.Catalogue.Lookup(name)
	if !ok {
		return catalog.Model{}, pl.unknown(name)
	}
	return m, nil
}

// Provider reports whether a provider can be used.
type Provider struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// Reason says what to do; empty if ready.
	Reason string `json:"reason,omitempty"`
	// Models are the display names of its living models.
	Models []string `json:"models"`
}

// Providers lists the providers of the program in the order of preference.
func (pl *Planner) Providers() []Provider {
	var out []Provider
	at := func(name string) int {
		return slices.IndexFunc(out, func(p Provider) bool { return p.Name == name })
	}
	add := func(name string) {
		p := Provider{Name: name, Ready: true}
		if err := pl.drivers[name].Ready(); err != nil {
			p.Ready, p.Reason = false, err.Error()
		}
		out = append(out, p)
	}
	for _, m := range pl.inOrder() {
		if _, ok := pl.drivers[m.Provider]; !ok {
			continue
		}
		if at(m.Provider) < 0 {
			add(m.Provider)
		}
		if m.Alive(pl.config.Now()) {
			p := &out[at(m.Provider)]
			p.Models = append(p.Models, m.Name)
		}
	}
	for _, d := range pl.config.Drivers {
		if at(d.Provider()) < 0 {
			add(d.Provider())
		}
	}
	return out
}
