package chat_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/chattest"
	"atelier/media"
	"atelier/media/wire"
)

// scoped returns the context of a run.
func scoped(t *testing.T) context.Context {
	t.Helper()
	return media.WithScope(t.Context(), media.Scope{Owner: "local", Tree: "tree-1"})
}

// noise returns a picture that does not compress.
func noise(w, h int, seed byte) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(m.Pix) // never fails
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	return m
}

// store stores encoded bytes.
func store(t *testing.T, c *wire.Codec, b []byte) media.Output {
	t.Helper()
	blob, err := c.Store(scoped(t), bytes.NewReader(b), "")
	if err != nil {
		t.Fatal(err)
	}
	return media.NewOutput(blob, media.Meta{FileName: "given.bin"})
}

func pngOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// animatedGIF returns a GIF with three frames.
func animatedGIF(t *testing.T) []byte {
	t.Helper()
	g := &gif.GIF{}
	for i := range 3 {
		p := image.NewPaletted(image.Rect(0, 0, 8, 6), color.Palette{color.Black, color.White})
		p.Pix[0] = byte(i % 2)
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 5)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// serve connects one provider to a simulator.
func serve(t *testing.T, sim *chattest.Simulator, model, path string) (*chat.Registry, *wire.Codec) {
	t.Helper()
	return connect(t, sim, model, path)
}

// connect is serve for any handler.
func connect(t *testing.T, h http.Handler, model, path string) (*chat.Registry, *wire.Codec) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	provider, _, _ := strings.Cut(model, "/")
	var codec *wire.Codec
	r := newRegistry(t, func(c *config) {
		c.Keys[provider], c.BaseURLs[provider], codec = "sk-test", server.URL+path, c.Codec
		c.Openers = map[string]chat.Opener{"bedrock": bedrock.Opener(bedrock.Config{Region: "us-east-1", AccessKeyID: "a", SecretAccessKey: "b", BaseURL: server.URL, Codec: codec})}
		var err error
		c.Profiles, err = chat.LoadProfiles(strings.NewReader(`models:
  - {provider: openai, id: seeing, supports_vision: true}
  - {provider: openai, id: blind}
  - {provider: openai, id: painting, supports_vision: true, image_output: true}
  - {provider: gemini, id: gemini-3-pro-image, name: Painter}
  - {provider: openrouter, id: google/gemini-3-pro-image, name: Painter}
`))
		if err != nil {
			t.Fatal(err)
		}
	})
	return r, codec
}

