package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/chat"
	"atelier/generate/catalog"
	"atelier/ledger"
	"atelier/media"
)

type modelsCmd struct {
	List  modelsListCmd  `cmd:"" help:"List models: what they make, what they cost and when they are shut down."`
	Show  modelsShowCmd  `cmd:"" help:"Show one image or speech model: its parameters, prices and shutdown date."`
	Check modelsCheckCmd `cmd:"" help:"Print the models, successors and prices of the catalogue that are out of date."`
}

type modelsListCmd struct {
	Chat bool   `help:"List chat models instead of image and speech models."`
	All  bool   `help:"Include retired models."`
	Only string `name:"provider" help:"Only models of this provider." placeholder:"NAME"`
}

func (c *modelsListCmd) Run(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		if known := a.providers(); c.Only != "" && !slices.ContainsFunc(known, func(p state) bool { return p.Name == c.Only }) {
			return media.Errorf(media.CodeNotFound, "there is no provider %q: see `atelier providers`", c.Only)
		}
		if c.Chat {
			return c.chat(w, a)
		}
		today := time.Now() //nolint:forbidigo // the clock of the command line
		var models []catalog.Model
		for _, m := range a.Gateway.Models() {
			if (c.All || m.Alive(today)) && (c.Only == "" || m.Provider == c.Only) {
				models = append(models, m)
			}
		}
		return printList(w, models, []string{"MODEL", "PROVIDER", "MAKES", "ID", "METHODS", "SIZES", "PRICE", "LIFE"}, func(m catalog.Model) []string {
			return []string{m.Name, m.Provider, string(m.Modality), m.APIModel, methods(m), sizes(m), priceList(m, today), lifeText(m.Life.ShutDown, m.Life.ReplacedBy, today)}
		})
	})
}

func (c *modelsListCmd) chat(w *world, a *app) error {
	today := time.Now() //nolint:forbidigo // the clock of the command line
	models := slices.DeleteFunc(a.Chat.Profiles().Models(), func(m chat.Profile) bool {
		return c.Only != "" && m.Provider != c.Only || !c.All && !m.Alive(today)
	})
	return printList(w, models, []string{"MODEL", "PROVIDER", "USE AS", "VISION", "CONTEXT", "MAX OUTPUT", "IN / 1M", "OUT / 1M", "LIFE"}, func(m chat.Profile) []string {
		return []string{
			m.Name, m.Provider, m.Provider + "/" + m.ID, visionText(m), tokens(m.ContextTokens), tokens(m.MaxOutputTokens),
			dollars(m.InputUSD), dollars(m.OutputUSD), lifeText(m.Life.ShutDown, m.Life.ReplacedBy, today),
		}
	})
}

// visionText describes which pictures a chat model accepts.
func visionText(m chat.Profile) string {
	if !m.SupportsVision {
		return "no"
	}
	var most []string
	if m.MaxImages > 0 {
		most = append(most, plural(m.MaxImages, "picture"))
	}
	if m.MaxImageBytes > 0 {
		most = append(most, size(m.MaxImageBytes)+" each")
	}
	if m.MaxImageSide > 0 {
		most = append(most, itoa(m.MaxImageSide)+" px a side")
	}
	return cmp.Or(strings.Join(most, ", "), "yes")
}

// tokens formats a token limit; 0 means unknown.
func tokens(n int64) string {
	switch {
	case n == 0:
		return "unknown"
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/10_000)/100, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}

func dollars(usd string) string {
	if usd == "" {
		return "price unknown"
	}
	return "$" + usd
}

func methods(m catalog.Model) string {
	var names []string
	for _, x := range m.Methods {
		names = append(names, string(x))
	}
	for _, x := range m.Emulates {
		names = append(names, string(x)+" (through edits)")
	}
	return strings.Join(names, ", ")
}

// inputs describes how many pictures a model accepts, and of which types.
func inputs(m catalog.Model) string {
	s := itoa(m.MaxInputs)
	if len(m.InputTypes) > 0 {
		s += " (" + strings.Join(m.InputTypes, ", ") + "; others are converted)"
	}
	if m.MaxInputBytes > 0 {
		s += ", " + size(m.MaxInputBytes) + " each"
	}
	if m.MaxInputPixels > 0 {
		s += ", " + strconv.FormatFloat(float64(m.MaxInputPixels)/1e6, 'g', 3, 64) + " megapixels each"
	}
	return s
}

// sizes summarizes the sizes that a model supports.
func sizes(m catalog.Model) string {
	switch m.Size.Mode {
	case "enum":
		return strings.Join(m.Size.Values, ", ")
	case "tier":
		return strings.TrimPrefix(strings.Join(m.Size.Tiers, "/")+" × ", " × ") + plural(len(m.Size.Ratios), "ratio")
	case "free":
		return "any"
	case "ratio":
		return "any ratio"
	}
	return ""
}

