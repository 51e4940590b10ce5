package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
)

// Act is an action of a model beyond what its methods describe: blending pictures, or continuing from a picture that
// its provider made. The option "action" selects it.
type Act struct {
	Name string `json:"name" yaml:"name"`
	// For are the methods for which it is the default. Of several such acts, the first one that accepts the request's
	// pictures and prompt, or lack of one, applies.
	For []generate.Method `json:"for,omitempty" yaml:"for"`
	// Follows says that it continues from one picture that the provider made.
	Follows bool `json:"follows,omitempty" yaml:"follows"`
	// MinInputs and MaxInputs limit the number of input pictures of acts that do not follow.
	MinInputs int `json:"min_inputs,omitempty" yaml:"min_inputs"`
	MaxInputs int `json:"max_inputs,omitempty" yaml:"max_inputs"`
	// Mask says that it requires a mask; other acts accept none.
	Mask bool `json:"mask,omitempty" yaml:"mask"`
	// Once says that it makes one result, whatever the row's Grid is.
	Once bool `json:"once,omitempty" yaml:"once"`
	// Words says how the prompt is used: needed (also if empty), optional, none.
	Words string `json:"words,omitempty" yaml:"words"`
	// Takes are the settings and options that it accepts; aspect_ratio stands for all of geometry.
	Takes []string `json:"takes,omitempty" yaml:"takes"`
	// Offers are the provider's offers, sent with its pictures, that perform this act; By names the option that chooses
	// among them. An act that follows and has no Offers accepts an offer's id as the value of By. Package act selects
	// the offer.
	Offers []Offered `json:"offers,omitempty" yaml:"offers"`
	By     string    `json:"by,omitempty" yaml:"by"`
	// Plain is the provider's name for an act that follows when it sends no offers; empty if the act is not available
	// then.
	Plain string `json:"plain,omitempty" yaml:"plain"`
}

// Uses of the prompt by an act.
const (
	WordsNeeded   = "needed"
	WordsOptional = "optional"
	WordsNone     = "none"
)

// ActSettings maps each setting, besides options, that an act may not accept to its name in Takes.
var ActSettings = map[string]string{
	"size": "aspect_ratio", "aspect_ratio": "aspect_ratio", "quality": "quality", "style": "style", "seed": "seed", "negative_prompt": "negative_prompt",
}

// String describes the act to people.
func (a Act) String() string {
	parts := []string{fmt.Sprintf("%d to %d pictures", a.MinInputs, a.MaxInputs)}
	switch {
	case a.Follows:
		parts[0] = "continues from one picture that the provider made"
	case a.MinInputs == 1 && a.MaxInputs == 1:
		parts[0] = "one picture"
	}
	if a.Mask {
		parts = append(parts, "a mask")
	}
	switch a.Words {
	case WordsNone:
		parts = append(parts, "no words")
	case WordsOptional:
		parts = append(parts, "words or none")
	}
	if a.Once {
		parts = append(parts, "one result")
	}
	return a.Name + ": " + strings.Join(append(parts, a.Takes...), ", ")
}

// Permits reports whether an act accepts a setting, named as in dispositions.
func (a Act) Permits(setting, provider string) bool {
	if name, ok := CutOption(setting, provider); ok {
		return name == "action" || slices.Contains(a.Takes, name)
	}
	name, judged := ActSettings[setting]
	return !judged || slices.Contains(a.Takes, name)
}

// CutOption returns the option's name from a disposition's setting, and whether it is an option of the provider.
func CutOption(setting, provider string) (string, bool) {
	rest, ok := strings.CutPrefix(setting, "options.")
	if !ok {
		return "", false
	}
	owner, name, _ := strings.Cut(rest, ".")
	return name, strings.EqualFold(owner, provider)
}

