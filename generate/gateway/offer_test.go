package gateway_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/act"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
)

// pressRows are a model whose acts are offers of its pictures.
const pressRows = `
provider: press
models:
  - name: Press
    api_model: press-1
    modality: image
    methods: [generate, edit, variation]
    size: {mode: none}
    max_n: 4
    grid: 4
    max_inputs: 1
    mask: none
    supports: []
    options: [action, index, how, id]
    option_rules: {action: {words: [draw, cut, vary, grow, push]}, index: {min: 1, max: 4, whole: true}}
    acts:
      - {name: draw, for: [generate]}
      - name: vary
        for: [variation]
        follows: true
        words: optional
        takes: [index, how]
        by: how
        plain: V
        offers: [{id: "v:{tile}:", words_if: it likes to}, {id: "vary:", for: ["", much], words_if: it likes to}]
      - {name: cut, follows: true, once: true, words: none, takes: [index], plain: U, offers: [{id: "u:{tile}:", once: true}, {id: "u_*_fine", once: true}]}
      - {name: grow, follows: true, words: optional, takes: [how], by: how, offers: [{id: "grow:2", for: ["", "2"]}, {id: "growby:", words: optional, flag: --by}]}
      - {name: push, follows: true, words: optional, takes: [id], by: id}
    life: {}
    source: a test
`

func pressModel(t *testing.T) catalog.Model {
	t.Helper()
	rows, err := catalog.Load(strings.NewReader(pressRows))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := rows.Lookup("Press")
	return m
}

// offering returns a picture that came with offers.
func offering(tile int, ids ...string) media.Output {
	o := media.Output{Ref: "img-1", Metadata: map[string]any{"press": map[string]any{"job": "7"}}}
	var offers []any
	for _, id := range ids {
		offers = append(offers, map[string]any{"id": id})
	}
	o.Metadata["offers"] = offers
	if tile > 0 {
		o.Metadata["tile"] = float64(tile)
	}
	return o
}

