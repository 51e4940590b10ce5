package imaging

import (
	"bytes"
	"image"
	"image/color"
	"sync"
	"testing"

	"atelier/media"
)

// TestWebPColours decodes a file of another encoder with black, white, red and blue quarters: lossy WebP has studio
// range, and black must be black.
func TestWebPColours(t *testing.T) {
	t.Parallel()
	img, err := Decode(t.Context(), bytes.NewReader(testdata(t, "lossy.webp")), media.Facts{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[image.Point]color.NRGBA{
		{X: 5, Y: 3}:   {0, 0, 0, 255},
		{X: 26, Y: 3}:  {255, 255, 255, 255},
		{X: 5, Y: 13}:  {255, 0, 0, 255},
		{X: 26, Y: 13}: {0, 0, 255, 255},
	} {
		if got := img.At(p.X, p.Y); !near(got, want, 6) {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
}

// TestWebPsAtOnce: the encoder has tables and memory that its calls share, and pictures that are encoded at the same time
// must be those that are encoded one after the other.
func TestWebPsAtOnce(t *testing.T) {
	t.Parallel()
	pictures := []image.Image{gradient(320, 240, 255), image.NewNRGBA(image.Rect(0, 0, 320, 240))}
	encode := func(i int) []byte {
		var b bytes.Buffer
		if err := EncodeWebP(&b, pictures[i%2], 80, Label{}); err != nil {
			t.Error(err)
		}
		return b.Bytes()
	}
	var wg sync.WaitGroup
	got := make([][]byte, 16)
	for i := range got {
		wg.Go(func() { got[i] = encode(i) })
	}
	wg.Wait()
	for i, b := range got {
		if !bytes.Equal(b, encode(i)) {
			t.Errorf("picture %d is a different one when others are encoded at the same time", i)
		}
	}
}
