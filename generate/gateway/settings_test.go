package gateway_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
)

// outcomesBySetting maps each setting other than the model to its outcome and applied value.
func outcomesBySetting(all []generate.Disposition) map[string]string {
	out := map[string]string{}
	for _, d := range all {
		if d.Setting != "model" {
			out[d.Setting] = strings.TrimSpace(string(d.Outcome) + " " + d.Applied)
		}
	}
	return out
}

func number[T any](v T) *T { return &v }

// settingCase is a request with the expected dispositions and the expected fields of the task.
type settingCase struct {
	name  string
	model string
	req   generate.Request
	want  map[string]string
	task  driver.Task
}

// checkTask makes the call and compares the task that the driver received.
func (c settingCase) checkTask(t *testing.T, h *testGateway) {
	t.Helper()
	h.must(t, c.req)
	var got driver.Task
	for _, d := range []interface{ Tasks() []driver.Task }{h.openai, h.gemini, h.offline} {
		if all := d.Tasks(); len(all) > 0 {
			got = all[0]
		}
	}
	want := c.task
	want.Key, want.Method, want.Model, want.Prompt, want.N = got.Key, generate.MethodGenerate, got.Model, "a house", max(1, c.req.N)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("task (-want +got):\n%s", d)
	}
}

// checkStrict proves that strict mode refuses exactly the settings that are not applied.
func (c settingCase) checkStrict(t *testing.T, h *testGateway, want map[string]string) {
	t.Helper()
	calls := len(h.log.Attempts())
	c.req.Strict = true
	refused := 0
	for k, v := range want {
		if !strings.HasPrefix(v, "applied") {
			want[k] = "refused"
			refused++
		}
	}
	got, err := h.Generate(t.Context(), c.req)
	if refused == 0 {
		if err != nil {
			t.Errorf("strict: %v, though all is applied", err)
		}
		return
	}
	if media.CodeOf(err) != media.CodeUnsupported || got == nil || len(got.Slots) != 0 {
		t.Fatalf("strict: %v, %v", got, err)
	}
	if d := cmp.Diff(want, outcomesBySetting(got.Dispositions)); d != "" {
		t.Errorf("strict dispositions (-want +got):\n%s", d)
	}
	if len(h.log.Attempts()) != calls {
		t.Errorf("strict mode made a call")
	}
}

func TestNegativePromptIsAppended(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	got := h.must(t, generate.Request{Model: "gpt-image-2", Prompt: "a house", NegativePrompt: "rain, people"})
	if p := h.openai.Tasks()[0].Prompt; p != "a house\n\nAvoid: rain, people" {
		t.Errorf("prompt %q", p)
	}
	if d := disposition(got.Dispositions, "negative_prompt"); d.Outcome != generate.OutcomeAdapted {
		t.Errorf("disposition %+v", d)
	}
}

func TestStrictRefusesSuccessorsAndSubstitutes(t *testing.T) {
	t.Parallel()
	h := build(t, func(h *testGateway, _ *gateway.Config) { h.gemini.NotReady = noKey("GEMINI_API_KEY") })
	for _, r := range []generate.Request{{Model: "dall-e-3"}, {Prefer: []string{"Nano Banana Pro"}}} {
		r.Prompt, r.Strict = "a house", true
		p, err := h.Plan(t.Context(), r)
		if media.CodeOf(err) != media.CodeUnsupported || p == nil || disposition(p.Dispositions, "model").Outcome != generate.OutcomeRefused {
			t.Errorf("Plan: %+v, %v", p, err)
		}
	}
}

