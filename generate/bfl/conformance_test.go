package bfl_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/bfl"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/wire"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"FLUX.2 Pro", "FLUX Kontext Max"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, generatetest.Harness{
				Model:     model,
				Simulator: func() generatetest.Simulator { return bflsim.New(bflsim.Config{}) },
				Driver: func(tb testing.TB, base, key string, codec *wire.Codec) generate.Driver {
					tb.Helper()
					d, err := bfl.New(bfl.Config{APIKey: key, BaseURL: base, Codec: codec})
					if err != nil {
						tb.Fatal(err)
					}
					return d
				},
			})
		})
	}
}
