package gateway_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

func TestChoice(t *testing.T) {
	t.Parallel()
	openai, gemini := noKey("OPENAI_API_KEY"), noKey("GEMINI_API_KEY")
	picture := media.NewOutput(media.Blob{Digest: media.DigestOf([]byte("picture")), Facts: media.Facts{MIMEType: "image/png"}}, media.Meta{})
	for _, c := range []struct {
		name           string
		openai, gemini error
		def            string
		req            generate.Request
		model          string
		outcome        generate.Outcome
		reason         string
		warning        string
	}{
		{name: "display name", req: generate.Request{Model: "nano  banana PRO"}, model: "Nano Banana Pro", outcome: "applied"},
		{name: "api id", req: generate.Request{Model: "gpt-image-2"}, model: "GPT Image 2", outcome: "applied"},
		{name: "alias", req: generate.Request{Model: "gpt-image-2-2026-04-21"}, model: "GPT Image 2", outcome: "applied"},
		{name: "with provider", req: generate.Request{Model: "OpenAI/GPT-Image-2"}, model: "GPT Image 2", outcome: "applied"},
		{name: "preview id", req: generate.Request{Model: "gemini-3-pro-image-preview"}, model: "Nano Banana Pro", outcome: "applied"},
		{name: "retired", req: generate.Request{Model: "GPT-4o Image 1.0"}, model: "GPT Image 2.6 Sunburst", outcome: "adapted", reason: "shut down on 2026-10-23"},
		{name: "retired imagen", req: generate.Request{Model: "imagen 4 ultra"}, model: "Nano Banana 2.1", outcome: "adapted", reason: "2026-08-17"},
		{name: "ends soon", req: generate.Request{Model: "GPT-4o Image 1.5"}, model: "GPT-4o Image 1.5", outcome: "applied", warning: "2026-12-01; after that GPT Image 2.6 Sunburst"},
		{name: "by keys", model: "Nano Banana Pro"},
		{name: "by keys without Google", gemini: gemini, model: "GPT Image 2"},
		{name: "no key", openai: openai, gemini: gemini, model: "Atelier Offline", warning: "no provider is ready for this request"},
		{name: "no key for a mask", openai: openai, req: generate.Request{Method: generate.MethodEdit, Inputs: []media.Output{picture}, Mask: &picture}, model: "Atelier Offline", warning: "no provider is ready for this request"},
		{name: "preferred", req: generate.Request{Prefer: []string{"GPT Image 2"}}, model: "GPT Image 2", outcome: "applied"},
		{name: "preferred without key", gemini: gemini, req: generate.Request{Prefer: []string{"Nano Banana Pro"}}, model: "GPT Image 2", outcome: "substituted", reason: "GEMINI_API_KEY"},
		{name: "second preference", gemini: gemini, req: generate.Request{Prefer: []string{"Nano Banana Pro", "offline"}}, model: "Atelier Offline", outcome: "substituted", reason: "GEMINI_API_KEY"},
		{name: "preferred unknown", req: generate.Request{Prefer: []string{"Sora 9"}}, model: "Nano Banana Pro", outcome: "substituted", reason: "no model"},
		{name: "named by an agent", req: generate.Request{Model: "Nano Banana 2.1", Substitute: true}, model: "Nano Banana 2.1", outcome: "applied"},
		{name: "named by an agent without key", gemini: gemini, req: generate.Request{Model: "Nano Banana Pro", Substitute: true, Prefer: []string{"offline"}}, model: "Atelier Offline", outcome: "substituted", reason: "GEMINI_API_KEY"},
		{name: "then by keys", gemini: gemini, req: generate.Request{Model: "Nano Banana Pro", Substitute: true}, model: "GPT Image 2", outcome: "substituted", reason: "GEMINI_API_KEY"},
		{name: "then the default", gemini: gemini, def: "offline", req: generate.Request{Model: "Nano Banana Pro", Substitute: true}, model: "Atelier Offline", outcome: "substituted", reason: "GEMINI_API_KEY"},
		{name: "default beats preference", def: "gpt-image-2", req: generate.Request{Prefer: []string{"Nano Banana Pro"}}, model: "GPT Image 2", outcome: "substituted", reason: "ATELIER_IMAGE_MODEL"},
		{name: "person beats default", def: "gpt-image-2", req: generate.Request{Model: "offline"}, model: "Atelier Offline", outcome: "applied"},
		{name: "retired default", def: "gpt-image-1", model: "GPT Image 2.6 Sunburst", warning: "GPT Image 2.6 Sunburst replaces it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := build(t, func(h *testGateway, g *gateway.Config) {
				h.openai.NotReady, h.gemini.NotReady, g.DefaultModel = c.openai, c.gemini, c.def
			})
			c.req.Prompt = "a house"
			p, err := h.Plan(t.Context(), c.req)
			if err != nil {
				t.Fatalf("Plan: %v", err)
			}
			d := disposition(p.Dispositions, "model")
			if p.Model.Name != c.model || d.Outcome != c.outcome || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("%s, %+v; want %s, %q because %q", p.Model.Name, d, c.model, c.outcome, c.reason)
			}
			if w := strings.Join(p.Warnings, "; "); (w == "") != (c.warning == "") || !strings.Contains(w, c.warning) {
				t.Errorf("warnings %q, want %q", w, c.warning)
			}
		})
	}
}

func TestLifeFollowsTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		day     time.Time
		model   string
		warning bool
	}{
		{day(10, 31), "GPT-4o Image 1.5", false},
		{day(11, 2), "GPT-4o Image 1.5", true},
		{time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), "GPT Image 2.6 Sunburst", false},
	} {
		h := build(t, func(_ *testGateway, g *gateway.Config) { g.Now = func() time.Time { return c.day } })
		p, err := h.Plan(t.Context(), generate.Request{Model: "gpt-image-1.5", Prompt: "a house"})
		if err != nil || p.Model.Name != c.model || (len(p.Warnings) > 0) != c.warning {
			t.Errorf("%s: %+v, %v; want %s", c.day, p, err, c.model)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	picture := []media.Output{{Ref: "img-01234567"}}
	hundred := 101
	for _, c := range []struct {
		name string
		req  generate.Request
		code media.Code
		say  string
	}{
		{"empty prompt", generate.Request{Prompt: " \n"}, media.CodeInvalid, "empty"},
		{"bad UTF-8", generate.Request{Prompt: "a\xff"}, media.CodeInvalid, "UTF-8"},
		{"100 kB prompt", generate.Request{Prompt: strings.Repeat("x", 100_000)}, media.CodeInvalid, "32000: shorten"},
		{"negative n", generate.Request{N: -1}, media.CodeInvalid, "1 to 100"},
		{"n too large", generate.Request{N: 1000}, media.CodeInvalid, "1 to 100"},
		{"bad size", generate.Request{Size: "huge"}, media.CodeInvalid, "1536x1024"},
		{"zero size", generate.Request{Size: "0x100"}, media.CodeInvalid, "WIDTHxHEIGHT"},
		{"size beyond reason", generate.Request{Size: "1000000x1000000"}, media.CodeInvalid, "WIDTHxHEIGHT"},
		{"bad ratio", generate.Request{AspectRatio: "wide"}, media.CodeInvalid, "16:9"},
		{"NaN ratio", generate.Request{AspectRatio: "NaN:1"}, media.CodeInvalid, "16:9"},
		{"endless ratio", generate.Request{AspectRatio: "1:0"}, media.CodeInvalid, "16:9"},
		{"compression", generate.Request{Compression: &hundred}, media.CodeInvalid, "0 to 100"},
		{"background", generate.Request{Background: "pink"}, media.CodeInvalid, "transparent"},
		{"format", generate.Request{OutputFormat: "bmp"}, media.CodeInvalid, "png, jpeg"},
		{"method", generate.Request{Method: "paint"}, media.CodeInvalid, "edit"},
		{"edit without bytes", generate.Request{Method: generate.MethodEdit, Inputs: picture}, media.CodeInvalid, "no bytes"},
		{"edit by one that cannot", generate.Request{Method: generate.MethodEdit, Inputs: picture, Model: "Nano Banana Pro", Modality: media.ModalityAudio}, media.CodeUnsupported, "not audio"},
		{"edit without picture", generate.Request{Method: generate.MethodEdit}, media.CodeInvalid, "input picture"},
		{"generate with picture", generate.Request{Inputs: picture}, media.CodeInvalid, "edit or variation"},
		{"unknown model", generate.Request{Model: "nano bananna"}, media.CodeInvalid, "Nano Banana"},
		{"audio", generate.Request{Modality: media.ModalityAudio, Model: "offline"}, media.CodeUnsupported, "not audio"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			if c.req.Prompt == "" {
				c.req.Prompt = "a house"
			}
			got, err := h.Generate(t.Context(), c.req)
			if got != nil || media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.say) {
				t.Errorf("Generate: %v, %v; want %s saying %q", got, err, c.code, c.say)
			}
			if len(h.log.Entries()) != 0 || len(h.gemini.Tasks())+len(h.offline.Tasks()) != 0 {
				t.Errorf("something was journalled or called: %q", h.log.Entries())
			}
		})
	}
}

