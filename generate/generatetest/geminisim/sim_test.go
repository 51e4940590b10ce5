package geminisim_test

import (
	"bytes"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"net/http/httptest"
	"testing"

	"atelier/internal/sim"

	"google.golang.org/genai"

	"atelier/generate/generatetest/geminisim"
	"atelier/media"
)

// vendor returns the vendor's own client on the simulator: what the client understands is the protocol.
func vendor(t *testing.T, key string) (*geminisim.Simulator, *genai.Client) {
	t.Helper()
	service := geminisim.New(geminisim.Config{})
	srv := httptest.NewServer(service)
	t.Cleanup(srv.Close)
	if key == "" {
		key = service.Key()
	}
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: srv.Client(), HTTPOptions: genai.HTTPOptions{BaseURL: srv.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, client
}

func TestVendorClientGenerates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model, ratio, size, format string
		width, height              int
		thoughts                   int
		tokens                     int32
	}{
		"pro 16:9 2K":  {"gemini-3-pro-image", "16:9", "2K", "png", 2752, 1536, 2, 1120},
		"pro default":  {"gemini-3-pro-image", "", "", "png", 1024, 1024, 2, 1120},
		"flash 8:1":    {"gemini-nano-banana-2.1", "8:1", "1K", "jpeg", 3072, 384, 0, 1120},
		"flash 2K":     {"gemini-nano-banana-2.1", "1:1", "2K", "jpeg", 2048, 2048, 0, 1680},
		"lite without": {"gemini-3.1-flash-lite-image", "4:5", "", "jpeg", 928, 1152, 0, 1120},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, client := vendor(t, "")
			res, err := client.Models.GenerateContent(t.Context(), c.model, genai.Text("a fox"), &genai.GenerateContentConfig{
				ResponseModalities: []string{"TEXT", "IMAGE"}, ImageConfig: &genai.ImageConfig{AspectRatio: c.ratio, ImageSize: c.size},
			})
			if err != nil {
				t.Fatal(err)
			}
			thoughts := 0
			for _, p := range res.Candidates[0].Content.Parts {
				if p.Thought {
					thoughts++
				}
				if p.Thought || p.InlineData == nil {
					continue
				}
				m, format, err := image.Decode(bytes.NewReader(p.InlineData.Data))
				if err != nil || format != c.format || m.Bounds().Dx() != c.width || m.Bounds().Dy() != c.height {
					t.Errorf("picture: %v, %s, want %s of %d × %d", err, format, c.format, c.width, c.height)
				}
				if sent := service.Sent(); len(sent) != 1 || sent[0] != media.DigestOf(p.InlineData.Data) || len(p.ThoughtSignature) == 0 {
					t.Errorf("sent %v, signature of %d bytes", sent, len(p.ThoughtSignature))
				}
			}
			if thoughts != c.thoughts || res.UsageMetadata.CandidatesTokenCount != c.tokens {
				t.Errorf("thoughts %d, tokens %d; want %d, %d", thoughts, res.UsageMetadata.CandidatesTokenCount, c.thoughts, c.tokens)
			}
		})
	}
}

func TestVendorClientStreams(t *testing.T) {
	t.Parallel()
	_, client := vendor(t, "")
	pictures, finish := 0, genai.FinishReason("")
	for res, err := range client.Models.GenerateContentStream(t.Context(), "gemini-3-pro-image", genai.Text("a fox"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		finish = res.Candidates[0].FinishReason
		for _, p := range res.Candidates[0].Content.Parts {
			if p.InlineData != nil && !p.Thought {
				pictures++
			}
		}
	}
	if pictures != 1 || finish != genai.FinishReasonStop {
		t.Errorf("pictures %d, finish %q", pictures, finish)
	}
}

func TestVendorClientIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model  string
		key    string
		config *genai.GenerateContentConfig
		fault  sim.Injection
		code   int
		status string
	}{
		"bad key":         {"gemini-3-pro-image", "wrong", nil, sim.Injection{}, 400, "INVALID_ARGUMENT"},
		"preview id":      {"gemini-3-pro-image-preview", "", nil, sim.Injection{}, 404, "NOT_FOUND"},
		"flash shut down": {"gemini-2.5-flash-image", "", nil, sim.Injection{}, 404, "NOT_FOUND"},
		"small k":         {"gemini-3-pro-image", "", &genai.GenerateContentConfig{ImageConfig: &genai.ImageConfig{ImageSize: "1k"}}, sim.Injection{}, 400, "INVALID_ARGUMENT"},
		"ratio":           {"gemini-3-pro-image", "", &genai.GenerateContentConfig{ImageConfig: &genai.ImageConfig{AspectRatio: "8:1"}}, sim.Injection{}, 400, "INVALID_ARGUMENT"},
		"candidates":      {"gemini-3-pro-image", "", &genai.GenerateContentConfig{CandidateCount: 2}, sim.Injection{}, 400, "INVALID_ARGUMENT"},
		"rate limit":      {"gemini-3-pro-image", "", nil, sim.Injection{Fault: sim.FaultRateLimit}, 429, "RESOURCE_EXHAUSTED"},
		"overloaded":      {"gemini-3-pro-image", "", nil, sim.Injection{Fault: sim.FaultOverloaded}, 503, "UNAVAILABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, client := vendor(t, c.key)
			service.Inject(c.fault)
			_, err := client.Models.GenerateContent(t.Context(), c.model, genai.Text("a fox"), c.config)
			var e genai.APIError
			if !errors.As(err, &e) || e.Code != c.code || e.Status != c.status {
				t.Errorf("error = %v, want %d %s", err, c.code, c.status)
			}
		})
	}
}

func TestSeedNamesThePicture(t *testing.T) {
	t.Parallel()
	service, client := vendor(t, "")
	for _, seed := range []int32{5, 5, 6} {
		if _, err := client.Models.GenerateContent(t.Context(), "gemini-nano-banana-2.1", genai.Text("a fox"), &genai.GenerateContentConfig{Seed: &seed}); err != nil {
			t.Fatal(err)
		}
	}
	if s := service.Sent(); s[0] != s[1] || s[0] == s[2] {
		t.Errorf("digests %v", s)
	}
}
