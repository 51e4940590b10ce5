// Package roster lists every driver of the program with the simulator that it is tested
// against: the columns of the conformance report, docs/conformance.md. [Run] tests one
// provider's drivers against the contract.
//
// It defines no errors. It is a test package: it imports the drivers and their simulators,
// and no shipped code imports it.
package roster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/generatetest/openroutersim"
	"atelier/generate/generatetest/xaisim"
	"atelier/generate/provider/bfl"
	"atelier/generate/provider/gemini"
	"atelier/generate/provider/leonardo"
	"atelier/generate/provider/midjourney"
	"atelier/generate/provider/offline"
	"atelier/generate/provider/openai"
	"atelier/generate/provider/openrouter"
	"atelier/media/wire"
)

// Column is one driver with one model.
type Column struct {
	// Provider is the driver's key.
	Provider string
	generatetest.Harness
}

// Columns lists every column, one for each request format of a driver.
func Columns() []Column {
	return slices.Concat(openaiColumns(), geminiColumns(), bflColumns(), leonardoColumns(), midjourneyColumns(), openrouterColumns(), xaiColumns(), offlineColumns())
}

// Run runs the suite with every column of a provider.
func Run(t *testing.T, provider string) {
	t.Helper()
	found := 0
	for _, c := range Columns() {
		if c.Provider != provider {
			continue
		}
		found++
		t.Run(c.Title(), func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, c.Harness)
		})
	}
	if found == 0 {
		t.Fatalf("the roster has no column of %s", provider)
	}
}

// Title returns the name of a column among those of its provider.
func (c Column) Title() string { return strings.TrimSpace(c.Model + " " + c.Name) }

// secret signs notifications or is sent in them.
const secret = "hush"

// compatible describes a service with OpenAI's protocol, as a user's file does: one model of
// which is only known that it makes pictures, and one with everything that the protocol
// supports.
const compatible = `provider: studio
endpoint: {name: Studio, base_url: "http://127.0.0.1:1/v1", key_variable: STUDIO_API_KEY}
models:
  - {name: Studio Image, api_model: gpt-image-studio, modality: image, methods: [generate], size: {mode: enum, values: [1024x1024, 1536x1024]}, max_n: 1, mask: none, supports: [], formats: [png, jpeg], life: {}, source: a test}
  - name: Studio Editor
    api_model: gpt-image-studio-edit
    modality: image
    methods: [generate, edit]
    emulates: [variation]
    size: {mode: free, auto: true, step: 16, min_side: 512, max_side: 2048, min_pixels: 655360}
    max_n: 4
    max_inputs: 8
    input_types: [image/png, image/jpeg]
    mask: alpha0
    max_mask_bytes: 4000000
    supports: [background, compression, moderation, stream]
    edit_lacks: [moderation]
    qualities: [low, high]
    formats: [png, jpeg, webp]
    source: a test
`

func today() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// made returns the driver or ends the test.
func made(tb testing.TB, d driver.Driver, err error) driver.Driver {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func openaiColumns() []Column {
	driver := func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
		tb.Helper()
		d, err := openai.New(openai.Config{APIKey: key, BaseURL: base + "/v1", Codec: codec})
		return made(tb, d, err)
	}
	pictures := func() generatetest.Simulator { return openaisim.New(openaisim.Config{}) }
	sounds := func() generatetest.Simulator { return openaisim.NewSpeech(openaisim.Config{}) }
	return []Column{
		{"openai", generatetest.Harness{Model: "GPT Image 2", Simulator: pictures, Driver: driver}},
		{"openai", generatetest.Harness{Model: "GPT-4o mini TTS", Simulator: sounds, Driver: driver}},
		compatibleColumn("Studio Image"), compatibleColumn("Studio Editor"),
	}
}

// compatibleColumn tests the driver at another service's address.
func compatibleColumn(model string) Column {
	return Column{"openai", generatetest.Harness{
		Model: model, Name: "(compatible endpoint)", Catalogue: compatible,
		Simulator: func() generatetest.Simulator {
			return openaisim.New(openaisim.Config{ExtraModels: []string{"gpt-image-studio", "gpt-image-studio-edit"}})
		},
		Driver: func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
			tb.Helper()
			at := catalog.Endpoint{Provider: "studio", Name: "Studio", BaseURL: base + "/v1", KeyVariable: "STUDIO_API_KEY"}
			d, err := openai.NewCompatible(openai.Config{APIKey: key, Codec: codec}, at)
			return made(tb, d, err)
		},
	}}
}

// xaiColumns tests the driver with xAI's dialect, at the shipped endpoint.
func xaiColumns() []Column {
	return []Column{{"xai", generatetest.Harness{
		Model: "Grok Imagine 2.0", Simulator: func() generatetest.Simulator { return xaisim.New(xaisim.Config{}) },
		Driver: func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
			tb.Helper()
			c, err := catalog.Load()
			if err != nil {
				tb.Fatal(err)
			}
			at := c.Endpoints()[0]
			at.BaseURL = base + "/v1"
			d, err := openai.NewCompatible(openai.Config{APIKey: key, Codec: codec}, at)
			return made(tb, d, err)
		},
	}}}
}