func TestEstimates(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	for _, c := range []struct {
		req  generate.Request
		want string
	}{
		{generate.Request{Model: "Nano Banana Pro", N: 3}, "0.402"},
		{generate.Request{Model: "Nano Banana Pro", Quality: "4K"}, "0.24"},
		{generate.Request{Model: "Nano Banana 2.1", Quality: "2K", N: 2}, "0.1008"},
		{generate.Request{Model: "gpt-image-1.5", Quality: "high", Size: "1024x1024"}, "0.133"},
		{generate.Request{Model: "gpt-image-1.5", Quality: "hd", Size: "1536x1024", N: 10}, "2"},
		{generate.Request{Model: "gpt-image-1.5"}, "unknown"},
		{generate.Request{Model: "gpt-image-2", Quality: "high", N: 2}, "0.38"},
		{generate.Request{Model: "gpt-image-2", Size: "auto", Quality: "standard"}, "0.062"},
		{generate.Request{Model: "gpt-image-2", Size: "1024x1024"}, "0.0412090368"},
		{generate.Request{Model: "gpt-image-2", Size: "1024x1024", Quality: "low"}, "0.0134217728"},
		{generate.Request{Model: "gpt-image-2", Size: "3840x2160", Quality: "hd"}, "1.0036224"},
		{generate.Request{Model: "gpt-image-2.5-sunburst", Quality: "high"}, "unknown"},
		{generate.Request{Model: "offline", N: 100}, "0"},
	} {
		c.req.Prompt = "a house"
		p, err := h.Plan(t.Context(), c.req)
		if err != nil {
			t.Fatal(err)
		}
		got := "unknown"
		if p.EstimatedUSD != nil {
			got = *p.EstimatedUSD
		}
		if got != c.want {
			t.Errorf("%+v costs %s, want %s", c.req, got, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	const (
		gpt, old, pro, lite, off = "gpt-image-2", "gpt-image-1.5", "Nano Banana Pro", "Nano Banana 2 Lite", "offline"
	)
	for _, c := range []settingCase{
		{"standard on gpt", gpt, generate.Request{Quality: "standard"}, map[string]string{"quality": "adapted medium"}, driver.Task{Quality: "medium"}},
		{"hd on gpt", gpt, generate.Request{Quality: "HD"}, map[string]string{"quality": "adapted high"}, driver.Task{Quality: "high"}},
		{"own word", gpt, generate.Request{Quality: "low"}, map[string]string{"quality": "applied low"}, driver.Task{Quality: "low"}},
		{"max on gpt", gpt, generate.Request{Quality: "max"}, map[string]string{"quality": "adapted high"}, driver.Task{Quality: "high"}},
		{"a tier of others", gpt, generate.Request{Quality: "512"}, map[string]string{"quality": "dropped"}, driver.Task{}},
		{"standard on gemini", pro, generate.Request{Quality: "standard"}, map[string]string{"quality": "adapted 1K"}, driver.Task{Tier: "1K"}},
		{"hd on gemini", pro, generate.Request{Quality: "hd"}, map[string]string{"quality": "adapted 2K"}, driver.Task{Tier: "2K"}},
		{"tier on gemini", pro, generate.Request{Quality: "4k"}, map[string]string{"quality": "applied 4K"}, driver.Task{Tier: "4K"}},
		{"hd on lite", lite, generate.Request{Quality: "hd"}, map[string]string{"quality": "adapted 1K"}, driver.Task{Tier: "1K"}},
		{"quality offline", off, generate.Request{Quality: "hd"}, map[string]string{"quality": "dropped"}, driver.Task{}},
		{"quality auto", off, generate.Request{Quality: "auto"}, map[string]string{"quality": "applied auto"}, driver.Task{}},
		{
			"size beats quality", pro,
			generate.Request{Size: "2752x1536", Quality: "standard"},
			map[string]string{"size": "applied 2752x1536", "quality": "dropped"},
			driver.Task{AspectRatio: "16:9", Tier: "2K"},
		},
		{"default size", gpt, generate.Request{DefaultSize: "1024x1024"}, map[string]string{"size": "applied 1024x1024"}, driver.Task{Width: 1024, Height: 1024}},
		{"no default size", gpt, generate.Request{DefaultSize: "auto"}, map[string]string{"size": "applied auto"}, driver.Task{}},
		{"default size on gemini", pro, generate.Request{DefaultSize: "1024x1024"}, map[string]string{"size": "applied 1024x1024"}, driver.Task{AspectRatio: "1:1", Tier: "1K"}},
		{"quality beats a default size", pro, generate.Request{DefaultSize: "1024x1024", Quality: "hd"}, map[string]string{"quality": "adapted 2K"}, driver.Task{AspectRatio: "1:1", Tier: "2K"}},
		{"default size beside a quality", gpt, generate.Request{DefaultSize: "1024x1024", Quality: "hd"}, map[string]string{"size": "applied 1024x1024", "quality": "adapted high"}, driver.Task{Width: 1024, Height: 1024, Quality: "high"}},
		{"ratio beats a default size", pro, generate.Request{DefaultSize: "1024x1024", AspectRatio: "16:9"}, map[string]string{"aspect_ratio": "applied 16:9"}, driver.Task{AspectRatio: "16:9"}},
		{"size beats a default size", pro, generate.Request{DefaultSize: "1024x1024", Size: "2048x2048", Quality: "standard"}, map[string]string{"size": "applied 2048x2048", "quality": "dropped"}, driver.Task{AspectRatio: "1:1", Tier: "2K"}},
		{
			"ratio and tier", pro,
			generate.Request{AspectRatio: "16:9", Quality: "hd"},
			map[string]string{"aspect_ratio": "applied 16:9", "quality": "adapted 2K"},
			driver.Task{AspectRatio: "16:9", Tier: "2K"},
		},
		{"4K of the seeds", pro, generate.Request{Size: "3840x2160"}, map[string]string{"size": "adapted 5504x3072"}, driver.Task{AspectRatio: "16:9", Tier: "4K"}},
		{"pixels on gemini", pro, generate.Request{Size: "1536x1024"}, map[string]string{"size": "adapted 1264x848"}, driver.Task{AspectRatio: "3:2", Tier: "1K"}},
		{"size auto", pro, generate.Request{Size: "AUTO"}, map[string]string{"size": "applied auto"}, driver.Task{}},
		{"free size", gpt, generate.Request{Size: "1536 × 1024"}, map[string]string{"size": "applied 1536x1024"}, driver.Task{Width: 1536, Height: 1024}},
		{"off the grid", gpt, generate.Request{Size: "1000x1000"}, map[string]string{"size": "adapted 1008x1008"}, driver.Task{Width: 1008, Height: 1008}},
		{"too small", gpt, generate.Request{Size: "256x256"}, map[string]string{"size": "adapted 816x816"}, driver.Task{Width: 816, Height: 816}},
		{"too wide", gpt, generate.Request{Size: "4000x500"}, map[string]string{"size": "adapted 2448x816"}, driver.Task{Width: 2448, Height: 816}},
		{"enum", old, generate.Request{Size: "2048x2048"}, map[string]string{"size": "adapted 1024x1024"}, driver.Task{Width: 1024, Height: 1024}},
		{"enum portrait", old, generate.Request{AspectRatio: "9:16"}, map[string]string{"aspect_ratio": "adapted 1024x1536"}, driver.Task{Width: 1024, Height: 1536}},
		{"enum exact ratio", old, generate.Request{AspectRatio: "3:2"}, map[string]string{"aspect_ratio": "applied 1536x1024"}, driver.Task{Width: 1536, Height: 1024}},
		{"free ratio", off, generate.Request{AspectRatio: "16:9"}, map[string]string{"aspect_ratio": "applied 1365x768"}, driver.Task{Width: 1365, Height: 768}},
		{
			"size against ratio", off,
			generate.Request{Size: "800x600", AspectRatio: "16:9"},
			map[string]string{"size": "applied 800x600", "aspect_ratio": "dropped"},
			driver.Task{Width: 800, Height: 600},
		},
		{
			"size with ratio", off,
			generate.Request{Size: "1600x900", AspectRatio: "16:9"},
			map[string]string{"size": "applied 1600x900", "aspect_ratio": "applied 16:9"},
			driver.Task{Width: 1600, Height: 900},
		},
		{"seed", pro, generate.Request{Seed: number(int64(7))}, map[string]string{"seed": "applied 7"}, driver.Task{Seed: number(int64(7))}},
		{"large seed", pro, generate.Request{Seed: number(int64(1) << 32)}, map[string]string{"seed": "adapted 0"}, driver.Task{Seed: number(int64(0))}},
		{"negative seed", pro, generate.Request{Seed: number(int64(-1))}, map[string]string{"seed": "adapted 2147483647"}, driver.Task{Seed: number(int64(2147483647))}},
		{"no seeds", gpt, generate.Request{Seed: number(int64(7))}, map[string]string{"seed": "dropped"}, driver.Task{}},
		{"native negative", off, generate.Request{NegativePrompt: "rain"}, map[string]string{"negative_prompt": "applied rain"}, driver.Task{NegativePrompt: "rain"}},
		{"style", gpt, generate.Request{Style: "Natural"}, map[string]string{"style": "dropped"}, driver.Task{}},
		{
			"transparent jpeg", gpt,
			generate.Request{Background: "transparent", OutputFormat: "jpeg"},
			map[string]string{"background": "dropped", "output_format": "applied jpeg"},
			driver.Task{OutputFormat: "jpeg"},
		},
		{"transparent", gpt, generate.Request{Background: "transparent"}, map[string]string{"background": "applied transparent"}, driver.Task{Background: "transparent"}},
		{"background elsewhere", pro, generate.Request{Background: "opaque"}, map[string]string{"background": "dropped"}, driver.Task{}},
		{
			"compression", gpt,
			generate.Request{OutputFormat: "jpg", Compression: number(60)},
			map[string]string{"output_format": "applied jpeg", "compression": "applied 60"},
			driver.Task{OutputFormat: "jpeg", Compression: number(60)},
		},
		{"compression of png", gpt, generate.Request{Compression: number(60)}, map[string]string{"compression": "dropped"}, driver.Task{}},
		{"compression elsewhere", pro, generate.Request{Compression: number(60)}, map[string]string{"compression": "dropped"}, driver.Task{}},
		{
			"compression by conversion", pro,
			generate.Request{OutputFormat: "webp", Compression: number(60)},
			map[string]string{"output_format": "adapted its own format, converted to webp", "compression": "adapted 60, if it is converted"},
			driver.Task{},
		},
		{"format by conversion", pro, generate.Request{OutputFormat: "webp"}, map[string]string{"output_format": "adapted its own format, converted to webp"}, driver.Task{}},
		{"format never", pro, generate.Request{OutputFormat: "svg"}, map[string]string{"output_format": "dropped"}, driver.Task{}},
		{"moderation", gpt, generate.Request{Moderation: "low"}, map[string]string{"moderation": "applied low"}, driver.Task{Moderation: "low"}},
		{"moderation elsewhere", pro, generate.Request{Moderation: "low"}, map[string]string{"moderation": "dropped"}, driver.Task{}},
		{
			"options", gpt,
			generate.Request{OptionsFor: []string{"gemini"}, Options: map[string]map[string]any{
				"openai": {"user": "u-1", "instructions": "slowly"}, "gemini": {"top_k": 3},
			}},
			map[string]string{
				"options.openai.user": "applied u-1", "options.openai.instructions": "dropped", "options.gemini.top_k": "dropped",
			},
			driver.Task{Options: map[string]any{"user": "u-1"}},
		},
		{"n", gpt, generate.Request{N: 3}, map[string]string{"n": "applied 3"}, driver.Task{}},
		{"nothing asked", gpt, generate.Request{}, map[string]string{}, driver.Task{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := build(t, nil)
			c.req.Model, c.req.Prompt = c.model, "a house"
			p, err := h.Plan(t.Context(), c.req)
			if err != nil {
				t.Fatalf("Plan: %v", err)
			}
			if d := cmp.Diff(c.want, outcomesBySetting(p.Dispositions)); d != "" {
				t.Errorf("dispositions (-want +got):\n%s", d)
			}
			for _, d := range p.Dispositions {
				if (d.Reason == "") != (d.Outcome == generate.OutcomeApplied) {
					t.Errorf("%s is %s because %q", d.Setting, d.Outcome, d.Reason)
				}
			}
			c.checkTask(t, h)
			c.checkStrict(t, h, maps.Clone(c.want))
		})
	}
}
