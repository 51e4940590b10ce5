package sim_test

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"testing"

	_ "golang.org/x/image/webp"

	"atelier/internal/sim"
)

func TestPicturesDecode(t *testing.T) {
	t.Parallel()
	var p sim.Painter
	for _, format := range []string{"png", "jpeg", "webp"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			a, same, other := p.Paint(format, 96, 64, 7), p.Paint(format, 96, 64, 7), p.Paint(format, 96, 64, 8)
			m, name, err := image.Decode(bytes.NewReader(a.Bytes()))
			if err != nil || name != format || m.Bounds().Dx() != 96 || m.Bounds().Dy() != 64 {
				t.Fatalf("decode: %v, %s, want %s of 96 × 64", err, name, format)
			}
			if a.Digest() != same.Digest() || a.Digest() == other.Digest() {
				t.Error("a seed must name a picture: the same one the same bytes, another one others")
			}
			pieces := a.Base64()
			b, err := base64.StdEncoding.DecodeString(string(pieces[0]) + string(pieces[1]))
			if err != nil || !bytes.Equal(b, a.Bytes()) {
				t.Errorf("the base64 is not the file's: %v", err)
			}
			if a.MIMEType != "image/"+format {
				t.Errorf("MIMEType = %s", a.MIMEType)
			}
		})
	}
}

func TestPadding(t *testing.T) {
	t.Parallel()
	p := sim.Painter{Bytes: 100_000}
	b := p.Paint("png", 64, 64, 1).Bytes()
	if len(b) != 100_000 {
		t.Errorf("size = %d, want exactly the padding's 100,000", len(b))
	}
	if _, _, err := image.Decode(bytes.NewReader(b)); err != nil {
		t.Errorf("padded picture: %v", err)
	}
}

func TestLies(t *testing.T) {
	t.Parallel()
	c, _, err := image.DecodeConfig(bytes.NewReader(sim.HugeHeader().Bytes()))
	if err != nil || c.Width != 30000 || c.Height != 30000 {
		t.Errorf("huge header: %v, %d × %d", err, c.Width, c.Height)
	}
	m, _, err := image.Decode(bytes.NewReader(sim.Tiny(3).Bytes()))
	if err != nil || m.Bounds().Size() != (image.Point{X: 1, Y: 1}) {
		t.Errorf("tiny: %v", err)
	}
	if !bytes.Contains(new(sim.Painter).Paint("png", 8, 8, 0).Bytes(), []byte("caBX")) {
		t.Error("the PNG has no provenance chunk")
	}
	if _, _, err := image.Decode(bytes.NewReader(sim.NotMedia("image/png").Bytes())); err == nil {
		t.Error("the text decodes as a picture")
	}
}