func geminiColumns() []Column {
	driver := func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
		tb.Helper()
		d, err := gemini.New(gemini.Config{APIKey: key, BaseURL: base, Codec: codec})
		return made(tb, d, err)
	}
	pictures := func() generatetest.Simulator { return geminisim.New(geminisim.Config{}) }
	sounds := func() generatetest.Simulator { return geminisim.NewSpeech(geminisim.Config{}) }
	return []Column{
		{"gemini", generatetest.Harness{Model: "Nano Banana Pro", Simulator: pictures, Driver: driver}},
		{"gemini", generatetest.Harness{Model: "Nano Banana 2.1", Simulator: pictures, Driver: driver}},
		{"gemini", generatetest.Harness{Model: "Gemini 2.5 Flash TTS", Simulator: sounds, Driver: driver}},
		{"gemini", generatetest.Harness{Model: "Gemini 3.8 Flash TTS", Simulator: sounds, Driver: driver}},
	}
}

func bflColumns() []Column {
	var all []Column
	for _, model := range []string{"FLUX.2 Pro", "FLUX.3 Image", "FLUX 1.1 Ultra", "FLUX Kontext Max", "FLUX Fill"} {
		all = append(all, Column{"bfl", generatetest.Harness{
			Model: model, NotifySecret: secret, CannotCancel: true,
			Simulator: func() generatetest.Simulator { return bflsim.New(bflsim.Config{}) },
			Driver: func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
				tb.Helper()
				d, err := bfl.New(bfl.Config{APIKey: key, BaseURL: base, NotifySecret: secret, Codec: codec})
				return made(tb, d, err)
			},
		}})
	}
	return all
}

func leonardoColumns() []Column {
	var all []Column
	for _, model := range []string{"Leonardo Phoenix 1.0", "Leonardo Anime XL"} {
		all = append(all, Column{"leonardo", generatetest.Harness{
			Model: model, NotifySecret: secret, CannotCancel: true,
			Simulator: func() generatetest.Simulator { return leonardosim.New(leonardosim.Config{WebhookKey: secret}) },
			Driver: func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
				tb.Helper()
				d, err := leonardo.New(leonardo.Config{APIKey: key, BaseURL: base, NotifySecret: secret, Codec: codec})
				return made(tb, d, err)
			},
		}})
	}
	return all
}

// midjourneyColumns has grids, which the Gateway cuts, and single pictures.
func midjourneyColumns() []Column {
	var all []Column
	upscale := &generate.Request{Method: generate.MethodEdit, Prompt: "Upscale it", Options: map[string]map[string]any{"midjourney": {"action": "upscale"}}}
	for _, singles := range []bool{false, true} {
		name := "(grid)"
		if singles {
			name = "(singles)"
		}
		all = append(all, Column{"midjourney", generatetest.Harness{
			Model: "Midjourney 7", Name: name, PerCall: 4, CutsGrid: !singles, Masked: upscale,
			Simulator: func() generatetest.Simulator {
				return midjourneysim.New(midjourneysim.Config{Singles: singles})
			},
			Driver: func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
				tb.Helper()
				if key == "" { // the setting that is required is the address
					base = ""
				}
				d, err := midjourney.New(midjourney.Config{BaseURL: base, APIKey: key, Codec: codec})
				return made(tb, d, err)
			},
		}})
	}
	return all
}

func openrouterColumns() []Column {
	var all []Column
	for _, model := range []string{"Nano Banana Pro (OpenRouter)", "GPT-5 Image (OpenRouter)"} {
		all = append(all, Column{"openrouter", generatetest.Harness{
			Model:     model,
			Simulator: func() generatetest.Simulator { return openroutersim.New(openroutersim.Config{}) },
			Driver: func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver {
				tb.Helper()
				d, err := openrouter.New(openrouter.Config{APIKey: key, BaseURL: base, Codec: codec, Now: today})
				return made(tb, d, err)
			},
		}})
	}
	all = append(all, all[0])
	typed := &all[len(all)-1].Harness
	typed.Model = "Nano Banana 2 Lite (OpenRouter)"
	typed.Simulator = func() generatetest.Simulator { return openroutersim.NewTyped(openroutersim.Config{}) }
	return all
}

func offlineColumns() []Column {
	var all []Column
	for _, model := range []string{"Atelier Offline", "Atelier Offline Voice"} {
		all = append(all, Column{"offline", generatetest.Harness{
			Model: model, NoKeyReason: "it speaks to nobody",
			Driver: func(tb testing.TB, _, _ string, codec *wire.Codec) driver.Driver {
				tb.Helper()
				d, err := offline.New(offline.Config{Store: codec})
				return made(tb, d, err)
			},
		}})
	}
	return all
}