func plural(n int, noun string) string {
	s := itoa(n) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

// lifeText describes whether a model is active or shut down; a zero shutDown means no shutdown date.
func lifeText(shutDown time.Time, replacedBy string, today time.Time) string {
	switch {
	case shutDown.IsZero():
		return "active"
	case today.Before(shutDown):
		return "until " + shutDown.Format(time.DateOnly)
	case replacedBy != "":
		return "shut down " + shutDown.Format(time.DateOnly) + " → " + replacedBy
	}
	return "shut down " + shutDown.Format(time.DateOnly)
}

type modelsShowCmd struct {
	Name string `arg:"" help:"Display name, id or alias."`
}

func (c *modelsShowCmd) Run(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		m, err := a.Gateway.Lookup(c.Name)
		if err != nil {
			isChat := func(p chat.Profile) bool {
				return strings.EqualFold(p.Name, c.Name) || strings.EqualFold(p.ID, c.Name) || strings.EqualFold(p.Provider+"/"+p.ID, c.Name)
			}
			if slices.ContainsFunc(a.Chat.Profiles().Models(), isChat) {
				err = media.Errorf(media.CodeInvalid, "%s is a chat model: atelier models list --chat shows it", c.Name)
			}
			return err
		}
		rows := [][]string{
			{"provider", m.Provider},
			{"makes", string(m.Modality)},
			{"id", m.APIModel},
			{"aliases", strings.Join(m.Aliases, ", ")},
			{"methods", methods(m)},
			{"sizes", cmp.Or(m.Size.Limits(), sizes(m))},
			{"ratios", strings.Join(m.Size.Ratios, " ")},
			{"qualities", strings.Join(m.Qualities, ", ")},
			{"styles", strings.Join(m.Styles, ", ")},
			{"formats", strings.Join(m.Formats, ", ")},
			{"voices", strings.Join(m.Voices, ", ")},
			{"takes", strings.Join(m.Supports, ", ")},
			{"options", strings.Join(m.Options, ", ")},
			{"mask", m.Mask},
			{"per call", plural(m.MaxN, "result")},
			{"inputs", inputs(m)},
			{"life", lifeText(m.Life.ShutDown, m.Life.ReplacedBy, time.Now())}, //nolint:forbidigo // the clock of the command line
			{"source", m.Source},
		}
		for _, fact := range m.Unconfirmed {
			rows = append(rows, []string{"unconfirmed", fact})
		}
		if m.PerMinute > 0 {
			rows = append(rows, []string{"per minute", plural(m.PerMinute, "call") + " to " + m.Provider})
		}
		if len(m.InsteadOf) > 0 {
			rows = append(rows, []string{"instead of", strings.Join(m.InsteadOf, ", ") + " (found under this name too)"})
		}
		for _, act := range m.Acts {
			rows = append(rows, []string{"action", act.String()})
		}
		for _, name := range m.Options {
			if rule, ok := m.OptionRules[name]; ok {
				rows = append(rows, []string{"option", name + ": " + rule.String()})
			}
		}
		for _, p := range m.Prices {
			what := strings.Join([]string{perUnit(p.Unit), p.Quality, p.Size, p.Tier}, " ")
			when := p.AsOf
			if p.Until != "" {
				when += ", until " + p.Until
			}
			rows = append(rows, []string{"price", "$" + p.USD + " per " + strings.Join(strings.Fields(what), " ") + " (" + when + ")"})
		}
		return w.print(m, func() { table(w.stdout, []string{"model", m.Name}, rows) })
	})
}

// perUnit returns the unit of a price in words.
func perUnit(unit string) string {
	kind, isToken := strings.CutPrefix(unit, "token_")
	switch {
	case unit == "character":
		return "million characters"
	case isToken:
		return "million tokens, " + strings.ReplaceAll(kind, "_", " ")
	}
	return unit
}

type providersCmd struct{}

// state describes an image or chat provider.
type state struct {
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	Ready  bool     `json:"ready"`
	Reason string   `json:"reason,omitempty"`
	Models []string `json:"models,omitempty"`
}

// providers lists the image and chat providers, with the reason if one is not ready.
func (a *app) providers() []state {
	var out []state
	for _, p := range a.Gateway.Providers() {
		out = append(out, state{"image", p.Name, p.Ready, p.Reason, p.Models})
	}
	for _, p := range a.Chat.Profiles().Providers() {
		s := state{Kind: "chat", Name: p.Key, Ready: true, Models: []string{p.DefaultModel}}
		if err := a.Chat.Ready(p); err != nil {
			s.Ready, s.Reason = false, err.Error()
		}
		out = append(out, s)
	}
	return append(out, state{Kind: "chat", Name: "offline", Ready: true, Models: []string{"Atelier Offline"}})
}

func (c *providersCmd) Run(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		return printList(w, a.providers(), []string{"KIND", "PROVIDER", "STATUS", "MODELS"}, func(p state) []string {
			ready := "ready"
			if !p.Ready {
				ready = p.Reason
			}
			return []string{p.Kind, p.Name, ready, short(strings.Join(p.Models, ", "), 70)}
		})
	})
}

