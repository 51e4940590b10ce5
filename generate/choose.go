package generate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/media"
)

// warnAhead is how long before a model's end its users are warned.
const warnAhead = 30 * 24 * time.Hour

// choice is the model that answers a request, and how it came to that.
type choice struct {
	model    Model
	driver   Driver
	out      []Disposition
	warnings []string
}

// choose finds the model: the one that the request names; else the operator's
// default; else what the agent prefers; else the first provider that is ready.
func (g *Gateway) choose(r Request) (choice, error) {
	switch {
	case r.Model != "":
		c, err := g.named(r, r.Model)
		if r.Substitute && media.CodeOf(err) == media.CodeMissingKey {
			return g.instead(r, err)
		}
		return c, c.called(r.Model, err)
	case g.config.DefaultModel != "" && g.modality(Request{Model: g.config.DefaultModel}) == r.Modality:
		c, err := g.named(r, g.config.DefaultModel)
		if err != nil {
			return c, wrap("ATELIER_IMAGE_MODEL", c.called(g.config.DefaultModel, err))
		}
		for _, d := range c.out {
			if d.Outcome == OutcomeAdapted {
				c.warnings = append(c.warnings, d.Reason)
			}
		}
		c.out = g.substituted(r, c.model, "the default model of this installation (ATELIER_IMAGE_MODEL) comes first")
		return c, nil
	}
	return g.preferred(r)
}

// called names the model of an error as it was asked for.
func (c choice) called(name string, err error) error {
	if err == nil || c.model.Name == "" {
		return err
	}
	called := clip(name)
	if !strings.EqualFold(name, c.model.Name) {
		called += " (" + c.model.Name + ")"
	} else if strings.HasPrefix(err.Error(), c.model.Name+" ") {
		return err
	}
	return wrap(called, err)
}

// instead finds the next model where the key of the named one is missing.
func (g *Gateway) instead(r Request, missing error) (choice, error) {
	asked := r.Model
	r.Model = ""
	c, err := g.choose(r)
	if err != nil {
		return c, err
	}
	c.out = []Disposition{{Setting: "model", Asked: clip(asked), Applied: c.model.Name, Outcome: OutcomeSubstituted, Reason: missing.Error()}}
	return c, nil
}

// named takes the model that somebody asked for by name, or its successor.
func (g *Gateway) named(r Request, name string) (choice, error) {
	row, ok := g.config.Catalogue.Lookup(name)
	if !ok {
		return choice{}, g.unknown(name)
	}
	living, ok := g.config.Catalogue.successor(row, g.config.Now())
	if !ok {
		return choice{}, media.Errorf(media.CodeUnsupported, "%s was switched off on %s and has no successor: choose another model (atelier models list)",
			row.Name, row.Life.ShutDown.Format(time.DateOnly))
	}
	c := choice{model: living}
	if living.APIModel != row.APIModel {
		c.out = append(c.out, retired(name, row, living))
	} else {
		c.out = append(c.out, Disposition{Setting: "model", Asked: clip(name), Applied: row.Name, Outcome: OutcomeApplied})
	}
	c.warnings = g.lifeWarnings(living)
	if err := g.able(r, living); err != nil {
		return c, err
	}
	d, ok := g.drivers[living.Provider]
	if !ok {
		return c, media.Errorf(media.CodeUnsupported, "%s needs the provider %s, which this program was built without: choose another model (atelier models list)", living.Name, living.Provider)
	}
	c.driver = d
	if err := d.Ready(); err != nil {
		return c, err
	}
	return c, nil
}

// retired tells that a successor answers.
func retired(asked string, row, living Model) Disposition {
	return Disposition{
		Setting: "model", Asked: clip(asked), Applied: living.Name, Outcome: OutcomeAdapted,
		Reason: fmt.Sprintf("%s was switched off on %s; %s answers in its place", row.Name, row.Life.ShutDown.Format(time.DateOnly), living.Name),
	}
}

// lifeWarnings warns of a model that will end soon.
func (g *Gateway) lifeWarnings(m Model) []string {
	end := m.Life.ShutDown
	if end.IsZero() || end.Sub(g.config.Now()) > warnAhead {
		return nil
	}
	w := fmt.Sprintf("%s will be switched off on %s", m.Name, end.Format(time.DateOnly))
	if next, ok := g.config.Catalogue.successor(m, end); ok {
		w += "; after that " + next.Name + " answers in its place"
	}
	return []string{w}
}

// preferred goes through what the agent would like, and then through the providers.
func (g *Gateway) preferred(r Request) (choice, error) {
	why := ""
	for _, name := range r.Prefer {
		c, err := g.named(r, name)
		if err == nil {
			if why != "" {
				c.out = g.substituted(r, c.model, why)
			}
			return c, nil
		}
		if why == "" {
			why = err.Error()
		}
	}
	for _, m := range g.inOrder() {
		d, ok := g.drivers[m.Provider]
		if !ok || !m.Alive(g.config.Now()) || d.Ready() != nil || g.able(r, m) != nil {
			continue
		}
		c := choice{model: m, driver: d, warnings: g.lifeWarnings(m)}
		c.out = g.substituted(r, m, why)
		if m.Provider == offlineProvider && g.config.Catalogue.has(func(o Model) bool { return o.Provider != offlineProvider }) {
			c.warnings = append(c.warnings, StandIn(m.Name))
		}
		return c, nil
	}
	return choice{}, g.nobody(r)
}

