package gateway_test

import (
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// newFluxGateway returns a gateway with the drivers of Black Forest Labs and Leonardo.
func newFluxGateway(t *testing.T) *testGateway {
	t.Helper()
	return build(t, func(_ *testGateway, c *gateway.Config) {
		c.Drivers = []driver.Driver{&generatetest.Driver{Name: "bfl"}, &generatetest.Driver{Name: "leonardo"}}
	})
}

// TestEstimatesByMegapixel: the first megapixel, further whole ones, and those of every input are charged.
func TestEstimatesByMegapixel(t *testing.T) {
	t.Parallel()
	h := newFluxGateway(t)
	picture := func(w, height int) media.Output {
		return media.Output{Modality: media.ModalityImage, Blob: media.Blob{
			Digest: media.DigestOf([]byte{byte(w)}), Facts: media.Facts{MIMEType: "image/png", Width: w, Height: height},
		}}
	}
	for name, c := range map[string]struct {
		req  generate.Request
		want string
	}{
		"no size":           {generate.Request{Model: "FLUX.2 Pro"}, "0.03"},
		"small":             {generate.Request{Model: "FLUX.2 Pro", Size: "256x256"}, "0.03"},
		"one":               {generate.Request{Model: "FLUX.2 Pro", Size: "1024x1024", N: 3}, "0.09"},
		"two":               {generate.Request{Model: "FLUX.2 Pro", Size: "1920x1072"}, "0.045"},
		"four":              {generate.Request{Model: "FLUX.2 Max", Size: "2048x2048"}, "0.16"},
		"input":             {generate.Request{Model: "FLUX.2 Pro", Method: generate.MethodEdit, Inputs: []media.Output{picture(1024, 1024)}}, "0.045"},
		"large input":       {generate.Request{Model: "FLUX.2 Pro", Method: generate.MethodEdit, Inputs: []media.Output{picture(4000, 4000)}}, "0.315"},
		"two inputs":        {generate.Request{Model: "FLUX.2 Flex", Method: generate.MethodEdit, Size: "512x512", Inputs: []media.Output{picture(100, 100), picture(1200, 1200)}}, "0.2"},
		"flat":              {generate.Request{Model: "FLUX Kontext Max", N: 2}, "0.16"},
		"a price is needed": {generate.Request{Model: "Lucid Origin"}, "unknown"},
	} {
		c.req.Prompt = "a house"
		p, err := h.Plan(t.Context(), c.req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := "unknown"
		if p.EstimatedUSD != nil {
			got = *p.EstimatedUSD
		}
		if got != c.want {
			t.Errorf("%s costs %s, want %s", name, got, c.want)
		}
	}
}

// TestOwnStyles: a model with its own styles takes those; the two generic styles are mapped to them.
func TestOwnStyles(t *testing.T) {
	t.Parallel()
	h := newFluxGateway(t)
	for asked, want := range map[string]string{
		"Moody": "applied moody", "natural": "adapted neutral", "vivid": "adapted vibrant", "gothic": "dropped",
	} {
		p, err := h.Plan(t.Context(), generate.Request{Model: "anime_xl", Prompt: "a house", Style: asked})
		if err != nil || outcomesBySetting(p.Dispositions)["style"] != want {
			t.Errorf("%s: %v, %v; want %s", asked, p, err, want)
		}
	}
	p, err := h.Plan(t.Context(), generate.Request{Model: "FLUX.2 Pro", Prompt: "a house", Style: "vivid"})
	if err != nil || outcomesBySetting(p.Dispositions)["style"] != "dropped" {
		t.Errorf("a model without styles: %v, %v", p, err)
	}
}

// TestMaskedPicturesKeepTheirSize: a masked picture that exceeds the limit is refused, because picture and mask would
// have to shrink alike.
func TestMaskedPicturesKeepTheirSize(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, c *gateway.Config) {
		c.Catalogue = catalogueWith(t, "mask: white\n    max_input_pixels: 500")
	})
	in, mask := h.put(t, generatetest.PNG(40, 20, 1)), h.put(t, generatetest.PNG(40, 20, 200))
	_, err := h.Generate(t.Context(), generate.Request{Method: generate.MethodEdit, Model: "offline", Prompt: "bluer", Inputs: []media.Output{in}, Mask: &mask})
	if media.CodeOf(err) != media.CodeTooLarge || !strings.Contains(err.Error(), "mask smaller") || len(h.offline.Tasks()) != 0 {
		t.Errorf("Generate: %v", err)
	}
}
