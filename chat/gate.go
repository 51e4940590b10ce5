package chat

import (
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// Gate reports whether a model takes that many pictures in one request, by its profile.
// The error has code [media.CodeUnsupported], names the model, and lists in Valid the
// models that would do, as given.
func (f Profile) Gate(images int, wouldDo []string) error {
	var why string
	switch {
	case images == 0:
		return nil
	case !f.SupportsVision:
		why = fmt.Sprintf("%s does not accept pictures", f)
	case f.MaxImages > 0 && images > f.MaxImages:
		why = fmt.Sprintf("%d pictures are given, but %s accepts %d per request", images, f, f.MaxImages)
	default:
		return nil
	}
	advice := "omit pictures"
	if len(wouldDo) > 0 {
		advice = "use " + strings.Join(wouldDo, ", ")
	}
	e := media.Errorf(media.CodeUnsupported, "%s: %s, or allow pictures to be omitted (lenient images)", why, advice)
	e.Valid = wouldDo
	return e
}

// seeingModels is how many models an error names.
const seeingModels = 6

// Seeing names models that take that many pictures, best first: the default of each
// provider with a key, then others of theirs, the offline model; where none of them
// does, defaults of providers whose key is missing.
func (r *Registry) Seeing(images int) []string {
	var names []string
	add := func(f Profile) {
		if f.Gate(images, nil) == nil && !slices.Contains(names, f.name()) && len(names) < seeingModels {
			names = append(names, f.name())
		}
	}
	for _, p := range r.cfg.Profiles.Providers() {
		if r.Ready(p) == nil {
			for _, f := range r.cfg.Profiles.Find(p.Key + "/" + p.DefaultModel) {
				add(f)
			}
		}
	}
	for _, f := range r.cfg.Profiles.Models() {
		if p, ok := r.cfg.Profiles.Provider(f.Provider); ok && r.Ready(p) == nil && len(names) < seeingModels-1 {
			add(f)
		}
	}
	add(r.cfg.Offline.Profile())
	if len(names) > 0 {
		return names
	}
	for _, p := range r.cfg.Profiles.Providers() {
		for _, f := range r.cfg.Profiles.Find(p.Key + "/" + p.DefaultModel) {
			add(f)
		}
	}
	return names
}

// name is how a person names the model to get exactly this one.
func (f Profile) name() string {
	if f.Offline {
		return f.ID
	}
	return f.Provider + "/" + f.ID
}
