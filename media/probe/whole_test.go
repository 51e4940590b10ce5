package probe

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A complete file is recognized as such, one without its last bytes is not, and noise is neither media nor sound.
func TestWholeAndSigned(t *testing.T) {
	t.Parallel()
	whole := 0
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // a folder
		}
		if !Complete(b) {
			continue
		}
		whole++
		if Complete(b[:len(b)-3]) || !Media(b) || !HasSignature(b) {
			t.Errorf("%s without its end is whole, or it is no media", name)
		}
	}
	if whole < 4 {
		t.Errorf("%d whole files", whole)
	}
	aac := []byte{0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc}
	two := bytes.Repeat(append(aac, make([]byte, 9)...), 3)
	if !Media(two) || HasSignature(two) || !Frames(two) || Frames(two[:16]) {
		t.Error("two frames of AAC are not known as such")
	}
	rnd := rand.NewChaCha8([32]byte{7})
	b := make([]byte, 400)
	for range 200_000 {
		_, _ = rnd.Read(b)
		if HasSignature(b) || Frames(b) || Complete(b) {
			t.Fatalf("noise is taken for media: %x", b[:20])
		}
	}
}
