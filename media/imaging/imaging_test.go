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
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
	"atelier/media/probe"
)

func testdata(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// gradient returns a picture with varying pixels.
func gradient(w, h int, alpha uint8) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x * 255 / w), uint8(y * 255 / h), uint8((x + y) & 255), alpha})
		}
	}
	return img
}

func pngOf(tb testing.TB, img image.Image, l Label) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := EncodePNG(&b, img, l); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// near reports whether two colours are equal except for the error of lossy encoding.
func near(a, b color.Color, room int) bool {
	x, y := color.NRGBAModel.Convert(a).(color.NRGBA), color.NRGBAModel.Convert(b).(color.NRGBA)
	d := func(p, q uint8) bool { return max(int(p)-int(q), int(q)-int(p)) <= room }
	return d(x.R, y.R) && d(x.G, y.G) && d(x.B, y.B) && d(x.A, y.A)
}

func TestLabelFromBirth(t *testing.T) {
	t.Parallel()
	img := gradient(60, 40, 255)
	want := Label{SourceType: SourceGenerated, Model: "Nano & <Banana>", Software: "atelier", Description: "Made by \"AI\"; naïve."}
	for name, c := range map[string]struct {
		encode func(io.Writer, Label) error
		decode func(io.Reader) (image.Image, error)
		room   int
	}{
		"png":  {func(w io.Writer, l Label) error { return EncodePNG(w, img, l) }, png.Decode, 0},
		"jpeg": {func(w io.Writer, l Label) error { return EncodeJPEG(w, img, 95, l) }, jpeg.Decode, 40},
		"webp": {func(w io.Writer, l Label) error { return EncodeWebP(w, img, 100, l) }, decodeWebP, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := c.encode(&b, want); err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(b.Bytes(), []byte(">"+SourceGenerated+"<")) {
				t.Error("the file does not name the digital source type")
			}
			got, err := ReadLabel(bytes.NewReader(b.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("label (-want +got):\n%s", diff)
			}
			back, err := c.decode(bytes.NewReader(b.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if !near(back.At(31, 17), img.At(31, 17), c.room) {
				t.Errorf("pixel = %v, want %v", back.At(31, 17), img.At(31, 17))
			}
			f, err := probe.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil || f.Width != 60 || f.Height != 40 || f.MIMEType != "image/"+name {
				t.Errorf("probe returns %+v, %v", f, err)
			}
			b.Reset()
			if err := c.encode(&b, Label{}); err != nil {
				t.Fatal(err)
			}
			if l, err := ReadLabel(&b); err != nil || !l.IsZero() {
				t.Errorf("without a label the file has %+v, %v", l, err)
			}
		})
	}
}

// TestPNGChunkOrder checks the inserted chunk as strict readers do.
func TestPNGChunkOrder(t *testing.T) {
	t.Parallel()
	b := pngOf(t, gradient(5, 5, 255), Generated("m", "s"))[8:]
	var kinds []string
	for len(b) >= 12 {
		n := binary.BigEndian.Uint32(b)
		kinds = append(kinds, string(b[4:8]))
		if crc32.ChecksumIEEE(b[4:8+n]) != binary.BigEndian.Uint32(b[8+n:]) {
			t.Errorf("chunk %s has a wrong checksum", b[4:8])
		}
		b = b[12+n:]
	}
	if diff := cmp.Diff([]string{"IHDR", "iTXt", "IDAT", "IEND"}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestLabelSurvives encodes a labelled picture in every pair of formats.
func TestLabelSurvives(t *testing.T) {
	t.Parallel()
	want := Generated("Offline Painter", "atelier")
	formats := []Format{FormatPNG, FormatJPEG, FormatWebP}
	for _, from := range formats {
		for _, to := range formats {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				t.Parallel()
				var first, second, thumb bytes.Buffer
				src := pngOf(t, gradient(64, 48, 255), want)
				if _, err := Transcode(t.Context(), &first, bytes.NewReader(src), Job{Format: from}); err != nil {
					t.Fatal(err)
				}
				f, err := Transcode(t.Context(), &second, bytes.NewReader(first.Bytes()), Job{Format: to, Width: 32})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(media.Facts{MIMEType: to.MIMEType(), Width: 32, Height: 24, Frames: 1}, f); diff != "" {
					t.Error(diff)
				}
				if _, err := Thumbnail(t.Context(), &thumb, bytes.NewReader(second.Bytes()), media.Facts{}, 16); err != nil {
					t.Fatal(err)
				}
				for _, b := range []*bytes.Buffer{&second, &thumb} {
					got, err := ReadLabel(b)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("label (-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}

func TestTranscodeReplacesLabel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	edited := Label{SourceType: SourceEdited, Model: "other"}
	src := pngOf(t, gradient(8, 8, 255), Generated("m", "s"))
	if _, err := Transcode(t.Context(), &out, bytes.NewReader(src), Job{Format: "JPG", Label: edited}); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLabel(&out)
	if err != nil || got != edited {
		t.Errorf("label = %+v, %v", got, err)
	}
}

func TestThumbnail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		img   image.Image
		width int
		want  media.Facts
	}{
		"opaque":      {gradient(1000, 500, 255), 320, media.Facts{MIMEType: "image/jpeg", Width: 320, Height: 160, Frames: 1}},
		"transparent": {gradient(1000, 500, 100), 320, media.Facts{MIMEType: "image/png", Width: 320, Height: 160, Frames: 1}},
		"small":       {gradient(20, 10, 255), 320, media.Facts{MIMEType: "image/jpeg", Width: 20, Height: 10, Frames: 1}},
		"a line":      {gradient(1000, 1, 255), 100, media.Facts{MIMEType: "image/jpeg", Width: 100, Height: 1, Frames: 1}},
		"grey":        {image.NewGray(image.Rect(0, 0, 100, 100)), 50, media.Facts{MIMEType: "image/jpeg", Width: 50, Height: 50, Frames: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			src := pngOf(t, c.img, Label{})
			got, err := Thumbnail(t.Context(), &out, bytes.NewReader(src), probe.Head(src), c.width)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			img, format, err := image.Decode(&out)
			if err != nil || "image/"+format != c.want.MIMEType || img.Bounds().Dx() != c.want.Width {
				t.Errorf("decoded as %s %v, %v", format, img.Bounds(), err)
			}
			x, y := c.want.Width/2, c.want.Height/2
			at := c.img.At(c.img.Bounds().Dx()/2, c.img.Bounds().Dy()/2)
			if !near(img.At(x, y), at, 130) {
				t.Errorf("the middle is %v, was %v", img.At(x, y), at)
			}
		})
	}
}

// TestOrientation stores a picture of four colours in all eight orientations and expects red at the top left, as in the
// upright source.
func TestOrientation(t *testing.T) {
	t.Parallel()
	red, green, blue, white := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.NRGBA{0, 0, 255, 255}, color.NRGBA{255, 255, 255, 255}
	shown := [2][3]color.NRGBA{{red, green, blue}, {white, blue, red}}
	for o := 1; o <= 8; o++ {
		w, h := 3, 2
		if o >= 5 {
			w, h = 2, 3
		}
		// Store as EXIF defines it: where row 0 and column 0 are shown.
		stored := image.NewNRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				sx, sy := []func() (int, int){
					func() (int, int) { return x, y }, func() (int, int) { return 2 - x, y },
					func() (int, int) { return 2 - x, 1 - y }, func() (int, int) { return x, 1 - y },
					func() (int, int) { return y, x }, func() (int, int) { return 2 - y, x },
					func() (int, int) { return 2 - y, 1 - x }, func() (int, int) { return y, 1 - x },
				}[o-1]()
				stored.SetNRGBA(x, y, shown[sy][sx])
			}
		}
		src := pngOf(t, stored, Label{})
		got, err := Decode(t.Context(), bytes.NewReader(src), media.Facts{MIMEType: "image/png", Orientation: o}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Bounds() != image.Rect(0, 0, 3, 2) {
			t.Fatalf("orientation %d: bounds %v", o, got.Bounds())
		}
		for y := range 2 {
			for x := range 3 {
				if !near(got.At(x, y), shown[y][x], 0) {
					t.Errorf("orientation %d: pixel %d,%d = %v, want %v", o, x, y, got.At(x, y), shown[y][x])
				}
			}
		}
	}
}

func TestTranscodeTurns(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	src := pngOf(t, gradient(200, 100, 255), Label{})
	f, err := Transcode(t.Context(), &out, bytes.NewReader(src), Job{Facts: media.Facts{MIMEType: "image/png", Orientation: 6}, Width: 50})
	if err != nil {
		t.Fatal(err)
	}
	if f.Width != 50 || f.Height != 100 {
		t.Errorf("a turned 200 × 100 in a box of width 50 is %d × %d, want 50 × 100", f.Width, f.Height)
	}
}

// hugePNG returns a valid header of 30,000 × 30,000 pixels without data.
func hugePNG() []byte {
	ihdr := []byte("IHDR\x00\x00\x75\x30\x00\x00\x75\x30\x08\x06\x00\x00\x00")
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), ihdr...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(ihdr))
}

func TestLimits(t *testing.T) {
	t.Parallel()
	small := pngOf(t, gradient(20, 20, 255), Label{})
	for name, c := range map[string]struct {
		in    []byte
		facts media.Facts
		l     Limits
	}{
		"30,000 × 30,000 by facts":       {hugePNG(), probe.Head(hugePNG()), Limits{}},
		"30,000 × 30,000 behind a lie":   {hugePNG(), media.Facts{MIMEType: "image/png", Width: 1, Height: 1}, Limits{}},
		"30,000 × 30,000 without facts":  {hugePNG(), media.Facts{}, Limits{}},
		"product beyond 64 bits":         {small, media.Facts{MIMEType: "image/png", Width: 1 << 40, Height: 1 << 40}, Limits{}},
		"201 frames":                     {small, media.Facts{MIMEType: "image/png", Width: 1, Height: 1, Frames: 201}, Limits{}},
		"an own limit of 399 pixels":     {small, media.Facts{}, Limits{MaxPixels: 399}},
		"an own limit of a single frame": {small, media.Facts{MIMEType: "image/png", Frames: 2}, Limits{MaxFrames: 1}},
	} {
		if _, err := Decode(t.Context(), bytes.NewReader(c.in), c.facts, c.l); media.CodeOf(err) != media.CodeTooLarge {
			t.Errorf("%s: %v, want too_large", name, err)
		}
	}
	if _, err := Decode(t.Context(), bytes.NewReader(small), media.Facts{}, Limits{MaxPixels: 400}); err != nil {
		t.Errorf("400 pixels within a limit of 400: %v", err)
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	good := pngOf(t, gradient(200, 200, 255), Label{})
	gone := media.Errorf(media.CodeUnavailable, "the disk is gone")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a table of calls
		r    io.Reader
		f    media.Facts
		want media.Code
	}{
		"truncated":       {t.Context(), bytes.NewReader(good[:len(good)/2]), media.Facts{}, media.CodeCorrupt},
		"another type":    {t.Context(), bytes.NewReader(good), media.Facts{MIMEType: "image/jpeg"}, media.CodeCorrupt},
		"empty":           {t.Context(), bytes.NewReader(nil), media.Facts{}, media.CodeUnsupported},
		"avif":            {t.Context(), bytes.NewReader(testdata(t, "still.avif")), media.Facts{}, media.CodeUnsupported},
		"moving webp":     {t.Context(), bytes.NewReader(testdata(t, "moving.webp")), media.Facts{}, media.CodeUnsupported},
		"text":            {t.Context(), bytes.NewReader([]byte("hello")), media.Facts{}, media.CodeUnsupported},
		"failing reader":  {t.Context(), io.MultiReader(bytes.NewReader(good[:100]), errReader{gone}), media.Facts{}, media.CodeUnavailable},
		"failing at once": {t.Context(), errReader{gone}, media.Facts{}, media.CodeUnavailable},
		"cancelled":       {cancelled, bytes.NewReader(good), media.Facts{MIMEType: "image/png"}, media.CodeCancelled},
	} {
		if _, err := Decode(c.ctx, c.r, c.f, Limits{}); media.CodeOf(err) != c.want {
			t.Errorf("%s: %v (%s), want %s", name, err, media.CodeOf(err), c.want)
		}
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

func (e errReader) Write([]byte) (int, error) { return 0, e.err }

func TestEncodeErrors(t *testing.T) {
	t.Parallel()
	full := media.Errorf(media.CodeDiskFull, "no space left")
	img := gradient(50, 50, 255)
	for name, c := range map[string]struct {
		err  error
		want media.Code
	}{
		"png on a full disk":  {EncodePNG(errReader{full}, img, Generated("m", "s")), media.CodeDiskFull},
		"jpeg on a full disk": {EncodeJPEG(errReader{full}, img, 0, Generated("m", "s")), media.CodeDiskFull},
		"webp on a full disk": {EncodeWebP(errReader{full}, img, 0, Generated("m", "s")), media.CodeDiskFull},
		"jpeg quality":        {EncodeJPEG(io.Discard, img, 101, Label{}), media.CodeInvalid},
		"webp quality":        {EncodeWebP(io.Discard, img, -1, Label{}), media.CodeInvalid},
		"webp too wide":       {EncodeWebP(io.Discard, gradient(16_384, 1, 255), 0, Label{}), media.CodeTooLarge},
		"jpeg too wide":       {EncodeJPEG(io.Discard, gradient(65_536, 1, 255), 0, Label{}), media.CodeTooLarge},
	} {
		if media.CodeOf(c.err) != c.want {
			t.Errorf("%s: %v (%s), want %s", name, c.err, media.CodeOf(c.err), c.want)
		}
	}
	for name, j := range map[string]Job{"box": {Width: -1}, "format": {Format: "tiff"}} {
		if _, err := Transcode(t.Context(), io.Discard, bytes.NewReader(pngOf(t, img, Label{})), j); err == nil {
			t.Errorf("a bad %s passes", name)
		}
	}
	if _, err := Thumbnail(t.Context(), io.Discard, bytes.NewReader(nil), media.Facts{}, 0); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("width 0: %v", err)
	}
}

func TestGIFFirstFrameOnCanvas(t *testing.T) {
	t.Parallel()
	pal := color.Palette{color.Transparent, color.NRGBA{255, 0, 0, 255}}
	frame := image.NewPaletted(image.Rect(4, 4, 8, 8), pal)
	for i := range frame.Pix {
		frame.Pix[i] = 1
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: image.Config{Width: 10, Height: 10, ColorModel: pal}})
	if err != nil {
		t.Fatal(err)
	}
	img, err := Decode(t.Context(), &b, media.Facts{}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != image.Rect(0, 0, 10, 10) || !near(img.At(5, 5), pal[1], 0) || !near(img.At(0, 0), color.NRGBA{}, 0) {
		t.Errorf("bounds %v, inside %v, outside %v", img.Bounds(), img.At(5, 5), img.At(0, 0))
	}
}

func TestBMP(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f, err := Transcode(t.Context(), &out, bytes.NewReader(testdata(t, "still.bmp")), Job{Format: FormatPNG})
	if err != nil || f.Width != 40 || f.Height != 24 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestJPEGFlattensOnWhite(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := EncodeJPEG(&b, image.NewNRGBA(image.Rect(0, 0, 8, 8)), 90, Label{}); err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(&b)
	if err != nil || !near(img.At(4, 4), color.White, 3) {
		t.Errorf("a transparent pixel became %v, %v", img.At(4, 4), err)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range [][6]int{
		{100, 50, 0, 0, 100, 50},
		{100, 50, 200, 200, 100, 50},
		{100, 50, 50, 0, 50, 25},
		{100, 50, 0, 10, 20, 10},
		{100, 50, 50, 10, 20, 10},
		{1000, 1, 10, 10, 10, 1},
		{0, 0, 5, 5, 0, 0},
	} {
		if w, h := Fit(c[0], c[1], c[2], c[3]); w != c[4] || h != c[5] {
			t.Errorf("Fit(%v) = %d × %d, want %d × %d", c[:4], w, h, c[4], c[5])
		}
	}
}

func TestParseFormat(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Format{"PNG": FormatPNG, ".jpg": FormatJPEG, "image/jpeg": FormatJPEG, " webp ": FormatWebP} {
		if got, err := ParseFormat(in); err != nil || got != want {
			t.Errorf("ParseFormat(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "gif", "image/avif"} {
		if _, err := ParseFormat(in); media.CodeOf(err) != media.CodeUnsupported {
			t.Errorf("ParseFormat(%q): %v", in, err)
		}
	}
}

// TestReadLabelForeign reads labels of other programs: attributes, resources, a preceding packet, and a packet cut off
// by the end of the file.
func TestReadLabelForeign(t *testing.T) {
	t.Parallel()
	wrap := func(s string) string {
		return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="` + nsRDF + `">` + s + `</rdf:RDF></x:xmpmeta>`
	}
	iptc := `<rdf:Description xmlns:i="` + nsIPTC + `" `
	for name, c := range map[string]struct{ in, want string }{
		"attribute":     {wrap(iptc + `i:DigitalSourceType="` + SourceEdited + `"/>`), SourceEdited},
		"resource":      {wrap(iptc + `><i:DigitalSourceType rdf:resource="` + SourceEdited + `"/></rdf:Description>`), SourceEdited},
		"second packet": {wrap("<rdf:Description/>") + "junk" + wrap(iptc+`i:DigitalSourceType="x"/>`), "x"},
		"cut":           {wrap(iptc + `i:DigitalSourceType="x"/>`)[:90], ""},
		"broken":        {wrap(`<rdf:Description DigitalSourceType`), ""},
		"no packet":     {"<x:xmpmet", ""},
		"a huge packet": {"<x:xmpmeta" + string(make([]byte, 200<<10)) + wrap(iptc+`i:DigitalSourceType="y"/>`), "y"},
		"another space": {wrap(`<rdf:Description xmlns:i="urn:x" i:DigitalSourceType="x"/>`), ""},
		"empty file":    {"", ""},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			got, err := ReadLabel(&slowReader{b: []byte(c.in), n: size})
			if err != nil || got.SourceType != c.want {
				t.Errorf("%s, %d bytes a read: %+v, %v", name, size, got, err)
			}
		}
	}
	gone := errors.New("gone")
	if _, err := ReadLabel(errReader{gone}); !errors.Is(err, gone) {
		t.Errorf("reader's error: %v", err)
	}
}

// TestReadLabelBehindBeginnings finds the label after megabytes of packets that begin and never end, or end without a
// label. Parsing from each beginning would take minutes.
func TestReadLabelBehindBeginnings(t *testing.T) {
	t.Parallel()
	started := strings.Repeat(packetOpen, 6000)
	var labelled bytes.Buffer
	if err := EncodePNG(&labelled, gradient(3, 2, 255), Generated("m", "s")); err != nil {
		t.Fatal(err)
	}
	for name, head := range map[string]string{
		"without an end": strings.Repeat(started, 200), "with an end": strings.Repeat(started+packetClose, 200),
	} {
		got, err := ReadLabel(io.MultiReader(strings.NewReader(head), strings.NewReader(strings.Repeat(" ", maxPacket)), bytes.NewReader(labelled.Bytes())))
		if err != nil || got.SourceType != SourceGenerated {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// slowReader returns n bytes per read.
type slowReader struct {
	b []byte
	n int
}

func (s *slowReader) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.b)
	s.b = s.b[n:]
	return n, nil
}

func FuzzReadLabel(f *testing.F) {
	f.Add(Generated("m", "s").XMP(), 3)
	f.Add([]byte("<x:xmpmeta<x:xmpmeta></x:xmpmeta>DigitalSourceType"), 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		whole, err := ReadLabel(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		parts, err := ReadLabel(&slowReader{b: b, n: 1 + n&15})
		if err != nil || whole != parts {
			t.Errorf("whole %+v, in parts %+v, %v", whole, parts, err)
		}
	})
}

func FuzzTranscode(f *testing.F) {
	f.Add(pngOf(f, gradient(9, 9, 200), Generated("m", "s")), uint8(1))
	for _, name := range []string{"lossy.webp", "moving.webp", "still.avif", "still.bmp"} {
		f.Add(testdata(f, name), uint8(6))
	}
	f.Fuzz(func(t *testing.T, b []byte, o uint8) {
		facts := probe.Head(b)
		facts.Orientation = int(o % 9)
		got, err := Transcode(t.Context(), io.Discard, bytes.NewReader(b), Job{Facts: facts, Width: 16, Limits: Limits{MaxPixels: 1 << 16}})
		if err == nil && (got.Width < 1 || got.Width > 16) {
			t.Errorf("facts %+v", got)
		}
	})
}

// BenchmarkThumbnail measures the design's figure: a 1024² PNG to 320 pixels, JPEG, on all processors.
func BenchmarkThumbnail(b *testing.B) {
	src := pngOf(b, gradient(1024, 1024, 255), Generated("m", "s"))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := Thumbnail(b.Context(), io.Discard, bytes.NewReader(src), media.Facts{}, 320); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "thumbnails/s")
}

func BenchmarkEncode(b *testing.B) {
	img := gradient(1024, 1024, 255)
	for name, enc := range map[string]func() error{
		"png":  func() error { return EncodePNG(io.Discard, img, Generated("m", "s")) },
		"jpeg": func() error { return EncodeJPEG(io.Discard, img, 0, Generated("m", "s")) },
		"webp": func() error { return EncodeWebP(io.Discard, img, 0, Generated("m", "s")) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := enc(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// panicking stands for a decoder that panics on a file.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("index out of range") }

// TestDecoderThatPanics: a file that makes a decoder panic ends neither the process nor other work.
func TestDecoderThatPanics(t *testing.T) {
	t.Parallel()
	img, err := Decode(t.Context(), panicking{}, media.Facts{MIMEType: "image/png", Width: 1, Height: 1}, Limits{})
	if img != nil || media.CodeOf(err) != media.CodeInternal || !strings.Contains(err.Error(), "the decoder of pictures") {
		t.Errorf("%v, %v", img, err)
	}
}
