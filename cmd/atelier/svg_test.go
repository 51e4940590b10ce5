package main

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSVGOfAProviderIsSaidToBeRaw: a provider's SVG is written unchanged, with a warning that says so; the program's
// own drawings have none.
func TestSVGOfAProviderIsSaidToBeRaw(t *testing.T) {
	t.Parallel()
	const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><script>alert(1)</script><rect width="64" height="64"/></svg>`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"created":1,"data":[{"b64_json":"` + base64.StdEncoding.EncodeToString([]byte(drawing)) + `"}]}`))
	}))
	t.Cleanup(srv.Close)
	p := newTestEnv(t)
	p.env["OPENAI_BASE_URL"], p.env["OPENAI_API_KEY"] = srv.URL+"/v1", "sk-test"
	p.env["ATELIER_CHAT_MODEL"], p.env["ATELIER_IMAGE_MODEL"] = "offline", "gpt-image-2"
	name := filepath.Join(p.dir, "fox.svg")
	o := p.must("generate", "a fox", "-m", "gpt-image-2", "-o", filepath.Join(p.dir, "fox.png"))
	if !strings.HasSuffix(mustRead(t, name), strings.TrimPrefix(drawing, drawing[:strings.Index(drawing, ">")+1])) || !strings.Contains(o.stderr, name+" is the provider's unchanged SVG. It may contain scripts") {
		t.Errorf("generate said\n%s%s", o.stdout, o.stderr)
	}
	out := filepath.Join(p.dir, "out")
	o = p.must("run", "sage", "Paint a fox.", "--out", out)
	files, err := os.ReadDir(filepath.Join(out, "media"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v: %s%s", files, err, o.stdout, o.stderr)
	}
	if !strings.Contains(o.stderr, filepath.Join(out, "media", files[0].Name())+" is the provider's unchanged SVG") {
		t.Errorf("run said\n%s%s", o.stdout, o.stderr)
	}
	out = filepath.Join(p.dir, "later")
	if o := p.runChat([]string{"Paint a fox.", "/out " + out}); !strings.Contains(o.stderr, filepath.Join(out, "media", files[0].Name())+" is the provider's unchanged SVG") {
		t.Errorf("chat said\n%s%s", o.stdout, o.stderr)
	}
	ref := p.mediaList().Items[0].Ref
	for to, name := range map[string]string{filepath.Join(p.dir, "got.svg"): "got.svg", "-": "standard output"} {
		if o := p.must("media", "get", ref, "-o", to); !strings.Contains(o.stderr, name+" is the provider's unchanged SVG") {
			t.Errorf("media get said\n%s", o.stderr)
		}
	}
	if o := p.must("run", "research-agent", "Which region has the highest total amount? Include a chart.", "--db", p.sales(), "--out", out); strings.Contains(o.stderr, "unchanged SVG") {
		t.Errorf("of its own drawing, run said\n%s", o.stderr)
	}
	drawn := p.mediaList().Items[0]
	if o := p.must("media", "get", drawn.Ref, "-o", filepath.Join(p.dir, "chart.svg")); drawn.Type != "image/svg+xml" || strings.Contains(o.stderr, "unchanged SVG") {
		t.Errorf("of its own drawing %+v, media get said\n%s", drawn, o.stderr)
	}
}
