// Package act interprets tasks for models with acts beyond their methods: which of the row's acts is requested, what it
// continues from, and which settings are written as flags after the prompt. It is used by the planner and by drivers of
// such models.
//
// Errors are media.Error values. It may import media, generate, generate/catalog and generate/driver.
package act

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
)

// Of returns the act that a task requests: the one that the option action names, or the default for its method and
// pictures; zero if the row has none. Errors: media.CodeInvalid for pictures that the act does not accept, or too many
// results, media.CodeUnsupported for a picture to continue from that its provider did not make here.
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
	if i < 0 { // ignore the words
		i = is(func(a catalog.Act) bool { return means(a) && check(t, a) == nil })
	}
	if i < 0 { // check returns the reason
		i = max(is(means), 0)
	}
	return all[i], check(t, all[i])
}

// suits reports whether a default act matches the task's words, or the lack of them.
func suits(t driver.Task, a catalog.Act) bool {
	if strings.TrimSpace(t.Prompt) != "" {
		return a.Words != catalog.WordsNone
	}
	return t.Method != generate.MethodEdit || cmp.Or(a.Words, catalog.WordsNeeded) != catalog.WordsNeeded
}

// check checks that the task has the pictures that an act needs.
func check(t driver.Task, a catalog.Act) error {
	least, most := a.MinInputs, a.MaxInputs
	what := fmt.Sprintf("%s's %s", t.Model.Name, a.Name)
	switch n := len(t.Inputs); {
	case a.Follows && n != 1:
		return media.Errorf(media.CodeInvalid, "%s continues from one picture, and %d were named: name one that %s made", what, n, t.Model.Provider)
	case a.Follows && !t.Parent(&struct{}{}):
		return media.Errorf(media.CodeUnsupported, "%s is not a picture that %s made, so %s cannot continue from it: name one of its pictures, or omit mask and option action", t.Inputs[0].Ref, t.Model.Provider, what)
	case !a.Follows && most == 1 && n != 1:
		return media.Errorf(media.CodeInvalid, "%s takes one picture, not %d", what, n)
	case !a.Follows && (n < least || n > most):
		return media.Errorf(media.CodeInvalid, "%s takes %d to %d pictures, not %d", what, least, most, n)
	case a.Mask && t.Mask == nil:
		return media.Errorf(media.CodeInvalid, "%s needs a mask", what)
	case !a.Mask && t.Mask != nil:
		return media.Errorf(media.CodeInvalid, "%s takes no mask: leave it or option action out", what)
	case a.Once && t.N > 1:
		return media.Errorf(media.CodeInvalid, "%s returns one result, not %d: request one", what, t.N)
	}
	return nil
}

func value(t driver.Task, f catalog.Flag) string {
	text := ""
	switch f.Setting {
	case "aspect_ratio":
		text = t.AspectRatio
	case "quality":
		text = t.Quality
	case "style":
		text = t.Style
	case "model":
		text = t.Model.APIModel
	case "seed":
		if t.Seed != nil {
			text = strconv.FormatInt(*t.Seed, 10)
		}
	case "negative_prompt":
		text = strings.Join(strings.Fields(strings.ReplaceAll(t.NegativePrompt, "--", " ")), " ")
	default:
		text = t.Option(f.Setting)
	}
	if len(f.Words) > 0 {
		return f.Words[text]
	}
	return text
}

// Flags returns a task's settings as flags after its prompt, in row order. A conflicting flag in the prompt, or an
// earlier one, takes precedence. lost are the dispositions of settings that lose.
func Flags(t driver.Task) (flags string, lost []generate.Disposition) {
	prompt := strings.Fields(t.Prompt)
	var all []string
	for _, f := range t.Model.Flags {
		text := value(t, f)
		if text == "" || text == "false" {
			continue
		}
		own, other := f.Clash(prompt), f.Clash(all)
		switch {
		case own != "":
			lost = append(lost, omittedFlag(t, f, "the prompt says "+own+" itself"))
		case other != "":
			lost = append(lost, omittedFlag(t, f, f.Flag+" does not go with "+other))
		case text == "true":
			all = append(all, f.Flag)
		default:
			all = append(all, f.Flag, text)
		}
	}
	return strings.Join(all, " "), lost
}

// Written returns the task with its settings in the prompt: flags follow the words, and settings with flags are
// removed. An act without flags keeps its settings.
func Written(t driver.Task) driver.Task {
	act, err := Of(t)
	if len(t.Model.Flags) == 0 || err != nil || !act.Flagged() {
		return t
	}
	flags, _ := Flags(t) // the Gateway reports the lost settings
	t.Prompt = strings.TrimSpace(t.Prompt + " " + flags)
	t.Options = maps.Clone(t.Options)
	for _, f := range t.Model.Flags {
		t.Unset(f.Setting)
	}
	return t
}

// omittedFlag returns the disposition of a setting whose flag is omitted. The flag that stays determines the version.
func omittedFlag(t driver.Task, f catalog.Flag, reason string) generate.Disposition {
	d := generate.Disposition{Setting: f.Setting, Outcome: generate.OutcomeDropped, Reason: reason}
	if f.Setting == "model" {
		d.Outcome, d.Applied = generate.OutcomeAdapted, "another version"
	}
	if slices.Contains(t.Model.Options, f.Setting) {
		d.Setting = "options." + t.Model.Provider + "." + f.Setting
	}
	return d
}

// FollowUp describes how a task continues from its picture.
type FollowUp struct {
	// Offer is the id of the provider's offer. It is empty if the provider sends no offers: then Plain is its name for
	// the act, and Tile the selected result of a grid, from 1, or 0 for the whole.
	Offer, Plain string
	Tile         int
	// Flags follow the prompt.
	Flags string
	// Unsure reports that the prompt is sent but may be ignored.
	Unsure bool
	// Notes are dispositions of settings, which the Gateway reports.
	Notes []generate.Disposition
}

