package gateway_test

import (
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// TestSpeechSettings: voice, speed and format have dispositions; settings that only pictures have are dropped and not
// spoken.
func TestSpeechSettings(t *testing.T) {
	t.Parallel()
	drv := &generatetest.Driver{Name: "openai"}
	gemini := &generatetest.Driver{Name: "gemini"}
	g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{drv, gemini}, Now: november})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		req  generate.Request
		want string
	}{
		"known voice":        {generate.Request{Model: "tts-1", Voice: "NOVA"}, "voice applied nova"},
		"unknown voice":      {generate.Request{Model: "tts-1", Voice: "Robert"}, "voice adapted alloy"},
		"speed":              {generate.Request{Model: "tts-1", Speed: 1.5}, "speed applied 1.5"},
		"no speed":           {generate.Request{Model: "Gemini TTS", Speed: 1.5}, "speed dropped "},
		"format":             {generate.Request{Model: "tts-1", OutputFormat: "FLAC"}, "output_format applied flac"},
		"other format":       {generate.Request{Model: "Gemini TTS", OutputFormat: "mp3"}, "output_format dropped "},
		"picture format":     {generate.Request{Model: "tts-1", OutputFormat: "png"}, "output_format dropped "},
		"negative":           {generate.Request{Model: "tts-1", NegativePrompt: "fog"}, "negative_prompt dropped "},
		"size":               {generate.Request{Model: "tts-1", Size: "64x64"}, "size dropped "},
		"voice of a picture": {generate.Request{Model: "GPT Image 2", Voice: "nova"}, "voice dropped "},
		"by modality":        {generate.Request{Modality: media.ModalityAudio, Voice: "Puck"}, "voice applied Puck"},
		"fidelity":           {generate.Request{Model: "GPT-4o Image 1.5", Options: map[string]map[string]any{"openai": {"input_fidelity": "high"}}}, "options.openai.input_fidelity dropped "},
	} {
		c.req.Prompt = "hello"
		p, err := g.Plan(t.Context(), c.req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := false
		for _, d := range p.Dispositions {
			found = found || d.Setting+" "+string(d.Outcome)+" "+d.Applied == c.want
		}
		if !found {
			t.Errorf("%s: %+v, want %s", name, p.Dispositions, c.want)
		}
		c.req.Strict = true
		if _, err := g.Plan(t.Context(), c.req); (err != nil) == strings.Contains(c.want, " applied ") {
			t.Errorf("%s, strict: %v", name, err)
		}
	}
}

func TestSpeechRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{&generatetest.Driver{Name: "openai"}}, DefaultModel: "GPT Image 2", Now: november})
	if err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]generate.Request{
		"give the text to speak": {Model: "tts-1"},
		"speed is 0.1":           {Model: "tts-1", Prompt: "x", Speed: 0.1},
		"speed is NaN":           {Model: "tts-1", Prompt: "x", Speed: nan()},
		"takes 4096: shorten":    {Model: "tts-1", Prompt: strings.Repeat("ü", 4097)},
		"makes audio, not image": {Model: "tts-1", Prompt: "x", Modality: media.ModalityImage},
		"does not offer edit":    {Model: "tts-1", Prompt: "x", Method: generate.MethodEdit, Inputs: []media.Output{{}}},
		`output_format "midi"`:   {Model: "tts-1", Prompt: "x", OutputFormat: "midi"},
	} {
		if _, err := g.Plan(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// The default model makes pictures: it is not used for sound.
	if p, err := g.Plan(t.Context(), generate.Request{Prompt: "x", Modality: media.ModalityAudio}); err != nil || p.Model.Modality != media.ModalityAudio {
		t.Errorf("Plan: %+v, %v", p, err)
	}
}

func november() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func nan() float64 {
	zero := 0.0
	return zero / zero
}
