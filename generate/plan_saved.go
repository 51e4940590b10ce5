package generate

import (
	"encoding/json"

	"atelier/media"
)

// savedPlan is a plan as another process reads it.
type savedPlan struct {
	Request Request `json:"request"`
	Task    Task    `json:"task"`
	Calls   []int   `json:"calls"`
	// Gives is how many results every call gives, if not those that it is asked for.
	Gives int `json:"gives,omitempty"`
	// Dispositions are the plan's own, before others stood in.
	Dispositions []Disposition `json:"dispositions,omitempty"`
	// Frames says that previews were asked for: what arrived may be one.
	Frames bool `json:"frames,omitempty"`
	// Round is what is asked for again.
	Round *round `json:"round,omitempty"`
}

// save writes the plan for [Gateway.Resume].
func (p *Plan) save() json.RawMessage {
	s := savedPlan{Request: p.req, Task: p.task, Calls: p.Calls, Gives: p.gives, Round: p.round, Dispositions: p.Dispositions, Frames: p.frames}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}

// load reads a saved plan whose provider can be asked.
func (g *Gateway) load(raw json.RawMessage) (*Plan, error) {
	p, err := g.planned(raw)
	if err != nil {
		return nil, err
	}
	if p.driver == nil {
		return nil, media.Errorf(media.CodeUnsupported, "%s needs the provider %s, which this program was built without", p.Model.Name, p.Model.Provider)
	}
	return p, p.driver.Ready()
}

// planned reads a saved plan. Its driver may be nil, or not ready.
func (g *Gateway) planned(raw json.RawMessage) (*Plan, error) {
	var s savedPlan
	if len(raw) == 0 {
		return nil, media.Errorf(media.CodeUnsupported, "the operation was saved without its plan: what was made is in the ledger, the rest has to be asked for anew")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the operation's plan: %w", err)
	}
	if m := &s.Task.Model; !m.tellsOffers() { // saved before rows had acts, flags, offers
		if row, _ := g.config.Catalogue.Lookup(m.Provider + "/" + m.APIModel); row.tellsOffers() || len(m.Acts)+len(m.Flags) == 0 {
			m.Acts, m.Flags = row.Acts, row.Flags
		}
	}
	return &Plan{
		Model: s.Task.Model, Calls: s.Calls, req: s.Request, task: s.Task, driver: g.drivers[s.Task.Model.Provider], gives: s.Gives, round: s.Round,
		Dispositions: s.Dispositions, frames: s.Frames,
	}, nil
}
