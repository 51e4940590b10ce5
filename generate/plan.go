package generate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// Plan is what a request would do, before anything is spent.
type Plan struct {
	Model Model `json:"model"`
	// Calls lists how many results each provider call would be asked for.
	Calls []int `json:"calls"`
	// Makes is how many results come of them: more than N where every call draws a grid.
	Makes        int           `json:"makes"`
	Dispositions []Disposition `json:"dispositions"`
	// EstimatedUSD is the expected cost as decimal text; nil if unknown.
	EstimatedUSD *string  `json:"estimated_usd"`
	Warnings     []string `json:"warnings,omitempty"`

	req    Request
	task   Task // the pattern of every call
	driver Driver
	gives  int    // how many results every call gives; 0 means as many as it is asked for
	round  *round // nil unless it is done again
	act    string // what its money is reserved for; empty for the operation
	why    string // the reason if it stands in for another
	frames bool   // previews are asked for, in this round, or were before
}

// N is how many results the plan asks for.
func (p *Plan) N() int {
	n := 0
	for _, c := range p.Calls {
		n += c
	}
	return n
}

// found reports whether a call is not asked for, but gone on with because its task or answer was found.
func (p *Plan) found(c call) bool {
	return p.round != nil && p.round.Found && c.number == p.round.First
}

// Plan works out model, settings, calls and cost; it makes no call and writes
// nothing.
//
// Errors: media.CodeInvalid for bad input and unknown models, those of the fallback among them, media.CodeUnsupported
// for what the model cannot do, media.CodeMissingKey naming the variable to set. In
// strict mode a setting that would be adapted, dropped or substituted is
// media.CodeUnsupported; then the plan comes with the error and shows those settings
// as refused.
func (g *Gateway) Plan(_ context.Context, r Request) (*Plan, error) {
	r.Modality = g.modality(r)
	r, err := r.normalise()
	if err != nil {
		return nil, err
	}
	said := r.Prompt
	r = r.withoutMedia()
	for _, name := range r.Fallback {
		if _, ok := g.config.Catalogue.Lookup(name); !ok {
			return nil, wrap("read the fallback", g.unknown(name))
		}
	}
	c, err := g.choose(r)
	if err != nil {
		return nil, err
	}
	c.model = c.model.on(g.config.Now())
	r.OptionsFor = g.optionsFor(r)
	if !r.Strict {
		if err := g.meant(r, c.model); err != nil {
			return nil, err
		}
	}
	n := negotiation{req: r, model: c.model, providers: g.config.Catalogue.providers(), partials: g.config.Partials, out: c.out}
	if err := n.negotiate(); err != nil {
		return nil, err
	}
	if err := n.task.CheckOptions(); err != nil {
		return nil, err
	}
	p := &Plan{
		Model: c.model, Calls: split(max(r.N, 1), c.model.MaxN), Dispositions: n.out, Warnings: c.warnings,
		req: r, task: n.task, driver: c.driver, gives: c.model.Grid, frames: g.config.Partials,
	}
	if r.Prompt != said {
		p.Warnings = append(p.Warnings, "the prompt held media as data, which was left out: give pictures as inputs")
	}
	if n.act.Once {
		p.gives = 1
	}
	if err := p.review(); err != nil {
		return nil, err
	}
	p.Makes = p.makes(p.N())
	p.EstimatedUSD = p.estimate(p.Makes)
	if r.Strict {
		if err := p.refuse(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// makes is how many results come where n are asked for.
func (p *Plan) makes(n int) int {
	made := 0
	for _, c := range split(n, p.Model.MaxN) {
		made += max(c, p.gives)
	}
	return made
}

// estimate is what n results of the plan should cost; nil if the catalogue cannot tell.
func (p *Plan) estimate(n int) *string {
	return cmp.Or(estimate(p.task, n), estimateArea(p.task, n))
}

// modality is what is asked for; if nobody says, what the named model makes.
func (g *Gateway) modality(r Request) media.Modality {
	if r.Modality != "" {
		return r.Modality
	}
	if m, ok := g.config.Catalogue.Lookup(r.Model); ok {
		return m.Modality
	}
	return media.ModalityImage
}

// refuse turns every setting that is not applied as asked into a refused one.
func (p *Plan) refuse() error {
	var why []string
	for i := range p.Dispositions {
		d := &p.Dispositions[i]
		if d.Outcome == OutcomeApplied {
			continue
		}
		why = append(why, fmt.Sprintf("%s would be %s (%s)", d.Setting, d.Outcome, d.Reason))
		d.Outcome, d.Applied = OutcomeRefused, ""
	}
	if len(why) == 0 {
		return nil
	}
	return media.Errorf(media.CodeUnsupported, "strict mode refuses: %s: change the settings, the model, or leave strict mode", strings.Join(why, "; "))
}

// refused is the result of a plan that strict mode refuses; nil without a plan.
func (p *Plan) refused() *Result {
	if p == nil {
		return nil
	}
	return &Result{
		Status: StatusFailed, Model: p.Model.Name, Provider: p.Model.Provider,
		Dispositions: p.Dispositions, Warnings: p.Warnings, Cost: Cost{EstimatedUSD: p.EstimatedUSD},
	}
}

// split shares n results over calls of at most most each.
func split(n, most int) []int {
	var calls []int
	for n > 0 {
		c := min(n, most)
		calls = append(calls, c)
		n -= c
	}
	return calls
}

// providers lists the provider keys of the catalogue in its order.
func (c *Catalogue) providers() []string {
	var keys []string
	for _, m := range c.rows {
		if !slices.Contains(keys, m.Provider) {
			keys = append(keys, m.Provider)
		}
	}
	return keys
}
