package midjourney_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/media"
)

// TestTilesAreFollowedUp: the grid is split in Midjourney's order; every tile holds what a follow-up needs, even after
// a round trip through the ledger's JSON; the follow-up's lineage names the tile.
func TestTilesAreFollowedUp(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{})
	g := newGateway(t, s)
	got, err := g.Generate(s.ctx, generate.Request{Prompt: "a lighthouse", Model: "Midjourney 7"})
	if err != nil || got.Status != generate.StatusSucceeded || len(got.Slots) != 4 {
		t.Fatalf("Generate: %+v, %v", got, err)
	}
	for i, o := range got.Outputs() {
		img, err := png.Decode(bytes.NewReader(read(t, s, o)))
		if err != nil || o.Width != 256 || o.Height != 256 {
			t.Fatalf("tile %d is %d × %d, %v", i+1, o.Width, o.Height, err)
		}
		r, g, b, _ := img.At(128, 128).RGBA()
		want := [][3]bool{{true, false, false}, {false, true, false}, {false, false, true}, {true, true, true}}[i]
		if have := [3]bool{r > 0, g > 0, b > 0}; have != want {
			t.Errorf("tile %d has the colours %v, want %v", i+1, have, want)
		}
	}
	raw, err := json.Marshal(got.Outputs()[2])
	if err != nil {
		t.Fatal(err)
	}
	var tile media.Output
	if err := json.Unmarshal(raw, &tile); err != nil {
		t.Fatal(err)
	}
	varied, err := g.Generate(s.ctx, generate.Request{Method: generate.MethodVariation, Model: "Midjourney 7", Inputs: []media.Output{tile}})
	if err != nil || len(varied.Outputs()) != 4 || varied.Outputs()[0].Lineage[0].Ref != tile.Ref {
		t.Fatalf("Generate: %+v, %v", varied, err)
	}
	if _, body := s.sent(t); !strings.HasPrefix(body["customId"].(string), "MJ::JOB::variation::3::") {
		t.Errorf("pressed %v", body["customId"])
	}
}

// TestGridsWithoutButtons: with an older proxy, which lists no buttons, the ledger's record of a grid is enough to
// continue from one of its pictures; a single picture is recognized.
func TestGridsWithoutButtons(t *testing.T) {
	t.Parallel()
	s := newTestDriver(t, midjourneysim.Config{Plain: true})
	kept := &generatetest.Recorder{}
	g := newGateway(t, s, func(c *gateway.Config) { c.Recorder = kept })
	if got, err := g.Generate(s.ctx, generate.Request{Prompt: "a lighthouse", Model: "Midjourney 7"}); err != nil || len(got.Outputs()) != 4 {
		t.Fatalf("Generate: %+v, %v", got, err)
	}
	var whole media.Output
	raw, err := json.Marshal(kept.Records()[0])
	if err != nil || json.Unmarshal(raw, &whole) != nil || whole.Width != 512 {
		t.Fatalf("the grid is %s, %v", raw, err)
	}
	follow := func(in media.Output, options map[string]any) (*generate.Result, error) {
		return g.Generate(s.ctx, generate.Request{
			Method: generate.MethodVariation, Model: "Midjourney 7", Inputs: []media.Output{in}, Options: map[string]map[string]any{"midjourney": options},
		})
	}
	if _, err := follow(whole, nil); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "midjourney.index") {
		t.Errorf("a grid of which no picture is named: %v", err)
	}
	up, err := follow(whole, map[string]any{"action": "upscale", "index": 3})
	if err != nil || len(up.Outputs()) != 1 {
		t.Fatalf("%+v, %v", up, err)
	}
	if path, body := s.sent(t); path != "/mj/submit/change" || body["action"] != "UPSCALE" || body["index"] != 3. {
		t.Errorf("%s %v", path, body)
	}
	if _, err := follow(up.Outputs()[0], map[string]any{"index": 2}); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("a single picture: %v", err)
	}
}
