package catalog

import (
	"slices"
)

// Flag is how a setting stands at the end of the prompt, for models that are told so.
type Flag struct {
	// Setting is the request's field in snake_case, the name of an option, or model.
	Setting string `json:"setting" yaml:"setting"`
	// Flag comes before the value: --ar. A switch that is on has no value.
	Flag string `json:"flag" yaml:"flag"`
	// Same are its other spellings and the flags that it does not go with.
	Same []string `json:"same,omitempty" yaml:"same"`
	// Words are the values of the setting's words, all of them; none where every value is
	// its own. Those of model are by the provider's ids.
	Words map[string]string `json:"words,omitempty" yaml:"words"`
}

// Clash is the first of the words that the flag does not go with; empty if there is none.
func (f Flag) Clash(words []string) string {
	i := slices.IndexFunc(words, func(w string) bool { return w == f.Flag || slices.Contains(f.Same, w) })
	if i < 0 {
		return ""
	}
	return words[i]
}

// Flagged reports whether flags stand behind the words of an act.
func (a Act) Flagged() bool { return a.Words != WordsNone && !a.Follows }

// checkFlags proves that flags have a setting and a name, and that no word of the row is lost
// for want of a flag.
func (m Model) checkFlags() error {
	for _, said := range []struct {
		setting string
		words   []string
	}{{"quality", m.Qualities}, {"style", m.Styles}} {
		of := slices.DeleteFunc(slices.Clone(m.Flags), func(f Flag) bool { return f.Setting != said.setting })
		for _, word := range said.words {
			if len(of) > 0 && !slices.ContainsFunc(of, func(f Flag) bool { return len(f.Words) == 0 || f.Words[word] != "" }) {
				return m.bad("flags", "no flag of %s has the word %q", said.setting, word)
			}
		}
	}
	settings := []string{"aspect_ratio", "quality", "style", "model", "seed", "negative_prompt"}
	for _, f := range m.Flags {
		if f.Flag == "" || !slices.Contains(settings, f.Setting) && !slices.Contains(m.Options, f.Setting) {
			return m.bad("flags", "%q for %q: name a flag, and a setting that can have one or an option of the model", f.Flag, f.Setting)
		}
	}
	return nil
}
