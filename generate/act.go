package generate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/media"
)

// Act is one of the things that a model can be asked to do where that is more than its
// methods say: to blend pictures, or to go on from one that its provider made. The option
// "action" names it.
type Act struct {
	Name string `json:"name" yaml:"name"`
	// For are the methods that mean it where nobody names one: of several, the first that
	// takes the pictures of the request, and its words or the lack of them.
	For []Method `json:"for,omitempty" yaml:"for"`
	// Follows says that it goes on from one picture, which the provider made.
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
	// the value of By. See [Task.FollowUp].
	Offers []Offered `json:"offers,omitempty" yaml:"offers"`
	By     string    `json:"by,omitempty" yaml:"by"`
	// Plain is what the provider calls an act that follows where it tells of no offers; empty
	// if it cannot be asked for it then.
	Plain string `json:"plain,omitempty" yaml:"plain"`
}

// What an act does with a prompt.
const (
	wordsNeeded   = "needed"
	wordsOptional = "optional"
	wordsNone     = "none"
)

// narrowed are the settings, beside options, that an act may not take, and the one of its
// Takes that stands for each.
var narrowed = map[string]string{
	"size": "aspect_ratio", "aspect_ratio": "aspect_ratio", "quality": "quality", "style": "style", "seed": "seed", "negative_prompt": "negative_prompt",
}

// Act is what the task asks of its model: what the option action names, or what its
// method and pictures mean. It is the zero Act if the row has none. Errors:
// media.CodeInvalid for pictures that the act does not take, or too many results,
// media.CodeUnsupported for a picture of somebody else that it cannot go on from.
func (t Task) Act() (Act, error) {
	all := t.Model.Acts
	if len(all) == 0 {
		return Act{}, nil
	}
	is := func(f func(Act) bool) int { return slices.IndexFunc(all, f) }
	means := func(a Act) bool {
		return slices.Contains(a.For, cmp.Or(t.Method, MethodGenerate)) && a.Mask == (t.Mask != nil)
	}
	i := is(func(a Act) bool { return a.Name == t.Option("action") })
	if t.Option("action") == "" {
		i = is(func(a Act) bool { return means(a) && a.suits(t) && a.check(t) == nil })
	}
	if i < 0 { // but for its words
		i = is(func(a Act) bool { return means(a) && a.check(t) == nil })
	}
	if i < 0 { // the error says why
		i = max(is(means), 0)
	}
	return all[i], all[i].check(t)
}

// suits reports whether an act that nobody named is meant with these words, or without any.
func (a Act) suits(t Task) bool {
	if strings.TrimSpace(t.Prompt) != "" {
		return a.Words != wordsNone
	}
	return t.Method != MethodEdit || cmp.Or(a.Words, wordsNeeded) != wordsNeeded
}

// String says for people what the act takes.
func (a Act) String() string {
	parts := []string{fmt.Sprintf("%d to %d pictures", a.MinInputs, a.MaxInputs)}
	switch {
	case a.Follows:
		parts[0] = "goes on from one picture that the provider made"
	case a.MinInputs == 1 && a.MaxInputs == 1:
		parts[0] = "one picture"
	}
	if a.Mask {
		parts = append(parts, "a mask")
	}
	switch a.Words {
	case wordsNone:
		parts = append(parts, "no words")
	case wordsOptional:
		parts = append(parts, "words or none")
	}
	if a.Once {
		parts = append(parts, "one result")
	}
	return a.Name + ": " + strings.Join(append(parts, a.Takes...), ", ")
}

// chooseAct finds what the model is asked to do. An option that its rule does not take is
// refused later, with all others.
func (n *negotiation) chooseAct() (err error) {
	t := n.task
	t.N = min(n.req.N, n.model.MaxN)
	for provider, options := range n.req.Options {
		if asked, ok := options["action"]; ok && strings.EqualFold(provider, n.model.Provider) {
			t.Options = map[string]any{"action": asked}
		}
	}
	if t.CheckOptions() == nil {
		n.act, err = t.Act()
	}
	return err
}

