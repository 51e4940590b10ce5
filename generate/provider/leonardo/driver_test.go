package leonardo_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/provider/leonardo"
	"atelier/media"
	"atelier/media/wire"
)

// bench is a driver on a simulator.
type bench struct {
	sim    *leonardosim.Simulator
	driver *leonardo.Driver
	codec  *wire.Codec
	url    string
}

func set(t *testing.T, c leonardosim.Config, change func(*leonardo.Config)) *bench {
	t.Helper()
	b := &bench{sim: leonardosim.New(c), codec: wiretest.NewCodec(t)}
	srv := httptest.NewServer(b.sim)
	t.Cleanup(srv.Close)
	b.url = srv.URL
	cfg := leonardo.Config{APIKey: b.sim.Key(), BaseURL: srv.URL, Codec: b.codec}
	if change != nil {
		change(&cfg)
	}
	var err error
	if b.driver, err = leonardo.New(cfg); err != nil {
		t.Fatal(err)
	}
	return b
}

// model returns a row of the shipped catalogue.
func model(t *testing.T, name string) catalog.Model {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := c.Lookup(name)
	if !ok {
		t.Fatalf("no model %q", name)
	}
	return m
}

func pointer[T any](v T) *T { return &v }

// scoped returns the context of a run, which sending pictures needs.
func scoped(t *testing.T) context.Context {
	t.Helper()
	return media.WithScope(t.Context(), media.Scope{Tree: "run-1"})
}

func (b *bench) picture(t *testing.T, raw []byte) media.Output {
	t.Helper()
	return media.NewOutput(generatetest.Stored(t.Context(), t, b.codec, raw), media.Meta{})
}

func TestRequestShapes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model string
		task  driver.Task
		want  map[string]any
	}{
		"bare":  {"phoenix_1_0", driver.Task{}, map[string]any{"num_images": 1., "alchemy": true, "contrast": 3.5}},
		"low":   {"phoenix_1_0", driver.Task{Quality: "low"}, map[string]any{"num_images": 1., "alchemy": false, "contrast": 3.5}},
		"ultra": {"phoenix_1_0", driver.Task{Quality: "high"}, map[string]any{"num_images": 1., "alchemy": false, "ultra": true, "contrast": 3.5}},
		"lucid": {"Lucid Origin", driver.Task{N: 4}, map[string]any{"num_images": 4.}},
		"all settings": {"anime_xl", driver.Task{
			N: 3, Width: 1024, Height: 576, Seed: pointer(int64(7)), Style: "sketch_bw", NegativePrompt: "text", Quality: "medium",
			Options: map[string]any{"guidance_scale": 7, "num_inference_steps": 30, "scheduler": "LEONARDO", "transparency": "foreground_only", "tiling": true, "enhance_prompt": false, "style_uuid": "111dc692-d470-4eec-b791-3475abac4c46"},
		}, map[string]any{
			"num_images": 3., "width": 1024., "height": 576., "seed": 7., "presetStyle": "SKETCH_BW", "negative_prompt": "text", "alchemy": true,
			"guidance_scale": 7., "num_inference_steps": 30., "scheduler": "LEONARDO", "transparency": "foreground_only", "tiling": true, "enhancePrompt": false,
			"styleUUID": "111dc692-d470-4eec-b791-3475abac4c46",
		}},
		"own contrast": {"phoenix_1_0", driver.Task{Options: map[string]any{"contrast": 4}}, map[string]any{"num_images": 1., "alchemy": true, "contrast": 4.}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := set(t, leonardosim.Config{}, nil)
			c.task.Model, c.task.Prompt = model(t, c.model), "<a> fox & “snow”"
			u, err := b.driver.Start(t.Context(), c.task)
			if err != nil || u.Done || u.Task.ID == "" {
				t.Fatalf("update %+v, %v", u, err)
			}
			got := b.sim.Captured()[0]
			var body map[string]any
			if err := json.Unmarshal(got.Body, &body); err != nil {
				t.Fatal(err)
			}
			c.want["prompt"], c.want["modelId"], c.want["public"] = c.task.Prompt, c.task.Model.APIModel, false
			if diff := cmp.Diff(c.want, body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if got.Path != "/api/rest/v1/generations" || got.Header.Get("Authorization") != "[key]" {
				t.Errorf("sent to %s with %v", got.Path, got.Header)
			}
		})
	}
}

