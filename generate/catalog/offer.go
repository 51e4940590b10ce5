package catalog

import (
	"slices"
	"strconv"
	"strings"
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

// Offer finds what a value of the act's option means, for a result of a grid or for a single
// picture; zero if nothing.
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
