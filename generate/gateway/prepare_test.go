package gateway_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
	"atelier/media/imaging"

	"github.com/google/go-cmp/cmp"
)

// put stores a file as an input of the gateway.
func (h *testGateway) put(t *testing.T, file []byte) media.Output {
	t.Helper()
	return media.NewOutput(generatetest.Stored(t.Context(), t, h.codec, file), media.Meta{Label: "Input"})
}

// sent returns the only task that a driver received.
func sent(t *testing.T, d *generatetest.Driver) driver.Task {
	t.Helper()
	tasks := d.Tasks()
	if len(tasks) != 1 {
		t.Fatalf("%d calls, want 1", len(tasks))
	}
	return tasks[0]
}

// pixels decodes a stored picture.
func (h *testGateway) pixels(t *testing.T, o media.Output) image.Image {
	t.Helper()
	r, err := h.codec.Open(t.Context(), o.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	img, err := imaging.Decode(t.Context(), r, o.Facts, imaging.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// encoded returns a picture in a format.
func encoded(t *testing.T, img image.Image, format string) []byte {
	t.Helper()
	var buf bytes.Buffer
	var err error
	switch format {
	case "gif":
		err = gif.Encode(&buf, img, nil)
	case "jpeg":
		err = jpeg.Encode(&buf, img, nil)
	default:
		err = png.Encode(&buf, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// maskOf returns a picture of 40 × 20 pixels whose halves have two colours.
func maskOf(left, right color.Color) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, 40, 20))
	draw.Draw(img, img.Rect, image.NewUniform(right), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(0, 0, 20, 20), image.NewUniform(left), image.Point{}, draw.Src)
	return img
}

// flat returns a picture in greyscale.
func flat(img image.Image) image.Image {
	out := image.NewGray(img.Bounds())
	draw.Draw(out, out.Rect, img, image.Point{}, draw.Src)
	return out
}

// outcomes returns the outcomes of inputs, mask and method.
func outcomes(r *generate.Result) map[string]generate.Outcome {
	out := map[string]generate.Outcome{}
	for _, d := range r.Dispositions {
		if d.Setting == "inputs" || d.Setting == "mask" || d.Setting == "method" {
			out[d.Setting] = d.Outcome
		}
	}
	return out
}

// catalogueWith returns the shipped catalogue with offline's row changed.
func catalogueWith(t *testing.T, row string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(strings.NewReader("provider: offline\nmodels:\n  - api_model: offline-1\n    " + row + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMaskPolarity(t *testing.T) {
	t.Parallel()
	clear, black, white := color.NRGBA{}, color.NRGBA{A: 255}, color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	for name, c := range map[string]struct {
		mask   image.Image
		format string
		want   string // the model's polarity
		marked color.Color
		kept   color.Color
		how    generate.Outcome
	}{
		"as it is":           {maskOf(clear, white), "png", "alpha0", clear, white, generate.OutcomeApplied},
		"white on black":     {maskOf(white, black), "png", "alpha0", clear, black, generate.OutcomeAdapted},
		"white on black jpg": {maskOf(white, black), "jpeg", "alpha0", clear, black, generate.OutcomeAdapted},
		"gif":                {maskOf(white, black), "gif", "alpha0", clear, black, generate.OutcomeAdapted},
		"for white":          {maskOf(clear, black), "png", "white", white, black, generate.OutcomeAdapted},
		"for black":          {maskOf(clear, black), "png", "black", black, white, generate.OutcomeAdapted},
		"white for white":    {maskOf(white, black), "png", "white", white, black, generate.OutcomeApplied},
		"grey scale":         {flat(maskOf(white, black)), "png", "white", white, black, generate.OutcomeApplied},
		"grey for white":     {maskOf(color.Gray{Y: 200}, black), "png", "white", color.Gray{Y: 200}, black, generate.OutcomeAdapted},
		"red for white":      {maskOf(color.NRGBA{R: 255, A: 255}, black), "png", "white", color.Gray{Y: 76}, black, generate.OutcomeAdapted},
		"jpg for white":      {maskOf(white, black), "jpeg", "white", white, black, generate.OutcomeAdapted},
		"white for black":    {maskOf(white, black), "png", "black", black, white, generate.OutcomeAdapted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, func(_ *testGateway, g *gateway.Config) { g.Catalogue = catalogueWith(t, "mask: "+c.want) })
			mask := h.put(t, encoded(t, c.mask, c.format))
			req := generate.Request{
				Method: generate.MethodEdit, Model: "offline", Prompt: "bluer", Inputs: []media.Output{h.put(t, generatetest.PNG(40, 20, 1))}, Mask: &mask,
			}
			got := h.must(t, req)
			if outcomes(got)["mask"] != c.how {
				t.Errorf("dispositions %+v", got.Dispositions)
			}
			task := sent(t, h.offline)
			if (task.Mask.Digest == mask.Digest) != (c.how == generate.OutcomeApplied) || task.Mask.MIMEType != "image/png" {
				t.Errorf("sent %s for %s", task.Mask, mask)
			}
			img := h.pixels(t, *task.Mask)
			for x, want := range map[int]color.Color{3: c.marked, 36: c.kept} {
				have := color.NRGBAModel.Convert(img.At(x, 10)).(color.NRGBA)
				if _, _, _, a := want.RGBA(); a == 0 {
					want = color.NRGBA{R: have.R, G: have.G, B: have.B} // the colour of a transparent pixel does not count
				}
				if have != color.NRGBAModel.Convert(want) {
					t.Errorf("pixel %d is %v, want %v", x, have, want)
				}
			}
			o := got.Slots[0].Output
			want := []media.Parent{{Ref: task.Inputs[0].Ref, Role: "input"}, {Ref: mask.Ref, Role: "mask"}}
			if diff := cmp.Diff(want, o.Lineage); diff != "" {
				t.Errorf("lineage: %s", diff)
			}
			req.Strict = true
			if _, err := h.Generate(t.Context(), req); (err == nil) != (c.how == generate.OutcomeApplied) {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

func TestInputsAreMadeFit(t *testing.T) {
	t.Parallel()
	noise := image.NewNRGBA(image.Rect(0, 0, 300, 200))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(r.Uint32())
		if i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	for name, c := range map[string]struct {
		row  string
		file []byte
		how  generate.Outcome
		mime string
		w    int // 0: smaller than before
	}{
		"fits":                {"input_types: [image/png]", encoded(t, noise, "png"), generate.OutcomeApplied, "image/png", 300},
		"gif":                 {"input_types: [image/png, image/jpeg]", encoded(t, maskOf(color.White, color.Black), "gif"), generate.OutcomeAdapted, "image/png", 40},
		"jpeg alone is taken": {"input_types: [image/jpeg]", encoded(t, noise, "png"), generate.OutcomeAdapted, "image/jpeg", 300},
		"webp alone is taken": {"input_types: [image/webp]", encoded(t, noise, "png"), generate.OutcomeAdapted, "image/webp", 300},
		"png alone is taken":  {"input_types: [image/png]\n    max_input_bytes: 120000", encoded(t, noise, "png"), generate.OutcomeAdapted, "image/png", 0},
		"too many bytes":      {"max_input_bytes: 120000", encoded(t, noise, "png"), generate.OutcomeAdapted, "image/jpeg", 300},
		"too many pixels":     {"max_input_pixels: 15000", encoded(t, noise, "png"), generate.OutcomeAdapted, "image/png", 150},
		"pixels to the limit": {"max_input_pixels: 60000", encoded(t, noise, "png"), generate.OutcomeApplied, "image/png", 300},
		"far too many":        {"max_input_bytes: 9000", encoded(t, noise, "png"), generate.OutcomeAdapted, "image/jpeg", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, func(_ *testGateway, g *gateway.Config) { g.Catalogue = catalogueWith(t, c.row) })
			in := h.put(t, c.file)
			req := generate.Request{Method: generate.MethodEdit, Model: "offline", Prompt: "bluer", Inputs: []media.Output{in}}
			got := h.must(t, req)
			have := sent(t, h.offline).Inputs[0]
			if outcomes(got)["inputs"] != c.how || have.MIMEType != c.mime || c.w > 0 && have.Width != c.w || c.w == 0 && have.Width >= in.Width {
				t.Errorf("sent %s of %d × %d; dispositions %+v", have, have.Width, have.Height, got.Dispositions)
			}
			if o := got.Slots[0].Output; o.Lineage[0].Ref != in.Ref {
				t.Errorf("lineage %v, want the original %s", o.Lineage, in.Ref)
			}
			req.Strict = true
			strict, err := h.Generate(t.Context(), req)
			if refused := media.CodeOf(err) == media.CodeUnsupported; refused != (c.how != generate.OutcomeApplied) {
				t.Errorf("strict: %v", err)
			}
			if err != nil && (strict == nil || outcomes(strict)["inputs"] != generate.OutcomeRefused || len(h.offline.Tasks()) != 1) {
				t.Errorf("strict: %+v after %d calls", strict, len(h.offline.Tasks()))
			}
		})
	}
}

func TestVariationsThroughEdits(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	in := h.put(t, generatetest.PNG(64, 64, 1))
	req := generate.Request{Method: generate.MethodVariation, Model: "GPT Image 2", Inputs: []media.Output{in}}
	got := h.must(t, req)
	task := sent(t, h.openai)
	if task.Method != generate.MethodEdit || !strings.Contains(task.Prompt, "variation") || outcomes(got)["method"] != generate.OutcomeAdapted {
		t.Errorf("task %s %q, dispositions %+v", task.Method, task.Prompt, got.Dispositions)
	}
	if l := got.Slots[0].Output.Lineage; len(l) != 1 || l[0].Role != "variation" {
		t.Errorf("lineage %v", l)
	}
	req.Prompt, req.Model = "in autumn", "offline"
	h.must(t, req)
	if task := sent(t, h.offline); task.Method != generate.MethodVariation || task.Prompt != "in autumn" {
		t.Errorf("a model that varies by itself got %s %q", task.Method, task.Prompt)
	}
	req.Model, req.Strict = "GPT Image 2", true
	if _, err := h.Generate(t.Context(), req); media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), "method") || len(h.openai.Tasks()) != 1 {
		t.Errorf("strict: %v", err)
	}
}

func TestEditsLackModeration(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	req := generate.Request{Model: "GPT Image 2", Prompt: "bluer", Moderation: "low", Options: map[string]map[string]any{"openai": {"moderation": "low", "user": "u"}}}
	h.must(t, req)
	req.Method, req.Inputs = generate.MethodEdit, []media.Output{h.put(t, generatetest.PNG(64, 64, 1))}
	got := h.must(t, req)
	first, second := h.openai.Tasks()[0], h.openai.Tasks()[1]
	if first.Moderation != "low" || second.Moderation != "" || second.Options["moderation"] != nil || second.Options["user"] != "u" {
		t.Errorf("moderation of a generation %q, of an edit %q with %v", first.Moderation, second.Moderation, second.Options)
	}
	n := 0
	for _, d := range got.Dispositions {
		if strings.Contains(d.Setting, "moderation") && d.Outcome == generate.OutcomeDropped {
			n++
		}
	}
	if n != 2 {
		t.Errorf("dispositions %+v", got.Dispositions)
	}
}

func TestBadPictures(t *testing.T) {
	t.Parallel()
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"></svg>`)
	cutJPEG, cutGIF, flipped := encoded(t, maskOf(color.White, color.Black), "jpeg"), encoded(t, maskOf(color.White, color.Black), "gif"), generatetest.PNG(64, 64, 1)
	cutJPEG, cutGIF = cutJPEG[:len(cutJPEG)-1], cutGIF[:len(cutGIF)-20]
	flipped[60] ^= 1
	for name, c := range map[string]struct {
		model string
		files [][]byte
		mask  []byte
		code  media.Code
		say   string
	}{
		"mask of another size":   {"offline", [][]byte{generatetest.PNG(64, 64, 1)}, encoded(t, maskOf(color.Transparent, color.Black), "png"), media.CodeInvalid, "40x20"},
		"mask marks nothing":     {"offline", [][]byte{generatetest.PNG(40, 20, 1)}, encoded(t, maskOf(color.Black, color.Black), "png"), media.CodeInvalid, "marks nothing"},
		"mask is text":           {"offline", [][]byte{generatetest.PNG(40, 20, 1)}, []byte("a mask"), media.CodeUnsupported, "not a picture"},
		"half a mask":            {"offline", [][]byte{generatetest.PNG(40, 20, 1)}, generatetest.PNG(40, 20, 1)[:60], media.CodeInvalid, "prepare mask"},
		"half a jpeg mask":       {"offline", [][]byte{generatetest.PNG(40, 20, 1)}, cutJPEG, media.CodeInvalid, "damaged or cut off"},
		"half a picture":         {"GPT Image 2", [][]byte{nil, generatetest.PNG(64, 64, 1)[:90]}, nil, media.CodeInvalid, "ends early"},
		"most of a jpeg":         {"GPT Image 2", [][]byte{cutJPEG}, nil, media.CodeInvalid, "ends early"},
		"a damaged picture":      {"offline", [][]byte{flipped}, nil, media.CodeInvalid, "checksum"},
		"half a gif to make fit": {"GPT Image 2", [][]byte{cutGIF}, nil, media.CodeInvalid, "damaged or cut off"},
		"no masks here":          {"Nano Banana Pro", [][]byte{generatetest.PNG(40, 20, 1)}, encoded(t, maskOf(color.Transparent, color.Black), "png"), media.CodeUnsupported, "takes no mask"},
		"svg":                    {"offline", [][]byte{svg}, nil, media.CodeUnsupported, "svg"},
		"text":                   {"offline", [][]byte{[]byte("not a picture")}, nil, media.CodeUnsupported, "not a picture"},
		"too many":               {"Nano Banana Pro", make([][]byte, 15), nil, media.CodeUnsupported, "15 input pictures"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			req := generate.Request{Method: generate.MethodEdit, Model: c.model, Prompt: "bluer"}
			for _, f := range c.files {
				if f == nil {
					f = generatetest.PNG(64, 64, 1)
				}
				req.Inputs = append(req.Inputs, h.put(t, f))
			}
			if c.mask != nil {
				o := h.put(t, c.mask)
				req.Mask = &o
			}
			got, err := h.Generate(t.Context(), req)
			if got != nil || media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%v (%s), want %s saying %q", err, media.CodeOf(err), c.code, c.say)
			}
			if len(h.log.Entries()) != 0 || len(h.offline.Tasks())+len(h.gemini.Tasks())+len(h.openai.Tasks()) != 0 {
				t.Errorf("something was journalled or called: %q", h.log.Entries())
			}
		})
	}
}

// TestStoreThatFails: a damaged store is not reported as bad input.
func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, g *gateway.Config) { g.Storage = damagedStorage{g.Storage} })
	for _, model := range []string{"GPT Image 2", "offline"} {
		_, err := h.Generate(t.Context(), generate.Request{Method: generate.MethodEdit, Model: model, Prompt: "bluer", Inputs: []media.Output{h.put(t, generatetest.PNG(40, 20, 1))}})
		if media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("%s: %v, want %s", model, err, media.CodeCorrupt)
		}
	}
}

