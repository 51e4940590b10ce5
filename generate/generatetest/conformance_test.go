package generatetest_test

import (
	"context"
	"sync/atomic"
	"testing"

	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/media"
	"atelier/media/wire"
)

// TestFake: the scripted driver keeps the contract too, except for contexts, which its script has to check.
func TestFake(t *testing.T) {
	t.Parallel()
	var shade atomic.Int32
	generatetest.Run(t, generatetest.Harness{
		Model: "Atelier Offline", NoKeyReason: "it is a fake", ScriptedReason: "a script looks at no request",
		Driver: func(tb testing.TB, _, _ string, codec *wire.Codec) driver.Driver {
			tb.Helper()
			return &generatetest.Driver{Name: "offline", Make: func(ctx context.Context, _ driver.Task, _ int) (media.Blob, error) {
				if err := ctx.Err(); err != nil {
					return media.Blob{}, err
				}
				return generatetest.Stored(ctx, tb, codec, generatetest.PNG(80, 80, uint8(shade.Add(1)))), nil
			}}
		},
	})
}
