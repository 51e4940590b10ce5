package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"atelier/chat"
	"atelier/generate/catalog"
)

type modelsCmd struct {
	List  modelsListCmd  `cmd:"" help:"List models: what they make, what they cost and when they are shut down."`
	Show  modelsShowCmd  `cmd:"" help:"Show one model: its parameters, prices and shutdown date."`
	Check modelsCheckCmd `cmd:"" help:"Print the models, successors and prices of the catalogue that are out of date."`
}

type modelsListCmd struct {
	Chat bool   `help:"List chat models instead of media models."`
	All  bool   `help:"Include retired models."`
	Only string `name:"provider" help:"Only models of this provider." placeholder:"NAME"`
	JSON bool   `help:"Print JSON."`
}

// Run lists models.
func (c *modelsListCmd) Run(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		if c.Chat {
			return c.chat(w, a)
		}
		today := time.Now() //nolint:forbidigo // the clock of the command line
		models := []catalog.Model{}
		for _, m := range a.Gateway.Models() {
			if (c.All || m.Alive(today)) && (c.Only == "" || m.Provider == c.Only) {
				models = append(models, m)
			}
		}
		if c.JSON {
			return printList(w, models)
		}
		var rows [][]string
		for _, m := range models {
			rows = append(rows, []string{m.Name, m.Provider, string(m.Modality), m.APIModel, methods(m), sizes(m), priceList(m, today), life(m, today)})
		}
		table(w.stdout, []string{"MODEL", "PROVIDER", "MAKES", "ID", "METHODS", "SIZES", "PRICE", "LIFE"}, rows)
		return nil
	})
}

func (c *modelsListCmd) chat(w *world, a *app) error {
	today := time.Now() //nolint:forbidigo // the clock of the command line
	models := a.Chat.Profiles().Models()
	var rows [][]string
	kept := models[:0]
	for _, m := range models {
		if c.Only != "" && m.Provider != c.Only || !c.All && !m.Alive(today) {
			continue
		}
		kept = append(kept, m)
		rows = append(rows, []string{
			m.Name, m.Provider, m.Provider + "/" + m.ID, sees(m), tokens(m.ContextTokens), tokens(m.MaxOutputTokens),
			dollars(m.InputUSD), dollars(m.OutputUSD), chatLife(m, today),
		})
	}
	if c.JSON {
		return printList(w, kept)
	}
	table(w.stdout, []string{"MODEL", "PROVIDER", "USE AS", "VISION", "CONTEXT", "MAX OUTPUT", "IN / 1M", "OUT / 1M", "LIFE"}, rows)
	return nil
}

// sees says which pictures a chat model sees.
func sees(m chat.Profile) string {
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

// tokens writes a limit of tokens; 0 is unknown.
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

// chatLife reports whether a chat model lives.
func chatLife(m chat.Profile, today time.Time) string {
	return life(catalog.Model{Life: catalog.LifeCycle{ShutDown: m.Life.ShutDown, ReplacedBy: m.Life.ReplacedBy}}, today)
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

// inputs says how many pictures a model takes, and of which kinds.
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

// sizes says in a few words how a model is sized.
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

// life reports whether a model lives.
func life(m catalog.Model, today time.Time) string {
	switch {
	case !m.Alive(today):
		s := "shut down " + m.Life.ShutDown.Format(time.DateOnly)
		if m.Life.ReplacedBy != "" {
			s += " → " + m.Life.ReplacedBy
		}
		return s
	case !m.Life.ShutDown.IsZero():
		return "until " + m.Life.ShutDown.Format(time.DateOnly)
	}
	return "active"
}

type modelsShowCmd struct {
	Name string `arg:"" help:"Display name, id or alias."`
	JSON bool   `help:"Print JSON."`
}

// Run shows one model.
func (c *modelsShowCmd) Run(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		m, err := a.Gateway.Lookup(c.Name)
		if err != nil {
			return err
		}
		if c.JSON {
			return w.printJSON(m)
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
			{"life", life(m, time.Now())}, //nolint:forbidigo // the clock of the command line
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
			what := strings.TrimSpace(strings.Join([]string{perUnit(p.Unit), p.Quality, p.Size, p.Tier}, " "))
			rows = append(rows, []string{"price", "$" + p.USD + " per " + strings.Join(strings.Fields(what), " ") + " (" + p.AsOf + ends(p.Until) + ")"})
		}
		table(w.stdout, []string{"model", m.Name}, rows)
		return nil
	})
}

// ends tells the last day of a price that has one.
func ends(until string) string {
	if until == "" {
		return ""
	}
	return ", until " + until
}

// perUnit says what a price is for.
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

type providersCmd struct {
	JSON bool `help:"Print JSON."`
}

// state is one provider of either kind.
type state struct {
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	Ready  bool     `json:"ready"`
	Reason string   `json:"reason,omitempty"`
	Models []string `json:"models,omitempty"`
}

// providers lists image and chat providers with what they lack.
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

// Run lists providers.
func (c *providersCmd) Run(w *world) error {
	return w.withApp(appConfig{}, func(a *app) error {
		all := a.providers()
		if c.JSON {
			return printList(w, all)
		}
		var rows [][]string
		for _, p := range all {
			ready := "ready"
			if !p.Ready {
				ready = p.Reason
			}
			rows = append(rows, []string{p.Kind, p.Name, ready, short(strings.Join(p.Models, ", "), 70)})
		}
		table(w.stdout, []string{"KIND", "PROVIDER", "STATE", "MODELS"}, rows)
		return nil
	})
}