// damagedStorage is a store whose blobs are damaged.
type damagedStorage struct{ generate.Storage }

// Open returns a blob that ends with an error.
func (s damagedStorage) Open(ctx context.Context, d media.Digest) (io.ReadCloser, error) {
	in, err := s.Storage.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	bad := iotest.ErrReader(media.Errorf(media.CodeCorrupt, "read blob: it ends early"))
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(in, 30), bad), in}, nil
}

// TestPreferredModelThatTakesNoMask: a preferred model that takes no mask is passed over, and the result says so.
func TestPreferredModelThatTakesNoMask(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	mask := h.put(t, encoded(t, maskOf(color.Transparent, color.Black), "png"))
	req := generate.Request{Method: generate.MethodEdit, Prefer: []string{"Nano Banana Pro"}, Prompt: "bluer", Inputs: []media.Output{h.put(t, generatetest.PNG(40, 20, 1))}}
	if got := h.must(t, req); got.Model != "Nano Banana Pro" {
		t.Errorf("without a mask %s edits", got.Model)
	}
	req.Mask = &mask
	got := h.must(t, req)
	if got.Model != "GPT Image 2" || got.Dispositions[0].Outcome != generate.OutcomeSubstituted || !strings.Contains(got.Dispositions[0].Reason, "no mask") {
		t.Errorf("with a mask %s edits: %+v", got.Model, got.Dispositions[0])
	}
	req.Mask, req.Inputs = nil, make([]media.Output, 17)
	for i := range req.Inputs {
		req.Inputs[i] = h.put(t, generatetest.PNG(40, 20, uint8(i)))
	}
	if _, err := h.Generate(t.Context(), req); media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), "17 input pictures") {
		t.Errorf("too many for all: %v", err)
	}
}

