package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
)

// Act is one of the things that a model can be asked to do where that is more than its methods say: to blend pictures,
// or to continue from one that its provider made. The option "action" names it.
type Act struct {
	Name string `json:"name" yaml:"name"`
	// For are the methods that mean it where nobody names one: of several, the first that
	// takes the pictures of the request, and its words or the lack of them.
	For []generate.Method `json:"for,omitempty" yaml:"for"`
	// Follows says that it continues from one picture, which the provider made.
	Follows bool `json:"follows,omitempty" yaml:"follows"`
	// MinInputs and MaxInputs are how many pictures the others take.
	MinInputs int `json:"min_inputs,omitempty" yaml:"min_inputs"`
	MaxInputs int `json:"max_inputs,omitempty" yaml:"max_inputs"`
	// Mask says that it needs a mask; the others take none.
	Mask bool `json:"mask,omitempty" yaml:"mask"`
	// Once says that it gives one result, whatever the row's Grid is.
	Once bool `json:"once,omitempty" yaml:"once"`
	// Words says what becomes of the prompt: needed (empty too), optional, none.
	Words string `json:"words,omitempty" yaml:"words"`
	// Takes are the settings and options that it takes, aspect_ratio for all of geometry.
	Takes []string `json:"takes,omitempty" yaml:"takes"`
	// Offers are what the provider offers with its pictures that is this act; By names the
	// option that chooses among them. One that follows without any takes the id of an offer as
	// the value of By. Package act finds the one that is meant.
	Offers []Offered `json:"offers,omitempty" yaml:"offers"`
	By     string    `json:"by,omitempty" yaml:"by"`
	// Plain is what the provider calls an act that follows where it tells of no offers; empty
	// if it cannot be asked for it then.
	Plain string `json:"plain,omitempty" yaml:"plain"`
}

// What an act does with a prompt.
const (
	WordsNeeded   = "needed"
	WordsOptional = "optional"
	WordsNone     = "none"
)

// ActSettings are the settings, beside options, that an act may not take, and the one of its
// Takes that stands for each.
var ActSettings = map[string]string{
	"size": "aspect_ratio", "aspect_ratio": "aspect_ratio", "quality": "quality", "style": "style", "seed": "seed", "negative_prompt": "negative_prompt",
}

// String says for people what the act takes.
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

// Permits reports whether an act takes a setting, named as in dispositions.
func (a Act) Permits(setting, provider string) bool {
	if name, ok := CutOption(setting, provider); ok {
		return name == "action" || slices.Contains(a.Takes, name)
	}
	name, judged := ActSettings[setting]
	return !judged || slices.Contains(a.Takes, name)
}

// CutOption gives the name of an option in a disposition; false for other settings.
func CutOption(setting, provider string) (string, bool) {
	rest, ok := strings.CutPrefix(setting, "options.")
	if !ok {
		return "", false
	}
	owner, name, _ := strings.Cut(rest, ".")
	return name, strings.EqualFold(owner, provider)
}

// checkActs proves that acts are told apart, and that there is an option that names them.
func (m Model) checkActs() error {
	var names []string
	for _, a := range m.Acts {
		switch {
		case a.Name == "" || slices.Contains(names, a.Name):
			return m.bad("acts", "%q is no name, or that of two acts", a.Name)
		case !slices.Contains([]string{"", WordsNeeded, WordsOptional, WordsNone}, a.Words):
			return m.bad("acts", "%s: words is %q: use needed, optional or none", a.Name, a.Words)
		case !a.Follows && a.MaxInputs < a.MinInputs:
			return m.bad("acts", "%s: max_inputs is below min_inputs", a.Name)
		}
		if err := m.checkOffers(a); err != nil {
			return err
		}
		for _, x := range a.Takes {
			if _, setting := ActSettings[x]; !setting && !slices.Contains(m.Options, x) {
				return m.bad("acts", "%s: %q is neither a setting nor one of the model's options", a.Name, x)
			}
		}
		names = append(names, a.Name)
	}
	return nil
}

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

