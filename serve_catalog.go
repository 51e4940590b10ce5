package atelier

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"atelier/internal/shipped"

	"atelier/api"
	"atelier/chat"
	"atelier/chat/offline"
	"atelier/generate"
	"atelier/generate/plan"
	"atelier/ledger"
	"atelier/media"
)

// servedCatalog implements the resource of agents and models.
type servedCatalog struct{ *Atelier }

// Agents lists the available agents. Missing files do not count: they come with each message.
func (s servedCatalog) Agents(context.Context) ([]api.Agent, error) {
	definitions, err := shipped.Definitions(s.Config.Sources.Agents, s.Config.Agents)
	if err != nil {
		return nil, err
	}
	sources, err := s.Config.Configured()
	if err != nil {
		return nil, err
	}
	var out []api.Agent
	for _, d := range definitions.All() {
		a := api.Agent{Slug: d.Slug, Name: d.Name, Description: d.Description, Version: d.Hash[:min(len(d.Hash), 12)], Ready: true}
		for _, name := range d.Requires {
			if name != "files" && !sources[name].Configured {
				a.Ready, a.Missing = false, append(a.Missing, name)
			}
		}
		out = append(out, a)
	}
	first := func(a api.Agent) int { return slices.Index([]string{"research-agent", "sage"}, a.Slug) } // -1 for others
	slices.SortStableFunc(out, func(a, b api.Agent) int { return cmp.Compare(first(b), first(a)) })
	return out, nil
}

// ChatModels lists the active models of ready providers, and the default model of every other provider.
func (s servedCatalog) ChatModels(ctx context.Context) ([]api.ChatModel, error) {
	profiles := s.Chat.Profiles()
	answers := ""
	if c, err := s.Chat.Choose(ctx, nil); err == nil {
		p := c.Model.Profile()
		answers = p.Provider + "/" + p.ID
	}
	reasons, own := map[string]error{}, s.Chat.Own()
	var out []api.ChatModel
	for _, m := range profiles.Models() {
		p, known := profiles.Provider(m.Provider)
		if _, looked := reasons[m.Provider]; !looked && known {
			reasons[m.Provider] = s.Chat.Ready(p)
		}
		reason := reasons[m.Provider]
		replaced := slices.ContainsFunc(own, func(o chat.Profile) bool { return o.Provider == m.Provider && o.ID == m.ID })
		if replaced || !m.Alive(now()) || reason != nil && m.ID != p.DefaultModel {
			continue
		}
		out = append(out, chatModelView(m, reason, answers))
	}
	for _, m := range own {
		out = append(out, chatModelView(m, nil, answers))
	}
	if off := (offline.Model{}).Profile(); !slices.ContainsFunc(out, func(m api.ChatModel) bool { return m.Provider == off.Provider }) {
		out = append(out, chatModelView(off, nil, answers))
	}
	slices.SortStableFunc(out, func(a, b api.ChatModel) int { return cmp.Compare(rank(a.Default, a.Ready), rank(b.Default, b.Ready)) })
	return out, nil
}

// rank returns the position of a model in a list: the default first, then ready models, then the others.
func rank(isDefault, ready bool) int {
	switch {
	case isDefault:
		return 0
	case ready:
		return 1
	}
	return 2
}

func chatModelView(m chat.Profile, reason error, answers string) api.ChatModel {
	id := m.Provider + "/" + m.ID
	v := api.ChatModel{ID: id, Name: m.Name, Provider: m.Provider, Vision: m.SupportsVision, MaxImages: m.MaxImages, ContextTokens: m.ContextTokens, Ready: reason == nil, Default: answers == id}
	if m.Offline {
		v.ID = "offline"
	}
	if m.InputUSD != "" && m.OutputUSD != "" {
		v.Price = &api.ChatPrice{InputUSD: m.InputUSD, OutputUSD: m.OutputUSD}
	}
	if reason != nil {
		v.Reason = media.ErrorText(reason.Error())
	}
	return v
}

