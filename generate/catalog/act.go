package catalog

import (
	"fmt"
	"slices"
	"strings"

	"atelier/generate"
)

// Act is one of the things that a model can be asked to do where that is more than its
// methods say: to blend pictures, or to continue from one that its provider made. The option
// "action" names it.
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
