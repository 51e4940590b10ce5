package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/media"
)

type choice struct {
	model    catalog.Model
	driver   driver.Driver
	out      []generate.Disposition
	warnings []string
}

// choose selects the model: the one that the request names; else the operator's default; else the agent's preference;
// else the first provider that is ready. With keyless, when nothing is called, a named model is selected even if its
// key is missing.
func (pl *Planner) choose(r generate.Request, keyless bool) (choice, error) {
	switch {
	case r.Model != "":
		c, err := pl.named(r, r.Model, keyless)
		if !r.Substitute || media.CodeOf(err) != media.CodeMissingKey {
			return c, c.called(r.Model, err)
		}
		requested, missing := fault.Quote(r.Model), err.Error()
		r.Model = ""
		if c, err = pl.choose(r, keyless); err == nil {
			c.out = []generate.Disposition{{Setting: "model", Asked: requested, Applied: c.model.Name, Outcome: generate.OutcomeSubstituted, Reason: missing}}
		}
		return c, err
	case pl.config.DefaultModel != "" && pl.modality(generate.Request{Model: pl.config.DefaultModel}) == r.Modality:
		c, err := pl.named(r, pl.config.DefaultModel, keyless)
		if err != nil {
			return c, fault.Wrap("ATELIER_IMAGE_MODEL", c.called(pl.config.DefaultModel, err))
		}
		for _, d := range c.out {
			if d.Outcome == generate.OutcomeAdapted {
				c.warnings = append(c.warnings, d.Reason)
			}
		}
		c.out = pl.substituted(r, c.model, "the default model of this installation (ATELIER_IMAGE_MODEL) comes first")
		return c, nil
	}
	return pl.preferred(r, keyless)
}

// called adds the model name, as requested, to an error.
func (c choice) called(name string, err error) error {
	if err == nil || c.model.Name == "" {
		return err
	}
	called := fault.Quote(name)
	if !strings.EqualFold(name, c.model.Name) {
		called += " (" + c.model.Name + ")"
	} else if strings.HasPrefix(err.Error(), c.model.Name+" ") {
		return err
	}
	return fault.Wrap(called, err)
}

// named returns the model that the request names, or its successor.
func (pl *Planner) named(r generate.Request, name string, keyless bool) (choice, error) {
	row, ok := pl.config.Catalogue.Lookup(name)
	if !ok {
		return choice{}, pl.unknown(name)
	}
	living, ok := pl.config.Catalogue.Successor(row, pl.config.Now())
	if !ok {
		return choice{}, media.Errorf(media.CodeUnsupported, "%s was shut down on %s and has no successor: choose another model (atelier models list)",
			row.Name, row.Life.ShutDown.Format(time.DateOnly))
	}
	d := generate.Disposition{Setting: "model", Asked: fault.Quote(name), Applied: living.Name, Outcome: generate.OutcomeApplied}
	if living.APIModel != row.APIModel {
		d.Outcome, d.Reason = generate.OutcomeAdapted, fmt.Sprintf("%s was shut down on %s; %s replaces it", row.Name, row.Life.ShutDown.Format(time.DateOnly), living.Name)
	}
	c := choice{model: living, driver: pl.drivers[living.Provider], out: []generate.Disposition{d}, warnings: pl.lifeWarnings(living)}
	if err := pl.checkSupported(r, living); err != nil {
		return c, err
	}
	if c.driver == nil {
		return c, media.Errorf(media.CodeUnsupported, "%s needs the provider %s, which this program was built without: choose another model (atelier models list)", living.Name, living.Provider)
	}
	if err := c.driver.Ready(); err != nil {
		if !keyless || media.CodeOf(err) != media.CodeMissingKey {
			return c, err
		}
		c.warnings = append(c.warnings, "it would be refused now: "+err.Error())
	}
	return c, nil
}

func (pl *Planner) lifeWarnings(m catalog.Model) []string {
	end := m.Life.ShutDown
	if end.IsZero() || end.Sub(pl.config.Now()) > catalog.WarnAhead {
		return nil
	}
	w := fmt.Sprintf("%s will be shut down on %s", m.Name, end.Format(time.DateOnly))
	if next, ok := pl.config.Catalogue.Successor(m, end); ok {
		w += "; after that " + next.Name + " replaces it"
	}
	return []string{w}
}

