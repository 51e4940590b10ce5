package generate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atelier/media"
)

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

// tiled reports whether the offer is about one result of a grid.
func (o Offered) tiled() bool { return strings.Contains(o.ID, tileMark) }

// among gives the id of the offer, for a tile; false if it is not among those.
func (o Offered) among(offers []Offer, tile int) (string, bool) {
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
			_, ok := o.among(offers, 1)
			return ok && o.tiled()
		})
	})
}

// FollowUp is how a task goes on from its picture.
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
	Notes []Disposition
}

// tellsOffers reports whether the row says which offers its acts are.
func (m Model) tellsOffers() bool {
	return slices.ContainsFunc(m.Acts, func(a Act) bool { return len(a.Offers) > 0 || a.Plain != "" })
}

// note tells what becomes of a setting.
func (f *FollowUp) note(setting string, o Outcome, applied, why string) {
	f.Notes = append(f.Notes, Disposition{Setting: setting, Applied: applied, Outcome: o, Reason: why})
}

// FollowUp finds what the act of a task is among what the provider offered to do with its
// picture. It is zero for acts that begin anew, and where the row says nothing of offers.
// Errors are those of [Task.Act], media.CodeInvalid for a grid of which no result is named and
// for more results than the act gives, and media.CodeUnsupported for what is not offered,
// which lists what is.
func (t Task) FollowUp() (FollowUp, error) {
	a, err := t.Act()
	if err != nil || !a.Follows || !t.Model.tellsOffers() {
		return FollowUp{}, err
	}
	var f FollowUp
	asked, _ := strconv.Atoi(t.Option("index")) // the catalogue's rule was kept
	of, grid := slices.ContainsFunc(a.Offers, Offered.tiled), t.grid()
	switch {
	case grid && of && asked == 0 && t.Tile() == 0:
		return f, media.Errorf(media.CodeInvalid, "%s is a grid of %d pictures: name one of its tiles, or set %s.index to %s",
			t.Inputs[0].Ref, cmp.Or(t.Model.Grid, t.Model.MaxN), t.Model.Provider, t.Model.OptionRules["index"])
	case grid && of:
		f.Tile = cmp.Or(asked, t.Tile())
		if a.By != "" && t.Option(a.By) != "" {
			f.note("options."+t.Model.Provider+"."+a.By, OutcomeDropped, "", "the pictures of a grid have one "+a.Name+" each")
		}
	case asked != 0:
		f.note("options."+t.Model.Provider+".index", OutcomeDropped, "", "it is a single picture")
	}
	if len(t.Offers()) == 0 {
		err = t.plain(a, &f, of && !grid)
	} else {
		err = t.offered(a, &f)
	}
	return f, err
}

// grid reports whether the picture is a grid, or was cut out of one that can be gone on from.
func (t Task) grid() bool {
	if offers := t.Offers(); len(offers) > 0 {
		return t.Model.Tiled(offers)
	}
	return t.Tile() > 0 || count(t.Inputs[0].Metadata["tiles"]) > 0
}

// offered finds the offer that is meant.
func (t Task) offered(a Act, f *FollowUp) error {
	detail, offers := "", t.Offers()
	if a.By != "" {
		detail = t.Option(a.By)
	}
	o := a.offer(detail, f.Tile > 0)
	id, ok := o.among(offers, f.Tile)
	ok = ok && o.ID != ""
	if len(a.Offers) == 0 { // any, by its id
		id, o = detail, t.Model.offer(detail)
		ok, o.WordsIf, o.Flag = slices.ContainsFunc(offers, func(x Offer) bool { return x.ID == id }), "", ""
	}
	switch {
	case !ok:
		return t.lacks(a, f.Tile > 0 || t.grid())
	case o.Once && t.N > 1:
		return media.Errorf(media.CodeInvalid, "this %s of %s gives one result, not %d: ask for one", a.Name, t.Inputs[0].Ref, t.N)
	case o.Once && !a.Once:
		f.note("n", OutcomeApplied, "1", "")
	}
	f.Offer = id
	if o.Flag != "" && detail != "" {
		f.Flags = o.Flag + " " + detail
	}
	switch {
	case strings.TrimSpace(t.Prompt) == "" || o.Words == wordsOptional:
	case o.WordsIf != "":
		f.Unsure = true
		f.note("prompt", OutcomeAdapted, "if "+o.WordsIf, fmt.Sprintf("%s takes words for a %s only if %s, and leaves them out otherwise", t.Model.Name, a.Name, o.WordsIf))
	default:
		f.note("prompt", OutcomeDropped, "", fmt.Sprintf("%s's %s goes by the picture that it starts from and takes no words", t.Model.Name, a.Name))
	}
	return nil
}

// offer finds what a value of the act's option means, for a result of a grid or for a single
// picture; zero if nothing.
func (a Act) offer(detail string, tile bool) Offered {
	find := func(fits func(Offered) bool) int {
		return slices.IndexFunc(a.Offers, func(o Offered) bool { return o.tiled() == tile && fits(o) })
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

// offer finds what the row says of an id; zero if nothing.
func (m Model) offer(id string) Offered {
	for _, a := range m.Acts {
		for _, o := range a.Offers {
			for tile := range maxTiles {
				if _, ok := o.among([]Offer{{ID: id}}, tile+1); ok {
					return o
				}
			}
		}
	}
	return Offered{}
}

// lacks is the error for what the provider does not offer; it lists what it does.
func (t Task) lacks(a Act, grid bool) error {
	ref := t.Inputs[0].Ref
	do := "use another one, see atelier media show " + string(ref)
	single := slices.IndexFunc(t.Model.Acts, func(a Act) bool { return a.Once && slices.ContainsFunc(a.Offers, Offered.tiled) })
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
func (t Task) plain(a Act, f *FollowUp, single bool) error {
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
		f.note("prompt", OutcomeDropped, "", fmt.Sprintf("%s takes no words for a %s where it offers nothing", t.Model.Name, a.Name))
	}
	return nil
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
		case !slices.Contains([]string{"", wordsOptional, wordsNone}, o.Words) || o.Words != "" && o.WordsIf != "":
			return m.bad("acts", "%s: offer %s: words is %q: use optional or none, or words_if alone", a.Name, o.ID, o.Words)
		case a.By == "" && len(o.For) > 0:
			return m.bad("acts", "%s: offer %s: for needs the option that by names", a.Name, o.ID)
		}
	}
	return nil
}
