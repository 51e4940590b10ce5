package midjourney_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/media"
)

// TestTilesAreFollowedUp: the grid is cut in Midjourney's order, every tile carries
// what a follow-up needs, through the ledger's JSON as well, and the follow-up's
// lineage leads back to the tile.
func TestTilesAreFollowedUp(t *testing.T) {
	t.Parallel()
	s := newStudio(t, midjourneysim.Config{})
	g := gateway(t, s)
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
