package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// gradient is a custom driver that makes pictures of one colour. For a driver that calls a service see easel.
type gradient struct{ codec *wire.Codec }

func (gradient) Provider() string { return "studio" }
func (gradient) Ready() error     { return nil }

func (g gradient) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	u := driver.Update{Done: true, Usage: generate.Usage{Calls: 1}}
	for i := range t.N {
		img := image.NewGray(image.Rect(0, 0, t.Width, t.Height))
		img.SetGray(i, 0, color.Gray{Y: 255})
		var file bytes.Buffer
		if err := png.Encode(&file, img); err != nil {
			return u, fmt.Errorf("encode picture: %w", err)
		}
		b, err := g.codec.Store(ctx, &file, "image/png")
		if err != nil {
			return u, fmt.Errorf("store picture: %w", err)
		}
		u.Items = append(u.Items, driver.Item{Blob: &b})
	}
	return u, nil
}

func (gradient) Poll(context.Context, driver.Task, driver.Handle) (driver.Update, error) {
	return driver.Update{}, media.Errorf(media.CodeUnsupported, "studio answers at once")
}

func (gradient) Cancel(context.Context, driver.Handle) error { return nil }

// A program adds its own driver and model.
func ExampleDriver() {
	store, err := blob.New(blob.Config{Driver: memblob.New()})
	check(err)
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "k1", Secret: []byte("at least sixteen bytes")}}})
	check(err)
	models, err := catalog.New(catalog.Model{
		Name:         "Studio Grey",
		Provider:     "studio",
		APIModel:     "grey-1",
		Modality:     media.ModalityImage,
		Methods:      []generate.Method{generate.MethodGenerate},
		Size:         catalog.SizeRule{Mode: "enum", Values: []string{"64x64", "96x64"}},
		SettingRules: catalog.SettingRules{MaxN: 2, Formats: []string{"png"}},
		InputRules:   catalog.InputRules{Mask: "none"},
		Prices:       []catalog.Price{{Unit: "image", USD: "0.002", AsOf: "2026-11-21"}},
		RowSource:    catalog.RowSource{Source: "Our own."},
	})
	check(err)
	gateway, err := gateway.New(gateway.Config{Drivers: []driver.Driver{gradient{codec}}, Catalogue: models, Storage: codec})
	check(err)
	result, err := gateway.Generate(context.Background(), generate.Request{Prompt: "grey", N: 3, AspectRatio: "3:2"})
	check(err)
	fmt.Println(result.Status, len(result.Outputs()), "pictures in", result.Usage.Calls, "calls for $"+*result.Cost.EstimatedUSD)
	fmt.Println(result.Slots[2].Output.Width, "x", result.Slots[2].Output.Height)
	// Output:
	// succeeded 3 pictures in 2 calls for $0.006
	// 96 x 64
}