func TestRefusedBeforeTheCall(t *testing.T) {
	t.Parallel()
	b := set(t, leonardosim.Config{}, nil)
	in := b.picture(t, generatetest.PNG(64, 48, 1))
	phoenix := model(t, "phoenix_1_0")
	for name, q := range map[string]driver.Task{
		"unknown option":       {Options: map[string]any{"public": true}},
		"strength of nothing":  {Options: map[string]any{"init_strength": 0.5}},
		"variation":            {Method: generate.MethodVariation, Inputs: []media.Output{in}},
		"no input":             {Method: generate.MethodEdit},
		"two inputs":           {Method: generate.MethodEdit, Inputs: []media.Output{in, in}},
		"mask":                 {Method: generate.MethodEdit, Inputs: []media.Output{in}, Mask: &in},
		"picture is gone":      {Method: generate.MethodEdit, Inputs: []media.Output{{Blob: media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1, Facts: media.Facts{MIMEType: "image/png"}}}}},
		"picture of that kind": {Method: generate.MethodEdit, Inputs: []media.Output{{Blob: media.Blob{Digest: in.Digest, SizeBytes: in.SizeBytes, Facts: media.Facts{MIMEType: "image/gif"}}}}},
	} {
		q.Model, q.Prompt = phoenix, "a fox"
		if _, err := b.driver.Start(scoped(t), q); err == nil || media.Retryable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(b.sim.Captured()) + len(b.sim.Uploads()); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

// uploadHost is the host that receives uploads; it records their headers.
type uploadHost struct {
	to      http.Handler
	mu      sync.Mutex // guards headers
	headers []http.Header
}

func (s *uploadHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.headers = append(s.headers, r.Header.Clone())
	s.mu.Unlock()
	s.to.ServeHTTP(w, r)
}

// TestEditUploadsThePicture: the bytes are uploaded to another host as a file, without the key.
func TestEditUploadsThePicture(t *testing.T) {
	t.Parallel()
	elsewhere := &uploadHost{}
	other := httptest.NewTLSServer(elsewhere)
	t.Cleanup(other.Close)
	b := set(t, leonardosim.Config{UploadOrigin: other.URL}, func(c *leonardo.Config) { c.Uploads = other.Client().Transport })
	elsewhere.to = b.sim
	for i, raw := range [][]byte{generatetest.PNG(64, 48, 1), generatetest.JPEG(40, 30, 2)} {
		u, err := b.driver.Start(scoped(t), driver.Task{
			Method: generate.MethodEdit, Model: model(t, "phoenix_1_0"), Prompt: "bluer", N: 1,
			Inputs: []media.Output{b.picture(t, raw)}, Options: map[string]any{"init_strength": 0.3},
		})
		if err != nil || u.Task.ID == "" {
			t.Fatalf("update %+v, %v", u, err)
		}
		var body map[string]any
		if err := json.Unmarshal(b.sim.Captured()[i].Body, &body); err != nil {
			t.Fatal(err)
		}
		if id, _ := body["init_image_id"].(string); id == "" || body["init_strength"] != 0.3 {
			t.Errorf("body %v", body)
		}
		if size := []any{body["width"], body["height"]}; cmp.Diff([][]any{{64., 48.}, {40., 32.}}[i], size) != "" {
			t.Errorf("size %v", size)
		}
		if got := b.sim.Uploads()[i]; got != media.DigestOf(raw) {
			t.Errorf("uploaded %s, want %s", got, media.DigestOf(raw))
		}
	}
	for _, h := range elsewhere.headers {
		for name, values := range h {
			if strings.Contains(strings.Join(values, " "), b.sim.Key()) || name == "Authorization" {
				t.Errorf("%s went to the storage", name)
			}
		}
	}
}

// TestUploadsAreGuarded: the provider's answer cannot direct a picture into the local network.
func TestUploadsAreGuarded(t *testing.T) {
	t.Parallel()
	for origin, code := range map[string]media.Code{
		"https://10.0.0.1": media.CodeBlockedAddress, "https://127.0.0.1:1": media.CodeBlockedAddress, "http://storage.example": media.CodeBadResponse,
		"https://me:secret@storage.example": media.CodeBadResponse, "file://": media.CodeBadResponse,
	} {
		b := set(t, leonardosim.Config{UploadOrigin: origin}, nil)
		_, err := b.driver.Start(scoped(t), driver.Task{
			Method: generate.MethodEdit, Model: model(t, "phoenix_1_0"), Prompt: "bluer", Inputs: []media.Output{b.picture(t, generatetest.PNG(64, 48, 1))},
		})
		if media.CodeOf(err) != code || len(b.sim.Captured()) != 0 {
			t.Errorf("%s: %v, want %s", origin, err, code)
		}
	}
}

// TestFailedUploadsCostNothing: a failure before the generation is requested is never billed, and a transient one can
// be retried.
func TestFailedUploadsCostNothing(t *testing.T) {
	t.Parallel()
	answer := func(status int, kind, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the client may have disconnected
		}
	}
	drop := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		path  string
		do    func(http.ResponseWriter, *http.Request)
		code  media.Code
		again bool
	}{
		"leave: bad key":       {"/init-image", answer(401, "application/json", `{"error":"x","code":"access-denied"}`), media.CodeUnauthorized, false},
		"leave: dropped":       {"/init-image", drop, media.CodeUnavailable, true},
		"leave: half":          {"/init-image", answer(200, "application/json", `{"uploadInitImage":{"id":"`), media.CodeUnavailable, true},
		"leave: page":          {"/init-image", answer(200, "text/html", `<html>`), media.CodeBadResponse, false},
		"leave: no fields":     {"/init-image", answer(200, "application/json", `{"uploadInitImage":{"id":"a","url":"https://s.example/","fields":"x"}}`), media.CodeBadResponse, false},
		"leave: failed":        {"/init-image", answer(500, "application/json", `{"error":"internal error","code":"unexpected"}`), media.CodeUnavailable, true},
		"storage: too late":    {"/storage/", answer(403, "application/xml", `<Error/>`), media.CodeUnavailable, true},
		"storage: failed":      {"/storage/", answer(503, "application/xml", `<Error/>`), media.CodeUnavailable, true},
		"storage: not taken":   {"/storage/", answer(400, "application/xml", `<Error/>`), media.CodeBadResponse, false},
		"storage: leads away":  {"/storage/", answer(302, "text/html", ``), media.CodeBadResponse, false},
		"storage: disconnects": {"/storage/", drop, media.CodeUnavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := leonardosim.New(leonardosim.Config{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, c.path) {
					_, _ = io.Copy(io.Discard, r.Body) // the answer comes after the request
					c.do(w, r)
					return
				}
				sim.ServeHTTP(w, r)
			}))
			t.Cleanup(srv.Close)
			b := &bench{codec: wiretest.NewCodec(t)}
			d, err := leonardo.New(leonardo.Config{APIKey: sim.Key(), BaseURL: srv.URL + "/api/rest/v1/", Codec: b.codec})
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Start(scoped(t), driver.Task{
				Method: generate.MethodEdit, Model: model(t, "phoenix_1_0"), Prompt: "bluer", Inputs: []media.Output{b.picture(t, generatetest.PNG(64, 48, 1))},
			})
			if media.CodeOf(err) != c.code || media.Retryable(err) != c.again || strings.Contains(err.Error(), "billed, so") || len(sim.Captured()) != 0 {
				t.Errorf("%v (%s), want %s, again %v", err, media.CodeOf(err), c.code, c.again)
			}
			if errors.Is(err, driver.ErrUnsettled) {
				t.Errorf("%v counts as a call that may be billed", err)
			}
		})
	}
}

func TestCostAndResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config       leonardosim.Config
		usd, credits string
	}{
		"dollars": {leonardosim.Config{}, "0.024", "22"}, "credits": {leonardosim.Config{Credits: true}, "", "22"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config.Flagged = true
			b := set(t, c.config, nil)
			u, err := b.driver.Start(t.Context(), driver.Task{Model: model(t, "phoenix_1_0"), Prompt: "a fox", N: 2, Seed: pointer(int64(5))})
			if err != nil || u.ReportedUSD != c.usd || u.ReportedCredits != c.credits {
				t.Fatalf("update %+v, %v", u, err)
			}
			for _, done := range []bool{false, false, true, true} {
				if u, err = b.driver.Poll(t.Context(), driver.Task{N: 2}, driver.Handle{ID: u.Task.ID}); err != nil || u.Done != done {
					t.Fatalf("update %+v, %v", u, err)
				}
			}
			want := &generate.Safety{Stage: "output", Categories: []string{"nsfw"}}
			for _, it := range u.Items {
				if it.Seed == nil || *it.Seed != 5 || it.URL == "" || it.Metadata["leonardo_image_id"] == nil || cmp.Diff(want, it.Safety) != "" {
					t.Errorf("item %+v", it)
				}
			}
			if len(u.Items) != 2 {
				t.Errorf("%d items", len(u.Items))
			}
		})
	}
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	b := set(t, leonardosim.Config{WebhookKey: "hush"}, func(c *leonardo.Config) { c.NotifySecret = "hush" })
	u, err := b.driver.Start(t.Context(), driver.Task{Model: model(t, "phoenix_1_0"), Prompt: "a fox", N: 2})
	if err != nil {
		t.Fatal(err)
	}
	told := b.sim.Notifications(u.Task.ID)
	for _, n := range told {
		got, err := b.driver.Notification(t.Context(), n)
		if err != nil || got.Task.ID != u.Task.ID || !got.Done || len(got.Items) != 2 || got.Items[1].URL == "" || got.Items[0].Seed == nil {
			t.Fatalf("update %+v, %v", got, err)
		}
		text, err := json.Marshal(got)
		if err != nil || strings.Contains(string(text), b.sim.Key()) || strings.Contains(string(text), "hush") {
			t.Errorf("the update contains a key: %s, %v", text, err)
		}
	}
	if len(told) != 2 {
		t.Errorf("%d calls", len(told))
	}
	for name, header := range map[string]map[string][]string{"none": nil, "wrong": {"Authorization": {"Bearer hus"}}, "no bearer": {"Authorization": {"hush"}}} {
		if got, err := b.driver.Notification(t.Context(), driver.Notification{Header: header, Body: told[0].Body}); media.CodeOf(err) != media.CodeUnauthorized || got.Done {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	handle := driver.Update{Task: u.Task, Progress: -1}
	got, err := set(t, leonardosim.Config{}, nil).driver.Notification(t.Context(), told[0])
	if err != nil || cmp.Diff(handle, got) != "" {
		t.Errorf("without a webhook key: %+v, %v", got, err)
	}
	other := strings.Replace(string(told[0].Body), "image_generation.complete", "post_processing.completed", 1)
	if got, err = b.driver.Notification(t.Context(), driver.Notification{Header: told[0].Header, Body: []byte(other)}); err != nil || cmp.Diff(handle, got) != "" {
		t.Errorf("another event: %+v, %v", got, err)
	}
	if _, err = b.driver.Notification(t.Context(), driver.Notification{Header: told[0].Header, Body: []byte(`{"data":{}}`)}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("no generation: %v", err)
	}
}

// TestUploadFormsExpire: an upload form older than two minutes is refused with an error that can be retried.
func TestUploadFormsExpire(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	ticks := 0
	b := set(t, leonardosim.Config{Now: func() time.Time { // the clock advances three minutes with every reading
		mu.Lock()
		defer mu.Unlock()
		ticks++
		return time.Date(2026, 11, 21, 12, 3*ticks, 0, 0, time.UTC)
	}}, nil)
	_, err := b.driver.Start(scoped(t), driver.Task{
		Method: generate.MethodEdit, Model: model(t, "phoenix_1_0"), Prompt: "bluer", Inputs: []media.Output{b.picture(t, generatetest.PNG(64, 48, 1))},
	})
	if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) || len(b.sim.Captured()) != 0 {
		t.Errorf("an old leave: %v", err)
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	codec := wiretest.NewCodec(t)
	for _, c := range []leonardo.Config{{}, {Codec: codec, BaseURL: "cloud.leonardo.ai"}, {Codec: codec, BaseURL: "ftp://cloud.leonardo.ai"}, {Codec: codec, BaseURL: "https://"}} {
		if _, err := leonardo.New(c); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("New(%+v): %v", c.BaseURL, err)
		}
	}
}