// Models lists the active media models.
func (s servedCatalog) Models(ctx context.Context) ([]api.Model, error) {
	reasons := map[string]plan.Provider{}
	for _, p := range s.Gateway.Providers() {
		reasons[p.Name] = p
	}
	first := ""
	if plan, err := s.Gateway.Plan(ctx, generate.Request{Prompt: "x"}); err == nil {
		first = plan.Model.Provider + "/" + plan.Model.APIModel
	}
	var out []api.Model
	for _, m := range s.Gateway.Models() {
		if !m.Alive(now()) {
			continue
		}
		p := reasons[m.Provider]
		id := m.Provider + "/" + m.APIModel
		v := api.Model{ID: id, Name: m.Name, Provider: m.Provider, Modality: string(m.Modality), Methods: []string{}, Default: id == first, Ready: p.Ready, Reason: p.Reason}
		for _, method := range slices.Concat(m.Methods, m.Emulates) {
			v.Methods = append(v.Methods, string(method))
		}
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b api.Model) int { return cmp.Compare(rank(a.Default, a.Ready), rank(b.Default, b.Ready)) })
	return out, nil
}

// Providers lists the services of the models.
func (s servedCatalog) Providers(context.Context) ([]api.Provider, error) {
	ready := map[string]bool{} // providers of media
	for _, p := range s.Gateway.Providers() {
		ready[p.Name] = p.Ready
	}
	var out []api.Provider
	for _, p := range Providers() {
		chats, talks := s.Chat.Profiles().Provider(p.Name)
		usable, makes := ready[p.Name]
		out = append(out, api.Provider{Name: p.Name, Ready: usable || talks && s.Chat.Ready(chats) == nil, Variables: p.KeyVariables, Chat: talks, Media: makes})
	}
	return out, nil
}

// ListBudgets lists the budgets that are set.
func (s servedCatalog) ListBudgets(ctx context.Context) ([]api.Budget, error) {
	c, owner := s.Config.Budget, s.owner(ctx)
	out := []api.Budget{}
	for _, b := range []struct {
		name, of string
		bounds   generate.Bounds
	}{{"run", "", c.Run}, {"day", "day:" + owner + ":" + now().Format("2006-01-02"), c.Day}, {"owner", "owner:" + owner, c.Owner}} {
		for _, u := range []struct {
			unit  ledger.Unit
			limit string
		}{{ledger.UnitMoney, b.bounds.USD}, {ledger.UnitTokens, formatLimit(b.bounds.Tokens)}, {ledger.UnitImages, formatLimit(b.bounds.Images)}} {
			if u.limit == "" {
				continue
			}
			v := api.Budget{Name: b.name, Unit: string(u.unit), Limit: u.limit}
			if b.of != "" {
				name := b.of
				if u.unit != ledger.UnitMoney {
					name = string(u.unit) + ":" + name
				}
				balance, err := s.Ledger.Budget(ctx, name)
				if err != nil {
					return nil, err
				}
				v.Spent, v.Reserved = amountText(u.unit, balance.Spent), amountText(u.unit, balance.Reserved)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// formatLimit formats a bound; 0 means no bound.
func formatLimit(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func amountText(u ledger.Unit, n int64) string {
	if u == ledger.UnitMoney {
		return ledger.Pico(n).USD()
	}
	return strconv.FormatInt(n, 10)
}

// Health reports that the server is offline if no provider is ready.
func (s servedCatalog) Health(ctx context.Context) (api.Health, error) {
	for _, p := range s.Gateway.Providers() {
		if p.Ready && p.Name != "offline" {
			return api.Health{}, nil
		}
	}
	all, err := s.Providers(ctx) // also those of chat models
	if err != nil || slices.ContainsFunc(all, func(p api.Provider) bool { return p.Ready }) {
		return api.Health{}, err
	}
	return api.Health{Offline: true, Notes: []string{"No provider has an API key: the rule-based offline models answer. Set OPENAI_API_KEY, GEMINI_API_KEY or ANTHROPIC_API_KEY, for example, and restart the server."}}, nil
}
