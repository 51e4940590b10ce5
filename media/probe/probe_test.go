package probe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
)

// samples returns the files of testdata with the facts that another program reported when they were made.
func samples() map[string]media.Facts {
	return map[string]media.Facts{
		"audio.webm":     {MIMEType: "audio/webm", DurationSeconds: 0.508},
		"bare.mp3":       {MIMEType: typeMP3, DurationSeconds: 0.576},
		"film.mkv":       {MIMEType: typeMKV, Width: 32, Height: 18, DurationSeconds: 1},
		"film.mp4":       {MIMEType: typeMP4, Width: 32, Height: 18, DurationSeconds: 1},
		"film.webm":      {MIMEType: typeWebM, Width: 32, Height: 18, DurationSeconds: 1},
		"fragmented.mp4": {MIMEType: typeMP4, Width: 32, Height: 18},
		"lossless.webp":  {MIMEType: typeWebP, Width: 40, Height: 24, Frames: 1},
		"lossy.webp":     {MIMEType: typeWebP, Width: 40, Height: 24, Frames: 1},
		"moving.gif":     {MIMEType: typeGIF, Width: 32, Height: 18, Frames: 3},
		"moving.png":     {MIMEType: typePNG, Width: 32, Height: 18, Frames: 3},
		"moving.webp":    {MIMEType: typeWebP, Width: 32, Height: 18, Frames: 3},
		"opus.ogg":       {MIMEType: typeOGG, DurationSeconds: 0.505},
		"still.avif":     {MIMEType: typeAVIF, Width: 40, Height: 24, Frames: 1},
		"still.bmp":      {MIMEType: typeBMP, Width: 40, Height: 24, Frames: 1},
		"streamed.wav":   {MIMEType: typeWAV, DurationSeconds: 0.5},
		"streamed.webm":  {MIMEType: typeWebM, Width: 32, Height: 18, DurationSeconds: 0.8},
		"three.pdf":      {MIMEType: typePDF, Frames: 3},
		"tone.flac":      {MIMEType: typeFLAC, DurationSeconds: 0.5},
		"tone.m4a":       {MIMEType: typeM4A, DurationSeconds: 0.628},
		"tone.mp3":       {MIMEType: typeMP3, DurationSeconds: 0.576},
		"tone.ogg":       {MIMEType: typeOGG, DurationSeconds: 0.5},
		"tone.wav":       {MIMEType: typeWAV, DurationSeconds: 0.5},
		"turned.avif":    {MIMEType: typeAVIF, Width: 24, Height: 40, Frames: 1},
		"turned.jpg":     {MIMEType: typeJPEG, Width: 24, Height: 40, Orientation: 6, Frames: 1},
		"turned.mov":     {MIMEType: typeMOV, Width: 18, Height: 32, DurationSeconds: 1},
		"turned.png":     {MIMEType: typePNG, Width: 24, Height: 40, Orientation: 6, Frames: 1},
		"turned.webp":    {MIMEType: typeWebP, Width: 24, Height: 40, Orientation: 6, Frames: 1},
		"two.pdf":        {MIMEType: typePDF, Frames: 2},
	}
}

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestReadSamples(t *testing.T) {
	t.Parallel()
	for name, want := range samples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := sample(t, name)
			got, err := Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if !Media(b[:18]) {
				t.Error("Media rejects its first 18 bytes")
			}
			// The container of sound-only WebM and MP4 is recognized only after its header.
			if got := Head(b[:min(len(b), 64)]).MIMEType; media.ModalityOf(got) != media.ModalityOf(want.MIMEType) && name != "audio.webm" {
				t.Errorf("Head of 64 bytes = %q, want %q", got, want.MIMEType)
			}
		})
	}
}

