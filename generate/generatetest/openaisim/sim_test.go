package openaisim_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"strings"
	"testing"
	"time"

	"atelier/internal/sim"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"atelier/generate/generatetest/openaisim"
	"atelier/media"
)

// vendor returns the vendor's own client on the simulator: what the client understands is the protocol.
func vendor(t *testing.T, c openaisim.Config) (*openaisim.Simulator, openai.Client) {
	t.Helper()
	service := openaisim.New(c)
	base := sim.Serve(t, service)
	return service, openai.NewClient(option.WithBaseURL(base+"/v1/"), option.WithAPIKey(service.Key()), option.WithMaxRetries(0))
}

func TestVendorClientGenerates(t *testing.T) {
	t.Parallel()
	service, client := vendor(t, openaisim.Config{})
	res, err := client.Images.Generate(t.Context(), openai.ImageGenerateParams{
		Prompt: "a fox", Model: "gpt-image-2", N: openai.Int(2), Size: "1536x1024", Quality: "high", OutputFormat: "jpeg", OutputCompression: openai.Int(80),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []media.Digest
	for _, d := range res.Data {
		b, err := base64.StdEncoding.DecodeString(d.B64JSON)
		if err != nil {
			t.Fatal(err)
		}
		m, format, err := image.Decode(bytes.NewReader(b))
		if err != nil || format != "jpeg" || m.Bounds().Dx() != 1536 || m.Bounds().Dy() != 1024 {
			t.Errorf("picture: %v %s, want a JPEG of 1536 × 1024", err, format)
		}
		got = append(got, media.DigestOf(b))
	}
	if diff := cmp.Diff(service.Sent(), got, cmp.Comparer(func(a, b media.Digest) bool { return a == b })); diff != "" || len(got) != 2 || got[0] == got[1] {
		t.Errorf("pictures (-sent +got):\n%s", diff)
	}
	if res.Usage.OutputTokensDetails.ImageTokens != 2*6208 || res.Quality != "high" || res.Size != "1536x1024" {
		t.Errorf("usage %d, quality %s, size %s", res.Usage.OutputTokensDetails.ImageTokens, res.Quality, res.Size)
	}
}

func TestVendorClientStreams(t *testing.T) {
	t.Parallel()
	_, client := vendor(t, openaisim.Config{})
	stream := client.Images.GenerateStreaming(t.Context(), openai.ImageGenerateParams{Prompt: "a fox", Model: "gpt-image-2", PartialImages: openai.Int(2)})
	var types []string
	for stream.Next() {
		e := stream.Current()
		types = append(types, e.Type)
		if _, err := base64.StdEncoding.DecodeString(e.B64JSON); err != nil || e.B64JSON == "" {
			t.Errorf("%s: %v", e.Type, err)
		}
	}
	want := []string{"image_generation.partial_image", "image_generation.partial_image", "image_generation.completed"}
	if diff := cmp.Diff(want, types); diff != "" || stream.Err() != nil {
		t.Errorf("events: %v\n%s", stream.Err(), diff)
	}
}

func TestVendorClientIsRefused(t *testing.T) {
	t.Parallel()
	ok := openai.ImageGenerateParams{Prompt: "a fox", Model: "gpt-image-2"}
	change := func(f func(p *openai.ImageGenerateParams)) openai.ImageGenerateParams {
		p := ok
		f(&p)
		return p
	}
	for name, c := range map[string]struct {
		params openai.ImageGenerateParams
		fault  sim.Injection
		status int
		code   string
		param  string
	}{
		"retired model":   {change(func(p *openai.ImageGenerateParams) { p.Model = "gpt-image-1" }), sim.Injection{}, 400, "invalid_value", "model"},
		"unknown model":   {change(func(p *openai.ImageGenerateParams) { p.Model = "gpt-image-9" }), sim.Injection{}, 400, "invalid_value", "model"},
		"response_format": {change(func(p *openai.ImageGenerateParams) { p.ResponseFormat = "b64_json" }), sim.Injection{}, 400, "unknown_parameter", "response_format"},
		"standard":        {change(func(p *openai.ImageGenerateParams) { p.Quality = "standard" }), sim.Injection{}, 400, "invalid_value", "quality"},
		"odd size":        {change(func(p *openai.ImageGenerateParams) { p.Size = "1000x1000" }), sim.Injection{}, 400, "invalid_value", "size"},
		"size of 1.5":     {change(func(p *openai.ImageGenerateParams) { p.Size, p.Model = "2048x2048", "gpt-image-1.5" }), sim.Injection{}, 400, "invalid_value", "size"},
		"eleven":          {change(func(p *openai.ImageGenerateParams) { p.N = openai.Int(11) }), sim.Injection{}, 400, "integer_out_of_range", "n"},
		"unverified":      {change(func(p *openai.ImageGenerateParams) { p.Model = "gpt-image-2.5-flare" }), sim.Injection{}, 403, "", ""},
		"moderation":      {ok, sim.Injection{Fault: sim.FaultModerated}, 400, "moderation_blocked", ""},
		"quota":           {ok, sim.Injection{Fault: sim.FaultQuota}, 429, "insufficient_quota", ""},
		"clear in jpeg":   {change(func(p *openai.ImageGenerateParams) { p.Background, p.OutputFormat = "transparent", "jpeg" }), sim.Injection{}, 400, "invalid_value", "background"},
		"png compressed":  {change(func(p *openai.ImageGenerateParams) { p.OutputCompression = openai.Int(5) }), sim.Injection{}, 400, "invalid_value", "output_compression"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, client := vendor(t, openaisim.Config{Unverified: []string{"gpt-image-2.5-flare"}})
			service.Inject(c.fault)
			_, err := client.Images.Generate(t.Context(), c.params)
			var e *openai.Error
			if !errors.As(err, &e) {
				t.Fatalf("error = %v, want an API error", err)
			}
			if e.StatusCode != c.status || e.Code != c.code || e.Param != c.param {
				t.Errorf("status %d code %q param %q, want %d %q %q", e.StatusCode, e.Code, e.Param, c.status, c.code, c.param)
			}
		})
	}
}

func TestModelsDieOnTheirDay(t *testing.T) {
	t.Parallel()
	for day, want := range map[string]bool{"2026-11-30": true, "2026-12-01": false} {
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		_, client := vendor(t, openaisim.Config{Now: func() time.Time { return now }})
		page, err := client.Models.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		listed := false
		for _, m := range page.Data {
			listed = listed || m.ID == "gpt-image-1.5" && strings.Contains(m.RawJSON(), `"shutdown_date":"2026-12-01"`)
		}
		_, err = client.Images.Generate(t.Context(), openai.ImageGenerateParams{Prompt: "a fox", Model: "gpt-image-1.5"})
		if listed != want || (err == nil) != want {
			t.Errorf("%s: listed %v, call %v, want alive %v", day, listed, err, want)
		}
	}
}

func TestKeysStayOut(t *testing.T) {
	t.Parallel()
	service, client := vendor(t, openaisim.Config{})
	if _, err := client.Images.Generate(t.Context(), openai.ImageGenerateParams{Prompt: "a fox", Model: "gpt-image-2"}); err != nil {
		t.Fatal(err)
	}
	calls := service.Captured()
	if len(calls) != 1 || calls[0].Header.Get("Authorization") != "[key]" || calls[0].Path != "/v1/images/generations" {
		t.Errorf("captured %d calls, authorization %q", len(calls), calls[0].Header.Get("Authorization"))
	}
}
