package gemini_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/provider/gemini"
	"atelier/internal/sim"
	"atelier/media"
)

// speaker returns a driver on a simulator.
func speaker(t *testing.T) (*geminisim.Simulator, *gemini.Driver) {
	t.Helper()
	service := geminisim.New(geminisim.Config{})
	base := sim.Serve(t, service)
	d, err := gemini.New(gemini.Config{APIKey: service.Key(), BaseURL: base, Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	return service, d
}

func spoken(change func(*driver.Task)) driver.Task {
	q := driver.Task{
		Method: generate.MethodGenerate, Prompt: "Ann: The tide turns. Bob: And the harbour wakes.", N: 1,
		Model: catalog.Model{
			Provider:     "gemini",
			APIModel:     "gemini-2.5-flash-preview-tts",
			Modality:     media.ModalityAudio,
			SettingRules: catalog.SettingRules{Voices: []string{"Leda"}, Options: []string{"temperature", "speakers", "language_code"}},
		},
	}
	change(&q)
	return q
}

func TestSpeechRequests(t *testing.T) {
	t.Parallel()
	const contents = `"contents":[{"role":"user","parts":[{"text":"Ann: The tide turns. Bob: And the harbour wakes."}]}]`
	seed := int64(5)
	for name, c := range map[string]struct {
		task driver.Task
		want string
	}{
		"bare": {
			spoken(func(*driver.Task) {}),
			`{` + contents + `,"generationConfig":{"responseModalities":["AUDIO"],"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Leda"}}}}}`,
		},
		"all settings": {
			spoken(func(q *driver.Task) {
				q.Voice, q.Seed, q.Options = "Puck", &seed, map[string]any{"temperature": 0.5, "language_code": "en-GB"}
			}),
			`{` + contents + `,"generationConfig":{"responseModalities":["AUDIO"],"seed":5,"temperature":0.5,"speechConfig":{"languageCode":"en-GB","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Puck"}}}}}`,
		},
		"dialogue": {
			spoken(func(q *driver.Task) {
				q.Options = map[string]any{"speakers": map[string]any{"Bob": "Puck", "Ann": "Kore"}}
			}),
			`{` + contents + `,"generationConfig":{"responseModalities":["AUDIO"],"speechConfig":{"multiSpeakerVoiceConfig":{"speakerVoiceConfigs":[
				{"speaker":"Ann","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Kore"}}},{"speaker":"Bob","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Puck"}}}]}}}}`,
		},
		"dialogue with a style": {
			spoken(func(q *driver.Task) {
				q.Model.APIModel, q.Model.Supports, q.Style = "gemini-3.8-flash-tts", []string{"seed", "style"}, "calm, a storyteller"
				q.Options = map[string]any{"speakers": map[string]any{"Bob": "Puck", "Ann": "Kore"}}
			}),
			`{"contents":[{"role":"user","parts":[{"text":"The tide turns.","speech_metadata":{"speaker":"Ann","style":"calm, a storyteller"}},
				{"text":"And the harbour wakes.","speech_metadata":{"speaker":"Bob","style":"calm, a storyteller"}}]}],
				"generationConfig":{"responseModalities":["AUDIO"],"speechConfig":{"multiSpeakerVoiceConfig":{"speakerVoiceConfigs":[
				{"speaker":"Ann","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Kore"}}},{"speaker":"Bob","voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Puck"}}}]}}}}`,
		},
		"modern without a style": {
			spoken(func(q *driver.Task) {
				q.Model.APIModel, q.Model.Supports = "gemini-3.8-flash-tts", []string{"seed", "style"}
			}),
			`{` + contents + `,"generationConfig":{"responseModalities":["AUDIO"],"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Leda"}}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, d := speaker(t)
			u, err := d.Start(t.Context(), c.task)
			if err != nil || len(u.Items) != 1 || u.Items[0].Err != nil {
				t.Fatalf("Start: %+v, %v", u, err)
			}
			var got, want any
			if json.Unmarshal(service.Captured()[0].Body, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatal("no JSON")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			b := u.Items[0].Blob
			if b.MIMEType != "audio/wav" || b.DurationSeconds < 2 || b.Digest != service.Sent()[0] || u.Items[0].DeclaredMIME != "audio/wav" {
				t.Errorf("sound %+v, declared %s", b, u.Items[0].DeclaredMIME)
			}
			wantUsage := generate.Usage{Calls: 1, Images: 1, InputTokens: u.Usage.InputTokens, OutputTokens: u.Usage.OutputTokens}
			if diff := cmp.Diff(wantUsage, u.Usage); diff != "" || u.Usage.OutputTokens < 25 {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSoundsWithAndWithoutAHeader: some models answer with raw samples, others with a whole WAV; the declared type is
// not trusted, and each result is one WAV.
func TestSoundsWithAndWithoutAHeader(t *testing.T) {
	t.Parallel()
	wav := sim.Sound("wav", 1000, 3)
	for kind, body := range map[string][]byte{
		"audio/L16;codec=pcm;rate=24000": sim.Samples(1000, 3), "audio/wav": sim.Samples(1000, 3),
		"audio/L16;rate=8000": wav.Bytes(), "audio/x-wav": wav.Bytes(), "application/octet-stream": wav.Bytes(),
	} {
		answer := `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"` + kind + `","data":"` + base64.StdEncoding.EncodeToString(body) + `"}}]},"finishReason":"STOP"}]}`
		d, err := gemini.New(gemini.Config{APIKey: "k", Codec: wiretest.NewCodec(t), Base: generatetest.Answer{Status: http.StatusOK, Type: "application/json", Body: answer}})
		if err != nil {
			t.Fatal(err)
		}
		u, err := d.Start(t.Context(), spoken(func(*driver.Task) {}))
		if err != nil || len(u.Items) != 1 || u.Items[0].Err != nil || u.Items[0].Blob.Digest != wav.Digest() || u.Items[0].Blob.MIMEType != "audio/wav" || u.Items[0].Blob.DurationSeconds != 1 {
			t.Errorf("%s of %d bytes: %+v, %v", kind, len(body), u, err)
		}
	}
}

// TestSpeechRefusals: what the driver or the endpoint does not accept is bad input.
func TestSpeechRefusals(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*driver.Task){
		"three speakers": func(q *driver.Task) {
			q.Options = map[string]any{"speakers": map[string]any{"A": "Kore", "B": "Puck", "C": "Leda"}}
		},
		"speakers as text":    func(q *driver.Task) { q.Options = map[string]any{"speakers": "Ann"} },
		"unknown voice":       func(q *driver.Task) { q.Voice = "Robert" },
		"a model of pictures": func(q *driver.Task) { q.Model.APIModel = "gemini-3-pro-image" },
		"option of pictures":  func(q *driver.Task) { q.Options = map[string]any{"background": "x"} },
	} {
		_, d := speaker(t)
		if _, err := d.Start(t.Context(), spoken(change)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpeechIsPricedByTokens: tokens of sound have the price of output other than pictures.
func TestSpeechIsPricedByTokens(t *testing.T) {
	t.Parallel()
	service, d := speaker(t)
	g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{d}, Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Generate(t.Context(), generate.Request{Model: "Gemini TTS", Prompt: "Sixty characters of text make four seconds of sound, at 15/s.", Voice: "puck"})
	if err != nil || got.Status != generate.StatusSucceeded || len(service.Captured()) != 1 {
		t.Fatalf("Generate: %+v, %v", got, err)
	}
	// 15 tokens in at 0.5 and 101 out at 9 dollars per million.
	if usd := got.Cost.ReportedUSD; usd == nil || *usd != "0.0009165" || got.Usage.OutputTokens != 101 {
		t.Errorf("usage %+v, cost %v", got.Usage, got.Cost)
	}
}
