package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/money"
	"atelier/media"
	"atelier/media/imaging"
)

// Plan is what a request would do, before anything is spent.
type Plan struct {
	Model catalog.Model `json:"model"`
	// Calls lists how many results each provider call would request.
	Calls []int `json:"calls"`
	// ResultCount is how many results the calls return: more than N if every call draws a grid.
	ResultCount  int                    `json:"makes"`
	Dispositions []generate.Disposition `json:"dispositions"`
	// EstimatedUSD is the expected cost as decimal text; nil if unknown.
	EstimatedUSD *string  `json:"estimated_usd"`
	Warnings     []string `json:"warnings,omitempty"`

	Request        generate.Request `json:"-"`
	Task           driver.Task      `json:"-"` // the template of every call
	Driver         driver.Driver    `json:"-"`
	ResultsPerCall int              `json:"-"` // results per call; 0 means as many as requested
	Round          *Round           `json:"-"` // nil unless results are requested again
	Act            string           `json:"-"` // the budget act; empty for the operation
	FallbackReason string           `json:"-"` // the reason, if it replaces another plan
	Frames         bool             `json:"-"` // previews are requested in this round, or were before
	Keyless        bool             `json:"-"` // the key may be missing: the plan is not executed
}

// N returns how many results the plan requests.
func (p *Plan) N() int { return max(p.Request.N, 1) }

// Plan determines model, settings, calls and cost; it makes no call and writes nothing.
//
// Errors: media.CodeInvalid for invalid input and unknown models, including those of the fallback,
// media.CodeUnsupported for what the model cannot do, media.CodeMissingKey naming the variable to set. In strict mode a
// setting that would be adapted, dropped or substituted is media.CodeUnsupported; the plan is then returned with the
// error and shows those settings as refused.
func (pl *Planner) Plan(_ context.Context, r generate.Request) (*Plan, error) {
	return pl.Draft(r, false)
}

