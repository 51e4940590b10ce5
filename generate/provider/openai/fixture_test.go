package openai_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"
)

// clearPNG returns a fully transparent picture.
func clearPNG(t *testing.T, w, h int) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewNRGBA(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
