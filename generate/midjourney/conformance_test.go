package midjourney_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/midjourney"
	"atelier/wire"
)

// TestConformance: with grids, which the Gateway cuts, and with single pictures.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]midjourneysim.Config{
		"grid": {}, "singles": {Singles: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, generatetest.Harness{
				Model: "Midjourney 7", PerCall: 4,
				Simulator: func() generatetest.Simulator { return midjourneysim.New(c) },
				Driver: func(tb testing.TB, base, key string, codec *wire.Codec) generate.Driver {
					tb.Helper()
					if key == "" { // what has to be set is the address
						base = ""
					}
					d, err := midjourney.New(midjourney.Config{ProxyURL: base, Secret: key, Codec: codec})
					if err != nil {
						tb.Fatal(err)
					}
					return d
				},
			})
		})
	}
}
