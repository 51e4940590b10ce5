package midjourney_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/provider/midjourney"
	"atelier/media"
	"atelier/media/wire"
)

// testDriver is a driver on a simulator, with the store of its pictures.
type testDriver struct {
	sim    *midjourneysim.Simulator
	driver *midjourney.Driver
	codec  *wire.Codec
	base   string
	ctx    context.Context //nolint:containedctx // a test's scope.
}

func newTestDriver(t *testing.T, c midjourneysim.Config) *testDriver {
	t.Helper()
	s := &testDriver{sim: midjourneysim.New(c), codec: wiretest.NewCodec(t)}
	s.base = sim.Serve(t, s.sim)
	s.driver = s.other(t, s.sim.Key())
	s.ctx = media.WithScope(t.Context(), media.Scope{Tree: "run-1"})
	return s
}

// other returns another driver on the same proxy, like that of another process.
func (s *testDriver) other(t *testing.T, secret string) *midjourney.Driver {
	t.Helper()
	d, err := midjourney.New(midjourney.Config{BaseURL: s.base + "/mj/", APIKey: secret, Codec: s.codec})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s *testDriver) put(t *testing.T, b []byte) media.Output {
	t.Helper()
	return media.NewOutput(generatetest.Stored(s.ctx, t, s.codec, b), media.Meta{})
}

// start submits a task.
func (s *testDriver) start(t *testing.T, q driver.Task) driver.Handle {
	t.Helper()
	u, err := s.driver.Start(s.ctx, q)
	if err != nil || u.Done || u.Task.ID == "" || len(u.Items) != 0 {
		t.Fatalf("Start: %+v, %v", u, err)
	}
	return u.Task
}

// done polls a task until it ends.
func (s *testDriver) done(t *testing.T, q driver.Task, h driver.Handle) driver.Update {
	t.Helper()
	for range 10 {
		u, err := s.driver.Poll(s.ctx, q, h)
		if err != nil || u.Task != h {
			t.Fatalf("Poll: %+v, %v", u, err)
		}
		if u.Done {
			return u
		}
	}
	t.Fatal("the task does not end")
	return driver.Update{}
}

// sent returns the path and the body of the last submission.
func (s *testDriver) sent(t *testing.T) (string, map[string]any) {
	t.Helper()
	all := s.sim.Captured()
	last := all[len(all)-1]
	if last.Header.Get("Mj-Api-Secret") != "[key]" || last.Header.Get("Content-Type") != "application/json" {
		t.Errorf("header %v", last.Header)
	}
	var body map[string]any
	if err := json.Unmarshal(last.Body, &body); err != nil {
		t.Fatal(err)
	}
	return last.Path, body
}

func model(t *testing.T, name string) catalog.Model {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := c.Lookup(name)
	if !ok {
		t.Fatalf("no model %s", name)
	}
	return m
}

// task requests a house of Midjourney 7.
func task(t *testing.T, change func(*driver.Task)) driver.Task {
	t.Helper()
	q := driver.Task{Method: generate.MethodGenerate, Model: model(t, "Midjourney 7"), Prompt: "a house", N: 1}
	if change != nil {
		change(&q)
	}
	return q
}

func dataURL(mime string, b []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(b)
}

