package openai_test

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
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
	"atelier/internal/sim"
	"atelier/media"
)

// newDriver serves h and returns a driver on it with the key.
func newDriver(t *testing.T, h http.Handler, key string) *openai.Driver {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	d, err := openai.New(openai.Config{APIKey: key, BaseURL: srv.URL + "/v1", Codec: wiretest.NewCodec(t), Base: srv.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// simulated returns a driver on a simulator.
func simulated(t *testing.T, faults ...sim.Injection) (*openaisim.Simulator, *openai.Driver) {
	t.Helper()
	sim := openaisim.New(openaisim.Config{Unverified: []string{"gpt-image-2.5-flare"}})
	sim.Inject(faults...)
	return sim, newDriver(t, sim, sim.Key())
}

func task(change func(*driver.Task)) driver.Task {
	t := driver.Task{
		Method: generate.MethodGenerate, Prompt: "a fox in the snow", N: 1,
		Model: catalog.Model{Provider: "openai", APIModel: "gpt-image-2", Modality: media.ModalityImage},
	}
	if change != nil {
		change(&t)
	}
	return t
}

func pointer[T any](v T) *T { return &v }

func TestRequestShapes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task driver.Task
		want string
	}{
		"bare": {task(nil), `{"model":"gpt-image-2","n":1,"prompt":"a fox in the snow"}`},
		"all settings": {task(func(q *driver.Task) {
			q.N, q.Width, q.Height, q.Quality, q.Background = 3, 1536, 1024, "high", "opaque"
			q.OutputFormat, q.Compression, q.Moderation = "webp", pointer(0), "low"
			q.Options = map[string]any{"user": "u-17"}
		}), `{"model":"gpt-image-2","n":3,"prompt":"a fox in the snow","size":"1536x1024","quality":"high","background":"opaque",
			"output_format":"webp","output_compression":0,"moderation":"low","user":"u-17"}`},
		"a setting wins over its option": {task(func(q *driver.Task) {
			q.Quality, q.Options = "low", map[string]any{"quality": "high", "user": "u-17"}
		}), `{"model":"gpt-image-2","n":1,"prompt":"a fox in the snow","quality":"low","user":"u-17"}`},
		"previews": {
			task(func(q *driver.Task) { q.Partial = func(int, media.Blob) {} }),
			`{"model":"gpt-image-2","n":1,"prompt":"a fox in the snow","stream":true,"partial_images":2}`,
		},
		"signs in the prompt": {
			task(func(q *driver.Task) { q.Prompt = "<b> & \u2028 “zwei” 🦊" }),
			`{"model":"gpt-image-2","n":1,"prompt":"<b> & \u2028 “zwei” 🦊"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, d := simulated(t)
			if _, err := d.Start(t.Context(), c.task); err != nil {
				t.Fatal(err)
			}
			calls := sim.Captured()
			if len(calls) != 1 || calls[0].Method != http.MethodPost || calls[0].Path != "/v1/images/generations" {
				t.Fatalf("calls = %+v", calls)
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
			if calls[0].Header.Get("Idempotency-Key") != "" || calls[0].Header.Get("Content-Type") != "application/json" {
				t.Errorf("headers = %v", calls[0].Header)
			}
		})
	}
}

func TestPicturesArriveByteForByte(t *testing.T) {
	t.Parallel()
	for format, mime := range map[string]string{"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			sim, d := simulated(t)
			u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.N, q.Width, q.Height, q.OutputFormat = 2, 1024, 1536, format }))
			if err != nil {
				t.Fatal(err)
			}
			sent := sim.Sent()
			if !u.Done || len(u.Items) != 2 || len(sent) != 2 || sent[0] == sent[1] {
				t.Fatalf("update = %+v, sent %v", u, sent)
			}
			for i, it := range u.Items {
				if it.Err != nil || it.Blob == nil || it.Blob.Digest != sent[i] || it.Blob.MIMEType != mime || it.Blob.Width != 1024 || it.Blob.Height != 1536 {
					t.Errorf("item %d = %+v, want %s of 1024 × 1536 with digest %s", i, it, mime, sent[i])
				}
			}
			want := generate.Usage{Calls: 1, Images: 2, InputTokens: 4, OutputTokens: 2 * 1584, ImageOutputTokens: 2 * 1584}
			if diff := cmp.Diff(want, u.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			meta := map[string]any{"background": "opaque", "output_format": format, "quality": "medium", "size": "1024x1536"}
			if diff := cmp.Diff(meta, u.Metadata); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPreviews(t *testing.T) {
	t.Parallel()
	sim, d := simulated(t)
	var slots []int
	digests := map[media.Digest]bool{}
	u, err := d.Start(t.Context(), task(func(q *driver.Task) {
		q.N = 2
		q.Partial = func(slot int, b media.Blob) { slots = append(slots, slot); digests[b.Digest] = true }
	}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 1, 2, 2}, slots); diff != "" || len(digests) != 4 {
		t.Errorf("previews of slots (-want +got), %d different:\n%s", len(digests), diff)
	}
	for i, d := range sim.Sent() {
		if len(u.Items) != 2 || u.Items[i].Blob == nil || u.Items[i].Blob.Digest != d {
			t.Errorf("items = %+v, want %v", u.Items, sim.Sent())
		}
	}
	if u.Usage.Calls != 1 || u.Usage.Images != 2 || u.Usage.ImageOutputTokens != 2*(2058+200) {
		t.Errorf("usage = %+v", u.Usage)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	d, err := openai.New(openai.Config{Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"Ready": d.Ready(), "Start": second(d.Start(t.Context(), task(nil)))} {
		if media.CodeOf(err) != media.CodeMissingKey || err.Error() != "no key for OpenAI: set OPENAI_API_KEY" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Poll(t.Context(), task(nil), driver.Handle{ID: "x"}); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("Poll: %v", err)
	}
	if err := d.Cancel(t.Context(), driver.Handle{ID: "x"}); err != nil || d.Provider() != "openai" {
		t.Errorf("Cancel: %v, provider %s", err, d.Provider())
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]openai.Config{"no codec": {}, "no scheme": {Codec: wiretest.NewCodec(t), BaseURL: "api.openai.com/v1"}} {
		if _, err := openai.New(c); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