func TestNearNames(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	_, err := h.Lookup("nano bananna 2")
	e, ok := errors.AsType[*media.Error](err)
	if !ok || len(e.Valid) == 0 || e.Valid[0] != "Nano Banana 2.1" || slices.Contains(e.Valid, "Nano Banana") {
		t.Errorf("Lookup: %v, valid %q", err, e.Valid)
	}
}

func TestPersonNamesModelWithoutKey(t *testing.T) {
	t.Parallel()
	h := build(t, func(h *testGateway, _ *gateway.Config) { h.gemini.NotReady = noKey("GEMINI_API_KEY") })
	for _, def := range []string{"", "Nano Banana Pro"} {
		h2 := build(t, func(h *testGateway, g *gateway.Config) {
			h.gemini.NotReady, g.DefaultModel = noKey("GEMINI_API_KEY"), def
		})
		if def == "" {
			h2 = h
		}
		r := generate.Request{Prompt: "a house"}
		if def == "" {
			r.Model = "Nano Banana Pro"
		}
		_, err := h2.Generate(t.Context(), r)
		if media.CodeOf(err) != media.CodeMissingKey || !strings.Contains(err.Error(), "GEMINI_API_KEY") {
			t.Errorf("Generate: %v, want %s naming the variable", err, media.CodeMissingKey)
		}
	}
}

func TestNobodyIsReady(t *testing.T) {
	t.Parallel()
	h := build(t, func(h *testGateway, g *gateway.Config) {
		h.gemini.NotReady, h.openai.NotReady = noKey("GEMINI_API_KEY"), noKey("OPENAI_API_KEY")
		g.Drivers = g.Drivers[:2]
	})
	_, err := h.Generate(t.Context(), generate.Request{Prompt: "a house"})
	if media.CodeOf(err) != media.CodeMissingKey || !strings.Contains(err.Error(), "GEMINI_API_KEY") || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Errorf("Generate: %v, want every variable named", err)
	}
	if _, err := h.Generate(t.Context(), generate.Request{Prompt: "a house", Model: "offline"}); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("model without driver: %v", err)
	}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	h := build(t, func(h *testGateway, _ *gateway.Config) { h.openai.NotReady = noKey("OPENAI_API_KEY") })
	got := h.Providers()
	var names []string
	for _, p := range got {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"gemini", "openai", "offline"}) || got[1].Ready || !strings.Contains(got[1].Reason, "OPENAI_API_KEY") {
		t.Errorf("providers %+v", got)
	}
	if slices.Contains(got[0].Models, "Nano Banana") || !slices.Contains(got[0].Models, "Nano Banana Pro") {
		t.Errorf("models of gemini: %q", got[0].Models)
	}
	if all := h.Models(); all[0].Name != "Nano Banana Pro" || all[len(all)-1].Provider != "offline" {
		t.Errorf("models begin with %s and end with %s", all[0].Name, all[len(all)-1].Name)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	for name, c := range map[string]gateway.Config{
		"no drivers": {}, "twice": {Drivers: []driver.Driver{h.openai, h.openai}},
	} {
		if _, err := gateway.New(c); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "Drivers") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