// checkActs checks that acts have distinct names and valid settings.
func (m Model) checkActs() error {
	var names []string
	for _, a := range m.Acts {
		switch {
		case a.Name == "" || slices.Contains(names, a.Name):
			return m.invalidField("acts", "%q is not a name, or is the name of two acts", a.Name)
		case !slices.Contains([]string{"", WordsNeeded, WordsOptional, WordsNone}, a.Words):
			return m.invalidField("acts", "%s: words is %q: use needed, optional or none", a.Name, a.Words)
		case !a.Follows && a.MaxInputs < a.MinInputs:
			return m.invalidField("acts", "%s: max_inputs is below min_inputs", a.Name)
		}
		if err := m.checkOffers(a); err != nil {
			return err
		}
		for _, x := range a.Takes {
			if _, setting := ActSettings[x]; !setting && !slices.Contains(m.Options, x) {
				return m.invalidField("acts", "%s: %q is neither a setting nor one of the model's options", a.Name, x)
			}
		}
		names = append(names, a.Name)
	}
	return nil
}

// Flag defines how a setting is written at the end of the prompt, for models that take settings there.
type Flag struct {
	// Setting is the request's field in snake_case, an option's name, or model.
	Setting string `json:"setting" yaml:"setting"`
	// Flag precedes the value: --ar. A switch that is on has no value.
	Flag string `json:"flag" yaml:"flag"`
	// Same are its other spellings and the flags that conflict with it.
	Same []string `json:"same,omitempty" yaml:"same"`
	// Words maps every word of the setting to the flag's value; if empty, words are written unchanged. Those of model
	// are keyed by the provider's ids.
	Words map[string]string `json:"words,omitempty" yaml:"words"`
}

// Clash returns the first word that conflicts with the flag; empty if there is none.
func (f Flag) Clash(words []string) string {
	i := slices.IndexFunc(words, func(w string) bool { return w == f.Flag || slices.Contains(f.Same, w) })
	if i < 0 {
		return ""
	}
	return words[i]
}

// Flagged reports whether flags follow the prompt of an act.
func (a Act) Flagged() bool { return a.Words != WordsNone && !a.Follows }

// checkFlags checks that flags have a name and a known setting, and that every quality and style of the row has a flag.
func (m Model) checkFlags() error {
	for _, rule := range []struct {
		setting string
		words   []string
	}{{"quality", m.Qualities}, {"style", m.Styles}} {
		of := slices.DeleteFunc(slices.Clone(m.Flags), func(f Flag) bool { return f.Setting != rule.setting })
		for _, word := range rule.words {
			if len(of) > 0 && !slices.ContainsFunc(of, func(f Flag) bool { return len(f.Words) == 0 || f.Words[word] != "" }) {
				return m.invalidField("flags", "no flag of %s has the word %q", rule.setting, word)
			}
		}
	}
	settings := []string{"aspect_ratio", "quality", "style", "model", "seed", "negative_prompt"}
	for _, f := range m.Flags {
		if f.Flag == "" || !slices.Contains(settings, f.Setting) && !slices.Contains(m.Options, f.Setting) {
			return m.invalidField("flags", "%q for %q: name a flag, and a setting that can have one or an option of the model", f.Flag, f.Setting)
		}
	}
	return nil
}

// Offered maps one of a provider's offers to an act, see [Offer].
type Offered struct {
	// ID is the prefix of the offer's ids. Text after a star must also occur in them. {tile} stands for the number of a
	// result of a grid: the offer is then about that result.
	ID string `json:"id" yaml:"id"`
	// For are the values of the option [Act.By] that select this offer, with "" for an unset option. If For is empty,
	// the offer applies to all values that select no other.
	For []string `json:"for,omitempty" yaml:"for"`
	// Words says how the prompt is used: none (also if empty) or optional. WordsIf describes to people the condition
	// for using it, where it cannot be known in advance.
	Words   string `json:"words,omitempty" yaml:"words"`
	WordsIf string `json:"words_if,omitempty" yaml:"words_if"`
	// Flag follows the prompt, with the value of By.
	Flag string `json:"flag,omitempty" yaml:"flag"`
	// Once says that it makes one result, whatever the row's Grid is.
	Once bool `json:"once,omitempty" yaml:"once"`
}

