package generatetest

import (
	"slices"
	"testing"

	"atelier/generate"
	"atelier/media"
)

// settings: every value that the model's row lists is sent, accepted by the provider, and
// reported as applied or adapted.
func settings(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	for _, r := range b.everySetting(t) {
		got := b.mustGenerate(t, r)
		if got.Status != generate.StatusSucceeded {
			t.Errorf("%+v: status %s, %v", r, got.Status, got.Err())
		}
		for _, d := range got.Dispositions {
			if d.Outcome != generate.OutcomeApplied && d.Outcome != generate.OutcomeAdapted {
				t.Errorf("%s=%q was %s: %s", d.Setting, d.Asked, d.Outcome, d.Reason)
			}
		}
	}
}

// everySetting lists requests that together request every value of the model's row.
func (b *bench) everySetting(t *testing.T) []generate.Request {
	t.Helper()
	var all []generate.Request
	with := func(change func(r *generate.Request)) {
		r := b.request(t, 1)
		change(&r)
		all = append(all, r)
	}
	m := b.model
	for _, q := range m.Qualities {
		with(func(r *generate.Request) { r.Quality = q })
	}
	for _, f := range m.Formats {
		with(func(r *generate.Request) { r.OutputFormat = f })
	}
	for _, s := range m.Styles {
		with(func(r *generate.Request) { r.Style = s })
	}
	for _, v := range m.Voices {
		with(func(r *generate.Request) { r.Voice = v })
	}
	for _, ratio := range m.Size.Ratios {
		with(func(r *generate.Request) { r.AspectRatio = ratio })
	}
	supports := func(what string) bool {
		lacks := m.GenerateLacks
		if !slices.Contains(m.Methods, generate.MethodGenerate) {
			lacks = m.EditLacks
		}
		return slices.Contains(m.Supports, what) && !slices.Contains(lacks, what)
	}
	with(func(r *generate.Request) {
		seed := int64(12345)
		if supports("seed") {
			r.Seed = &seed
		}
		if supports("negative_prompt") {
			r.NegativePrompt = "fog"
		}
		if supports("moderation") {
			r.Moderation = "low"
		}
		if supports("background") {
			r.Background = "opaque"
		}
		if supports("speed") {
			r.Speed = 1.25
		}
		if supports("compression") && slices.Contains(m.Formats, "jpeg") {
			compression := 70
			r.OutputFormat, r.Compression = "jpeg", &compression
		}
	})
	return all
}

// strict: a setting that the model lacks is refused, reported, and costs nothing.
func strict(t *testing.T, h Harness) {
	t.Helper()
	b := h.newBench(t, nil)
	r := b.request(t, 1)
	r.Strict = true
	other := "gemini"
	if b.model.Provider == other {
		other = "openai"
	}
	r.Options = map[string]map[string]any{other: {"temperature": 1}}
	got, err := b.gateway.Generate(scoped(t.Context()), r)
	if media.CodeOf(err) != media.CodeUnsupported || got == nil || !slices.ContainsFunc(got.Dispositions, func(d generate.Disposition) bool {
		return d.Outcome == generate.OutcomeRefused && d.Reason != ""
	}) {
		t.Errorf("Generate: %+v, %v; want %s and the refused setting", got, err, media.CodeUnsupported)
	}
	if b.sim != nil && len(b.sim.Captured()) > 0 {
		t.Error("the provider was called")
	}
	if n := len(b.log.Entries()); n > 0 || b.money.touched() {
		t.Errorf("%d entries in the journal, money touched: %t", n, b.money.touched())
	}
}
