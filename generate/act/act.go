package act

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
)

// Of is what a task asks of its model: what the option action names, or what its
// method and pictures mean. It is the zero Act if the row has none. Errors:
// media.CodeInvalid for pictures that the act does not take, or too many results,
// media.CodeUnsupported for a picture of somebody else that it cannot continue from.
func Of(t driver.Task) (catalog.Act, error) {
	all := t.Model.Acts
	if len(all) == 0 {
		return catalog.Act{}, nil
	}
	is := func(f func(catalog.Act) bool) int { return slices.IndexFunc(all, f) }
	means := func(a catalog.Act) bool {
		return slices.Contains(a.For, cmp.Or(t.Method, generate.MethodGenerate)) && a.Mask == (t.Mask != nil)
	}
	i := is(func(a catalog.Act) bool { return a.Name == t.Option("action") })
	if t.Option("action") == "" {
		i = is(func(a catalog.Act) bool { return means(a) && suits(t, a) && check(t, a) == nil })
	}
	if i < 0 { // but for its words
		i = is(func(a catalog.Act) bool { return means(a) && check(t, a) == nil })
	}
	if i < 0 { // the error says why
		i = max(is(means), 0)
	}
	return all[i], check(t, all[i])
}

// suits reports whether an act that nobody named is meant with these words, or without any.
func suits(t driver.Task, a catalog.Act) bool {
	if strings.TrimSpace(t.Prompt) != "" {
		return a.Words != catalog.WordsNone
	}
	return t.Method != generate.MethodEdit || cmp.Or(a.Words, catalog.WordsNeeded) != catalog.WordsNeeded
}

// check proves that the task has the pictures that an act needs.
func check(t driver.Task, a catalog.Act) error {
	least, most := a.MinInputs, a.MaxInputs
	what := fmt.Sprintf("%s's %s", t.Model.Name, a.Name)
	switch n := len(t.Inputs); {
	case a.Follows && n != 1:
		return media.Errorf(media.CodeInvalid, "%s continues from one picture, and %d were named: name one that %s made", what, n, t.Model.Provider)
	case a.Follows && !t.Parent(&struct{}{}):
		return media.Errorf(media.CodeUnsupported, "%s is no picture that %s made here, so %s cannot continue from it: name one of its pictures, or leave mask and option action out", t.Inputs[0].Ref, t.Model.Provider, what)
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
