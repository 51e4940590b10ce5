package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResearchOverTheWire runs the whole research over real HTTP: an
// OpenAI-compatible chat service and OpenAI's images endpoint.
func TestResearchOverTheWire(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	out := filepath.Join(p.dir, "out")
	ans := read[answer](p, "run", "research-agent", "How did north develop over time? One illustration of a harbour.",
		"--files", p.folder(), "--out", out, "--json")
	if ans.Status != "succeeded" || ans.Report != filepath.Join(out, "report.html") {
		t.Fatalf("status %s, report %q, warnings %q", ans.Status, ans.Report, ans.Warnings)
	}
	if ans.Usage.ModelCalls < 5 || ans.Usage.InputTokens == 0 || ans.Usage.OutputTokens == 0 || ans.Usage.Images != 1 {
		t.Errorf("usage is %+v: want the calls of three agents and one picture", ans.Usage)
	}
	if ans.Cost.EstimatedUSD == nil || !ans.Cost.Complete {
		t.Errorf("cost is %+v: want an estimate of every call", ans.Cost)
	}
	var picture, chart int
	for _, o := range ans.Outputs {
		switch o.MIMEType {
		case "image/png":
			picture++
			if o.Width != 1536 || o.Height != 1024 {
				t.Errorf("the picture is %d×%d: want the 1536×1024 that the writer asks for", o.Width, o.Height)
			}
		case "image/svg+xml":
			chart++
		}
		if b, err := os.ReadFile(o.Path); err != nil || int64(len(b)) != o.Size {
			t.Errorf("%s: %d bytes on disk, %v: want %d", o.Path, len(b), err, o.Size)
		}
	}
	if picture != 1 || chart == 0 {
		t.Errorf("%d pictures and %d charts in the answer", picture, chart)
	}
	page, err := os.ReadFile(ans.Report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<img", "data:image/png;base64,", "data:image/svg+xml", "sales.csv", "notes.md", "alt=\""} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report has no %s", want)
		}
	}
	if strings.Contains(string(page), "${media:") {
		t.Error("the report shows a raw placeholder")
	}
	named := 0
	for _, r := range s.chat.Requests() {
		if len(r.Messages) < 2 || r.Model == "" {
			t.Errorf("a chat request has %d messages and the model %q", len(r.Messages), r.Model)
		}
		if strings.HasPrefix(r.Model, "gpt-") {
			named++
		}
	}
	if named != ans.Usage.ModelCalls {
		t.Errorf("%d chat requests named a model of OpenAI, %d calls were counted", named, ans.Usage.ModelCalls)
	}
	if got := s.images.Captured(); len(got) != 1 || !strings.Contains(string(got[0].Body), `"gpt-image-2`) {
		t.Errorf("the images endpoint received %d requests", len(got))
	}
}
