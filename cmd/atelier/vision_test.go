package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/generate"
	"atelier/media"
)

// TestEveryServiceIsShownPictures runs an agent with every chat service: it is given a GIF and a very wide PNG, paints
// a picture, which its policy shows, and views the GIF again. The simulators check every body against the documentation
// of the service.
func TestEveryServiceIsShownPictures(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct {
		env map[string]string
		// base is the variable of the address; path follows the address.
		base, path string
		types      string // of the GIF and the PNG on arrival
		width      int    // of the wide PNG on arrival
		detail     string
	}{
		"openai/gpt-5.4":                         {map[string]string{"OPENAI_API_KEY": "k"}, "OPENAI_BASE_URL", "/v1", "image/gif image/png", 9000, "high"},
		"openai/llama-4-maverick-17b":            {map[string]string{"OPENAI_API_KEY": "k"}, "OPENAI_BASE_URL", "/v1", "image/gif image/png", 9000, "high"},
		"anthropic/claude-sonnet-4-6":            {map[string]string{"ANTHROPIC_API_KEY": "k"}, "ANTHROPIC_BASE_URL", "", "image/gif image/png", 8000, ""},
		"gemini/gemini-3.1-pro-preview":          {map[string]string{"GEMINI_API_KEY": "k"}, "GEMINI_BASE_URL", "", "image/png image/png", 9000, ""},
		"openrouter/meta-llama/llama-4-maverick": {map[string]string{"OPENROUTER_API_KEY": "k"}, "OPENROUTER_BASE_URL", "", "image/gif image/png", 9000, "high"},
		"ollama/llama4":                          {nil, "OLLAMA_HOST", "", "image/png image/png", 9000, ""},
		"bedrock/meta.llama4-maverick-17b-instruct-v1:0": {
			map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-west-1"}, "BEDROCK_BASE_URL", "", "image/gif image/png", 8000, "",
		},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			sim := &chattest.Simulator{}
			srv := httptest.NewServer(sim)
			t.Cleanup(srv.Close)
			for k, v := range c.env {
				p.env[k] = v
			}
			p.env[c.base], p.env["ATELIER_IMAGE_MODEL"] = srv.URL+c.path, "offline"
			p.write("own/critic.yaml", "slug: critic\nname: Critic\ndescription: Looks.\nactions: [Generate Image]\nvision_context: {enabled: true, allowed_sources: [Generate Image]}\n")
			p.write("own/critic.md", "You are critic.")
			still := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White})
			var b bytes.Buffer
			if err := gif.Encode(&b, still, nil); err != nil {
				t.Fatal(err)
			}
			sim.Answer = threeTurns(t, media.RefOf(media.ModalityImage, media.DigestOf(b.Bytes())))
			args := []string{
				"run", "critic", "What are these?", "--agents", filepath.Join(p.dir, "own"), "--model", model, "--image-detail", "high", "--json",
				"--image", p.write("still.gif", b.String()), "--image", p.picture("wide.png", 9000, 20, color.NRGBA{G: 90, A: 255}),
			}
			ans := read[answer](p, args...)
			asked := sim.Requests()
			if ans.Status != "succeeded" || len(asked) != 3 {
				t.Fatalf("%s after %d calls: %v", ans.Status, len(asked), ans.Warnings)
			}
			for turn, r := range asked {
				given := r.Messages[1]
				if given.Role != "user" || len(given.Images) != 2 || given.Images[0].MIMEType+" "+given.Images[1].MIMEType != c.types || given.Images[1].Width != c.width {
					t.Errorf("turn %d shows %+v", turn+1, given.Images)
				}
				if given.Images[1].Detail != c.detail {
					t.Errorf("turn %d asks for detail %q", turn+1, given.Images[1].Detail)
				}
				for i, part := range given.Parts {
					if part.Image != nil && !strings.HasSuffix(given.Parts[i-1].Text, ":") {
						t.Errorf("turn %d: a picture follows %.80q", turn+1, given.Parts[i-1].Text)
					}
				}
			}
			// The picture of an action, and one that is requested, are in the user message with the results.
			for turn, size := range map[int]string{1: "256 × 256", 2: "30 × 20"} {
				last := asked[turn].Messages[len(asked[turn].Messages)-1]
				if last.Role != "user" || !strings.Contains(last.Text, `"results"`) || len(last.Images) != 1 || fmt.Sprintf("%d × %d", last.Images[0].Width, last.Images[0].Height) != size {
					t.Errorf("turn %d ends with a %s message of %+v", turn+1, last.Role, last.Images)
				}
			}
			adapted := c.width < 9000 || strings.HasPrefix(c.types, "image/png")
			reported := slices.ContainsFunc(ans.Dispositions, func(d generate.Disposition) bool { return d.Setting == "image" && d.Outcome == "adapted" })
			dropped := slices.ContainsFunc(ans.Dispositions, func(d generate.Disposition) bool { return d.Setting == "image_detail" && d.Outcome == "dropped" })
			if reported != adapted || dropped != (c.detail == "") {
				t.Errorf("dispositions %+v", ans.Dispositions)
			}
		})
	}
}

// threeTurns answers with three steps: paint, view ref, done.
func threeTurns(t *testing.T, ref media.Ref) func(chattest.Request) string {
	t.Helper()
	return answersInOrder(
		act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Size": "256x256"}),
		act(t, "View Agent Media", map[string]any{"RefId": string(ref)}),
		done(t, "I saw them all."),
	)
}