// TestModelsThatPaint: pictures in an answer are lifted into the store.
func TestModelsThatPaint(t *testing.T) {
	t.Parallel()
	for model, path := range map[string]string{"gemini/gemini-3-pro-image": "", "openrouter/google/gemini-3-pro-image": "", "openai/painting": "/v1"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			picture := pngOf(t, noise(90, 60, 3))
			sim := &chattest.Simulator{Picture: picture, Answer: func(chattest.Request) string { return "Here it is." }}
			r, codec := serve(t, sim, model, path)
			res, err := named(t, r, model).Generate(scoped(t), chat.Request{System: "Answer in JSON.", Schema: []byte(`{}`), Messages: []chat.Message{chat.Text(chat.RoleUser, "paint")}})
			if err != nil {
				t.Fatal(err)
			}
			if !sim.Requests()[0].Paints || sim.Requests()[0].JSONMode {
				t.Errorf("the service was asked %+v", sim.Requests()[0])
			}
			if res.Text != "Here it is." || len(res.Media) != 1 || res.Media[0].Digest != media.DigestOf(picture) || res.Media[0].Width != 90 {
				t.Fatalf("got %q and %v", res.Text, res.Media)
			}
			if _, err := codec.Open(scoped(t), res.Media[0].Digest); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	codec := wiretest.NewCodec(t)
	limits := func(l chat.ImageLimits) chat.Profile {
		return chat.Profile{Name: "Seer", Provider: "test", SupportsVision: true, ImageLimits: l}
	}
	small, wide, gifs := pngOf(t, noise(60, 40, 1)), jpegOf(t, noise(900, 300, 2)), animatedGIF(t)
	heic := []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + strings.Repeat("x", 300))
	for name, c := range map[string]struct {
		bytes   []byte
		profile chat.Profile
		room    chat.Room
		w, h    int
		mime    string
		reason  string
		same    bool
	}{
		"fits":             {small, limits(chat.ImageLimits{MaxImageSide: 60}), chat.Room{Images: 1}, 60, 40, "image/png", "", true},
		"long side":        {wide, limits(chat.ImageLimits{MaxImageSide: 300}), chat.Room{Images: 1}, 300, 100, "image/jpeg", "sides of 300 pixels, not 900", false},
		"few at its size":  {wide, limits(chat.ImageLimits{MaxImageSide: 1000, ManyImages: 20, ManyImageSide: 90}), chat.Room{Images: 20}, 900, 300, "image/jpeg", "", true},
		"many made small":  {wide, limits(chat.ImageLimits{MaxImageSide: 1000, ManyImages: 20, ManyImageSide: 90}), chat.Room{Images: 21}, 90, 30, "image/jpeg", "sides of 90", false},
		"HEIC is taken":    {heic, limits(chat.ImageLimits{MediaTypes: []string{"image/png", "image/heic"}}), chat.Room{Images: 1}, 0, 0, "image/heic", "", true},
		"pixels":           {wide, limits(chat.ImageLimits{MaxImagePixels: 30_000}), chat.Room{Images: 1}, 300, 100, "image/jpeg", "30000 pixels", false},
		"type":             {small, limits(chat.ImageLimits{MediaTypes: []string{"image/jpeg"}}), chat.Room{Images: 1}, 60, 40, "image/jpeg", "no image/png", false},
		"first frame":      {gifs, limits(chat.ImageLimits{}), chat.Room{Images: 1}, 8, 6, "image/png", "one frame, not 3", false},
		"bytes, then JPEG": {small, limits(chat.ImageLimits{MaxImageBytes: 5000}), chat.Room{Images: 1}, 60, 40, "image/jpeg", "5000 bytes", false},
		"room":             {small, limits(chat.ImageLimits{MaxImageBytes: 1 << 20}), chat.Room{Images: 1, MaxBytes: 1500}, 0, 0, "image/jpeg", "1500 bytes", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := store(t, codec, c.bytes)
			got, err := c.profile.Fit(scoped(t), codec, o, c.room)
			if err != nil {
				t.Fatal(err)
			}
			f := got.Output
			if c.w > 0 && (f.Width != c.w || f.Height != c.h) || f.MIMEType != c.mime || !strings.Contains(got.Reason, c.reason) || (got.Reason == "") != c.same {
				t.Errorf("got %s %d × %d because %q", f, f.Width, f.Height, got.Reason)
			}
			if (f.Digest == o.Digest) != c.same || !c.same && (len(f.Lineage) != 1 || f.Lineage[0].Ref != o.Ref) {
				t.Errorf("lineage %v, digest kept %v", f.Lineage, f.Digest == o.Digest)
			}
			if most := c.room.MaxBytes; most > 0 && f.SizeBytes > most {
				t.Errorf("%d bytes, room for %d", f.SizeBytes, most)
			}
		})
	}
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	codec := wiretest.NewCodec(t)
	seer := chat.Profile{Name: "Seer", Provider: "test", SupportsVision: true}
	missing := store(t, codec, pngOf(t, noise(9, 9, 1)))
	missing.Digest = media.DigestOf([]byte("gone"))
	for name, c := range map[string]struct {
		o       media.Output
		profile chat.Profile
		code    media.Code
		say     string
	}{
		"no vision":      {store(t, codec, pngOf(t, noise(8, 8, 1))), chat.Profile{Name: "Mole", Provider: "test"}, media.CodeUnsupported, "Mole"},
		"text":           {store(t, codec, []byte("no picture at all")), seer, media.CodeUnsupported, "not a picture"},
		"SVG":            {store(t, codec, []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)), seer, media.CodeUnsupported, "SVG"},
		"not a byte":     {store(t, codec, pngOf(t, noise(64, 64, 1))), chat.Profile{Name: "Tiny", Provider: "test", SupportsVision: true, ImageLimits: chat.ImageLimits{MaxImageBytes: 20}}, media.CodeTooLarge, "20 bytes"},
		"bytes are gone": {missing, seer, media.CodeNotFound, "given.bin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.profile.Fit(scoped(t), codec, c.o, chat.Room{Images: 1})
			if media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.say) {
				t.Errorf("got %s: %v", media.CodeOf(err), err)
			}
		})
	}
}