// preferred tries the agent's preferences, then the providers in order.
func (pl *Planner) preferred(r generate.Request, keyless bool) (choice, error) {
	reason := ""
	for _, name := range r.Prefer {
		c, err := pl.named(r, name, keyless)
		if err == nil {
			if reason != "" {
				c.out = pl.substituted(r, c.model, reason)
			}
			return c, nil
		}
		if reason == "" {
			reason = err.Error()
		}
	}
	for _, m := range pl.Models() {
		d, ok := pl.drivers[m.Provider]
		if !ok || !m.Alive(pl.config.Now()) || d.Ready() != nil || pl.checkSupported(r, m) != nil {
			continue
		}
		c := choice{model: m, driver: d, warnings: pl.lifeWarnings(m)}
		c.out = pl.substituted(r, m, reason)
		if m.Provider == Offline && pl.config.Catalogue.Has(func(o catalog.Model) bool { return o.Provider != Offline }) {
			c.warnings = append(c.warnings, OfflineWarning(m.Name))
		}
		return c, nil
	}
	if len(pl.ableNames(r)) == 0 {
		return choice{}, media.Errorf(media.CodeUnsupported, "%s", pl.describeAlternatives(r))
	}
	var reasons []string
	for _, p := range pl.Providers() {
		if !p.Ready {
			reasons = append(reasons, p.Reason)
		}
	}
	if len(reasons) == 0 {
		return choice{}, media.Errorf(media.CodeUnsupported, "no provider of this program offers it: %s", pl.describeAlternatives(r))
	}
	return choice{}, media.Errorf(media.CodeMissingKey, "no provider is ready: %s", strings.Join(reasons, "; "))
}

// OfflineWarning returns the warning of an offline model's result, made because no provider was ready for the request.
func OfflineWarning(model string) string {
	return model + " was used because no provider is ready for this request; atelier doctor shows which key to set"
}

// substituted returns the disposition of an agent's preference, if there is one.
func (pl *Planner) substituted(r generate.Request, used catalog.Model, reason string) []generate.Disposition {
	if len(r.Prefer) == 0 {
		return nil
	}
	d := generate.Disposition{Setting: "model", Asked: fault.Quote(r.Prefer[0]), Applied: used.Name, Outcome: generate.OutcomeSubstituted, Reason: reason}
	if row, ok := pl.config.Catalogue.Lookup(r.Prefer[0]); ok && row.APIModel == used.APIModel && row.Provider == used.Provider {
		d.Outcome, d.Reason = generate.OutcomeApplied, ""
	}
	return []generate.Disposition{d}
}

// Offline is the provider that is last in every order.
const Offline = "offline"

// checkSupported returns nil if the model makes the requested modality, with the requested method.
func (pl *Planner) checkSupported(r generate.Request, m catalog.Model) error {
	if m.Modality != r.Modality {
		return media.Errorf(media.CodeUnsupported, "%s makes %s, not %s: choose another model (atelier models list)", m.Name, m.Modality, r.Modality)
	}
	if m.SupportsMethod(r.Method) {
		return m.Accepts(r)
	}
	e := media.Errorf(media.CodeUnsupported, "%s does not offer %s: %s", m.Name, r.Method, pl.describeAlternatives(r))
	e.Valid = pl.ableNames(r)
	return e
}

func (pl *Planner) ableNames(r generate.Request) []string {
	var names []string
	for _, m := range pl.config.Catalogue.Models() {
		if m.Alive(pl.config.Now()) && m.Modality == r.Modality && m.SupportsMethod(r.Method) && m.Accepts(r) == nil {
			names = append(names, m.Name)
		}
	}
	return names
}