// check proves that a task has the pictures that the act needs.
func (a Act) check(t Task) error {
	least, most := a.MinInputs, a.MaxInputs
	what := fmt.Sprintf("%s's %s", t.Model.Name, a.Name)
	switch n := len(t.Inputs); {
	case a.Follows && n != 1:
		return media.Errorf(media.CodeInvalid, "%s goes on from one picture, and %d were named: name one that %s made", what, n, t.Model.Provider)
	case a.Follows && !t.Parent(&struct{}{}):
		return media.Errorf(media.CodeUnsupported, "%s is no picture that %s made here, so %s cannot go on from it: name one of its pictures, or leave mask and option action out", t.Inputs[0].Ref, t.Model.Provider, what)
	case !a.Follows && most == 1 && n != 1:
		return media.Errorf(media.CodeInvalid, "%s takes one picture, not %d", what, n)
	case !a.Follows && (n < least || n > most):
		return media.Errorf(media.CodeInvalid, "%s takes %d to %d pictures, not %d", what, least, most, n)
	case a.Mask && t.Mask == nil:
		return media.Errorf(media.CodeInvalid, "%s needs a mask", what)
	case !a.Mask && t.Mask != nil:
		return media.Errorf(media.CodeInvalid, "%s takes no mask: leave it or option action out", what)
	case a.Once && t.N > 1:
		return media.Errorf(media.CodeInvalid, "%s gives one result, not %d: ask for one", what, t.N)
	}
	return nil
}

// takes reports whether an act takes a setting, named as in dispositions.
func (a Act) takes(setting, provider string) bool {
	if name, ok := cutOption(setting, provider); ok {
		return name == "action" || slices.Contains(a.Takes, name)
	}
	name, judged := narrowed[setting]
	return !judged || slices.Contains(a.Takes, name)
}

// cutOption gives the name of an option in a disposition; false for other settings.
func cutOption(setting, provider string) (string, bool) {
	rest, ok := strings.CutPrefix(setting, "options.")
	if !ok {
		return "", false
	}
	owner, name, _ := strings.Cut(rest, ".")
	return name, strings.EqualFold(owner, provider)
}

// narrow leaves out what the act does not take.
func (n *negotiation) narrow() {
	t := &n.task
	for i := range n.out {
		d := &n.out[i]
		if n.act.Name == "" || d.Outcome == OutcomeDropped || n.act.takes(d.Setting, n.model.Provider) {
			continue
		}
		d.Applied, d.Outcome, d.Reason = "", OutcomeDropped, fmt.Sprintf("%s's %s does not take it", n.model.Name, n.act.Name)
		if option, ok := cutOption(d.Setting, n.model.Provider); ok { // it may be called as a setting is
			delete(t.Options, option)
			continue
		}
		name := narrowed[d.Setting]
		t.unset(name)
		if name == "aspect_ratio" {
			t.Tier, t.Width, t.Height = "", 0, 0
		}
	}
}

// checkActs proves that acts are told apart, and that there is an option that names them.
func (m Model) checkActs() error {
	var names []string
	for _, a := range m.Acts {
		switch {
		case a.Name == "" || slices.Contains(names, a.Name):
			return m.bad("acts", "%q is no name, or that of two acts", a.Name)
		case !slices.Contains([]string{"", wordsNeeded, wordsOptional, wordsNone}, a.Words):
			return m.bad("acts", "%s: words is %q: use needed, optional or none", a.Name, a.Words)
		case !a.Follows && a.MaxInputs < a.MinInputs:
			return m.bad("acts", "%s: max_inputs is below min_inputs", a.Name)
		}
		if err := m.checkOffers(a); err != nil {
			return err
		}
		for _, x := range a.Takes {
			if _, setting := narrowed[x]; !setting && !slices.Contains(m.Options, x) {
				return m.bad("acts", "%s: %q is neither a setting nor one of the model's options", a.Name, x)
			}
		}
		names = append(names, a.Name)
	}
	return nil
}
