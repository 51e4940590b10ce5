package offline

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// TestUnknownWords: things that a prompt names and the painter does not draw are reported, in two languages; light,
// style, filler and negated words are not.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"three cats on a sofa":            "cats, sofa",
		"a car on a road":                 "car, road",
		"a portrait of a king":            "portrait, king",
		"Male drei Katzen auf einem Sofa": "Katzen, Sofa",
		"Ein Hund im Wald":                "Hund",
		"ein Kind am Strand":              "Kind",
		"a boot on the beach":             "boot",
		"a war scene":                     "war",
		"in the style of Van Gogh":        "Van Gogh",
		"city with trees and people":      "people",
		"rolling hills with wildflowers, rows of solar panels on a roof":               "",
		"eine verschneite Hütte im Wald, ein Zug fährt vorbei":                         "vorbei",
		"an eco-friendly city with a church":                                           "church",
		"two suns over the desert":                                                     "two suns, desert",
		"a hundred boats":                                                              "hundred boats",
		"日本の富士山":                                                                       "日本の富士山",
		"a lighthouse in a storm":                                                      "",
		"Draw three lighthouses at sunset":                                             "",
		"zwei Leuchttürme im Sturm":                                                    "",
		"rotes Boot":                                                                   "",
		"Bergsee bei Nacht, Aquarell":                                                  "Aquarell",
		"Solarpanele auf einem grünen Feld mit Windrädern":                             "",
		"begrünte Gebäude im Sommer":                                                   "",
		"Vögel über dem Meer, der Mond und die Sterne":                                 "",
		"a majestic, weathered red boat on the calm blue sea":                          "",
		"wind turbines and solar panels, no people, no cars":                           "",
		"a beach without people and no boats, sunset":                                  "",
		"abstract geometric shapes in red":                                             "geometric",
		"a train through the mountains":                                                "",
		"Wide shot with calm open sky above. Low morning sun. No lettering, no logos.": "",
		"a train and flowers by the sea":                                               "",
		"a road along a river":                                                         "road, river",
		"a blurred, inverted and upside down picture in watercolor, minimalist":        "blurred, inverted, upside, watercolor, minimalist",
		"ein Ballon, Strommasten und eine rauchende Fabrik am Fluss, geometrisch":      "Ballon, Strommasten, rauchende Fabrik, Fluss, geometrisch",
		"no boats or birds at sunset, no clouds and a red house":                       "",
		"don't draw a boat, it isn’t a lake; a house":                                  "",
		"Ha\u0308user und Windra\u0308der":                                             "",
		"बिल्ली":                                                                       "बिल्ली",
		"":                                                                             "",
	} {
		if got := strings.Join(Painter{}.UnknownWords(prompt), ", "); got != want {
			t.Errorf("%q: unknown %q, want %q", prompt, got, want)
		}
	}
}

func TestUnknownChanges(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"remove the person": "remove, person", "add a dragon": "dragon", "make it look like Van Gogh": "Van Gogh", "make the sky darker": "sky",
		"add a forest": "forest", "entferne das Boot": "entferne, Boot", "make it beautiful": "make it beautiful", "less blue": "less, blue", "no clouds": "no, clouds",
		"add a boat and a forest": "forest", "put a red boat on the water": "", "verwandle es in eine Nachtszene": "",
		"make it bluer": "", "add three birds": "", "füge einen Mond hinzu": "", "it's too bright": "", "turn it into a night scene": "", "make it black and white": "",
		"mach es wärmer": "", "add a boat on the left": "", "turn it upside down": "upside", "make it blurred and inverted": "blurred, inverted", "Can you make that picture a bit darker?": "", "put both side by side": "put both side by side", "don’t make it darker": "not, darker", "it’s too dark": "",
	} {
		if got := strings.Join(Painter{}.UnknownChanges(change), ", "); got != want {
			t.Errorf("%q: cannot %q, want %q", change, got, want)
		}
	}
}