// TestSizeOfAnEditIsFree: without a size, the model keeps that of the picture.
func TestSizeOfAnEditIsFree(t *testing.T) {
	t.Parallel()
	h := build(t, func(_ *testGateway, g *gateway.Config) { g.Storage = nil })
	in := h.put(t, generatetest.PNG(96, 64, 1))
	if _, err := h.Generate(context.Background(), generate.Request{Method: generate.MethodEdit, Model: "GPT Image 2", Prompt: "bluer", Inputs: []media.Output{in}}); err != nil {
		t.Fatalf("an edit that needs no conversion needs no Storage: %v", err)
	}
	if task := sent(t, h.openai); task.Width != 0 || task.Height != 0 || task.AspectRatio != "" {
		t.Errorf("task %d × %d %s", task.Width, task.Height, task.AspectRatio)
	}
	mask := h.put(t, encoded(t, maskOf(color.White, color.Black), "png"))
	_, err := h.Generate(context.Background(), generate.Request{
		Method: generate.MethodEdit, Model: "GPT Image 2", Prompt: "bluer", Inputs: []media.Output{h.put(t, generatetest.PNG(40, 20, 1))}, Mask: &mask,
	})
	if media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), "Storage") {
		t.Errorf("a mask without Storage: %v", err)
	}
}
