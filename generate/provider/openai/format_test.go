package openai_test

import (
	"testing"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/media"
)

// newest returns a task for GPT Image 2.6 Flare with the shipped row.
func newest(t *testing.T, change func(*driver.Task)) driver.Task {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := c.Lookup("gpt-image-2.6-flare")
	if !ok {
		t.Fatal("no row")
	}
	q := driver.Task{Method: generate.MethodGenerate, Model: m, Prompt: "a house", N: 1, Width: 1024, Height: 1024}
	change(&q)
	return q
}

// TestMovingPicturesAndDrawings: GPT Image 2.6 returns gif and svg, with their settings; previews are not requested.
func TestMovingPicturesAndDrawings(t *testing.T) {
	t.Parallel()
	for format, kind := range map[string]string{"gif": "image/gif", "svg": "image/svg+xml"} {
		sim, d := simulated(t)
		u, err := d.Start(t.Context(), newest(t, func(q *driver.Task) {
			q.OutputFormat, q.Quality = format, "xhigh"
			q.Partial = func(int, media.Blob) {}
			q.Options = map[string]any{"complexity": "high"}
			if format == "gif" {
				q.Options["frame_count"], q.Options["frame_duration_ms"] = 9, 200
			}
		}))
		if err != nil || len(u.Items) != 1 || u.Items[0].Err != nil {
			t.Fatalf("%s: %+v, %v", format, u, err)
		}
		if it := u.Items[0]; it.Blob.MIMEType != kind || it.DeclaredMIME != kind || len(sim.Captured()) != 1 {
			t.Errorf("%s: %s, declared %s", format, it.Blob.MIMEType, it.DeclaredMIME)
		}
	}
}

// TestFormatsThatDoNotGo: unsupported combinations of formats and settings are refused before any call.
func TestFormatsThatDoNotGo(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*driver.Task){
		"two svg":             func(q *driver.Task) { q.OutputFormat, q.N = "svg", 2 },
		"gif with a mask":     func(q *driver.Task) { q.OutputFormat, q.Mask = "gif", &media.Output{} },
		"frames of a png":     func(q *driver.Task) { q.OutputFormat, q.Options = "png", map[string]any{"frame_count": 4} },
		"frames of no format": func(q *driver.Task) { q.Options = map[string]any{"frame_duration_ms": 4} },
	} {
		sim, d := simulated(t)
		q := newest(t, change)
		if _, err := d.Review(q); err == nil {
			t.Errorf("%s: Review found nothing", name)
		}
		if q.Mask != nil {
			continue
		}
		if _, err := d.Start(t.Context(), q); err == nil || len(sim.Captured()) != 0 {
			t.Errorf("%s: %v after %d calls", name, err, len(sim.Captured()))
		}
	}
}
