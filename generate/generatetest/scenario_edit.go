package generatetest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/media"
)

// scope is the run of the scenarios: pictures are sent only within a run.
var scope = media.Scope{Owner: "test", Tree: "run-of-the-suite"}

// The size of input pictures, which every model accepts.
const inputWidth, inputHeight = 256, 256

// input stores an input picture.
func (b *bench) input(t *testing.T, shade uint8) media.Output {
	t.Helper()
	return media.NewOutput(Stored(t.Context(), t, b.codec, PNG(inputWidth, inputHeight, shade)), media.Meta{})
}

// mask stores a mask for a picture. Its transparent left half is the area to change.
func (b *bench) mask(t *testing.T, of media.Output) *media.Output {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, of.Width, of.Height))
	for y := range of.Height {
		for x := of.Width / 2; x < of.Width; x++ {
			img.SetNRGBA(x, y, color.NRGBA{A: 255})
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	o := media.NewOutput(Stored(t.Context(), t, b.codec, buf.Bytes()), media.Meta{})
	return &o
}

// edits requests an edit of two pictures, or of one if the model accepts only one.
func (b *bench) edits(t *testing.T) generate.Request {
	t.Helper()
	r := generate.Request{Method: generate.MethodEdit, Model: b.model.Name, Prompt: "Make it bluer"}
	for i := range min(2, b.model.MaxInputs) {
		r.Inputs = append(r.Inputs, b.input(t, uint8(i)))
	}
	return r
}

// checkLineage checks that there is one result, made from the pictures of the request.
func (b *bench) checkLineage(t *testing.T, h Harness, got *generate.Result, r generate.Request) {
	t.Helper()
	if got.Status != generate.StatusSucceeded || len(got.Slots) != h.results(1) {
		t.Fatalf("status %s, %d slots, %v", got.Status, len(got.Slots), got.Err())
	}
	o := got.Slots[0].Output
	want := len(r.Inputs)
	if r.Mask != nil {
		want++
	}
	if len(o.Lineage)-grids([]media.Output{*o}) != want || o.Lineage[0].Ref != r.Inputs[0].Ref || o.Digest == r.Inputs[0].Digest {
		t.Errorf("%s was made from %v, want %v", o, o.Lineage, r.Inputs)
	}
}

// edit: input pictures produce one result, with its lineage.
func edit(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	r := b.edits(t)
	b.checkLineage(t, h, b.mustGenerate(t, r), r)
}

// mask: the area to change is sent in the model's polarity, and the result does not report
// that it was dropped.
func mask(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	r := b.masked(t, h)
	got := b.mustGenerate(t, r)
	b.checkLineage(t, h, got, r)
	for _, d := range got.Dispositions {
		if d.Setting == "mask" && d.Outcome != generate.OutcomeApplied && d.Outcome != generate.OutcomeAdapted {
			t.Errorf("the mask was %s: %s", d.Outcome, d.Reason)
		}
	}
}

// masked requests an edit of one picture with a mask.
func (b *bench) masked(t *testing.T, h Harness) generate.Request {
	t.Helper()
	r := b.edits(t)
	r.Inputs = r.Inputs[:1]
	if h.Masked != nil {
		first := *h.Masked
		first.Model, first.Inputs = b.model.Name, []media.Output{*b.mustGenerateN(t, 1).Slots[0].Output}
		r.Inputs[0] = *b.mustGenerate(t, first).Slots[0].Output
	}
	r.Mask = b.mask(t, r.Inputs[0])
	return r
}

// vary: a variation is made from a picture without a prompt, or by an edit instead, which is
// reported.
func vary(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	r := generate.Request{Method: generate.MethodVariation, Model: b.model.Name, Inputs: []media.Output{b.input(t, 1)}}
	got := b.mustGenerate(t, r)
	b.checkLineage(t, h, got, r)
	adapted := false
	for _, d := range got.Dispositions {
		adapted = adapted || d.Setting == "method" && d.Outcome == generate.OutcomeAdapted
	}
	if adapted != noOwnVariation(b.model) {
		t.Errorf("dispositions %+v", got.Dispositions)
	}
}

func noOwnVariation(m catalog.Model) bool {
	for _, method := range m.Methods {
		if method == generate.MethodVariation {
			return false
		}
	}
	return true
}

// rejectsMissingInput: an input that is not in the store fails before the provider is called.
func rejectsMissingInput(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	r := b.edits(t)
	r.Inputs[0].Digest = media.DigestOf([]byte("nobody stored this"))
	got, err := b.gateway.Generate(scoped(t.Context()), r)
	if err == nil {
		err = got.Err()
	}
	if media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("Generate: %v, want %s", err, media.CodeNotFound)
	}
	if b.sim != nil && len(b.sim.Captured()) > 0 {
		t.Error("the provider was called")
	}
}
