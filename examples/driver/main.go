// Command driver adds its own provider to the gateway: a studio that makes pictures of
// one shade of grey. A driver for an HTTP service uses the codec's Transport, as
// ExampleDriver_http of package generate shows.
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"log"
	"os"
	"path/filepath"

	"atelier"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
)

// catalogue describes the model; docs/drivers.md lists the fields.
const catalogue = `provider: studio
checked: 2026-11-22
models:
  - name: Studio Grey
    api_model: grey-1
    modality: image
    methods: [generate]
    size: {mode: enum, values: ["64x64", "96x64"]}
    max_n: 2
    mask: none
    formats: [png]
    prices:
      - {unit: image, usd: "0.002", as_of: "2026-11-22"}
    source: Our own studio.
`

// studio is the driver.
type studio struct {
	driver.Synchronous
	codec *wire.Codec
}

// Provider returns the driver's key in the catalogue.
func (studio) Provider() string { return "studio" }

// Ready returns nil: no key is needed.
func (studio) Ready() error { return nil }

// Start makes the pictures of one call.
func (s studio) Start(ctx context.Context, t driver.Task) (driver.Update, error) {
	u := driver.Update{Done: true, Usage: generate.Usage{Calls: 1}}
	for i := range t.N {
		picture := image.NewGray(image.Rect(0, 0, t.Width, t.Height))
		draw.Draw(picture, picture.Bounds(), image.NewUniform(color.Gray{Y: uint8(60 + 100*i)}), image.Point{}, draw.Src) //nolint:gosec // n is at most 2
		var file bytes.Buffer
		if err := png.Encode(&file, picture); err != nil {
			return u, fmt.Errorf("encode a picture: %w", err)
		}
		b, err := s.codec.Store(ctx, &file, "image/png")
		if err != nil {
			return u, err
		}
		u.Items = append(u.Items, driver.Item{Blob: &b})
	}
	return u, nil
}

func main() {
	if err := grey(context.Background(), "atelier-data", os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func grey(ctx context.Context, dir string, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	models := filepath.Join(dir, "studio.yaml")
	if err := os.WriteFile(models, []byte(catalogue), 0o600); err != nil {
		return err
	}
	a, err := atelier.Open(ctx, atelier.Config{
		Dir: dir, Catalogue: models,
		Drivers: []func(*wire.Codec) (driver.Driver, error){func(c *wire.Codec) (driver.Driver, error) { return studio{codec: c}, nil }},
	})
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	res, err := a.Generate(ctx, generate.Request{Prompt: "grey", Model: "Studio Grey", N: 3, AspectRatio: "3:2"})
	if err != nil {
		return err
	}
	for _, o := range res.Outputs() {
		if o.Modality != media.ModalityImage {
			return fmt.Errorf("%s is not a picture", o.Ref)
		}
		if _, err := fmt.Fprintf(out, "%s  %d × %d\n", o.Ref, o.Width, o.Height); err != nil {
			return err
		}
	}
	return res.Err()
}