func TestImagineSendsSettingsAsFlags(t *testing.T) {
	t.Parallel()
	seed := int64(42)
	for _, c := range []struct {
		name   string
		change func(*driver.Task)
		path   string
		body   map[string]any
	}{
		{"bare", nil, "/mj/submit/imagine", map[string]any{"prompt": "a house --v 7"}},
		{"settings", func(q *driver.Task) {
			q.Prompt, q.AspectRatio, q.Quality, q.Style, q.Seed, q.NegativePrompt = "a\n house  at dusk", "16:9", "high", "natural", &seed, "rain,\npeople --ar 1:1"
		}, "/mj/submit/imagine", map[string]any{"prompt": "a house at dusk --ar 16:9 --v 7 --q 4 --style raw --seed 42 --no rain, people ar 1:1"}},
		{"options", func(q *driver.Task) {
			q.Options = map[string]any{"speed": "fast", "stylize": 250.0, "chaos": "12", "weird": 3, "tile": true, "draft": false, "style_reference": "random", "version": 6.1}
		}, "/mj-fast/mj/submit/imagine", map[string]any{"prompt": "a house --v 6.1 --c 12 --sref random --s 250 --tile --w 3"}},
		{
			"hook", func(q *driver.Task) { q.NotifyURL, q.NotifySecret = "https://example.org/hooks/midjourney", "hush" },
			"/mj/submit/imagine",
			map[string]any{"prompt": "a house --v 7", "notifyHook": "https://example.org/hooks/midjourney"},
		},
		{
			"flags of the prompt win", func(q *driver.Task) { q.Prompt, q.AspectRatio = "a house --ar 3:2 --niji 6", "16:9" },
			"/mj/submit/imagine",
			map[string]any{"prompt": "a house --ar 3:2 --niji 6"},
		},
		{
			"niji", func(q *driver.Task) { q.Model, q.Style, q.Quality = model(t, "Niji 7"), "scenic", "0.25" },
			"/mj/submit/imagine",
			map[string]any{"prompt": "a house --niji 7 --q 0.25 --style scenic", "botType": "NIJI_JOURNEY"},
		},
		{
			"the default version", func(q *driver.Task) { q.Model = model(t, "midjourney") },
			"/mj/submit/imagine",
			map[string]any{"prompt": "a house --v 8.2"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newTestDriver(t, midjourneysim.Config{})
			q := task(t, c.change)
			u := s.done(t, q, s.start(t, q))
			path, body := s.sent(t)
			if path != c.path {
				t.Errorf("path %s, want %s", path, c.path)
			}
			if d := cmp.Diff(c.body, body); d != "" {
				t.Errorf("body (-want +got):\n%s", d)
			}
			if len(u.Items) != 1 || u.Items[0].URL == "" || u.Items[0].Tiles == nil || u.Items[0].Err != nil {
				t.Errorf("items %+v", u.Items)
			}
			if u.Items[0].RevisedPrompt != c.body["prompt"] || !cmp.Equal(u.Items[0].Seed, q.Seed) {
				t.Errorf("item %+v", u.Items[0])
			}
		})
	}
}

func TestPicturesGoAsDataURLs(t *testing.T) {
	t.Parallel()
	a, b := generatetest.PNG(64, 48, 1), generatetest.JPEG(40, 30, 2)
	for _, c := range []struct {
		name   string
		change func(*driver.Task)
		n      int
		path   string
		body   map[string]any
	}{
		{"edit", nil, 1, "edits", map[string]any{"prompt": "make it blue --v 7", "image": dataURL("image/png", a)}},
		{"image prompts", nil, 2, "imagine", map[string]any{"prompt": "make it blue --v 7", "base64Array": []any{dataURL("image/png", a), dataURL("image/jpeg", b)}}},
		{
			"image weight", func(q *driver.Task) { q.Options = map[string]any{"action": "imagine", "image_weight": 2} }, 1, "imagine",
			map[string]any{"prompt": "make it blue --v 7 --iw 2", "base64Array": []any{dataURL("image/png", a)}},
		},
		{"blend", func(q *driver.Task) {
			q.Options = map[string]any{"action": "blend", "dimensions": "portrait", "speed": "relax"}
		}, 2, "blend", map[string]any{"dimensions": "PORTRAIT", "base64Array": []any{dataURL("image/png", a), dataURL("image/jpeg", b)}}},
		{
			"blend by ratio", func(q *driver.Task) { q.AspectRatio, q.Options = "3:2", map[string]any{"action": "blend"} }, 2, "blend",
			map[string]any{"dimensions": "LANDSCAPE", "base64Array": []any{dataURL("image/png", a), dataURL("image/jpeg", b)}},
		},
		{
			"variation of a stranger", func(q *driver.Task) { q.Method, q.Prompt = generate.MethodVariation, "" }, 1, "imagine",
			map[string]any{"prompt": "a variation of this picture with the same subject, style and mood --v 7", "base64Array": []any{dataURL("image/png", a)}},
		},
		{"describe", func(q *driver.Task) { q.Model = model(t, "Midjourney Describe") }, 1, "describe", map[string]any{"base64": dataURL("image/png", a)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newTestDriver(t, midjourneysim.Config{})
			q := task(t, func(q *driver.Task) {
				q.Method, q.Prompt = generate.MethodEdit, "make it blue"
				q.Inputs = []media.Output{s.put(t, a), s.put(t, b)}[:c.n]
				if c.change != nil {
					c.change(q)
				}
			})
			u := s.done(t, q, s.start(t, q))
			path, body := s.sent(t)
			want := "/mj/submit/" + c.path
			if speed, _ := q.Options["speed"].(string); speed != "" {
				want = "/mj-" + speed + want
			}
			if path != want {
				t.Errorf("path %s, want %s", path, want)
			}
			if d := cmp.Diff(c.body, body); d != "" {
				t.Errorf("body (-want +got):\n%.900s", d)
			}
			if u.Items[0].Err != nil {
				t.Errorf("item %+v", u.Items[0])
			}
		})
	}
}

