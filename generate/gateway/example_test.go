package gateway_test

import (
	"context"
	"fmt"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/provider/offline"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// A program makes a picture with the model that needs no key.
func Example() {
	store, err := blob.New(blob.Config{Driver: memblob.New()})
	check(err)
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "k1", Secret: []byte("at least sixteen bytes")}}})
	check(err)
	drv, err := offline.New(offline.Config{Store: codec})
	check(err)
	gateway, err := gateway.New(gateway.Config{Drivers: []driver.Driver{drv}, Storage: codec})
	check(err)
	result, err := gateway.Generate(context.Background(), generate.Request{
		Prompt: "A lighthouse in a storm", Model: "Atelier Offline", AspectRatio: "3:2", Quality: "hd",
	})
	check(err)
	for _, o := range result.Outputs() {
		fmt.Println(o.MIMEType, o.Width, o.Height)
	}
	for _, d := range result.Dispositions {
		fmt.Println(d.Setting, d.Outcome, d.Applied)
	}
	// Output:
	// image/png 1254 836
	// model applied Atelier Offline
	// aspect_ratio applied 1254x836
	// quality dropped
}

// check ends the example on an error; a program would handle each error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
