package gemini_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/gemini"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/geminisim"
	"atelier/wire"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	pictures := func() generatetest.Simulator { return geminisim.New(geminisim.Config{}) }
	sounds := func() generatetest.Simulator { return geminisim.NewSpeech(geminisim.Config{}) }
	for model, sim := range map[string]func() generatetest.Simulator{
		"Nano Banana Pro": pictures, "Nano Banana 2": pictures, "Gemini 2.5 Flash TTS": sounds,
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, generatetest.Harness{
				Model: model, Simulator: sim,
				Driver: func(tb testing.TB, base, key string, codec *wire.Codec) generate.Driver {
					tb.Helper()
					d, err := gemini.New(gemini.Config{APIKey: key, BaseURL: base, Codec: codec})
					if err != nil {
						tb.Fatal(err)
					}
					return d
				},
			})
		})
	}
}
