package plan

import (
	"maps"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/internal/fault"
	"atelier/media"
)

// meant refuses what can only be a mistake, so that nobody pays for a request whose words
// were dropped: options of a provider that is not asked, options that no model of their
// provider has, and a quality that no model knows. The error has code media.CodeInvalid.
// Strict requests are refused with their dispositions instead.
func (pl *Planner) meant(r generate.Request, m catalog.Model) error {
	if _, known := qualityRank(strings.ToLower(r.Quality)); r.Quality != "" && !known && !strings.EqualFold(r.Quality, "auto") && !pl.config.Catalogue.Has(func(o catalog.Model) bool { return o.HasQuality(r.Quality) }) {
		return media.Errorf(media.CodeInvalid, "quality %q is unknown: use low, medium, high, auto, standard or hd", fault.Quote(media.ErrorText(r.Quality)))
	}
	for _, provider := range slices.Sorted(maps.Keys(r.Options)) {
		options, known := pl.config.Catalogue.Options(provider)
		key := strings.ToLower(provider)
		for _, name := range slices.Sorted(maps.Keys(r.Options[provider])) {
			what := fault.Quote(media.ErrorText(provider + "." + name))
			switch {
			case !known:
				return media.Errorf(media.CodeInvalid, "option %s: there is no such provider; it is one of %s", what, strings.Join(pl.config.Catalogue.Providers(), ", "))
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
