package generate

import (
	"maps"
	"slices"
	"strings"

	"atelier/media"
)

// meant refuses what can only be a mistake, so that nobody pays for a request whose words
// were dropped: options of a provider that is not asked, options that no model of their
// provider has, and a quality that no model knows. The error has code media.CodeInvalid.
// Strict requests are refused with their dispositions instead.
func (g *Gateway) meant(r Request, m Model) error {
	rows := g.config.Catalogue.rows
	if _, known := qualityRank(strings.ToLower(r.Quality)); r.Quality != "" && !known && !strings.EqualFold(r.Quality, "auto") && !slices.ContainsFunc(rows, func(o Model) bool { return o.hasQuality(r.Quality) }) {
		return media.Errorf(media.CodeInvalid, "quality %q is unknown: use low, medium, high, auto, standard or hd", clip(media.ErrorText(r.Quality)))
	}
	for _, provider := range slices.Sorted(maps.Keys(r.Options)) {
		options, known := g.config.Catalogue.options(provider)
		key := strings.ToLower(provider)
		for _, name := range slices.Sorted(maps.Keys(r.Options[provider])) {
			what := clip(media.ErrorText(provider + "." + name))
			switch {
			case !known:
				return media.Errorf(media.CodeInvalid, "option %s: there is no such provider; it is one of %s", what, strings.Join(g.config.Catalogue.providers(), ", "))
			case key != m.Provider && !slices.Contains(r.OptionsFor, key):
				return media.Errorf(media.CodeInvalid, "option %s is for models of %s, and %s is asked, a model of %s: leave it out, or name one of its models", what, key, m.Name, m.Provider)
			case !slices.Contains(options, name):
				return media.Errorf(media.CodeInvalid, "option %s is unknown: the models of %s take %s", what, key, strings.Join(options, ", "))
			}
		}
	}
	return nil
}

// optionsFor lists the providers of all models that a request names, besides those that it
// lists itself.
func (g *Gateway) optionsFor(r Request) []string {
	names := append([]string{r.Model}, r.Fallback...)
	if r.Model == "" {
		names = append(append(names, r.Prefer...), g.config.Fallback...)
	}
	all := slices.Clone(r.OptionsFor)
	for _, name := range names {
		if m, ok := g.config.Catalogue.Lookup(name); ok && !slices.Contains(all, m.Provider) {
			all = append(all, m.Provider)
		}
	}
	return all
}

// options lists all that the models of a provider take; false if there is no such provider.
func (c *Catalogue) options(provider string) (names []string, known bool) {
	for _, m := range c.rows {
		if !strings.EqualFold(m.Provider, provider) {
			continue
		}
		known = true
		for _, name := range m.Options {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, known
}

// hasQuality reports whether a word is one of the model's qualities or tiers.
func (m Model) hasQuality(word string) bool {
	return slices.ContainsFunc(append(slices.Clone(m.Qualities), m.Size.Tiers...), func(q string) bool { return strings.EqualFold(q, word) })
}
