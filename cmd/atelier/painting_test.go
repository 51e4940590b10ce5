package main

import (
	"bytes"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/media"
	"atelier/media/imaging"
)

// TestModelsPaintIntoTheReport: a picture that a chat model makes beside its step is an item of the run, which the
// model then embeds; the canary is only in the store and the report. A picture with a sentence is an answer.
func TestModelsPaintIntoTheReport(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct{ base, key, path string }{
		"gemini/gemini-3-pro-image":            {"GEMINI_BASE_URL", "GEMINI_API_KEY", ""},
		"openrouter/google/gemini-3-pro-image": {"OPENROUTER_BASE_URL", "OPENROUTER_API_KEY", ""},
		"openai/painting":                      {"OPENAI_BASE_URL", "OPENAI_API_KEY", "/v1"},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			painted, given := newCanary(t, 130, 81), newCanary(t, 40, 82)
			sim := &chattest.Simulator{Picture: painted.raw}
			srv := httptest.NewServer(sim)
			t.Cleanup(srv.Close)
			p.env[c.base], p.env[c.key] = srv.URL+c.path, "key"
			p.env["ATELIER_CHAT_PROFILES"] = p.write("profiles.yaml", "models:\n  - {provider: openai, id: painting, supports_vision: true, image_output: true}\n  - {provider: openrouter, id: google/gemini-3-pro-image, supports_vision: true}\n")
			p.write("own/artist.yaml", "slug: artist\nname: Artist\ndescription: Paints.\n")
			p.write("own/artist.md", "You are artist.")
			ref := media.RefOf(media.ModalityImage, media.DigestOf(painted.raw))
			sim.Answer = func(r chattest.Request) string {
				if last := r.Messages[len(r.Messages)-1]; strings.Contains(last.Text, "totalCount") && strings.Contains(last.Text, string(ref)) {
					return step(t, map[string]any{
						"reasoning": "embed it", "message": "Here.", "done": true,
						"payload": map[string]any{"report_html": `<h1>Sea</h1><img src="${media:` + string(ref) + `}" alt="sea">`},
					})
				}
				return act(t, "List Agent Media", map[string]any{})
			}
			out := filepath.Join(p.dir, "out")
			o := p.must("run", "artist", "paint a sea like this", "--agents", filepath.Join(p.dir, "own"), "--model", model, "--image", p.write("given.png", string(given.raw)), "--out", out, "--json")
			ans := decode[answer](t, o)
			if len(ans.Outputs) != 1 || ans.Outputs[0].Ref != ref || len(ans.AlsoMade) != 0 || ans.Report == "" {
				t.Fatalf("%s: outputs %+v, also made %+v", ans.Status, ans.Outputs, ans.AlsoMade)
			}
			if !strings.Contains(string(ans.Payload), `src=\"media/`+filepath.Base(ans.Outputs[0].Path)+`\"`) {
				t.Errorf("payload %s", ans.Payload)
			}
			if report := mustRead(t, ans.Report); !strings.Contains(report, `src="`+painted.url()+`"`) {
				t.Errorf("the report lacks the picture: %.300s", report)
			}
			if got := []byte(mustRead(t, ans.Outputs[0].Path)); !bytes.HasSuffix(got, painted.raw[40:]) || ans.Outputs[0].Marking != imaging.MarkingAdded {
				t.Errorf("the exported file is another picture, or has no label: %q", ans.Outputs[0].Marking)
			}
			for _, r := range sim.Requests() {
				if images := r.Messages[1].Images; len(images) != 1 || images[0].SHA256 != media.DigestOf(given.raw).Hex() || !r.Paints {
					t.Errorf("the model was asked with %+v, painting %v", images, r.Paints)
				}
			}
			sim.Answer = func(chattest.Request) string { return "A sea, as you wished." }
			plain := read[answer](p, "run", "artist", "paint a sea", "--agents", filepath.Join(p.dir, "own"), "--model", model, "--json")
			if len(plain.Outputs) != 1 || plain.Outputs[0].Ref != ref || !strings.Contains(plain.Message, "A sea, as you wished.") {
				t.Errorf("%s: %q with %+v", plain.Status, plain.Message, plain.Outputs)
			}
			printed := sinks{}
			printed.add(o)
			printed.gather(p)
			printed.search(t, painted, given)
			checkStored(t, p, painted, given)
		})
	}
}