func TestDescribeGivesAText(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	g := newGateway(t, s)
	in := s.put(t, generatetest.PNG(64, 48, 1))
	got, err := g.Generate(s.ctx, generate.Request{
		Method: generate.MethodVariation, Modality: media.ModalityDocument, Model: "Midjourney Describe", Inputs: []media.Output{in},
	})
	if err != nil || got.Status != generate.StatusSucceeded || len(got.Slots) != 1 {
		t.Fatalf("Generate: %+v, %v", got, err)
	}
	o := got.Slots[0].Output
	text := string(read(t, s, *o))
	if o.Modality != media.ModalityDocument || o.MIMEType != "text/plain" || o.Ref[:4] != "doc-" || len(text) < 100 || text[len(text)-1] != '\n' {
		t.Errorf("%+v: %q", o, text)
	}
	if _, err := g.Generate(s.ctx, generate.Request{
		Method: generate.MethodVariation, Modality: media.ModalityImage, Model: "Midjourney Describe", Inputs: []media.Output{in},
	}); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("a picture of Midjourney Describe: %v", err)
	}
}

// TestPollNeedsNothingButTheHandle: another process continues a task with its handle alone, and reports its progress.
func TestPollNeedsNothingButTheHandle(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{Singles: true})
	q := task(t, nil)
	h := s.start(t, q)
	d := s.other(t, s.sim.Key())
	for _, want := range []float64{0, 0.31, 0.78, 1} {
		u, err := d.Poll(t.Context(), q, h)
		if err != nil || u.Progress != want || u.Done != (want == 1) {
			t.Fatalf("progress %v done %v, %v; want %v", u.Progress, u.Done, err, want)
		}
		if u.Done && (len(u.Items) != 4 || u.Items[3].Metadata["tile"] != 4 || u.Items[0].Tiles != nil) {
			t.Errorf("items %+v", u.Items)
		}
	}
	if _, err := s.other(t, "wrong").Poll(t.Context(), q, h); media.CodeOf(err) != media.CodeUnauthorized || !strings.Contains(err.Error(), "MIDJOURNEY_API_SECRET") {
		t.Errorf("a poll with a wrong secret: %v", err)
	}
}

func TestCancelStopsTheJob(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	q := task(t, func(q *driver.Task) { q.N = 2 })
	h := s.start(t, q)
	for range 2 {
		if err := s.driver.Cancel(t.Context(), h); err != nil {
			t.Errorf("Cancel: %v", err)
		}
	}
	u := s.done(t, q, h)
	if s.sim.Status(h.ID) != "CANCEL" || len(u.Items) != 2 || media.CodeOf(u.Items[1].Err) != media.CodeUnavailable {
		t.Errorf("%s, %+v", s.sim.Status(h.ID), u.Items)
	}
	if err := s.other(t, "wrong").Cancel(t.Context(), h); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("Cancel with a wrong secret: %v", err)
	}
}
