package main

import (
	"cmp"
	"encoding/json"
	"slices"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/operations"
)

type mediaShowCmd struct {
	mediaArg
}

// itemView is everything on record about an item.
type itemView struct {
	ledger.Record
	// Conversation is that of the run that made the item or first received it.
	Conversation string `json:"conversation_id,omitempty"`
	// Made describes the generation that made it; nil for other items.
	Made *makingView `json:"made,omitempty"`
	ledger.Provenance
}

// makingView is the generation behind an item.
type makingView struct {
	Operation string `json:"operation"`
	// Prompt is the requested prompt, PromptSent what the provider received, and PromptRevised how the
	// provider reports to have rewritten it.
	Prompt        string                 `json:"prompt"`
	PromptSent    string                 `json:"prompt_sent"`
	PromptRevised string                 `json:"prompt_revised,omitempty"`
	Model         string                 `json:"model"`
	Provider      string                 `json:"provider"`
	Seed          *int64                 `json:"seed,omitempty"`
	Dispositions  []generate.Disposition `json:"dispositions"`
	// Cost is that of the whole generation, which made Results items.
	Cost    generate.Cost `json:"cost"`
	Price   string        `json:"-"`
	Results int           `json:"results"`
}

func (c *mediaShowCmd) Run(w *world) error {
	return w.withStores(func(s *stores) error {
		r, err := c.find(w.ctx, s)
		if err != nil {
			return err
		}
		v := itemView{Record: r}
		if v.Provenance, err = s.Ledger.Provenance(w.ctx, owner, r.ID); err != nil {
			return err
		}
		v.Conversation = v.Trees[0].Conversation
		if r.Origin.Operation != "" {
			if v.Made, err = w.generationOf(s, r); err != nil {
				return err
			}
		}
		if w.json {
			return w.printJSON(v)
		}
		return w.showItem(s, v)
	})
}

// generationOf returns the generation behind an item; nil if none is on record.
func (w *world) generationOf(s *stores, r ledger.Record) (*makingView, error) {
	o, slots, _, err := s.Ledger.Operation(w.ctx, owner, r.Origin.Operation)
	if media.CodeOf(err) == media.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &makingView{
		Operation: o.ID, Model: o.Model, Provider: o.Provider, Dispositions: []generate.Disposition{},
		Cost: generate.Cost{EstimatedUSD: o.EstimatedUSD, ReportedUSD: o.ReportedUSD}, Price: priceOf(o),
	}
	asked, sent, err := operations.Requested(o)
	if err != nil || len(o.Dispositions) > 0 && json.Unmarshal(o.Dispositions, &m.Dispositions) != nil {
		return nil, media.Errorf(media.CodeCorrupt, "read how %s was made: the record of operation %s is damaged", r.Ref, o.ID)
	}
	m.Prompt, m.PromptSent = cmp.Or(asked.Prompt, sent), sent
	for _, sl := range slots {
		if sl.MediaID != "" {
			m.Results++
		}
		if sl.Digest == r.Digest {
			m.PromptRevised, m.Seed = sl.RevisedPrompt, sl.Seed
		}
	}
	return m, nil
}

// showItem prints an item for people.
func (w *world) showItem(s *stores, v itemView) error {
	rows := [][]string{
		{"id", v.ID},
		{"type", v.MIMEType},
		{"size", dimensions(v.Output)},
		{"bytes", size(v.SizeBytes)},
		{"digest", v.Digest.String()},
		{"file", v.FileName},
		{"label", v.Label},
		{"description", short(v.Description, 200)},
		{"made by", v.Origin.Source},
		{"agent", v.Origin.AgentPath},
		{"operation", v.Origin.Operation},
		{"run", v.Tree},
		{"conversation", v.Conversation},
		{"made", localTime(v.CreatedAt)},
	}
	if v.Origin.Direction == "input" {
		rows[8][0], rows[len(rows)-1][0] = "provided by", "provided"
	}
	if m := v.Made; m != nil {
		cost := m.Price
		if m.Results > 1 {
			cost += " for all results"
		}
		rows = append(rows, []string{"model", m.Model + " (" + m.Provider + ")"}, []string{"cost", cost})
	}
	rows = slices.DeleteFunc(rows, func(r []string) bool { return r[1] == "" })
	table(w.stdout, []string{"ref", string(v.Ref)}, rows)
	if v.Made != nil {
		w.showMaking(v.Made)
	}
	if err := w.ancestors(s, v.Parents, "", map[string]bool{v.ID: true}); err != nil {
		return err
	}
	for _, e := range v.Children {
		w.line("used as %[2]s for %[1]s", e.ChildRef, e.Role)
	}
	for _, u := range v.Trees[1:] {
		in := ""
		if u.Conversation != "" {
			in = " of conversation " + u.Conversation
		}
		w.line("used in run %s%s", u.Tree, in)
	}
	for _, o := range driver.Offers(v.Output) {
		w.line("follow-up: %s  %s", o.ID, cell(o.Label))
	}
	return nil
}

func (w *world) showMaking(m *makingView) {
	w.line("prompt: %s", m.Prompt)
	if m.PromptSent != m.Prompt {
		w.line("sent prompt: %s", m.PromptSent)
	}
	if m.PromptRevised != "" {
		w.line("revised prompt: %s", m.PromptRevised)
	}
	if m.Seed != nil {
		w.line("seed: %d", *m.Seed)
	}
	for _, d := range m.Dispositions {
		if d.Outcome == generate.OutcomeApplied {
			w.line("%-11s %s: %s", d.Outcome, d.Setting, d.Applied)
		}
	}
	w.dispositions(m.Dispositions)
}

// ancestors prints what an item was made from, and recursively what its parents were made from.
func (w *world) ancestors(s *stores, edges []ledger.Edge, indent string, seen map[string]bool) error {
	for _, e := range edges {
		w.line("%sfrom %s as %s", indent, e.ParentRef, e.Role)
		if e.ParentID == "" || seen[e.ParentID] {
			continue
		}
		seen[e.ParentID] = true
		p, err := s.Ledger.Provenance(w.ctx, owner, e.ParentID)
		if media.CodeOf(err) == media.CodeNotFound { // deleted
			continue
		}
		if err != nil {
			return err
		}
		if err := w.ancestors(s, p.Parents, indent+"  ", seen); err != nil {
			return err
		}
	}
	return nil
}