func (pl *Planner) describeAlternatives(r generate.Request) string {
	if names := pl.ableNames(r); len(names) > 0 {
		return "these models do: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("no model of this version can %s %s with %d input pictures", r.Method, r.Modality, len(r.Inputs))
}

// unknown returns the error for an unknown or ambiguous name; it lists similar names.
func (pl *Planner) unknown(name string) error {
	if which := pl.config.Catalogue.Ambiguous(name); len(which) > 0 {
		e := media.Errorf(media.CodeInvalid, "%q is the id of several models: say %s", fault.Quote(name), strings.Join(which, " or "))
		e.Valid = which
		return e
	}
	near := pl.config.Catalogue.Near(name, pl.config.Now())
	e := media.Errorf(media.CodeInvalid, "there is no model %q: did you mean %s? (atelier models list shows all)", fault.Quote(name), strings.Join(near, ", "))
	e.Valid = near
	return e
}

// SkippedModelWarning describes to people why a model of the chain was skipped.
func SkippedModelWarning(name string, reason error) string {
	return "the next model " + fault.Quote(name) + " was passed over: " + fault.Of(reason).Message
}

// Substituted sets the disposition of a model that answers instead of the requested one.
func Substituted(list []generate.Disposition, requested, applied, reason string) []generate.Disposition {
	d := generate.Disposition{Setting: "model", Asked: requested, Applied: applied, Outcome: generate.OutcomeSubstituted, Reason: reason}
	list = slices.Clone(list)
	if have := Find(list, d.Setting); have != nil {
		*have = d
		return list
	}
	return append(list, d)
}

// Find returns the disposition of a setting in a list; nil if it has none.
func Find(list []generate.Disposition, setting string) *generate.Disposition {
	i := slices.IndexFunc(list, func(d generate.Disposition) bool { return d.Setting == setting })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// First returns the plan for the first model of the request, or of the gateway's chain, that can be asked. If there is
// none, the error has the reason of each.
func (pl *Planner) First(r generate.Request, keyless bool) (*Plan, error) {
	if r.Model == "" && len(r.Fallback) == 0 {
		r.Fallback = pl.config.Fallback
		for _, name := range r.Fallback {
			if _, ok := pl.config.Catalogue.Lookup(name); !ok {
				return nil, fault.Wrap("ATELIER_IMAGE_FALLBACK", pl.unknown(name))
			}
		}
	}
	r.OptionsFor = pl.optionsFor(r)
	p, err := pl.Draft(r, keyless)
	var reasons []string
	for i := 0; err != nil && i < len(r.Fallback); i++ {
		if c := media.CodeOf(err); c != media.CodeMissingKey && c != media.CodeUnsupported || r.Strict {
			return p, err
		}
		if reasons == nil {
			reasons = append(reasons, fault.Of(err).Message)
		}
		q, second := pl.Alternative(r, i, keyless)
		if second != nil {
			reasons = append(reasons, fault.Of(second).Message)
			continue
		}
		q.Dispositions = Substituted(q.Dispositions, fault.Quote(cmp.Or(append([]string{r.Model, pl.config.DefaultModel}, r.Prefer...)...)), q.Model.Name, strings.Join(reasons, "; "))
		return q, nil
	}
	if len(reasons) > 1 {
		e := fault.Of(err)
		e.Message = "no model of the chain can be asked: " + strings.Join(reasons, "; ")
		return p, e
	}
	return p, err
}

// Alternative drafts a plan for one of the request's fallback models, given by its index from 0.
func (pl *Planner) Alternative(r generate.Request, i int, keyless bool) (*Plan, error) {
	r.Model, r.Substitute, r.Fallback, r.Prefer = r.Fallback[i], false, r.Fallback[i+1:], nil
	return pl.Draft(r, keyless)
}

// optionsFor returns the providers of all models that a request names, and those that the request lists.
func (pl *Planner) optionsFor(r generate.Request) []string {
	names := append([]string{r.Model}, r.Fallback...)
	if r.Model == "" {
		names = append(append(names, r.Prefer...), pl.config.Fallback...)
	}
	all := slices.Clone(r.OptionsFor)
	for _, name := range names {
		if m, ok := pl.config.Catalogue.Lookup(name); ok && !slices.Contains(all, m.Provider) {
			all = append(all, m.Provider)
		}
	}
	return all
}