func (f *FollowUp) note(setting string, o generate.Outcome, applied, reason string) {
	f.Notes = append(f.Notes, generate.Disposition{Setting: setting, Applied: applied, Outcome: o, Reason: reason})
}

// Follow selects the offer that performs a task's act, among the provider's offers for its picture. It returns zero for
// acts that do not follow, and if the row defines no offers. Errors are those of [Of], media.CodeInvalid for a grid
// without a selected result and for more results than the act makes, and media.CodeUnsupported for an act that is not
// offered; it lists the available offers.
func Follow(t driver.Task) (FollowUp, error) {
	a, err := Of(t)
	if err != nil || !a.Follows || !t.Model.TellsOffers() {
		return FollowUp{}, err
	}
	var f FollowUp
	requested, _ := strconv.Atoi(t.Option("index")) // CheckOptions has validated it
	of, whole := slices.ContainsFunc(a.Offers, catalog.Offered.Tiled), grid(t)
	switch {
	case whole && of && requested == 0 && t.Tile() == 0:
		return f, media.Errorf(media.CodeInvalid, "%s is a grid of %d pictures: name one of its tiles, or set %s.index to %s",
			t.Inputs[0].Ref, cmp.Or(t.Model.Grid, t.Model.MaxN), t.Model.Provider, t.Model.OptionRules["index"])
	case whole && of:
		f.Tile = cmp.Or(requested, t.Tile())
		if a.By != "" && t.Option(a.By) != "" {
			f.note("options."+t.Model.Provider+"."+a.By, generate.OutcomeDropped, "", "the pictures of a grid have one "+a.Name+" each")
		}
	case requested != 0:
		f.note("options."+t.Model.Provider+".index", generate.OutcomeDropped, "", "it is a single picture")
	}
	if len(t.Offers()) > 0 {
		err = offered(t, a, &f)
		return f, err
	}
	if a.Plain == "" || of && !whole {
		var names []string
		for _, x := range t.Model.Acts {
			if x.Plain != "" {
				names = append(names, x.Name)
			}
		}
		return f, media.Errorf(media.CodeUnsupported, "nothing was offered for %s when it was made, so %s cannot be asked for its %s: without offers there is %s, of a grid or a tile of it",
			t.Inputs[0].Ref, t.Model.Name, a.Name, strings.Join(names, ", "))
	}
	f.Plain = a.Plain
	if strings.TrimSpace(t.Prompt) != "" {
		f.note("prompt", generate.OutcomeDropped, "", fmt.Sprintf("%s takes no words for a %s where it offers nothing", t.Model.Name, a.Name))
	}
	return f, nil
}

// grid reports whether the picture is a grid, or was cut from one that can be continued from.
func grid(t driver.Task) bool {
	if offers := t.Offers(); len(offers) > 0 {
		return t.Model.Tiled(offers)
	}
	return t.Tile() > 0 || t.Tiles() > 0
}

func offered(t driver.Task, a catalog.Act, f *FollowUp) error {
	detail, offers := "", t.Offers()
	if a.By != "" {
		detail = t.Option(a.By)
	}
	o := a.Offer(detail, f.Tile > 0)
	id, ok := o.FindIn(offers, f.Tile)
	ok = ok && o.ID != ""
	if len(a.Offers) == 0 { // any offer, by its id
		id, o = detail, t.Model.Offer(detail)
		ok, o.WordsIf, o.Flag = slices.ContainsFunc(offers, func(x catalog.Offer) bool { return x.ID == id }), "", ""
	}
	switch {
	case !ok:
		return notOfferedError(t, a, f.Tile > 0 || grid(t))
	case o.Once && t.N > 1:
		return media.Errorf(media.CodeInvalid, "this %s of %s returns one result, not %d: request one", a.Name, t.Inputs[0].Ref, t.N)
	case o.Once && !a.Once:
		f.note("n", generate.OutcomeApplied, "1", "")
	}
	f.Offer = id
	if o.Flag != "" && detail != "" {
		f.Flags = o.Flag + " " + detail
	}
	switch {
	case strings.TrimSpace(t.Prompt) == "" || o.Words == catalog.WordsOptional:
	case o.WordsIf != "":
		f.Unsure = true
		f.note("prompt", generate.OutcomeAdapted, "if "+o.WordsIf, fmt.Sprintf("%s takes words for a %s only if %s, and leaves them out otherwise", t.Model.Name, a.Name, o.WordsIf))
	default:
		f.note("prompt", generate.OutcomeDropped, "", fmt.Sprintf("%s's %s goes by the picture that it starts from and takes no words", t.Model.Name, a.Name))
	}
	return nil
}

func notOfferedError(t driver.Task, a catalog.Act, grid bool) error {
	ref := t.Inputs[0].Ref
	do := "use another one, see atelier media show " + string(ref)
	single := slices.IndexFunc(t.Model.Acts, func(a catalog.Act) bool { return a.Once && slices.ContainsFunc(a.Offers, catalog.Offered.Tiled) })
	if grid && single >= 0 && len(a.Offers) > 0 && a.Plain == "" {
		do = fmt.Sprintf("%s it first (%s.action %[1]s)", t.Model.Acts[single].Name, t.Model.Provider)
	}
	e := media.Errorf(media.CodeUnsupported, "%s offers no such %s for %s: %s", t.Model.Name, a.Name, ref, do)
	for _, o := range t.Offers() {
		e.Valid = append(e.Valid, o.ID)
	}
	return e
}
