package offline_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/offline"
	"atelier/wire"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"Atelier Offline", "Atelier Offline Voice"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			generatetest.Run(t, generatetest.Harness{
				Model: model, NoKey: "it speaks to nobody",
				Driver: func(tb testing.TB, _, _ string, codec *wire.Codec) generate.Driver {
					tb.Helper()
					d, err := offline.New(offline.Config{Store: codec})
					if err != nil {
						tb.Fatal(err)
					}
					return d
				},
			})
		})
	}
}
