package openrouter_test

import (
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openroutersim"
	"atelier/generate/openrouter"
	"atelier/wire"
)

func today() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"Nano Banana Pro (OpenRouter)", "GPT-5 Image (OpenRouter)"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, generatetest.Harness{
				Model:     model,
				Simulator: func() generatetest.Simulator { return openroutersim.New(openroutersim.Config{}) },
				Driver: func(tb testing.TB, base, key string, codec *wire.Codec) generate.Driver {
					tb.Helper()
					d, err := openrouter.New(openrouter.Config{APIKey: key, BaseURL: base, Codec: codec, Now: today})
					if err != nil {
						tb.Fatal(err)
					}
					return d
				},
			})
		})
	}
}
