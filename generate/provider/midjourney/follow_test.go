package midjourney_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/internal/safehttp"
	"atelier/media"
)

// newGateway returns a gateway over the studio's driver, modified by the given functions.
func newGateway(t *testing.T, s *testDriver, change ...func(*gateway.Config)) *gateway.Gateway {
	t.Helper()
	c := gateway.Config{
		Drivers: []driver.Driver{s.driver}, Storage: s.codec, Journal: &generatetest.Journal{},
		Fetch: safehttp.New(safehttp.Config{TrustedPaths: []string{s.base}}).Fetch,
	}
	for _, f := range change {
		f(&c)
	}
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func read(t *testing.T, s *testDriver, o media.Output) []byte {
	t.Helper()
	r, err := s.codec.Open(s.ctx, o.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// runTask returns the result of a task as the ledger returns it: through JSON.
func (s *testDriver) runTask(t *testing.T, q driver.Task, tile int) media.Output {
	t.Helper()
	u := s.done(t, q, s.start(t, q))
	if u.Items[0].Err != nil {
		t.Fatalf("item %v", u.Items[0].Err)
	}
	kept := map[string]any{"offers": u.Items[0].Offers}
	maps.Copy(kept, u.Items[0].Metadata)
	raw, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	o := s.put(t, generatetest.PNG(64, 48, uint8(tile)))
	if err := json.Unmarshal(raw, &o.Metadata); err != nil {
		t.Fatal(err)
	}
	if tile > 0 {
		o.Metadata["tile"] = float64(tile)
	}
	return o
}

// variationOf returns a variation that starts from a picture.
func variationOf(t *testing.T, in media.Output, options map[string]any) driver.Task {
	t.Helper()
	return task(t, func(q *driver.Task) {
		q.Method, q.Prompt, q.Inputs, q.Options = generate.MethodVariation, "", []media.Output{in}, options
	})
}

func TestFollowUpsPressButtons(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	tile := s.runTask(t, task(t, nil), 3)
	grid := tile
	grid.Metadata = map[string]any{"midjourney": tile.Metadata["midjourney"], "offers": tile.Metadata["offers"]}
	single := s.runTask(t, variationOf(t, tile, map[string]any{"action": "upscale"}), 0)
	if single.Metadata["tile"] != nil {
		t.Errorf("an upscaled picture is no tile: %v", single.Metadata)
	}
	for _, c := range []struct {
		name    string
		in      media.Output
		options map[string]any
		button  string
		kind    string
		tiles   bool
	}{
		{"U of the tile", tile, map[string]any{"action": "upscale"}, "MJ::JOB::upsample::3::", "UPSCALE", false},
		{"U by index", tile, map[string]any{"action": "upscale", "index": 1}, "MJ::JOB::upsample::1::", "UPSCALE", false},
		{"V of the tile", tile, nil, "MJ::JOB::variation::3::", "VARIATION", true},
		{"V of the grid", grid, map[string]any{"index": "2"}, "MJ::JOB::variation::2::", "VARIATION", true},
		{"reroll", tile, map[string]any{"action": "reroll"}, "MJ::JOB::reroll::0::", "REROLL", true},
		{"upscale again", single, map[string]any{"action": "upscale"}, "MJ::JOB::upsample_v7_2x_subtle::1::", "UPSCALE", false},
		{"creative", single, map[string]any{"action": "upscale", "strength": "creative"}, "MJ::JOB::upsample_v7_2x_creative::1::", "UPSCALE", false},
		{"vary strong", single, nil, "MJ::JOB::high_variation::1::", "VARIATION", true},
		{"vary subtle", single, map[string]any{"strength": "subtle"}, "MJ::JOB::low_variation::1::", "VARIATION", true},
		{"zoom", single, map[string]any{"action": "zoom"}, "MJ::Outpaint::50::1::", "OUTPAINT", true},
		{"zoom 1.5", single, map[string]any{"action": "zoom", "factor": 1.5}, "MJ::Outpaint::75::1::", "OUTPAINT", true},
		{"square", single, map[string]any{"action": "zoom", "factor": "square"}, "MJ::Outpaint::100::1::", "OUTPAINT", true},
		{"pan", single, map[string]any{"action": "pan", "direction": "up"}, "MJ::JOB::pan_up::1::", "PAN", true},
	} {
		q := variationOf(t, c.in, c.options)
		u := s.done(t, q, s.start(t, q))
		path, body := s.sent(t)
		parent, _ := c.in.Metadata["midjourney"].(map[string]any)
		id, _ := body["customId"].(string)
		if path != "/mj/submit/action" || !strings.HasPrefix(id, c.button) || body["taskId"] != parent["task_id"] || len(body) != 2 {
			t.Errorf("%s: %s %v", c.name, path, body)
		}
		it := u.Items[0]
		raw, _ := json.Marshal(it.Metadata["midjourney"])
		if it.Err != nil || (it.Tiles != nil) != c.tiles || !strings.Contains(string(raw), `"action":"`+c.kind+`"`) {
			t.Errorf("%s: item %+v", c.name, it)
		}
	}
	press := variationOf(t, single, map[string]any{"action": "button", "custom_id": "nonsense"})
	_, err := s.driver.Review(press)
	e, ok := errors.AsType[*media.Error](err)
	if !ok || e.Code != media.CodeUnsupported || len(e.Valid) != 13 {
		t.Fatalf("a button that is not there: %v", err)
	}
	press.Options["custom_id"] = e.Valid[6]
	s.start(t, press)
	if _, body := s.sent(t); body["customId"] != e.Valid[6] {
		t.Errorf("pressed %v, want %s", body, e.Valid[6])
	}
}

// TestWindowsAreAnswered: inpaint, custom zoom and, in remix mode, a variation with words open a window, which is
// answered. The parent's flags are kept for inpaint and zoom.
func TestWindowsAreAnswered(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{Remix: true})
	tile := s.runTask(t, task(t, func(q *driver.Task) { q.AspectRatio = "3:2" }), 1)
	single := s.runTask(t, variationOf(t, tile, map[string]any{"action": "upscale"}), 0)
	mask := generatetest.PNG(64, 48, 255)
	stored := s.put(t, mask)
	for _, c := range []struct {
		name   string
		in     media.Output
		change func(*driver.Task)
		body   map[string]any
	}{
		{
			"inpaint", single, func(q *driver.Task) { q.Method, q.Prompt, q.Mask = generate.MethodEdit, "a red door", &stored },
			map[string]any{"prompt": "a red door --ar 3:2 --v 7", "maskBase64": dataURL("image/png", mask)},
		},
		{
			"custom zoom", single, func(q *driver.Task) { q.Options = map[string]any{"action": "zoom", "factor": "1.8"} },
			map[string]any{"prompt": "a house --ar 3:2 --v 7 --zoom 1.8"},
		},
		{
			"remix", tile, func(q *driver.Task) { q.Prompt, q.NotifyURL = "a green house --ar 1:1", "https://example.org/h" },
			map[string]any{"prompt": "a green house --ar 1:1", "notifyHook": "https://example.org/h"},
		},
	} {
		q := variationOf(t, c.in, nil)
		c.change(&q)
		u := s.done(t, q, s.start(t, q))
		path, body := s.sent(t)
		delete(body, "taskId")
		if d := cmp.Diff(c.body, body); d != "" || path != "/mj/submit/modal" {
			t.Errorf("%s: %s (-want +got):\n%.600s", c.name, path, d)
		}
		if u.Items[0].Err != nil || u.Items[0].RevisedPrompt != c.body["prompt"] {
			t.Errorf("%s: item %+v", c.name, u.Items[0])
		}
	}
}

// TestProxyWithoutButtons: the older proxy supports only change, and answers a repeated upscale with its existing task.
func TestProxyWithoutButtons(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{Plain: true})
	tile := s.runTask(t, task(t, nil), 2)
	up := variationOf(t, tile, map[string]any{"action": "upscale"})
	h := s.start(t, up)
	path, body := s.sent(t)
	parent, _ := tile.Metadata["midjourney"].(map[string]any)
	want := map[string]any{"taskId": parent["task_id"], "action": "UPSCALE", "index": 2.0}
	if d := cmp.Diff(want, body); d != "" || path != "/mj/submit/change" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
	if again := s.start(t, up); again != h {
		t.Errorf("the same upscale is %v and %v", h, again)
	}
	single := s.runTask(t, up, 0)
	vary := variationOf(t, tile, nil)
	if u := s.done(t, vary, s.start(t, vary)); u.Items[0].Tiles == nil {
		t.Errorf("item %+v", u.Items[0])
	}
	for _, q := range []driver.Task{
		variationOf(t, single, nil),
		variationOf(t, tile, map[string]any{"action": "zoom"}),
	} {
		if _, err := s.driver.Review(q); media.CodeOf(err) != media.CodeUnsupported {
			t.Errorf("Review: %v", err)
		}
	}
	fast := task(t, func(q *driver.Task) { q.Options = map[string]any{"speed": "fast"} })
	if _, err := s.driver.Start(s.ctx, fast); media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), "midjourney.speed") {
		t.Errorf("a speed that the proxy has no path for: %v", err)
	}
}

