package openai_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/openai"
	"atelier/wire"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for model, sim := range map[string]func() generatetest.Simulator{
		"GPT Image 2":     func() generatetest.Simulator { return openaisim.New(openaisim.Config{}) },
		"GPT-4o mini TTS": func() generatetest.Simulator { return openaisim.NewSpeech(openaisim.Config{}) },
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, generatetest.Harness{
				Model: model, Simulator: sim,
				Driver: func(tb testing.TB, base, key string, codec *wire.Codec) generate.Driver {
					tb.Helper()
					d, err := openai.New(openai.Config{APIKey: key, BaseURL: base + "/v1", Codec: codec})
					if err != nil {
						tb.Fatal(err)
					}
					return d
				},
			})
		})
	}
}
