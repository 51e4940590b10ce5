package chat_test

import (
	"strings"
	"testing"
	"time"

	"atelier/chat"
	"atelier/media"
)

// TestAnotherHostOfARetiredModel: a model that one provider shut down is called at another one that still has it.
func TestAnotherHostOfARetiredModel(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, func(c *config) {
		c.Keys["openai"], c.Keys["openrouter"] = "k", "k"
		c.Now = func() time.Time { return day("2026-11-22") }
		var err error
		if c.Profiles, err = chat.LoadProfiles(strings.NewReader("models:\n  - {provider: openai, id: old, name: Old One, life: {shut_down: 2026-01-02}}\n  - {provider: openrouter, id: x/old, name: Old One}\n")); err != nil {
			t.Fatal(err)
		}
	})
	if m, err := r.Named(t.Context(), "Old One"); err != nil || m.Profile().Provider != "openrouter" {
		t.Errorf("%v", err)
	}
	if _, err := r.Named(t.Context(), "openai/old"); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("%v", err)
	}
}

// TestNoAdviceToUseRetiredModels: errors name no model that was shut down.
func TestNoAdviceToUseRetiredModels(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"openai", "anthropic", "gemini"} {
		r := newRegistry(t, func(c *config) {
			c.Keys[key] = "k"
			c.Now = func() time.Time { return day("2026-11-26") }
		})
		for _, name := range r.ModelsWithVision(3) {
			for _, f := range r.Profiles().Find(name) {
				if !f.Alive(day("2026-11-26")) {
					t.Errorf("%s is advised, and was shut down on %s", name, f.Life.ShutDown.Format(time.DateOnly))
				}
			}
		}
	}
}

// TestOverridesOfProviders: an override of a provider changes only the fields that it gives.
func TestOverridesOfProviders(t *testing.T) {
	t.Parallel()
	p, err := chat.LoadProfiles(strings.NewReader("providers:\n  - {key: openai, default_model: gpt-6-luna}\n"))
	if err != nil {
		t.Fatal(err)
	}
	q, _ := p.Provider("openai")
	if q.DefaultModel != "gpt-6-luna" || q.Name != "OpenAI" || len(q.Variables) != 1 || q.MaxImages == 0 {
		t.Errorf("%+v", q)
	}
	if err := q.Ready(nil); err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Error(err)
	}
	// A provider that is reached by an address and has no key says so.
	ollama, _ := p.Provider("ollama")
	if err := ollama.Ready(nil); err == nil || !strings.Contains(err.Error(), "Ollama requires an address: set OLLAMA_HOST") {
		t.Error(err)
	}
	// The limits of a provider apply to its listed models, too.
	p, err = chat.LoadProfiles(strings.NewReader("providers:\n  - {key: openai, max_images: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"openai/gpt-5.4", "openai/gpt-9-unlisted"} {
		if got, before := p.Find(name)[0], shipped.Find(name)[0]; got.MaxImages != 3 || got.MaxTotalImageBytes != before.MaxTotalImageBytes || before.MaxImages <= 3 {
			t.Errorf("%s: %+v, shipped %+v", name, got.ImageLimits, before.ImageLimits)
		}
	}
	if q, _ := shipped.Provider("openai"); q.DefaultModel != "gpt-5.4" {
		t.Errorf("the shipped profiles changed: %s", q.DefaultModel)
	}
}

// TestMisspelledFields: a field that profiles do not have is an error, on every level.
func TestMisspelledFields(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"models: [{provider: openai, id: x, suports_vision: true}]", "models: [{provider: openai, id: x, life: {shutdown: 2026-01-02}}]",
		"families: [{match: [a*], profile: {suports_vision: true}}]", "families: [{match: [a*], profiles: {}, profile: {name: x}}]",
		"providers: [{key: openai, defaultmodel: x}]",
	} {
		if _, err := chat.LoadProfiles(strings.NewReader(bad)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestManyPicturesWithoutALimitOfTheirOwn: the limit of the sides also applies to many pictures.
func TestManyPicturesWithoutALimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := chat.Profile{Name: "Seer", SupportsVision: true, ImageLimits: chat.ImageLimits{MaxImageSide: 100, ManyImages: 2}}
	o := media.Output{Modality: media.ModalityImage, Blob: media.Blob{Facts: media.Facts{MIMEType: "image/png", Width: 500, Height: 20}}}
	if p.Fits(o, chat.Room{Images: 3}) {
		t.Error("500 pixels fit within 100")
	}
}
