package openai_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/xaisim"
	"atelier/generate/plan"
	"atelier/generate/provider/openai"
	"atelier/media"
	"atelier/media/wire"
)

// cut matches a picture in a body.
var cut = regexp.MustCompile(`"data:image/png;base64,[^"]+"`)

// grok returns a driver of xAI's dialect on a simulator, and a task of the shipped row.
func grok(t *testing.T, change func(*driver.Task)) (*xaisim.Simulator, *openai.Driver, *wire.Codec, driver.Task) {
	t.Helper()
	service := xaisim.New(xaisim.Config{})
	base := sim.Serve(t, service)
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	at := c.Endpoints()[0]
	at.BaseURL = base + "/v1"
	codec := wiretest.NewCodec(t)
	d, err := openai.NewCompatible(openai.Config{APIKey: service.Key(), Codec: codec}, at)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Lookup("Grok Imagine")
	q := driver.Task{Method: generate.MethodGenerate, Model: m, Prompt: "a fox", N: 1}
	if change != nil {
		change(&q)
	}
	return service, d, codec, q
}

// TestGrokSpeaksOpenAI: with ratios and resolutions instead of pixels, and with edits in JSON.
func TestGrokSpeaksOpenAI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*driver.Task)
		inputs int
		path   string
		want   string
		usd    string
	}{
		"bare": {nil, 0, "/v1/images/generations", `{"model":"grok-imagine-image-2.0","n":1,"prompt":"a fox","response_format":"b64_json"}`, "0.06"},
		"all settings": {func(q *driver.Task) {
			q.N, q.AspectRatio, q.Tier, q.Options = 3, "19.5:9", "2K", map[string]any{"quality": "low", "user": "u"}
		}, 0, "/v1/images/generations", `{"model":"grok-imagine-image-2.0","n":3,"prompt":"a fox","response_format":"b64_json","aspect_ratio":"19.5:9","resolution":"2k","quality":"low","user":"u"}`, "0.18"},
		"quality":      {func(q *driver.Task) { q.Quality = "low" }, 0, "/v1/images/generations", `{"model":"grok-imagine-image-2.0","n":1,"prompt":"a fox","response_format":"b64_json","quality":"low"}`, "0.04"},
		"one picture":  {nil, 1, "/v1/images/edits", `{"model":"grok-imagine-image-2.0","n":1,"prompt":"a fox","response_format":"b64_json","image":{"type":"image_url","url":"PICTURE"}}`, "0.06"},
		"two pictures": {nil, 2, "/v1/images/edits", `{"model":"grok-imagine-image-2.0","n":1,"prompt":"a fox","response_format":"b64_json","images":[{"type":"image_url","url":"PICTURE"},{"type":"image_url","url":"PICTURE"}]}`, "0.06"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, d, codec, q := grok(t, c.change)
			ctx := media.WithScope(t.Context(), media.Scope{Run: "r", Tree: "r"})
			for i := range c.inputs {
				q.Method = generate.MethodEdit
				b, err := codec.Store(ctx, strings.NewReader(string(generatetest.PNG(64, 64, byte(i)))), "image/png")
				if err != nil {
					t.Fatal(err)
				}
				q.Inputs = append(q.Inputs, media.Output{Blob: b})
			}
			u, err := d.Start(ctx, q)
			if err != nil || len(u.Items) != q.N || u.Items[0].Err != nil || u.Items[0].DeclaredMIME != "image/jpeg" {
				t.Fatalf("%+v, %v", u, err)
			}
			if u.ReportedUSD != c.usd {
				t.Errorf("cost %q, want %s", u.ReportedUSD, c.usd)
			}
			call := service.Captured()[0]
			if err := service.Violation(call); err != nil || call.Path != c.path {
				t.Errorf("%s: %v", call.Path, err)
			}
			var got, want any
			body := cut.ReplaceAllString(string(call.Body), `"PICTURE"`)
			if json.Unmarshal([]byte(body), &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
				t.Fatal("no JSON")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGrokHoldsBack: a picture that was made and withheld is moderated, and paid for.
func TestGrokHoldsBack(t *testing.T) {
	t.Parallel()
	service, d, _, q := grok(t, func(q *driver.Task) { q.N = 2 })
	service.Inject(sim.Injection{Fault: sim.FaultModerated})
	u, err := d.Start(t.Context(), q)
	if err != nil || len(u.Items) != 2 || u.ReportedUSD != "0.12" {
		t.Fatalf("%+v, %v", u, err)
	}
	for _, it := range u.Items {
		if media.CodeOf(it.Err) != media.CodeModerated || it.Safety == nil || !it.Safety.Blocked {
			t.Errorf("item %+v", it)
		}
	}
}

// TestGrokQuality: the quality, which decides the price, is sent, and the estimate follows it.
func TestGrokQuality(t *testing.T) {
	t.Parallel()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	_, d, _, _ := grok(t, nil)
	pl, err := plan.New(plan.Config{Drivers: []driver.Driver{d}, Catalogue: c, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for quality, want := range map[string]string{"low": "0.04", "medium": "0.06", "": "0.06", "high": "0.08"} {
		p, err := pl.Plan(t.Context(), generate.Request{Prompt: "a fox", Model: "Grok Imagine", Quality: quality})
		if err != nil || p.EstimatedUSD == nil || *p.EstimatedUSD != want {
			t.Fatalf("%q: %+v, %v; want %s", quality, p, err, want)
		}
		if sent := p.Task.Quality; quality != "high" && sent != quality || quality == "high" && p.Task.Tier != "2K" {
			t.Errorf("%q is sent as %q, tier %q", quality, sent, p.Task.Tier)
		}
	}
}
