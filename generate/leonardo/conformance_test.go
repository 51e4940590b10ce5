package leonardo_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/leonardo"
	"atelier/wire"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	generatetest.Run(t, generatetest.Harness{
		Model:     "Leonardo Phoenix 1.0",
		Simulator: func() generatetest.Simulator { return leonardosim.New(leonardosim.Config{}) },
		Driver: func(tb testing.TB, base, key string, codec *wire.Codec) generate.Driver {
			tb.Helper()
			d, err := leonardo.New(leonardo.Config{APIKey: key, BaseURL: base, Codec: codec})
			if err != nil {
				tb.Fatal(err)
			}
			return d
		},
	})
}
