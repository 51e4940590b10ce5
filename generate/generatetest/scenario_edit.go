package generatetest

import (
	"slices"
	"testing"

	"atelier/generate"
	"atelier/media"
)

// scope is the run that edits play in: pictures are sent within a run only.
var scope = media.Scope{Owner: "test", Tree: "run-of-the-suite"}

// edits asks for an edit of two pictures, or of one where the model takes one; nil if
// the model does not edit.
func (b *bench) edits(t *testing.T, h Harness) *generate.Request {
	t.Helper()
	m, err := b.gateway.Lookup(h.Model)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.Methods, generate.MethodEdit) {
		return nil
	}
	r := &generate.Request{Method: generate.MethodEdit, Model: h.Model, Prompt: "Make it bluer"}
	for i := range min(2, m.MaxInputs) {
		r.Inputs = append(r.Inputs, media.NewOutput(Stored(t.Context(), t, b.codec, PNG(96, 64, uint8(i))), media.Meta{}))
	}
	return r
}

// edit: pictures go in, one comes out, with its lineage.
func edit(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t)
	r := b.edits(t, h)
	if r == nil {
		return
	}
	got, err := b.gateway.Generate(media.WithScope(t.Context(), scope), *r)
	if err != nil || got.Status != generate.StatusSucceeded || len(got.Slots) != h.results(1) {
		t.Fatalf("Generate: %+v, %v", got, err)
	}
	b.clean(t, got)
	o := got.Slots[0].Output
	if len(o.Lineage)-grids([]media.Output{*o}) != len(r.Inputs) || o.Lineage[0].Ref != r.Inputs[0].Ref || o.Digest == r.Inputs[0].Digest {
		t.Errorf("%s was made from %v, want %v", o, o.Lineage, r.Inputs)
	}
}

// lost: an input that is not in the store fails before the provider is called.
func lost(t *testing.T, h Harness) {
	t.Helper()
	b := h.set(t)
	r := b.edits(t, h)
	if r == nil {
		return
	}
	if _, fake := b.driver.(*Driver); fake {
		return // a script reads no pictures
	}
	r.Inputs[0].Digest = media.DigestOf([]byte("nobody stored this"))
	got, err := b.gateway.Generate(media.WithScope(t.Context(), scope), *r)
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
