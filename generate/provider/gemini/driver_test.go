package gemini_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/provider/gemini"
	"atelier/internal/sim"
	"atelier/media"
)

// newDriver serves h and returns a driver on it with the key.
func newDriver(t *testing.T, h http.Handler, key string) *gemini.Driver {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	d, err := gemini.New(gemini.Config{APIKey: key, BaseURL: srv.URL, Codec: wiretest.NewCodec(t), Base: srv.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// simulated returns a driver on a simulator.
func simulated(t *testing.T, c geminisim.Config, faults ...sim.Injection) (*geminisim.Simulator, *gemini.Driver) {
	t.Helper()
	sim := geminisim.New(c)
	sim.Inject(faults...)
	return sim, newDriver(t, sim, sim.Key())
}

func task(change func(*driver.Task)) driver.Task {
	t := driver.Task{
		Method: generate.MethodGenerate, Prompt: "a fox in the snow", N: 1,
		Model: catalog.Model{
			Provider:     "gemini",
			APIModel:     "gemini-3-pro-image",
			Modality:     media.ModalityImage,
			SettingRules: catalog.SettingRules{Options: []string{"temperature", "top_p", "top_k", "max_output_tokens", "thinking_level", "safety_settings"}},
		},
	}
	if change != nil {
		change(&t)
	}
	return t
}

func pointer[T any](v T) *T { return &v }

func second[T any](_ T, err error) error { return err }

func TestRequestShapes(t *testing.T) {
	t.Parallel()
	const contents = `"contents":[{"role":"user","parts":[{"text":"a fox in the snow"}]}]`
	for name, c := range map[string]struct {
		task driver.Task
		want string
	}{
		"bare": {task(nil), `{` + contents + `,"generationConfig":{"responseModalities":["TEXT","IMAGE"]}}`},
		"all settings": {task(func(q *driver.Task) {
			q.AspectRatio, q.Tier, q.Seed = "16:9", "2K", pointer(int64(-7))
			q.Options = map[string]any{
				"temperature": 0.5, "top_p": 0.9, "top_k": 40, "max_output_tokens": 9000,
				"safety_settings": []map[string]string{{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}},
			}
		}), `{` + contents + `,"generationConfig":{"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"16:9","imageSize":"2K"},
			"seed":-7,"temperature":0.5,"topP":0.9,"topK":40,"maxOutputTokens":9000},
			"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_ONLY_HIGH"}]}`},
		"ratio alone": {
			task(func(q *driver.Task) { q.AspectRatio = "21:9" }),
			`{` + contents + `,"generationConfig":{"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"21:9"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, d := simulated(t, geminisim.Config{})
			if _, err := d.Start(t.Context(), c.task); err != nil {
				t.Fatal(err)
			}
			calls := sim.Captured()
			if len(calls) != 1 || calls[0].Method != http.MethodPost || calls[0].Path != "/v1beta/models/gemini-3-pro-image:generateContent" {
				t.Fatalf("calls = %+v", calls)
			}
			if calls[0].Header.Get("X-Goog-Api-Key") != "[key]" {
				t.Errorf("headers = %v", calls[0].Header)
			}
			var got, want any
			if err := json.Unmarshal(calls[0].Body, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPicturesArriveByteForByte(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model, ratio, tier, mime string
		width, height            int
		usage                    generate.Usage
	}{
		"pro thinks first": {
			"gemini-3-pro-image", "16:9", "1K", "image/png", 1376, 768,
			generate.Usage{Calls: 1, Images: 1, InputTokens: 4, OutputTokens: 1120 + 312, ImageOutputTokens: 1120},
		},
		"flash is JPEG": {
			"gemini-nano-banana-2.1", "1:8", "1K", "image/jpeg", 384, 3072,
			generate.Usage{Calls: 1, Images: 1, InputTokens: 4, OutputTokens: 1120, ImageOutputTokens: 1120},
		},
		"2K": {
			"gemini-nano-banana-2.1", "1:1", "2K", "image/jpeg", 2048, 2048,
			generate.Usage{Calls: 1, Images: 1, InputTokens: 4, OutputTokens: 1680, ImageOutputTokens: 1680},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, d := simulated(t, geminisim.Config{})
			u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.Model.APIModel, q.AspectRatio, q.Tier = c.model, c.ratio, c.tier }))
			if err != nil || !u.Done || len(u.Items) != 1 || u.Items[0].Blob == nil {
				t.Fatalf("error %v, update %+v", err, u)
			}
			b := u.Items[0].Blob
			if b.Digest != sim.Sent()[0] || b.MIMEType != c.mime || b.Width != c.width || b.Height != c.height {
				t.Errorf("blob = %+v, want %s of %d × %d with digest %s", b, c.mime, c.width, c.height, sim.Sent()[0])
			}
			if diff := cmp.Diff(c.usage, u.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeveralPicturesAreAllKept(t *testing.T) {
	t.Parallel()
	sim, d := simulated(t, geminisim.Config{Pictures: 3})
	u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.Seed = pointer(int64(5)) }))
	if err != nil || len(u.Items) != 3 || u.Usage.Images != 3 {
		t.Fatalf("error %v, update %+v", err, u)
	}
	for i, it := range u.Items {
		if it.Blob == nil || it.Blob.Digest != sim.Sent()[i] || *it.Seed != 5 {
			t.Errorf("item %d = %+v", i, it)
		}
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	d, err := gemini.New(gemini.Config{Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"Ready": d.Ready(), "Start": second(d.Start(t.Context(), task(nil)))} {
		if media.CodeOf(err) != media.CodeMissingKey || err.Error() != "no key for Gemini: set GEMINI_API_KEY (or GOOGLE_API_KEY)" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Poll(t.Context(), task(nil), driver.Handle{ID: "x"}); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("Poll: %v", err)
	}
	if err := d.Cancel(t.Context(), driver.Handle{ID: "x"}); err != nil || d.Provider() != "gemini" {
		t.Errorf("Cancel: %v, provider %s", err, d.Provider())
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]gemini.Config{"no codec": {}, "no scheme": {Codec: wiretest.NewCodec(t), BaseURL: "localhost"}} {
		if _, err := gemini.New(c); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
