package plan

import (
	"encoding/json"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// savedPlan is a plan as another process reads it.
type savedPlan struct {
	Request generate.Request `json:"request"`
	Task    driver.Task      `json:"task"`
	Calls   []int            `json:"calls"`
	// Gives is how many results every call gives, if not those that it is asked for.
	Gives int `json:"gives,omitempty"`
	// Dispositions are the plan's own, before others stood in.
	Dispositions []generate.Disposition `json:"dispositions,omitempty"`
	// Frames says that previews were asked for: what arrived may be one.
	Frames bool `json:"frames,omitempty"`
	// Round is what is asked for again.
	Round *Round `json:"round,omitempty"`
}

// Save writes the plan for [gateway.Gateway.Resume].
func (p *Plan) Save() json.RawMessage {
	s := savedPlan{Request: p.Request, Task: p.Task, Calls: p.Calls, Gives: p.Gives, Round: p.Round, Dispositions: p.Dispositions, Frames: p.Frames}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}

// Load reads a saved plan whose provider can be asked.
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

// planned reads a saved plan. Its driver may be nil, or not ready.
func (pl *Planner) Read(raw json.RawMessage) (*Plan, error) {
	var s savedPlan
	if len(raw) == 0 {
		return nil, media.Errorf(media.CodeUnsupported, "the operation was saved without its plan: what was made is in the ledger, the rest has to be asked for anew")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read the operation's plan: %w", err)
	}
	if m := &s.Task.Model; !m.TellsOffers() { // saved before rows had acts, flags, offers
		if row, _ := pl.config.Catalogue.Lookup(m.Provider + "/" + m.APIModel); row.TellsOffers() || len(m.Acts)+len(m.Flags) == 0 {
			m.Acts, m.Flags = row.Acts, row.Flags
		}
	}
	return &Plan{
		Model: s.Task.Model, Calls: s.Calls, Request: s.Request, Task: s.Task, Driver: pl.drivers[s.Task.Model.Provider], Gives: s.Gives, Round: s.Round,
		Dispositions: s.Dispositions, Frames: s.Frames,
	}, nil
}

// Round is the part of an operation that is done again after it was finished.
type Round struct {
	// First is the number of its first call; those below are of earlier rounds, and paid.
	First int `json:"first"`
	// Slots are the indexes, from 1, that are asked for again.
	Slots []int `json:"slots"`
	// Before is what the budgets counted when the operation was cut off, see rejoin; nil
	// for a round that was asked for.
	Before *generate.Charge `json:"before,omitempty"`
	// Found says that nothing is asked for again: the first call, of an earlier round, is gone
	// on with, because its task was found.
	Found bool `json:"found,omitempty"`
}

// Continues reports whether a call is not asked for again, but continued because its task or its
// answer was found.
func (r *Round) Continues(call int) bool { return r != nil && r.Found && call == r.First }