// StandIn is the warning of a result that an offline model gave because no provider is ready.
func StandIn(model string) string {
	return model + " was used because no provider is ready; atelier doctor tells which key to set"
}

// substituted notes that an agent's preference was not followed.
func (g *Gateway) substituted(r Request, used Model, why string) []Disposition {
	if len(r.Prefer) == 0 {
		return nil
	}
	first := r.Prefer[0]
	if row, ok := g.config.Catalogue.Lookup(first); ok && row.APIModel == used.APIModel && row.Provider == used.Provider {
		return []Disposition{{Setting: "model", Asked: clip(first), Applied: used.Name, Outcome: OutcomeApplied}}
	}
	return []Disposition{{Setting: "model", Asked: clip(first), Applied: used.Name, Outcome: OutcomeSubstituted, Reason: why}}
}

// offlineProvider comes last in every order.
const offlineProvider = "offline"

// providerOrder is the order in which providers are tried where nobody named one.
func providerOrder() []string { return []string{"gemini", "openai", "bfl", "leonardo"} }

// inOrder lists the models by the order of their providers; within a provider, and
// for providers not in the order, by the catalogue's. Offline is last.
func (g *Gateway) inOrder() []Model {
	order := providerOrder()
	rank := func(m Model) int {
		if m.Provider == offlineProvider {
			return len(order) + 1
		}
		if i := slices.Index(order, m.Provider); i >= 0 {
			return i
		}
		return len(order)
	}
	rows := g.config.Catalogue.Models()
	slices.SortStableFunc(rows, func(a, b Model) int { return cmp.Compare(rank(a), rank(b)) })
	return rows
}

// able is nil if the model makes what is asked, by the method that is asked.
func (g *Gateway) able(r Request, m Model) error {
	if m.Modality != r.Modality {
		return media.Errorf(media.CodeUnsupported, "%s makes %s, not %s: choose another model (atelier models list)", m.Name, m.Modality, r.Modality)
	}
	if m.offers(r.Method) {
		return m.room(r)
	}
	e := media.Errorf(media.CodeUnsupported, "%s does not offer %s: %s", m.Name, r.Method, g.whoCan(r))
	e.Valid = g.ableNames(r)
	return e
}

// offers reports whether a model takes a method, by itself or out of edits.
func (m Model) offers(x Method) bool {
	return slices.Contains(m.Methods, x) || slices.Contains(m.Emulates, x)
}

// ableNames lists the living models that can do it.
func (g *Gateway) ableNames(r Request) []string {
	var names []string
	for _, m := range g.config.Catalogue.Models() {
		if m.Alive(g.config.Now()) && m.Modality == r.Modality && m.offers(r.Method) && m.room(r) == nil {
			names = append(names, m.Name)
		}
	}
	return names
}

func (g *Gateway) whoCan(r Request) string {
	if names := g.ableNames(r); len(names) > 0 {
		return "these models do: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("no model of this version can %s %s with %d input pictures", r.Method, r.Modality, len(r.Inputs))
}

// nobody is the error where no model is left to try.
func (g *Gateway) nobody(r Request) error {
	names := g.ableNames(r)
	if len(names) == 0 {
		return media.Errorf(media.CodeUnsupported, "%s", g.whoCan(r))
	}
	var reasons []string
	for _, p := range g.Providers() {
		if !p.Ready {
			reasons = append(reasons, p.Reason)
		}
	}
	if len(reasons) == 0 {
		return media.Errorf(media.CodeUnsupported, "no provider of this program offers it: %s", g.whoCan(r))
	}
	return media.Errorf(media.CodeMissingKey, "no provider is ready: %s", strings.Join(reasons, "; "))
}

// unknown is the error for a name that means nothing, or more than one thing; it lists what
// comes near.
func (g *Gateway) unknown(name string) error {
	if which := g.config.Catalogue.ambiguous(name); len(which) > 0 {
		e := media.Errorf(media.CodeInvalid, "%q is the id of several models: say %s", clip(name), strings.Join(which, " or "))
		e.Valid = which
		return e
	}
	near := g.config.Catalogue.near(name, g.config.Now())
	e := media.Errorf(media.CodeInvalid, "there is no model %q: did you mean %s? (atelier models list shows all)", clip(name), strings.Join(near, ", "))
	e.Valid = near
	return e
}

// has reports whether any row fits.
func (c *Catalogue) has(fits func(Model) bool) bool { return slices.ContainsFunc(c.rows, fits) }

// near lists the living models whose names come nearest, best first.
func (c *Catalogue) near(name string, now time.Time) []string {
	const most = 4
	type scored struct {
		name string
		d    int
	}
	var all []scored
	ask := key(name)
	ask = ask[:min(len(ask), 60)]
	for _, m := range c.rows {
		if !m.Alive(now) {
			continue
		}
		best := -1
		for _, n := range append([]string{m.Name, m.APIModel}, m.Aliases...) {
			d := distance(ask, key(n))
			if strings.Contains(key(n), ask) || strings.Contains(ask, key(n)) {
				d = min(d, 1)
			}
			if best < 0 || d < best {
				best = d
			}
		}
		all = append(all, scored{m.Name, best})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.d, b.d) })
	var names []string
	for _, s := range all[:min(most, len(all))] {
		names = append(names, s.name)
	}
	return names
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
