package imaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"testing"
	"testing/iotest"

	"atelier/media"
	"atelier/media/probe"
)

// files returns a complete file of each type, and how many bytes may be missing at its end.
func files(tb testing.TB) map[string]struct {
	file  []byte
	slack int
} {
	tb.Helper()
	type file = struct {
		file  []byte
		slack int
	}
	img := gradient(40, 30, 200)
	var jpg, moving bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.Black, color.White})
	err := errors.Join(jpeg.Encode(&jpg, img, nil), gif.EncodeAll(&moving, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}))
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]file{
		"png": {pngOf(tb, img, Label{}), 0}, "labelled png": {pngOf(tb, img, Generated("A", "B")), 0}, "jpeg": {jpg.Bytes(), 0},
		"gif": {moving.Bytes(), 1}, "lossy webp": {testdata(tb, "lossy.webp"), 0}, "moving webp": {testdata(tb, "moving.webp"), 0},
		"bmp": {testdata(tb, "still.bmp"), 0},
	}
}

func whole(ctx context.Context, b []byte, mimeType string) error {
	return CheckComplete(ctx, bytes.NewReader(b), mimeType)
}

// TestWhole: a complete file is accepted; a file cut anywhere is refused, except in a trailer that writers omit.
func TestWhole(t *testing.T) {
	t.Parallel()
	for name, f := range files(t) {
		kind := probe.Head(f.file).MIMEType
		if err := whole(t.Context(), f.file, kind); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := whole(t.Context(), append(bytes.Clone(f.file), "more"...), kind); err != nil && kind != "image/gif" {
			t.Errorf("%s with more after its end: %v", name, err)
		}
		for n := range len(f.file) - f.slack {
			err := whole(t.Context(), f.file[:n], kind)
			if framed := kind == "image/gif" && err == nil; media.CodeOf(err) != media.CodeCorrupt && !framed {
				t.Fatalf("%s of %d bytes cut to %d: %v", name, len(f.file), n, err)
			}
		}
	}
}

// TestDamaged: a file that contradicts its own headers is refused.
func TestDamaged(t *testing.T) {
	t.Parallel()
	picture := pngOf(t, gradient(40, 30, 255), Label{})
	flipped := bytes.Clone(picture)
	flipped[bytes.Index(picture, []byte("IDAT"))+20] ^= 1
	headOnly := append(bytes.Clone(picture[:33]), picture[len(picture)-12:]...)
	wide := bytes.Clone(testdata(t, "still.bmp"))
	binary.LittleEndian.PutUint32(wide[18:], 1<<30)
	huge := bytes.Clone(wide)
	binary.LittleEndian.PutUint32(huge[22:], 1<<31-1)
	webp := bytes.Clone(testdata(t, "lossy.webp"))
	binary.LittleEndian.PutUint32(webp[16:], 1<<31)
	for name, c := range map[string]struct {
		file []byte
		kind string
	}{
		"a bit of a png": {flipped, "image/png"}, "a png without pixels": {headOnly, "image/png"}, "nothing": {nil, "image/png"},
		"a jpeg without pixels": {[]byte{0xff, 0xd8, 0xff, 0xd9}, "image/jpeg"}, "a gif without pixels": {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), "image/gif"},
		"no block of a gif": {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00x"), "image/gif"}, "a wide bmp": {wide, "image/bmp"}, "a huge bmp": {huge, "image/bmp"},
		"a chunk of a webp": {webp, "image/webp"}, "a webp without pixels": {[]byte("RIFF\x04\x00\x00\x00WEBP"), "image/webp"},
	} {
		if err := whole(t.Context(), c.file, c.kind); media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := whole(t.Context(), picture, "image/avif"); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("avif: %v", err)
	}
	err := CheckComplete(t.Context(), iotest.ErrReader(media.Errorf(media.CodeDiskFull, "full")), "image/png")
	if media.CodeOf(err) != media.CodeDiskFull {
		t.Errorf("a reader's own error: %v", err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if err := whole(gone, picture, "image/png"); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("an ended context: %v", err)
	}
}

// TestWholeDecodesNothing: a header that claims more pixels than fit in memory does no harm; the limits are checked
// elsewhere.
func TestWholeDecodesNothing(t *testing.T) {
	t.Parallel()
	b := pngOf(t, gradient(40, 30, 255), Label{})
	head := b[12:29]
	binary.BigEndian.PutUint32(head[4:], 1<<31-1)
	binary.BigEndian.PutUint32(head[8:], 1<<31-1)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(head))
	if err := whole(t.Context(), b, "image/png"); err != nil {
		t.Error(err)
	}
	if _, err := Decode(t.Context(), bytes.NewReader(b), media.Facts{}, Limits{}); media.CodeOf(err) != media.CodeTooLarge {
		t.Errorf("Decode: %v", err)
	}
}

// FuzzWhole: no input causes a panic, and every PNG that decodes is complete.
func FuzzWhole(f *testing.F) {
	for _, c := range files(f) {
		f.Add(c.file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"} {
			err := whole(t.Context(), b, kind)
			if code := media.CodeOf(err); err != nil && code != media.CodeCorrupt {
				t.Fatalf("%s: %v", kind, err)
			}
			if kind != "image/png" || err == nil || len(b) > 1<<16 {
				continue
			}
			if _, bad := Decode(t.Context(), bytes.NewReader(b), media.Facts{MIMEType: kind}, Limits{MaxPixels: 1 << 16}); bad == nil {
				t.Errorf("it decodes, and is said to be no whole PNG: %v", err)
			}
		}
	})
}
