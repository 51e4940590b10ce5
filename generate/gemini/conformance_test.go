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
	for _, model := range []string{"Nano Banana Pro", "Nano Banana 2"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, generatetest.Harness{
				Model:     model,
				Simulator: func() generatetest.Simulator { return geminisim.New(geminisim.Config{}) },
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
