package act

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
)

// FollowUp is how a task continues from its picture.
type FollowUp struct {
	// Offer is the provider's id of what it offered. It is empty where the provider tells of no
	// offers: then Plain is what it calls the act, and Tile which result of a grid is meant,
	// from 1, or 0 for the whole.
	Offer, Plain string
	Tile         int
	// Flags stand behind the words.
	Flags string
	// Unsure says that the words are sent, and may not be taken.
	Unsure bool
	// Notes say what becomes of settings; the Gateway tells them.
	Notes []generate.Disposition
}

// note tells what becomes of a setting.
func (f *FollowUp) note(setting string, o generate.Outcome, applied, why string) {
	f.Notes = append(f.Notes, generate.Disposition{Setting: setting, Applied: applied, Outcome: o, Reason: why})
}

// Follow finds what the act of a task is among what the provider offered to do with its
// picture. It is zero for acts that begin anew, and where the row says nothing of offers.
// Errors are those of [Of], media.CodeInvalid for a grid of which no result is named and
// for more results than the act gives, and media.CodeUnsupported for what is not offered,
// which lists what is.
func Follow(t driver.Task) (FollowUp, error) {
	a, err := Of(t)
	if err != nil || !a.Follows || !t.Model.TellsOffers() {
		return FollowUp{}, err
	}
	var f FollowUp
	asked, _ := strconv.Atoi(t.Option("index")) // the catalogue's rule was kept
	of, whole := slices.ContainsFunc(a.Offers, catalog.Offered.Tiled), grid(t)
	switch {
	case whole && of && asked == 0 && t.Tile() == 0:
		return f, media.Errorf(media.CodeInvalid, "%s is a grid of %d pictures: name one of its tiles, or set %s.index to %s",
			t.Inputs[0].Ref, cmp.Or(t.Model.Grid, t.Model.MaxN), t.Model.Provider, t.Model.OptionRules["index"])
	case whole && of:
		f.Tile = cmp.Or(asked, t.Tile())
		if a.By != "" && t.Option(a.By) != "" {
			f.note("options."+t.Model.Provider+"."+a.By, generate.OutcomeDropped, "", "the pictures of a grid have one "+a.Name+" each")
		}
	case asked != 0:
		f.note("options."+t.Model.Provider+".index", generate.OutcomeDropped, "", "it is a single picture")
	}
	if len(t.Offers()) == 0 {
		err = plain(t, a, &f, of && !whole)
	} else {
		err = offered(t, a, &f)
	}
	return f, err
}

// grid reports whether the picture is a grid, or was cut out of one that can be continued from.
func grid(t driver.Task) bool {
	if offers := t.Offers(); len(offers) > 0 {
		return t.Model.Tiled(offers)
	}
	return t.Tile() > 0 || t.Tiles() > 0
}

// offered finds the offer that is meant.
func offered(t driver.Task, a catalog.Act, f *FollowUp) error {
	detail, offers := "", t.Offers()
	if a.By != "" {
		detail = t.Option(a.By)
	}
	o := a.Offer(detail, f.Tile > 0)
	id, ok := o.Among(offers, f.Tile)
	ok = ok && o.ID != ""
	if len(a.Offers) == 0 { // any, by its id
		id, o = detail, t.Model.Offer(detail)
		ok, o.WordsIf, o.Flag = slices.ContainsFunc(offers, func(x catalog.Offer) bool { return x.ID == id }), "", ""
	}
	switch {
	case !ok:
		return lacks(t, a, f.Tile > 0 || grid(t))
	case o.Once && t.N > 1:
		return media.Errorf(media.CodeInvalid, "this %s of %s gives one result, not %d: ask for one", a.Name, t.Inputs[0].Ref, t.N)
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

// lacks is the error for what the provider does not offer; it lists what it does.
func lacks(t driver.Task, a catalog.Act, grid bool) error {
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

// plain is a follow-up where the provider tells of no offers.
func plain(t driver.Task, a catalog.Act, f *FollowUp, single bool) error {
	if a.Plain == "" || single {
		var names []string
		for _, x := range t.Model.Acts {
			if x.Plain != "" {
				names = append(names, x.Name)
			}
		}
		return media.Errorf(media.CodeUnsupported, "nothing was offered for %s when it was made, so %s cannot be asked for its %s: without offers there is %s, of a grid or a tile of it",
			t.Inputs[0].Ref, t.Model.Name, a.Name, strings.Join(names, ", "))
	}
	f.Plain = a.Plain
	if strings.TrimSpace(t.Prompt) != "" {
		f.note("prompt", generate.OutcomeDropped, "", fmt.Sprintf("%s takes no words for a %s where it offers nothing", t.Model.Name, a.Name))
	}
	return nil
}