func TestFollowUps(t *testing.T) {
	t.Parallel()
	row := pressModel(t)
	grid := []string{"u:1:x", "u:2:x", "v:1:x", "v:2:x", "spin:x"}
	single := []string{"vary:x", "u_9_rough", "u_9_fine", "grow:2:x", "growby:x"}
	whole := offering(0)
	whole.Metadata["tiles"] = 4
	for _, c := range []struct {
		name    string
		in      media.Output
		options map[string]any
		words   string
		n       int
		offer   string // or the plain name and the tile
		notes   string
		says    string // part of the error
	}{
		{"of a tile", offering(2, grid...), nil, "", 4, "v:2:x", "", ""},
		{"of a tile by number", offering(2, grid...), map[string]any{"index": 1}, "", 4, "v:1:x", "", ""},
		{"of a grid by number", offering(0, grid...), map[string]any{"index": "2"}, "", 4, "v:2:x", "", ""},
		{"of a grid", offering(0, grid...), nil, "", 4, "", "", "press.index to a whole number from 1 to 4"},
		{"how, of a tile", offering(2, grid...), map[string]any{"how": "much"}, "", 4, "v:2:x", "dropped options.press.how", ""},
		{"of a tile that is used up", offering(3, grid...), nil, "", 4, "", "", "offers no such vary"},
		{"of a single", offering(0, single...), nil, "", 4, "vary:x", "", ""},
		{"of a single, much", offering(0, single...), map[string]any{"how": "much"}, "", 4, "vary:x", "", ""},
		{"of a single, otherwise", offering(0, single...), map[string]any{"how": "little"}, "", 4, "", "", "offers no such vary"},
		{"of a single by number", offering(0, single...), map[string]any{"index": 2}, "", 4, "vary:x", "dropped options.press.index", ""},
		{"with words, perhaps", offering(2, grid...), nil, "red", 4, "v:2:x unsure", "adapted prompt", ""},
		{"by what the id holds", offering(0, single...), map[string]any{"action": "cut"}, "", 1, "u_9_fine", "", ""},
		{"twice, of one", offering(1, grid...), map[string]any{"action": "cut"}, "", 2, "", "", "request one"},
		{"grown", offering(0, single...), map[string]any{"action": "grow"}, "red", 4, "grow:2:x", "dropped prompt", ""},
		{"grown by", offering(0, single...), map[string]any{"action": "grow", "how": "3"}, "red", 4, "growby:x --by 3", "", ""},
		{"grown, of a tile", offering(1, grid...), map[string]any{"action": "grow"}, "", 4, "", "", "cut it first (press.action cut)"},
		{"by its id", offering(1, grid...), map[string]any{"action": "push", "id": "spin:x"}, "red", 4, "spin:x", "dropped prompt", ""},
		{"by the id of one result", offering(1, grid...), map[string]any{"action": "push", "id": "u:2:x"}, "", 1, "u:2:x", "applied n", ""},
		{"by the id of one result, twice", offering(1, grid...), map[string]any{"action": "push", "id": "u:2:x"}, "", 2, "", "", "request one"},
		{"by an id with words", offering(0, single...), map[string]any{"action": "push", "id": "growby:x"}, "red", 4, "growby:x", "", ""},
		{"by an id of somewhere else", offering(1, grid...), map[string]any{"action": "push", "id": "vary:x"}, "", 1, "", "", "offers no such push"},
		{"plain, of a tile", offering(2), nil, "red", 4, "V 2", "dropped prompt", ""},
		{"plain, of a grid", whole, nil, "", 4, "", "", "name one of its tiles"},
		{"plain, of a grid by number", whole, map[string]any{"index": 3}, "", 4, "V 3", "", ""},
		{"plain, of a single", offering(0), nil, "", 4, "", "", "without offers there is vary, cut"},
		{"plain, of no such name", offering(2), map[string]any{"action": "grow"}, "", 4, "", "", "cannot be asked for its grow"},
	} {
		q := driver.Task{Method: generate.MethodVariation, Model: row, Prompt: c.words, N: c.n, Inputs: []media.Output{c.in}, Options: c.options}
		f, err := act.Follow(q)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if err != nil {
			e, ok := errors.AsType[*media.Error](err)
			if strings.Contains(c.says, "offers no") && (!ok || len(e.Valid) != 5 || e.Code != media.CodeUnsupported) {
				t.Errorf("%s: %+v does not list what is offered", c.name, err)
			}
			continue
		}
		got := f.Offer
		if f.Offer == "" {
			got = f.Plain + " " + string(rune('0'+f.Tile))
		}
		if f.Unsure {
			got += " unsure"
		}
		var notes []string
		for _, n := range f.Notes {
			notes = append(notes, string(n.Outcome)+" "+n.Setting)
		}
		if got = strings.TrimSpace(got + " " + f.Flags); got != c.offer || strings.Join(notes, ", ") != c.notes {
			t.Errorf("%s: %q with %q, want %q with %q", c.name, got, notes, c.offer, c.notes)
		}
	}
	if f, err := act.Follow(driver.Task{Method: generate.MethodGenerate, Model: row}); err != nil || f.Offer+f.Plain != "" || f.Notes != nil {
		t.Errorf("drawn anew: %+v, %v", f, err)
	}
	if row.Tiled(nil) || row.Tiled([]catalog.Offer{{ID: "vary:1:"}}) || !row.Tiled([]catalog.Offer{{ID: "v:1:"}}) {
		t.Error("a grid is not distinguished from a single picture")
	}
}

// TestFollowUpsWithoutOffers: a row without offers leaves follow-ups to its driver.
func TestFollowUpsWithoutOffers(t *testing.T) {
	t.Parallel()
	row := pressModel(t)
	row.Acts = slices.Clone(row.Acts)
	for i := range row.Acts {
		row.Acts[i].Offers, row.Acts[i].Plain = nil, ""
	}
	f, err := act.Follow(driver.Task{Method: generate.MethodVariation, Model: row, N: 1, Inputs: []media.Output{offering(0, "x")}})
	if err != nil || f.Offer+f.Plain != "" {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestOffersOfRowsAreChecked: a row with offers that could never match is refused.
func TestOffersOfRowsAreChecked(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{
		"by: how\n":                "by: size\n",
		"{id: \"grow:2\"":          "{id: \"*\"",
		"words: optional, flag":    "words: needed, flag",
		"{name: draw, for":         "{name: draw, offers: [{id: x}], for",
		"takes: [how], by: how":    "takes: [how]",
		"words: optional, flag: -": "words: optional, words_if: x, flag: -",
	} {
		if !strings.Contains(pressRows, from) {
			t.Fatalf("%q is not there", from)
		}
		_, err := catalog.Load(strings.NewReader(strings.Replace(pressRows, from, to, 1)))
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "acts") {
			t.Errorf("%s: %v", to, err)
		}
	}
}