func TestGateNamesModelsThatWouldDo(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, func(c *config) { c.Keys["anthropic"], c.Keys["openrouter"] = "k", "k" })
	blind := chat.Profile{ID: "blind", Name: "Blind", Provider: "openai"}
	would := r.ModelsWithVision(40)
	err := blind.CheckImageCount(40, would)
	e, ok := errors.AsType[*media.Error](err)
	if !ok || e.Code != media.CodeUnsupported || !strings.Contains(e.Message, "Blind") || !slices.Contains(e.Valid, "anthropic/claude-sonnet-4-6") {
		t.Errorf("got %v, valid %v", err, would)
	}
	if slices.Contains(would, "openrouter/meta-llama/llama-4-maverick") {
		t.Error("a model for 5 pictures is named for 40")
	}
	maverick := named(t, r, "Llama 4 Maverick").Profile()
	if err := maverick.CheckImageCount(5, nil); err != nil {
		t.Error(err)
	}
	if err := maverick.CheckImageCount(6, nil); media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), "accepts 5") {
		t.Errorf("got %v", err)
	}
	if none := newRegistry(t, nil).ModelsWithVision(40); len(none) == 0 {
		t.Error("without any key no model is named")
	}
	own := limited{profile: chat.Profile{ID: "eye", Name: "Eye", Provider: "house", SupportsVision: true}}
	if would := newRegistry(t, func(c *config) { c.Own = []chat.Model{own} }).ModelsWithVision(4); len(would) == 0 || would[0] != "house/eye" {
		t.Errorf("the program's model is not named first: %v", would)
	}
}

// TestImageTokens compares the formulas with the providers' own counts.
func TestImageTokens(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model  string
		w, h   int
		detail string
		want   int64
	}{
		{"openai/gpt-4o", 1024, 1024, "", 765},
		{"openai/gpt-4o", 1024, 1024, "low", 85},
		{"openai/gpt-4o", 2048, 4096, "high", 1105},
		{"openai/gpt-4.1-mini", 1024, 1024, "low", 1659},
		{"openai/gpt-5.4", 1024, 1024, "", 1229},
		{"openai/gpt-5.4", 1920, 1080, "", 2448},
		{"openai/gpt-4.1-mini", 1800, 2400, "", 2353}, // 1452 patches
		{"anthropic/claude-sonnet-4-6", 1092, 1092, "", 1590},
		{"anthropic/claude-sonnet-4-6", 200, 200, "", 54},
		{"anthropic/claude-sonnet-4-6", 6272, 400, "", 210},
		{"anthropic/claude-sonnet-4-6", 1000, 750, "", 1000},
		{"anthropic/claude-sonnet-4-6", 4000, 3000, "", 1600},
		{"anthropic/claude-opus-4-8", 4000, 3000, "", 4784},
		{"gemini/gemini-2.5-flash", 300, 200, "", 258},
		{"gemini/gemini-2.5-flash", 1000, 700, "", 516},
		{"gemini/gemini-3.1-pro-preview", 1000, 700, "", 1120},
	} {
		f := p.Find(c.model)
		if len(f) == 0 {
			t.Fatalf("%s is not known", c.model)
		}
		if got := f[0].ImageTokens.Tokens(c.w, c.h, c.detail); got != c.want {
			t.Errorf("%s %d × %d %s: %d tokens, want %d", c.model, c.w, c.h, c.detail, got, c.want)
		}
	}
	o := media.Output{Blob: media.Blob{SizeBytes: 50_000_000, Facts: media.Facts{Width: 1000, Height: 750}}}
	f := p.Find("anthropic/claude-sonnet-4-6")[0]
	req := chat.Request{System: strings.Repeat("a", 400), Messages: []chat.Message{{Parts: []chat.Part{{Text: strings.Repeat("b", 40)}, {Media: &o}}}}}
	if got := f.EstimateTokens(req); got != 1110 {
		t.Errorf("the request is estimated at %d tokens, want 1110", got)
	}
}

func TestFamiliesOfModels(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles(strings.NewReader(`
families:
  - match: [house-llava*]
    profile: {supports_vision: true, max_images: 2, name: House}
models:
  - {provider: openai, id: house-llava-2, max_images: 7}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, images := range map[string]int{
		"ollama/house-llava-1": 2, "openai/house-llava-2": 7, "ollama/llama4-maverick:17b": 5, "openrouter/llama-4-maverick-fp8": 5,
		"anthropic/claude-sonnet-4-6": 600, "anthropic/claude-opus-4-6": 600, "anthropic/claude-opus-4-5": 100, "anthropic/claude-haiku-4-5": 100, "anthropic/claude-opus-5-5": 600,
	} {
		f := p.Find(name)
		if len(f) != 1 || !f[0].SupportsVision || f[0].MaxImages != images || len(f[0].MediaTypes) == 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := p.Find("openai/some-text-model"); len(f) != 1 || f[0].SupportsVision {
		t.Errorf("vision is guessed: %+v", f)
	}
	for bad, say := range map[string]string{"families: [{match: [a]}]": "profile", "families: [{match: [\"[\"], profile: {name: x}}]": "pattern", "families: [{profile: {name: x}}]": "match"} {
		if _, err := chat.LoadProfiles(strings.NewReader(bad)); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}