// TestForgottenParent: a follow-up fails if the proxy has forgotten the parent.
func TestForgottenParent(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		old := newTestDriver(t, midjourneysim.Config{Plain: plain})
		tile := old.runTask(t, task(t, nil), 2)
		s := newTestDriver(t, midjourneysim.Config{Plain: plain})
		if _, err := s.driver.Start(s.ctx, variationOf(t, tile, nil)); media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("plain %v: %v", plain, err)
		}
	}
}

// TestFollowUpThroughTheGateway: an item holds all that a follow-up needs, and settings that a follow-up does not take
// are reported.
func TestFollowUpThroughTheGateway(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	in := s.runTask(t, task(t, nil), 2)
	seed := int64(3)
	got, err := newGateway(t, s).Generate(s.ctx, generate.Request{
		Method: generate.MethodVariation, Model: "Midjourney 7", Inputs: []media.Output{in}, Seed: &seed, AspectRatio: "16:9",
		Options: map[string]map[string]any{"midjourney": {"action": "upscale", "chaos": 5}},
	})
	if err != nil || got.Status != generate.StatusSucceeded || len(got.Slots) != 1 {
		t.Fatalf("Generate: %+v, %v", got, err)
	}
	outcomes := map[string]generate.Outcome{}
	for _, d := range got.Dispositions {
		outcomes[d.Setting] = d.Outcome
	}
	want := map[string]generate.Outcome{
		"model": "applied", "inputs": "applied", "seed": "dropped", "aspect_ratio": "dropped",
		"options.midjourney.action": "applied", "options.midjourney.chaos": "dropped",
	}
	if d := cmp.Diff(want, outcomes); d != "" {
		t.Errorf("dispositions (-want +got):\n%s", d)
	}
}
