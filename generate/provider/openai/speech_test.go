package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
	"atelier/internal/sim"
	"atelier/media"
)

// spoken returns a speech task.
func spoken(change func(*driver.Task)) driver.Task {
	return task(func(q *driver.Task) {
		q.Model = catalog.Model{Provider: "openai", APIModel: "gpt-4o-mini-tts", Modality: media.ModalityAudio, SettingRules: catalog.SettingRules{Voices: []string{"coral", "nova"}}}
		q.Prompt = "The tide turns, and the harbour wakes."
		if change != nil {
			change(q)
		}
	})
}

func TestSpeechRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task driver.Task
		want string
	}{
		"bare": {spoken(nil), `{"model":"gpt-4o-mini-tts","input":"The tide turns, and the harbour wakes.","voice":"coral"}`},
		"all settings": {spoken(func(q *driver.Task) {
			q.Voice, q.Speed, q.OutputFormat, q.Options = "nova", 1.5, "flac", map[string]any{"instructions": "Whisper."}
		}), `{"model":"gpt-4o-mini-tts","input":"The tide turns, and the harbour wakes.","voice":"nova","speed":1.5,"response_format":"flac","instructions":"Whisper."}`},
		"a model without voices": {
			spoken(func(q *driver.Task) { q.Model.Voices = nil }),
			`{"model":"gpt-4o-mini-tts","input":"The tide turns, and the harbour wakes.","voice":"alloy"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, d := simulated(t)
			if _, err := d.Start(t.Context(), c.task); err != nil {
				t.Fatal(err)
			}
			call := service.Captured()[0]
			var got, want map[string]any
			if json.Unmarshal(call.Body, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatalf("body %s", call.Body)
			}
			if diff := cmp.Diff(want, got); diff != "" || call.Path != "/v1/audio/speech" || call.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s, body (-want +got):\n%s", call.Path, diff)
			}
		})
	}
}

// TestSoundsArriveByteForByte: sounds arrive unchanged in every format, with the duration read from the bytes.
func TestSoundsArriveByteForByte(t *testing.T) {
	t.Parallel()
	for format, kind := range map[string]string{"mp3": "audio/mpeg", "wav": "audio/wav", "opus": "audio/ogg", "flac": "audio/flac", "aac": "audio/aac"} {
		service, d := simulated(t)
		u, err := d.Start(t.Context(), spoken(func(q *driver.Task) { q.OutputFormat = format }))
		if err != nil || len(u.Items) != 1 || u.Items[0].Err != nil {
			t.Fatalf("%s: %+v, %v", format, u, err)
		}
		b := u.Items[0].Blob
		if b.Digest != service.Sent()[0] || b.MIMEType != kind || u.Items[0].DeclaredMIME != kind || format != "aac" && (b.DurationSeconds < 2 || b.DurationSeconds > 3) {
			t.Errorf("%s: %+v, declared %s, sent %s", format, b, u.Items[0].DeclaredMIME, service.Sent()[0])
		}
	}
}

// TestRawSamples: raw samples in an answer get a WAV header.
func TestRawSamples(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"audio/pcm;rate=24000", "audio/wav"} {
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(sim.Samples(1000, 3))
		})
		u, err := newDriver(t, h, "k").Start(t.Context(), spoken(nil))
		if err != nil || len(u.Items) != 1 || u.Items[0].Blob == nil {
			t.Fatalf("%s: %+v, %v", kind, u, err)
		}
		if b := u.Items[0].Blob; b.MIMEType != "audio/wav" || b.DurationSeconds != 1 || b.Digest != sim.Sound("wav", 1000, 3).Digest() {
			t.Errorf("%s: %+v", kind, b)
		}
	}
}

func TestSpeechThatDoesNotLeave(t *testing.T) {
	t.Parallel()
	service, d := simulated(t)
	for name, q := range map[string]driver.Task{
		"two":          spoken(func(q *driver.Task) { q.N = 2 }),
		"edit":         spoken(func(q *driver.Task) { q.Method = generate.MethodEdit }),
		"owned option": spoken(func(q *driver.Task) { q.Options = map[string]any{"response_format": "pcm"} }),
	} {
		if _, err := d.Start(t.Context(), q); media.CodeOf(err) != media.CodeUnsupported && media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(service.Captured()) > 0 {
		t.Error("the provider was called")
	}
}

// TestSpeechSimulatorRefuses: the simulator refuses what the endpoint does not accept.
func TestSpeechSimulatorRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*driver.Task){
		"voice":        func(q *driver.Task) { q.Voice = "Robert" },
		"speed":        func(q *driver.Task) { q.Speed = 5 },
		"format":       func(q *driver.Task) { q.OutputFormat = "midi" },
		"option":       func(q *driver.Task) { q.Options = map[string]any{"pitch": 2} },
		"instructions": func(q *driver.Task) { q.Model.APIModel, q.Options = "tts-1", map[string]any{"instructions": "x"} },
		"text":         func(q *driver.Task) { q.Prompt = "" },
	} {
		_, d := simulated(t)
		if _, err := d.Start(t.Context(), spoken(change)); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, d := simulated(t)
	if _, err := d.Start(t.Context(), spoken(func(q *driver.Task) { q.Model.APIModel = "tts-0" })); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("model: %v", err)
	}
}

// TestEndpoint: another service is called by its own name, needs a key only if it says so, and may be given a response
// format.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	at := catalog.Endpoint{Provider: "studio", Name: "Studio", BaseURL: "http://127.0.0.1:1/v1"}
	open, err := openai.NewCompatible(openai.Config{Codec: wiretest.NewCodec(t)}, at)
	if err != nil || open.Ready() != nil || open.Provider() != "studio" {
		t.Fatalf("New: %v, ready %v", err, open.Ready())
	}
	at.KeyVariable = "STUDIO_KEY"
	shut, err := openai.NewCompatible(openai.Config{Codec: wiretest.NewCodec(t)}, at)
	if err != nil || media.CodeOf(shut.Ready()) != media.CodeMissingKey || shut.Ready().Error() != "no key for Studio: set STUDIO_KEY" {
		t.Errorf("Ready: %v, %v", err, shut.Ready())
	}
	if _, err := open.Start(t.Context(), task(func(q *driver.Task) { q.Options = map[string]any{"response_format": "url"} })); media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
		t.Errorf("unreachable: %v", err)
	}
	at.BaseURL = "studio.example"
	if _, err := openai.NewCompatible(openai.Config{Codec: wiretest.NewCodec(t)}, at); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("no scheme: %v", err)
	}
	if service := openaisim.NewSpeech(openaisim.Config{}); service.Absent("huge_header") == "" || service.Variants("html") != 1 {
		t.Error("the simulator of speech is not one")
	}
}