// TestTruncated cuts every sample at many positions: nothing panics, the type is unchanged, and a dimension is either
// correct or unknown.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for name, want := range samples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := sample(t, name)
			step := max(1, len(b)/500)
			for n := 0; n < len(b); n += step {
				got, err := Read(bytes.NewReader(b[:n]), int64(n))
				if err != nil {
					t.Fatalf("at %d: %v", n, err)
				}
				if n >= 64 && media.ModalityOf(got.MIMEType) != media.ModalityOf(want.MIMEType) && name != "audio.webm" {
					t.Fatalf("at %d: type %q", n, got.MIMEType)
				}
				turned := got.Width == want.Height && got.Height == want.Width
				if got.Width != 0 && (got.Width != want.Width || got.Height != want.Height) && !turned {
					t.Fatalf("at %d: %d×%d", n, got.Width, got.Height)
				}
				Head(b[:n])
			}
		})
	}
}

// TestShorterThanSaid passes a reader with fewer bytes than the given size.
func TestShorterThanSaid(t *testing.T) {
	t.Parallel()
	for name := range samples() {
		b := sample(t, name)
		if _, err := Read(bytes.NewReader(b[:len(b)/2]), int64(len(b))*1000); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongEXIF(t *testing.T) {
	t.Parallel()
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x08\x00\x00"), make([]byte, 60_000)...)
	var b bytes.Buffer
	b.WriteString("\xff\xd8\xff\xe1")
	_ = binary.Write(&b, binary.BigEndian, uint16(len(exif)+2))
	b.Write(exif)
	for range 5 { // five more application segments of the maximum length
		b.WriteString("\xff\xe2\xff\xff")
		b.Write(make([]byte, 65_533))
	}
	b.WriteString("\xff\xff\xff\xc2\x00\x11\x08\x01\x00\x02\x00\x03")
	got, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := media.Facts{MIMEType: typeJPEG, Width: 256, Height: 512, Orientation: 8, Frames: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLyingHeaders(t *testing.T) {
	t.Parallel()
	png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x75\x30\x00\x00\x75\x30\x08\x06\x00\x00\x00")
	for name, c := range map[string]struct {
		in   []byte
		want media.Facts
	}{
		"png of 900 megapixels": {png, media.Facts{MIMEType: typePNG, Width: 30_000, Height: 30_000}},
		"png without a width": {
			append(png[:16:16], "\x00\x00\x00\x00\x00\x00\x00\x05"...),
			media.Facts{MIMEType: typePNG},
		},
		"wav longer than its file": {
			[]byte("RIFF\xff\xff\xff\x7fWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x0a\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x08\x00data\xf0\xff\xff\x7f0123456789"),
			media.Facts{MIMEType: typeWAV, DurationSeconds: 1},
		},
		"top-down bmp": {
			[]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00\xfd\xff\xff\xff"),
			media.Facts{MIMEType: typeBMP, Width: 2, Height: 3, Frames: 1},
		},
		"old bmp": {
			[]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x0c\x00\x00\x00\x02\x00\x03\x00\x01\x00\x18\x00"),
			media.Facts{MIMEType: typeBMP, Width: 2, Height: 3, Frames: 1},
		},
		"box that ends before it begins": {
			[]byte("\x00\x00\x00\x10ftypisom\x00\x00\x00\x00\x00\x00\x00\x02moov\x00\x00\x00\x00\x00\x00\x00\x00"),
			media.Facts{MIMEType: typeMP4},
		},
		"box of 2^63 bytes": {
			[]byte("\x00\x00\x00\x10ftypisom\x00\x00\x00\x00\x00\x00\x00\x01moov\xff\xff\xff\xff\xff\xff\xff\xff"),
			media.Facts{MIMEType: typeMP4},
		},
	} {
		got, err := Read(bytes.NewReader(c.in), int64(len(c.in)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// endless simulates a huge file of one repeated pattern and counts the bytes read.
type endless struct {
	head, pattern []byte
	read          int64
}

func (e *endless) ReadAt(p []byte, off int64) (int, error) {
	e.read += int64(len(p))
	n := 0
	if off < int64(len(e.head)) {
		n = copy(p, e.head[off:])
	}
	size := int64(len(e.pattern))
	if start := n; n < len(p) { // one copy of the pattern, then copies of the previous bytes
		n += copy(p[n:], e.pattern[(off+int64(n)-int64(len(e.head)))%size:])
		n += copy(p[n:], e.pattern[:min(int64(len(p)-n), size)])
		for period := (n - start) / int(size) * int(size); n < len(p) && period > 0; {
			n += copy(p[n:], p[n-period:n])
		}
	}
	return len(p), nil
}

// TestBounded checks that no file makes a probe read without limit.
func TestBounded(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]*endless{
		"gif":  {head: []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00"), pattern: []byte("\x21\xfe\x01x\x00")},
		"jpeg": {head: []byte("\xff\xd8\xff\xe0"), pattern: []byte("\xff")},
		"mp4":  {head: []byte("\x00\x00\x00\x10ftypisom\x00\x00\x00\x00"), pattern: []byte("\x00\x00\x00\x08free")},
		"pdf":  {head: []byte("%PDF-1.7\n"), pattern: []byte("<</Type/ObjStm>>stream\nx")},
		"webm": {head: []byte("\x1aE\xdf\xa3\x80\x18\x53\x80\x67\xff\x1f\x43\xb6\x75\xff"), pattern: []byte("\xec\x80")},
		"svg":  {head: []byte("<!--"), pattern: []byte("x")},
		"mp3":  {head: []byte("ID3\x04\x00\x00\x00\x00\x00\x00"), pattern: []byte("\xff\xfb\x10\x00")},
		"wav":  {head: []byte("RIFF\x00\x00\x00\x00WAVE"), pattern: []byte("junk\x00\x00\x00\x00")},
	} {
		if _, err := Read(e, 1<<50); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if e.read > readBudget {
			t.Errorf("%s: read %d bytes, want at most %d", name, e.read, readBudget)
		}
	}
}

// TestPartsAreNotTotals checks that what was counted until the budget was spent is not stated as the whole.
func TestPartsAreNotTotals(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]*endless{
		"pdf":  {head: []byte("%PDF-1.7\n"), pattern: []byte("1 0 obj<</Type/Page>>endobj\n")},
		"webm": {head: []byte("\x1aE\xdf\xa3\x80\x18\x53\x80\x67\xff\x1f\x43\xb6\x75\xff\xe7\x81\x00"), pattern: append([]byte("\xa3\x50\x00\x81\x03\xe8"), make([]byte, 4093)...)},
	} {
		got, err := Read(e, 1<<40)
		if err != nil || got.Frames != 0 || got.DurationSeconds != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	many := "%PDF-1.7\n" + strings.Repeat("1 0 obj<</Type/ObjStm>>stream\nx", 1<<14)
	if got, err := Read(strings.NewReader(many+"<</Type/Page>>"), int64(len(many))+14); err != nil || got.Frames != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPagesAcrossSpans puts page objects and a page tree at every position of the spans that are read.
func TestPagesAcrossSpans(t *testing.T) {
	t.Parallel()
	const pages = 40_000
	flat := "%PDF-1.7\n" + strings.Repeat("1 0 obj<</Type/Page>>endobj\n", pages)
	if got, err := Read(strings.NewReader(flat), int64(len(flat))); err != nil || got.Frames != pages {
		t.Errorf("%+v, %v", got, err)
	}
	for before := 50_000; before < 66_000; before += 250 {
		tree := "%PDF-1.7\n" + strings.Repeat(" ", before) + "<</Count 7" + strings.Repeat(" ", 2000) + "/Type/Pages" + strings.Repeat(" ", 2000) + "/Parent 1 0 R>>" + strings.Repeat(" ", 9000)
		if got, err := Read(strings.NewReader(tree), int64(len(tree))); err != nil || got.Frames != 7 {
			t.Errorf("at %d: %+v, %v", before, got, err)
		}
	}
}

// TestSegmentIndices has the fragments of two tracks, each with its index, and an index of indices.
func TestSegmentIndices(t *testing.T) {
	t.Parallel()
	boxed := func(kind, body string) string {
		return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))) + kind + body
	}
	index := func(track byte, references ...string) string {
		return boxed("sidx", "\x00\x00\x00\x00\x00\x00\x00"+string(rune(track))+"\x00\x00\x00\x0a"+"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+string(rune(len(references)))+strings.Join(references, ""))
	}
	part := "\x00\x00\x00\x08\x00\x00\x00\x14\x00\x00\x00\x00" // 20 ticks of a tenth of a second
	file := boxed("ftyp", "isom\x00\x00\x00\x00") + boxed("moov", "") + index(1, "\x80"+part[1:]) +
		index(1, part) + index(2, part) + boxed("moof", "") + index(1, part, part) + index(2, part) + boxed("moof", "")
	if got, err := Read(strings.NewReader(file), int64(len(file))); err != nil || got.DurationSeconds != 6 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := Head([]byte(file)[:100]); got.DurationSeconds != 0 {
		t.Errorf("the first part has %v seconds", got.DurationSeconds)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	if _, err := Read(bytes.NewReader(nil), -1); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("negative size: %v", err)
	}
	broken := media.Errorf(media.CodeUnavailable, "the disk is gone")
	_, err := Read(failing{broken}, 100)
	if !errors.Is(err, broken) || media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("got %v, want the reader's error with its code", err)
	}
	if f, err := Read(bytes.NewReader(nil), 0); err != nil || f != (media.Facts{}) {
		t.Errorf("empty file: %+v, %v", f, err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

var _ io.ReaderAt = failing{}

func TestText(t *testing.T) {
	t.Parallel()
	svg := func(attrs string) string { return `<svg xmlns="http://www.w3.org/2000/svg" ` + attrs + `></svg>` }
	for _, c := range []struct {
		in   string
		want media.Facts
	}{
		{svg(`width="640" height="480"`), media.Facts{MIMEType: typeSVG, Width: 640, Height: 480}},
		{svg(`viewBox="0 0 300.4 150"`), media.Facts{MIMEType: typeSVG, Width: 300, Height: 150}},
		{svg(`width="600" viewBox="0,0,300,150"`), media.Facts{MIMEType: typeSVG, Width: 600, Height: 300}},
		{svg(`width="100%" height="100%" viewBox="0 0 4 3"`), media.Facts{MIMEType: typeSVG, Width: 4, Height: 3}},
		{svg(`width="1in" height="72pt"`), media.Facts{MIMEType: typeSVG, Width: 96, Height: 96}},
		{svg(`width="-5" height="1e400"`), media.Facts{MIMEType: typeSVG}},
		{
			"\ufeff<?xml version=\"1.0\" encoding=\"latin1\"?>\n<!-- made by <svg> hand -->\n<!DOCTYPE svg [<!ENTITY a \"<html>\">]>\n<svg:svg width='2cm' height='1cm'/>",
			media.Facts{MIMEType: typeSVG, Width: 76, Height: 38},
		},
		{"<!-- " + strings.Repeat("long ", 2000) + "-->" + svg(`width="1" height="1"`), media.Facts{MIMEType: typeSVG, Width: 1, Height: 1}},
		{"<!DOCTYPE  HTML>\n<p>", media.Facts{MIMEType: typeHTML}},
		{"  <html lang=en>", media.Facts{MIMEType: typeHTML}},
		{"<rss></rss>", media.Facts{}},
		{"<p>a fragment with <svg>", media.Facts{}},
		{`{"a":[1,2,{"b":null}]}`, media.Facts{MIMEType: typeJSON}},
		{"[]", media.Facts{MIMEType: typeJSON}},
		{`{"a":` + strings.Repeat("[", 2), media.Facts{}},
		{`{"a":"` + strings.Repeat("x", headSize), media.Facts{MIMEType: typeJSON}},
		{"[a link](https://example.org)", media.Facts{}},
		{"{braces} in prose", media.Facts{}},
		{"# Markdown", media.Facts{}},
		{"BM is how this sentence begins, and it is no picture.", media.Facts{}},
		{"MM says nothing", media.Facts{}},
		{"# PDF\n\nA file begins with %PDF-1.7 and ends with %%EOF.\n", media.Facts{}},
		{"\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n%PDF-1.4\n", media.Facts{MIMEType: typePDF}},
		{"\ufeff %PDF-1.4\n", media.Facts{MIMEType: typePDF}},
		{"\xff\xfb but no sound follows in this text of some length", media.Facts{}},
		{"", media.Facts{}},
		{" \n", media.Facts{}},
		{"\x00\x01\x02", media.Facts{}},
	} {
		name := c.in[:min(len(c.in), 60)]
		got, err := Read(strings.NewReader(c.in), int64(len(c.in)))
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "x", "Hello, this is a long enough text", `{"a":1,"b":"cccccccc"}`, "BM and the rest of a sentence",
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "<svgfoo it is not a name",
		"GIF is a format and this a sentence", "RIFF of a guitar in a sentence", "ID3 and a sentence follow",
	} {
		if Media([]byte(s)) {
			t.Errorf("Media(%q) = true", s)
		}
	}
	if !Media([]byte("<svg xmlns='http://")) {
		t.Error("a bare SVG is media")
	}
}

//nolint:paralleltest // testing.AllocsPerRun refuses parallel tests.
func TestMediaDoesNotAllocate(t *testing.T) {
	head := sample(t, "turned.jpg")[:18]
	if n := testing.AllocsPerRun(100, func() { Media(head) }); n != 0 {
		t.Errorf("Media allocates %v times", n)
	}
}

func TestDeclare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sniffed, declared, want string }{
		{typePNG, "image/jpeg", typePNG},
		{"", "text/markdown; charset=utf-8", "text/markdown"},
		{typeHTML, "text/markdown", "text/markdown"},
		{typeJSON, "text/plain", "text/plain"},
		{typeHTML, "image/png", typeHTML},
		{typeSVG, "text/plain", typeSVG},
		{"", "image/png", "application/octet-stream"},
		{"", "application/pdf", "application/octet-stream"},
		{"", "audio/L16;rate=24000", "audio/l16"},
		{"", "audio/mpeg", "application/octet-stream"},
		{"", "", "application/octet-stream"},
		{"", "nonsense", "application/octet-stream"},
		{"", "application/vnd.ms-excel", "application/vnd.ms-excel"},
		{"", "text/" + strings.Repeat("a", maxDeclared), "application/octet-stream"},
		{typeHTML, "text/" + strings.Repeat("a", maxDeclared), typeHTML},
	} {
		if got := Declare(media.Facts{MIMEType: c.sniffed}, c.declared).MIMEType; got != c.want {
			t.Errorf("Declare(%q, %q) = %q, want %q", c.sniffed, c.declared, got, c.want)
		}
	}
}

// FuzzRead passes hostile files to the whole probe and to each parser alone.
func FuzzRead(f *testing.F) {
	types := []string{
		"", typePNG, typeJPEG, typeGIF, typeWebP, typeBMP, typeSVG, typePDF, typeAVIF,
		typeMP4, typeWebM, typeWAV, typeMP3, typeOGG, typeFLAC,
	}
	for name, facts := range samples() {
		for i, t := range types {
			if t == "" || t == facts.MIMEType {
				f.Add(uint8(i), sample(f, name))
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		for _, headOnly := range []bool{false, true} {
			s := &source{r: bytes.NewReader(b), size: int64(len(b)), headOnly: headOnly, budget: readBudget}
			var got media.Facts
			if k := types[int(kind)%len(types)]; k == "" {
				got = readAs(s, sniff(s))
			} else {
				got = readAs(s, k)
			}
			if got.Width < 0 || got.Height < 0 || got.Frames < 0 || got.DurationSeconds < 0 || (got.Width == 0) != (got.Height == 0) {
				t.Errorf("facts make no sense: %+v", got)
			}
		}
		Media(b)
	})
}

func BenchmarkMedia(b *testing.B) {
	head := []byte("an ordinary string value in a JSON body")
	for b.Loop() {
		Media(head)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"turned.jpg", "film.mp4", "moving.png"} {
		data := sample(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(bytes.NewReader(data), int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