// tileMark is the placeholder of a tile's number in an id.
const tileMark = "{tile}"

// Tiled reports whether the offer is about one result of a grid.
func (o Offered) Tiled() bool { return strings.Contains(o.ID, tileMark) }

// FindIn returns the id of the offer for a tile; false if it is not among the given offers.
func (o Offered) FindIn(offers []Offer, tile int) (string, bool) {
	start, part, _ := strings.Cut(strings.Replace(o.ID, tileMark, strconv.Itoa(tile), 1), "*")
	i := slices.IndexFunc(offers, func(x Offer) bool { return strings.HasPrefix(x.ID, start) && strings.Contains(x.ID, part) })
	if i < 0 {
		return "", false
	}
	return offers[i].ID, true
}

// Tiled reports whether the offers belong to a grid: one of them is about its first result.
func (m Model) Tiled(offers []Offer) bool {
	return slices.ContainsFunc(m.Acts, func(a Act) bool {
		return slices.ContainsFunc(a.Offers, func(o Offered) bool {
			_, ok := o.FindIn(offers, 1)
			return ok && o.Tiled()
		})
	})
}

// TellsOffers reports whether the row maps offers to its acts.
func (m Model) TellsOffers() bool {
	return slices.ContainsFunc(m.Acts, func(a Act) bool { return len(a.Offers) > 0 || a.Plain != "" })
}

// Offer returns the offer that a value of the act's option selects, for a tile or a single picture; zero if none.
func (a Act) Offer(detail string, tile bool) Offered {
	find := func(fits func(Offered) bool) int {
		return slices.IndexFunc(a.Offers, func(o Offered) bool { return o.Tiled() == tile && fits(o) })
	}
	i := find(func(o Offered) bool { return tile || slices.Contains(o.For, detail) })
	if i < 0 {
		i = find(func(o Offered) bool { return len(o.For) == 0 })
	}
	if i < 0 {
		return Offered{}
	}
	return a.Offers[i]
}

// Offer returns the row's description of an offer id; zero if there is none.
func (m Model) Offer(id string) Offered {
	for _, a := range m.Acts {
		for _, o := range a.Offers {
			for tile := range MaxTiles {
				if _, ok := o.FindIn([]Offer{{ID: id}}, tile+1); ok {
					return o
				}
			}
		}
	}
	return Offered{}
}

// checkOffers checks that the offers of an act are well-formed.
func (m Model) checkOffers(a Act) error {
	if a.By != "" && !slices.Contains(m.Options, a.By) {
		return m.invalidField("acts", "%s: by: %q is not among the model's options", a.Name, a.By)
	}
	for _, o := range a.Offers {
		switch {
		case !a.Follows:
			return m.invalidField("acts", "%s: only an act that follows has offers", a.Name)
		case o.ID == "" || strings.HasPrefix(o.ID, "*"):
			return m.invalidField("acts", "%s: an offer needs the start of its id", a.Name)
		case !slices.Contains([]string{"", WordsOptional, WordsNone}, o.Words) || o.Words != "" && o.WordsIf != "":
			return m.invalidField("acts", "%s: offer %s: words is %q: use optional or none, or words_if alone", a.Name, o.ID, o.Words)
		case a.By == "" && len(o.For) > 0:
			return m.invalidField("acts", "%s: offer %s: for needs the option that by names", a.Name, o.ID)
		}
	}
	return nil
}

// Offer is a follow-up action that a provider offers for a picture that it made.
type Offer struct {
	// ID is the provider's id; Label is the text for people.
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
}

// MaxTiles is the maximum number of results of one grid.
const MaxTiles = 16
