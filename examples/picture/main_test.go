package main

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func TestPicture(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("GEMINI_API_KEY", "")
	file := filepath.Join(t.TempDir(), "lighthouse.png")
	if err := picture(t.Context(), t.TempDir(), "a lighthouse at dusk", file); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if c, err := png.DecodeConfig(f); err != nil || c.Width < 512 {
		t.Errorf("a picture of %d pixels, %v", c.Width, err)
	}
}
