package gateway_test

import (
	"context"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
)

// TestReportedSizeIsTheReceivedSize: sizes, ratios and tiers are reported as those of the received pictures.
func TestReportedSizeIsTheReceivedSize(t *testing.T) {
	t.Parallel()
	const pro, gpt, mid = "Nano Banana Pro", "gpt-image-2", "Midjourney 7"
	for name, c := range map[string]struct {
		req            generate.Request
		setting        string
		width, height  int
		outcome        generate.Outcome
		applied, reads string
	}{
		"size by tier, kept":           {generate.Request{Model: pro, Size: "2048x2048"}, "size", 2048, 2048, "applied", "2048x2048", ""},
		"size by tier, missed":         {generate.Request{Model: pro, Size: "2048x2048"}, "size", 1024, 1024, "adapted", "1024x1024", "asked for 2048x2048 and answered with 1024x1024"},
		"size by tier, as adapted":     {generate.Request{Model: pro, Size: "1536x1024"}, "size", 1264, 848, "adapted", "1264x848", "3:2 1K"},
		"size by tier, another":        {generate.Request{Model: pro, Size: "1536x1024"}, "size", 1248, 832, "adapted", "1248x832", "asked for 1264x848 and answered with 1248x832"},
		"size by tier, as first asked": {generate.Request{Model: pro, Size: "1536x1024"}, "size", 1536, 1024, "applied", "1536x1024", ""},
		"free size, adapted":           {generate.Request{Model: gpt, Size: "1000x1000"}, "size", 1024, 1024, "adapted", "1024x1024", "asked for 1008x1008"},
		"auto":                         {generate.Request{Model: gpt, Size: "auto"}, "size", 1536, 1024, "applied", "auto", ""},
		"tier, kept":                   {generate.Request{Model: pro, Quality: "hd"}, "quality", 2048, 2048, "adapted", "2K", "has the tiers"},
		"tier, kept in another ratio":  {generate.Request{Model: pro, Quality: "hd"}, "quality", 2752, 1536, "adapted", "2K", "has the tiers"},
		"tier, missed":                 {generate.Request{Model: pro, Quality: "hd"}, "quality", 1024, 1024, "adapted", "1024x1024", "asked for 2K and answered with 1024x1024"},
		"tier under a default size":    {generate.Request{Model: pro, Quality: "hd", DefaultSize: "1024x1024"}, "quality", 1024, 1024, "adapted", "1024x1024", "asked for 2K"},
		"ratio, kept":                  {generate.Request{Model: pro, AspectRatio: "16:9"}, "aspect_ratio", 1376, 768, "applied", "16:9", ""},
		"ratio, missed":                {generate.Request{Model: pro, AspectRatio: "16:9"}, "aspect_ratio", 1024, 1024, "adapted", "1024x1024", "answered with 1024x1024"},
		"size by ratio":                {generate.Request{Model: mid, Size: "1024x576"}, "size", 1456, 816, "adapted", "1456x816", "is given a ratio"},
		"size by ratio, as asked":      {generate.Request{Model: mid, Size: "1456x816"}, "size", 1456, 816, "applied", "1456x816", ""},
		"size by ratio, missed":        {generate.Request{Model: mid, Size: "1024x576"}, "size", 1024, 1024, "adapted", "1024x1024", "asked for 16:9 and answered with 1024x1024"},
		"ratio of pixels, kept":        {generate.Request{Model: gpt, AspectRatio: "3:2"}, "aspect_ratio", 1248, 832, "applied", "1248x832", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h *testGateway
			answer := func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) { //nolint:unparam // the driver's signature
				b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(c.width, c.height, 1))
				return driver.Update{Done: true, Items: []driver.Item{{Blob: &b}}}, nil
			}
			h = build(t, func(h *testGateway, g *gateway.Config) {
				g.Drivers = append(g.Drivers, &generatetest.Driver{Name: "midjourney", OnStart: answer})
				h.openai.OnStart, h.gemini.OnStart = answer, answer
			})
			got := h.must(t, c.req)
			d := disposition(got.Dispositions, c.setting)
			if d.Outcome != c.outcome || d.Applied != c.applied || !strings.Contains(d.Reason, c.reads) || (c.reads == "") != (d.Reason == "") {
				t.Errorf("%+v; want %s %q, because %q", d, c.outcome, c.applied, c.reads)
			}
			for _, o := range got.Dispositions {
				if o.Setting != "model" && o.Setting != c.setting {
					t.Errorf("more was judged: %+v", o)
				}
			}
		})
	}
}