// priceList summarizes a model's prices today: for each unit the price, or the lowest and the highest one. Prices per
// result precede prices per token.
func priceList(m catalog.Model, today time.Time) string {
	var units []string
	prices := map[string][]string{}
	for _, p := range m.Prices {
		if p.Until != "" && p.Until < today.UTC().Format(time.DateOnly) {
			continue
		}
		if !slices.Contains(units, p.Unit) {
			units = append(units, p.Unit)
		}
		prices[p.Unit] = append(prices[p.Unit], p.USD)
	}
	var results, tokens []string
	for _, unit := range units {
		compare := func(a, b string) int { return cmp.Compare(ledger.PicoOf(&a), ledger.PicoOf(&b)) }
		least, most := slices.MinFunc(prices[unit], compare), slices.MaxFunc(prices[unit], compare)
		text := "$" + least
		if compare(least, most) < 0 {
			text += "–" + most
		}
		text += " / " + shortUnit(unit)
		if strings.HasPrefix(unit, "token_") {
			tokens = append(tokens, text)
		} else {
			results = append(results, text)
		}
	}
	return cmp.Or(strings.Join(append(results, tokens...), ", "), "unknown")
}

// shortUnit returns the unit of a price for a table.
func shortUnit(unit string) string {
	kind, isToken := strings.CutPrefix(unit, "token_")
	switch {
	case unit == "character":
		return "1M characters"
	case isToken:
		return "1M " + strings.ReplaceAll(kind, "_", " ")
	}
	return strings.ReplaceAll(unit, "_", " ")
}

type modelsCheckCmd struct {
	Chat bool   `help:"Check chat models: request the model list of each chat provider with a key, which is free. Without this flag, the catalogue of image and speech models is compared with today's date, and no provider is called."`
	Only string `name:"provider" help:"With --chat, only this provider." placeholder:"NAME"`
}

// Run compares the catalogue with today's date, or checks the chat models.
func (c *modelsCheckCmd) Run(w *world) error {
	if c.Chat {
		return c.chatModels(w)
	}
	if c.Only != "" {
		return media.Errorf(media.CodeInvalid, "--provider requires --chat: atelier models check --chat --provider %s", c.Only)
	}
	return w.withApp(appConfig{}, func(a *app) error {
		today := time.Now() //nolint:forbidigo // the clock of the command line
		found := a.Catalogue.Stale(today)
		checked := a.Catalogue.Checked().Format(time.DateOnly)
		return w.print(map[string]any{"checked": checked, "findings": orEmpty(found), "ok": len(found) == 0}, func() {
			if len(found) == 0 {
				w.line("the catalogue of %s is up to date for the next 30 days", checked)
				return
			}
			var rows [][]string
			for _, f := range found {
				rows = append(rows, []string{f.Provider, f.Model, f.Problem})
			}
			table(w.stdout, []string{"PROVIDER", "MODEL", "PROBLEM"}, rows)
			w.line("the catalogue was last checked on %s: update Atelier, or override rows in your own file (ATELIER_CATALOGUE)", checked)
		})
	})
}

// checked is the result of comparing one provider's model list.
type checked struct {
	Provider string         `json:"provider"`
	Listed   int            `json:"listed"`
	Findings []chat.Finding `json:"findings"`
	Error    string         `json:"error,omitempty"`
}

// chatModels compares the profiles with the model lists of the providers. A provider that cannot be called
// becomes a line of the report.
func (c *modelsCheckCmd) chatModels(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		all := []checked{}
		var rows [][]string
		for _, p := range a.Chat.Profiles().Providers() {
			ready := a.Chat.Ready(p)
			switch {
			case c.Only != "" && c.Only != p.Key, c.Only == "" && ready != nil:
				continue
			case ready != nil:
				return ready
			}
			k := checked{Provider: p.Key, Findings: []chat.Finding{}}
			listed, err := a.ListChatModels(w.ctx, p.Key)
			if err != nil {
				k.Error = err.Error()
				rows = append(rows, []string{p.Key, "", "not asked", k.Error})
			} else {
				k.Listed = len(listed)
				k.Findings = append(k.Findings, a.Chat.Profiles().Compare(p.Key, listed, time.Now())...) //nolint:forbidigo // the clock of the command line
			}
			for _, f := range k.Findings {
				rows = append(rows, []string{p.Key, f.Model, string(f.Kind), f.Note})
			}
			all = append(all, k)
		}
		if c.Only != "" && len(all) == 0 {
			return media.Errorf(media.CodeNotFound, "there is no chat provider %q: see `atelier providers`", c.Only)
		}
		return w.print(ledger.List[checked]{Items: all}, func() { table(w.stdout, []string{"PROVIDER", "MODEL", "FINDING", "NOTE"}, rows) })
	})
}