func TestReadDrawing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prompt, negative string
		things           map[string]int
		tags             string
	}{
		{"Solar panels and two wind turbines at sunrise", "", map[string]int{"solar": 0, "turbine": 2}, "sunrise"},
		{"renewable energy at night", "", map[string]int{"turbine": 0, "solar": 0}, "night"},
		{"a beach without people and no boats, sunset", "", map[string]int{"beach": 0}, "sunset"},
		{"city with trees", "trees, fog", map[string]int{"city": 0}, ""},
		{"a lighthouse and boats", "", map[string]int{"lighthouse": 1, "boat": 0}, ""},
		{"no boats or birds at sunset", "", map[string]int{}, "sunset"},
		{"a red boat and a white boat", "", map[string]int{"boat": 2}, ""},
		{"don’t draw a boat, a house on a hill", "", map[string]int{"house": 1, "hill": 0}, ""},
		{"a lake, no boats or birds", "", map[string]int{"sea": 0}, ""},
		{"zwölf Vögel im Nebel", "", map[string]int{"bird": 12}, "fog"},
	} {
		b := readDrawing(c.prompt, c.negative, "")
		if diff := cmp.Diff(c.things, b.things); diff != "" || c.tags != "" && !b.tags[c.tags] {
			t.Errorf("%q: tags %v, things %s", c.prompt, b.tags, diff)
		}
	}
	if b := readDrawing("a red boat on the sea", "", ""); len(b.tint["boat"]) != 1 || b.tint["boat"][0] != hex(0xd7263d) || len(b.hues) != 0 {
		t.Errorf("the colour of the boat is %v, that of the picture %v", b.tint, b.hues)
	}
}

// TestFollowedWords: the words that a result is said to follow are those that it does follow.
func TestFollowedWords(t *testing.T) {
	t.Parallel()
	edit, vary := generate.MethodEdit, generate.MethodVariation
	for _, c := range []struct {
		task          driver.Task
		used, unknown string
	}{
		{driver.Task{Prompt: "a red boat and a house at night", NegativePrompt: "boats, night"}, "house", ""},
		{driver.Task{Prompt: "a red boat and a house, no boat"}, "house", ""},
		{driver.Task{Prompt: "a train by the sea"}, "train, sea", ""},
		{driver.Task{Prompt: "a blurred house", Style: "sepia, watercolor, cyberpunk"}, "house, sepia", "blurred, watercolor, cyberpunk"},
		{driver.Task{Method: edit, Prompt: "make it minimalist and too dark"}, "too dark", "minimalist"},
		{driver.Task{Method: edit, Prompt: "make it warm and less blue"}, "warm", "less, blue"},
		{driver.Task{Method: edit, Prompt: "a red boat", Mask: &media.Output{}}, "red boat", ""},
		{driver.Task{Method: edit, Prompt: "make the house blue", Mask: &media.Output{}}, "blue", ""},
		{driver.Task{Method: vary, Prompt: "add a moon"}, "moon", ""},
	} {
		used, m := followedWords(&c.task)
		unknown, _ := m["unknown_words"].([]string)
		if got := strings.Join(unknown, ", "); used != c.used || got != c.unknown {
			t.Errorf("%q %q: follows %q, unknown %q; want %q, %q", c.task.Method, c.task.Prompt, used, got, c.used, c.unknown)
		}
	}
	if b := readWish("make it warm and less blue", true); len(b.hues) > 0 {
		t.Error("less blue makes it blue")
	}
}

func FuzzReadDrawing(f *testing.F) {
	f.Add("solar panels without clouds", "night")
	f.Add("zwei rote Boote ohne Wolken", "Nacht")
	f.Fuzz(func(t *testing.T, prompt, negative string) {
		b := readDrawing(prompt, negative, "vivid")
		for name := range b.things {
			if !slices.Contains(b.order, name) || b.things[name] > maxDrawn {
				t.Errorf("%q − %q: %s is drawn %d times, order %v", prompt, negative, name, b.things[name], b.order)
			}
		}
		_ = Painter{}.UnknownChanges(prompt)
	})
}