// checkFlags proves that flags have a setting and a name, and that no word of the row is lost for want of a flag.
func (m Model) checkFlags() error {
	for _, rule := range []struct {
		setting string
		words   []string
	}{{"quality", m.Qualities}, {"style", m.Styles}} {
		of := slices.DeleteFunc(slices.Clone(m.Flags), func(f Flag) bool { return f.Setting != rule.setting })
		for _, word := range rule.words {
			if len(of) > 0 && !slices.ContainsFunc(of, func(f Flag) bool { return len(f.Words) == 0 || f.Words[word] != "" }) {
				return m.bad("flags", "no flag of %s has the word %q", rule.setting, word)
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

// Offered says which of a provider's offers is an act, see [Offer].
type Offered struct {
	// ID is how the ids of the offer begin. Behind a star stands what they hold besides, and
	// {tile} for the number of a result of a grid: then it is about that one.
	ID string `json:"id" yaml:"id"`
	// For are the values of the option [Act.By] that mean this offer, empty where nobody sets
	// it. Without any it is meant by all values that mean no other.
	For []string `json:"for,omitempty" yaml:"for"`
	// Words says what becomes of the prompt: none (empty too) or optional. WordsIf says for
	// people under which condition it is taken, where nobody can know here.
	Words   string `json:"words,omitempty" yaml:"words"`
	WordsIf string `json:"words_if,omitempty" yaml:"words_if"`
	// Flag stands behind the words, with the value of By.
	Flag string `json:"flag,omitempty" yaml:"flag"`
	// Once says that it gives one result, whatever the row's Grid is.
	Once bool `json:"once,omitempty" yaml:"once"`
}

// tileMark is the place of a tile's number in an id.
const tileMark = "{tile}"

// Tiled reports whether the offer is about one result of a grid.
func (o Offered) Tiled() bool { return strings.Contains(o.ID, tileMark) }

// Among gives the id of the offer, for a tile; false if it is not among those.
func (o Offered) Among(offers []Offer, tile int) (string, bool) {
	start, part, _ := strings.Cut(strings.Replace(o.ID, tileMark, strconv.Itoa(tile), 1), "*")
	i := slices.IndexFunc(offers, func(x Offer) bool { return strings.HasPrefix(x.ID, start) && strings.Contains(x.ID, part) })
	if i < 0 {
		return "", false
	}
	return offers[i].ID, true
}

// Tiled reports whether offers are those of a grid: one of them is about its first result.
func (m Model) Tiled(offers []Offer) bool {
	return slices.ContainsFunc(m.Acts, func(a Act) bool {
		return slices.ContainsFunc(a.Offers, func(o Offered) bool {
			_, ok := o.Among(offers, 1)
			return ok && o.Tiled()
		})
	})
}

// TellsOffers reports whether the row says which offers its acts are.
func (m Model) TellsOffers() bool {
	return slices.ContainsFunc(m.Acts, func(a Act) bool { return len(a.Offers) > 0 || a.Plain != "" })
}

// Offer finds what a value of the act's option means, for a result of a grid or for a single picture; zero if nothing.
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

// Offer finds what the row says of an id; zero if nothing.
func (m Model) Offer(id string) Offered {
	for _, a := range m.Acts {
		for _, o := range a.Offers {
			for tile := range MaxTiles {
				if _, ok := o.Among([]Offer{{ID: id}}, tile+1); ok {
					return o
				}
			}
		}
	}
	return Offered{}
}

// checkOffers proves that the offers of an act can be told apart.
func (m Model) checkOffers(a Act) error {
	if a.By != "" && !slices.Contains(m.Options, a.By) {
		return m.bad("acts", "%s: by: %q is not among the model's options", a.Name, a.By)
	}
	for _, o := range a.Offers {
		switch {
		case !a.Follows:
			return m.bad("acts", "%s: only an act that follows has offers", a.Name)
		case o.ID == "" || strings.HasPrefix(o.ID, "*"):
			return m.bad("acts", "%s: an offer needs the start of its id", a.Name)
		case !slices.Contains([]string{"", WordsOptional, WordsNone}, o.Words) || o.Words != "" && o.WordsIf != "":
			return m.bad("acts", "%s: offer %s: words is %q: use optional or none, or words_if alone", a.Name, o.ID, o.Words)
		case a.By == "" && len(o.For) > 0:
			return m.bad("acts", "%s: offer %s: for needs the option that by names", a.Name, o.ID)
		}
	}
	return nil
}

// Offer is something that a provider offers to do next with what it made.
type Offer struct {
	// ID is the provider's, Label what it says to people.
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
}

// MaxTiles bounds the results of one grid.
const MaxTiles = 16
