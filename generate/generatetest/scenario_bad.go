package generatetest

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"slices"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/media"
)

// misuse is one invalid request.
type misuse struct {
	change func(r *generate.Request)
	codes  []media.Code
}

// misuses returns invalid requests, as far as they apply to the model.
func (b *bench) misuses(t *testing.T) map[string]misuse {
	t.Helper()
	invalid, unsupported := []media.Code{media.CodeInvalid}, []media.Code{media.CodeInvalid, media.CodeUnsupported}
	seed := int64(7)
	all := map[string]misuse{
		"n of 1,000":        {func(r *generate.Request) { r.N = 1000 }, invalid},
		"n below 0":         {func(r *generate.Request) { r.N = -1 }, invalid},
		"empty prompt":      {func(r *generate.Request) { r.Prompt = " \n" }, invalid},
		"prompt of 100 kB":  {func(r *generate.Request) { r.Prompt = strings.Repeat("a lighthouse, ", 7300) }, invalid},
		"prompt of no text": {func(r *generate.Request) { r.Prompt = "a \xff house" }, invalid},
		"another's options": {func(r *generate.Request) { r.Strict, r.Options = true, map[string]map[string]any{"nobody": {"x": 1}} }, unsupported},
		"unknown option": {func(r *generate.Request) {
			r.Strict, r.Options = true, map[string]map[string]any{b.model.Provider: {"zzz": 1}}
		}, unsupported},
		"unknown method":     {func(r *generate.Request) { r.Method = "paint" }, invalid},
		"impossible size":    {func(r *generate.Request) { r.Size = "0x5" }, invalid},
		"pictures to ignore": {func(r *generate.Request) { r.Method, r.Inputs = generate.MethodGenerate, []media.Output{b.input(t, 1)} }, unsupported},
	}
	if !slices.Contains(b.model.Supports, "seed") {
		all["seed without seeds"] = misuse{func(r *generate.Request) { r.Strict, r.Seed = true, &seed }, unsupported}
	}
	if !slices.Contains(b.model.Methods, generate.MethodEdit) {
		all["edit without edits"] = misuse{func(r *generate.Request) { r.Method, r.Inputs = generate.MethodEdit, []media.Output{b.input(t, 1)} }, unsupported}
		return all
	}
	with := func(inputs []media.Output, mask *media.Output) func(r *generate.Request) {
		return func(r *generate.Request) { r.Method, r.Inputs, r.Mask = generate.MethodEdit, inputs, mask }
	}
	text := media.NewOutput(Stored(t.Context(), t, b.codec, []byte("not a picture at all")), media.Meta{})
	file := PNG(inputWidth, inputHeight, 1)
	cut := media.NewOutput(Stored(t.Context(), t, b.codec, file[:len(file)/2]), media.Meta{})
	other := b.mask(t, media.Output{Blob: media.Blob{Facts: media.Facts{Width: inputWidth / 2, Height: inputHeight}}})
	all["edit of nothing"] = misuse{with(nil, nil), invalid}
	all["edit of text"] = misuse{with([]media.Output{text}, nil), unsupported}
	all["edit of half a file"] = misuse{func(r *generate.Request) { r.Method, r.Inputs = generate.MethodEdit, []media.Output{cut} }, invalid}
	all["half a mask, or without masks"] = misuse{with([]media.Output{b.input(t, 1)}, &cut), unsupported}
	all["too many pictures"] = misuse{with(make([]media.Output, b.model.MaxInputs+1), nil), unsupported}
	all["mask of another size, or without masks"] = misuse{with([]media.Output{b.input(t, 1)}, other), unsupported}
	return all
}

// misused: invalid input returns a clear error before anything is journalled, reserved or called.
func misused(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	for name, m := range b.misuses(t) {
		r := b.request(t, 1)
		m.change(&r)
		_, err := b.gateway.Generate(scoped(t.Context()), r)
		if !slices.Contains(m.codes, media.CodeOf(err)) || len(err.Error()) < 20 || len(err.Error()) > 1000 {
			t.Errorf("%s: %v (%s), want one of %q", name, err, media.CodeOf(err), m.codes)
		}
	}
	if b.sim != nil && len(b.sim.Captured()) > 0 {
		t.Error("the provider was called")
	}
	if n := len(b.log.Entries()); n > 0 || b.money.touched() {
		t.Errorf("%d entries in the journal, money touched: %t", n, b.money.touched())
	}
}

// convertsInputs: a picture and a mask of unsupported types are converted and reported as adapted,
// and in strict mode refused before any call.
func convertsInputs(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	img := image.NewPaletted(image.Rect(0, 0, inputWidth, inputHeight), color.Palette{color.Black, color.White})
	for i := range img.Pix[:len(img.Pix)/2] {
		img.Pix[i] = 1
	}
	var asGIF, asJPEG bytes.Buffer
	if err := gif.Encode(&asGIF, img, nil); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, img, nil); err != nil {
		t.Fatal(err)
	}
	store := func(file []byte) media.Output {
		return media.NewOutput(Stored(t.Context(), t, b.codec, file), media.Meta{})
	}
	r := b.edits(t)
	r.Inputs = []media.Output{store(asGIF.Bytes())}
	want := []string{"inputs"}
	if masks(b.model) && h.Masked == nil {
		mask := store(asJPEG.Bytes())
		r.Mask, want = &mask, append(want, "mask")
	}
	r.Strict = true
	if _, err := b.gateway.Generate(scoped(t.Context()), r); media.CodeOf(err) != media.CodeUnsupported || b.sim != nil && len(b.sim.Captured()) > 0 {
		t.Errorf("strict: %v; want %s and no call", err, media.CodeUnsupported)
	}
	r.Strict = false
	got := b.mustGenerate(t, r)
	b.checkLineage(t, h, got, r)
	for _, setting := range want {
		if !slices.ContainsFunc(got.Dispositions, func(d generate.Disposition) bool {
			return d.Setting == setting && d.Outcome == generate.OutcomeAdapted && d.Reason != ""
		}) {
			t.Errorf("no word of the conversion of %s: %+v", setting, got.Dispositions)
		}
	}
}

// noConversion returns why the suite has no conversion to test with the model; empty if it has one.
func noConversion(h Harness, b *bench) string {
	if reason := noPictures(h, b); reason != "" {
		return reason
	}
	if len(b.model.InputTypes) == 0 || slices.Contains(b.model.InputTypes, "image/gif") {
		return "the model takes every type of picture"
	}
	return ""
}