// Draft is like [Planner.Plan]; with keyless, it also accepts a named model whose key is missing.
func (pl *Planner) Draft(r generate.Request, keyless bool) (*Plan, error) {
	r.Modality = pl.modality(r)
	r, err := normalise(r)
	if err != nil {
		return nil, err
	}
	for _, name := range r.Fallback {
		if _, ok := pl.config.Catalogue.Lookup(name); !ok {
			return nil, fault.Wrap("read the fallback", pl.unknown(name))
		}
	}
	c, err := pl.choose(r, keyless)
	if err != nil {
		return nil, err
	}
	c.model = c.model.PricedOn(pl.config.Now())
	prompt := r.Prompt
	r = withoutMedia(r, max(maxPrompt, c.model.MaxPrompt))
	r.OptionsFor = pl.optionsFor(r)
	n := negotiation{planner: pl, req: r, model: c.model, out: c.out}
	if err := n.negotiate(); err != nil {
		return nil, err
	}
	if err := n.task.CheckOptions(); err != nil {
		return nil, err
	}
	p := &Plan{
		Model: c.model, Calls: Split(max(r.N, 1), c.model.MaxN), Dispositions: n.out, Warnings: c.warnings,
		Request: r, Task: n.task, Driver: c.driver, ResultsPerCall: c.model.Grid, Frames: pl.config.Partials,
		Keyless: keyless,
	}
	if r.Prompt != prompt {
		p.Warnings = append(p.Warnings, "the prompt held media as data, which was left out: give pictures as inputs")
	}
	if n.act.Once {
		p.ResultsPerCall = 1
	}
	if err := p.review(); err != nil {
		return nil, err
	}
	p.ResultCount = p.ResultCountFor(p.N())
	p.EstimatedUSD = p.Estimate(p.ResultCount)
	if r.Strict {
		if err := p.Refuse(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// ResultCountFor returns how many results are made if n are requested.
func (p *Plan) ResultCountFor(n int) int {
	made := 0
	for _, c := range Split(n, p.Model.MaxN) {
		made += max(c, p.ResultsPerCall)
	}
	return made
}

// Estimate returns the expected cost of n results of the plan; nil if the catalogue cannot tell, which does not mean
// zero.
func (p *Plan) Estimate(n int) *string {
	each, ok := perResult(p.Task)
	if !ok {
		each, ok = perArea(p.Task)
	}
	if !ok {
		return nil
	}
	return new(money.Text(each.Mul(each, big.NewRat(int64(n), 1))))
}

// modality returns the requested modality, else that of the named model, else image.
func (pl *Planner) modality(r generate.Request) media.Modality {
	if r.Modality != "" {
		return r.Modality
	}
	if m, ok := pl.config.Catalogue.Lookup(r.Model); ok {
		return m.Modality
	}
	return media.ModalityImage
}

// Refuse marks every setting that is not applied as requested as refused.
func (p *Plan) Refuse() error {
	var reason []string
	for i := range p.Dispositions {
		d := &p.Dispositions[i]
		if d.Outcome == generate.OutcomeApplied {
			continue
		}
		reason = append(reason, fmt.Sprintf("%s would be %s (%s)", d.Setting, d.Outcome, d.Reason))
		d.Outcome, d.Applied = generate.OutcomeRefused, ""
	}
	if len(reason) == 0 {
		return nil
	}
	return media.Errorf(media.CodeUnsupported, "strict mode refuses: %s: change the settings, the model, or leave strict mode", strings.Join(reason, "; "))
}

// Refused returns the result of a plan that strict mode refuses; nil without a plan.
func (p *Plan) Refused() *generate.Result {
	if p == nil {
		return nil
	}
	return &generate.Result{
		Status: generate.StatusFailed, Model: p.Model.Name, Provider: p.Model.Provider,
		Dispositions: p.Dispositions, Warnings: p.Warnings, Cost: generate.Cost{EstimatedUSD: p.EstimatedUSD},
	}
}

// Split splits n results into calls of at most most each.
func Split(n, most int) []int {
	var calls []int
	for n > 0 {
		c := min(n, most)
		calls = append(calls, c)
		n -= c
	}
	return calls
}

// Charge returns what the plan's calls may use.
func (p *Plan) Charge(act string) generate.Charge {
	c := generate.Charge{ID: act, USD: p.EstimatedUSD}
	if p.Request.Modality == media.ModalityImage {
		c.Images = int64(p.ResultCount)
	}
	return c
}

// Asked returns the requested model, as it was requested.
func (p *Plan) Asked() string {
	if d := Find(p.Dispositions, "model"); d != nil {
		return d.Asked
	}
	return p.Model.Name
}

// Expects returns what the provider was asked for: a size, only a ratio, or neither.
func (p *Plan) Expects() (size catalog.Sides, ratio string) {
	t := p.Task
	if t.Width > 0 {
		return catalog.Sides{W: t.Width, H: t.Height}, ""
	}
	return t.Model.Size.TierFit(t.AspectRatio, t.Tier).Sides, t.AspectRatio
}

// Reason returns why the plan's model was asked.
func (p *Plan) Reason() string {
	model := cmp.Or(Find(p.Dispositions, "model"), &generate.Disposition{})
	return cmp.Or(p.FallbackReason, model.Reason, "as asked")
}

// SourceType returns the provenance of the pixels. An offline edit of a picture that a model made leaves parts that a
// model made.
func (p *Plan) SourceType() string {
	edited := p.Request.Method == generate.MethodEdit
	if p.Model.Provider != Offline {
		if edited {
			return imaging.SourceEdited
		}
		return imaging.SourceGenerated
	}
	for _, in := range p.Request.Inputs {
		if t, _ := in.Metadata["digital_source_type"].(string); t == Term(imaging.SourceGenerated) || t == Term(imaging.SourceEdited) {
			return imaging.SourceEdited
		}
	}
	return imaging.SourceAlgorithmic
}

// Term returns an IPTC digital source type without its URI prefix.
func Term(uri string) string { return uri[strings.LastIndexByte(uri, '/')+1:] }

type savedPlan struct {
	Request generate.Request `json:"request"`
	Task    driver.Task      `json:"task"`
	Calls   []int            `json:"calls"`
	// Gives is the number of results per call, if it differs from the number requested.
	Gives int `json:"gives,omitempty"`
	// Dispositions are the plan's own, before any fallback.
	Dispositions []generate.Disposition `json:"dispositions,omitempty"`
	// Frames reports that previews were requested, so that an arrived blob may be one.
	Frames bool `json:"frames,omitempty"`
	// Round describes results that are requested again.
	Round *Round `json:"round,omitempty"`
}

// Save encodes the plan for [gateway.Gateway.Resume].
func (p *Plan) Save() json.RawMessage {
	s := savedPlan{Request: p.Request, Task: p.Task, Calls: p.Calls, Gives: p.ResultsPerCall, Round: p.Round, Dispositions: p.Dispositions, Frames: p.Frames}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}

// Load decodes a saved plan whose provider can be asked.
func (pl *Planner) Load(raw json.RawMessage) (*Plan, error) {
	p, err := pl.Read(raw)
	if err != nil {
		return nil, err
	}
	if p.Driver == nil {
		return nil, media.Errorf(media.CodeUnsupported, "%s needs the provider %s, which this program was built without", p.Model.Name, p.Model.Provider)
	}
	return p, p.Driver.Ready()
}

// Read decodes a saved plan. Its driver may be nil, or not ready.
func (pl *Planner) Read(raw json.RawMessage) (*Plan, error) {
	var s savedPlan
	if len(raw) == 0 {
		return nil, media.Errorf(media.CodeUnsupported, "the operation was saved without its plan: what was made is in the ledger, request the rest again")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the operation's plan: %w", err)
	}
	if m := &s.Task.Model; !m.TellsOffers() { // saved before rows had acts, flags or offers
		if row, _ := pl.config.Catalogue.Lookup(m.Provider + "/" + m.APIModel); row.TellsOffers() || len(m.Acts)+len(m.Flags) == 0 {
			m.Acts, m.Flags = row.Acts, row.Flags
		}
	}
	return &Plan{
		Model: s.Task.Model, Calls: s.Calls, Request: s.Request, Task: s.Task, Driver: pl.drivers[s.Task.Model.Provider], ResultsPerCall: s.Gives, Round: s.Round,
		Dispositions: s.Dispositions, Frames: s.Frames,
	}, nil
}

// Round is the part of a finished operation that is executed again.
type Round struct {
	// First is the number of its first call; lower numbers belong to earlier rounds and are paid for.
	First int `json:"first"`
	// Slots are the indexes, from 1, that are requested again.
	Slots []int `json:"slots"`
	// Before is what the budgets counted when the operation was interrupted, see rejoin; nil for a round that a person
	// requested.
	Before *generate.Charge `json:"before,omitempty"`
	// Found reports that nothing is requested again: the first call, of an earlier round, is continued because its task
	// was found.
	Found bool `json:"found,omitempty"`
}

// Continues reports whether a call is continued, because its task or answer was found, rather than requested again.
func (r *Round) Continues(call int) bool { return r != nil && r.Found && call == r.First }
