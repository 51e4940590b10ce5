package imaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
	"atelier/media/probe"
)

// exportedAs exports an item with these bytes.
func exportedAs(t *testing.T, b []byte, mime string, meta map[string]any) (out []byte, m Marking) {
	t.Helper()
	o := media.Output{Blob: media.Blob{SizeBytes: int64(len(b)), Facts: media.Facts{MIMEType: mime}}}
	o.Modality, o.Metadata = media.ModalityOf(mime), meta
	var to bytes.Buffer
	m, err := Export(&to, o, func() (io.ReadCloser, error) { return io.NopCloser(&slowReader{b: b, n: 1000}), nil })
	if err != nil {
		t.Fatalf("%s: %v", mime, err)
	}
	return to.Bytes(), m
}

// byModel is the metadata of an item that a model made.
var byModel = map[string]any{"digital_source_type": "trainedAlgorithmicMedia", "model": "Painter <1>"}

// unlabelled returns files without a label, by type.
func unlabelled(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"image/svg+xml": []byte(`<?xml version="1.0"?><!-- a > b --><svg xmlns="http://www.w3.org/2000/svg" width="4" height="3" id="a>b"><rect width="4" height="3"/></svg>`)}
	var png, jpeg bytes.Buffer
	if err := EncodePNG(&png, gradient(40, 30, 200), Label{}); err != nil {
		t.Fatal(err)
	}
	if err := EncodeJPEG(&jpeg, gradient(40, 30, 255), 90, Label{}); err != nil {
		t.Fatal(err)
	}
	files["image/png"], files["image/jpeg"] = png.Bytes(), jpeg.Bytes()
	for name, mime := range map[string]string{
		"lossy.webp": "image/webp", "lossless.webp": "image/webp lossless", "turned.webp": "image/webp with metadata", "turned.jpg": "image/jpeg with metadata",
		"tone.wav": "audio/wav", "bare.mp3": "audio/mpeg", "tone.mp3": "audio/mpeg with a tag",
		"moving.gif": "image/gif", "tone.flac": "audio/flac", "opus.ogg": "audio/ogg", "tone.m4a": "audio/mp4", "film.mp4": "video/mp4",
	} {
		b, err := os.ReadFile(filepath.Join("..", "probe", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[mime] = b
	}
	info := string(files["audio/flac"][8:42])
	files["audio/flac with one block"] = []byte("fLaC\x80\x00\x00\x22" + info + "frames")
	files["audio/flac without comments"] = []byte("fLaC\x00\x00\x00\x22" + info + "\x82\x00\x00\x04test" + "frames")
	return files
}

// facts returns the facts read by probe and, for pictures, the decoded pixels.
func facts(t *testing.T, b []byte, mime string) (f media.Facts, pixels []byte) {
	t.Helper()
	f, err := probe.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if f.MIMEType != mime {
		t.Errorf("%s was read as %s", mime, f.MIMEType)
	}
	if !strings.HasPrefix(mime, "image/") || mime == "image/svg+xml" {
		return f, nil
	}
	img, err := Decode(context.Background(), bytes.NewReader(b), f, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := EncodePNG(&out, img, Label{}); err != nil {
		t.Fatal(err)
	}
	return f, out.Bytes()
}

// TestExportWritesTheLabel: an item made by a model is exported with the label, and with unchanged pixels and facts.
func TestExportWritesTheLabel(t *testing.T) {
	t.Parallel()
	for name, b := range unlabelled(t) {
		mime, _, _ := strings.Cut(name, " ")
		out, m := exportedAs(t, b, mime, byModel)
		got, err := ReadLabel(bytes.NewReader(out))
		if err != nil || m != MarkingAdded || got.SourceType != SourceGenerated || got.Model != "Painter <1>" {
			t.Errorf("%s: %q, %+v, %v", name, m, got, err)
			continue
		}
		was, pixels := facts(t, b, mime)
		is, same := facts(t, out, mime)
		if d := cmp.Diff(was, is); d != "" || !bytes.Equal(pixels, same) {
			t.Errorf("%s was changed: %s", name, d)
		}
		if again, m := exportedAs(t, out, mime, byModel); m != MarkingLabel || !bytes.Equal(again, out) {
			t.Errorf("%s: a label is written twice", name)
		}
	}
}

// TestExportLeavesTheSound: the media bytes remain unchanged, at the position where players expect them.
func TestExportLeavesTheSound(t *testing.T) {
	t.Parallel()
	files := unlabelled(t)
	for _, mime := range []string{"image/gif", "audio/flac", "audio/ogg"} {
		b := files[mime]
		if out, _ := exportedAs(t, b, mime, byModel); !bytes.HasSuffix(out, b[len(b)-100:]) {
			t.Errorf("%s ends otherwise", mime)
		}
	}
	for _, mime := range []string{"audio/mp4", "video/mp4"} {
		if out, _ := exportedAs(t, files[mime], mime, byModel); !bytes.HasPrefix(out, files[mime]) {
			t.Errorf("%s begins otherwise", mime)
		}
	}
	opus, _ := exportedAs(t, files["audio/ogg"], "audio/ogg", byModel)
	for n := 0; len(opus) > 0; n++ {
		page := oggPage(opus)
		if page == nil || int(binary.LittleEndian.Uint32(page[18:])) != n {
			t.Fatalf("page %d is missing", n)
		}
		opus = opus[len(page):]
		sum := binary.LittleEndian.Uint32(page[oggChecksum:])
		page = bytes.Clone(page)
		binary.LittleEndian.PutUint32(page[oggChecksum:], 0)
		if oggSum(page) != sum {
			t.Errorf("page %d has another checksum", n)
		}
	}
}

// TestExportLeavesAlone: a signed original, an item not made by a model, and a file without room for a label are
// exported byte for byte.
func TestExportLeavesAlone(t *testing.T) {
	t.Parallel()
	files := unlabelled(t)
	png := files["image/png"]
	signed := append(bytes.Clone(png[:pngHeaderSize]), append([]byte("\x00\x00\x00\x0ccaBXjumdc2pa...."), png[pngHeaderSize:]...)...)
	rule := map[string]any{"digital_source_type": "algorithmicMedia"}
	vorbis, err := os.ReadFile(filepath.Join("..", "probe", "testdata", "tone.ogg"))
	if err != nil {
		t.Fatal(err)
	}
	short := bytes.Clone(files["audio/wav"])
	short = short[:len(short)-100]
	for name, c := range map[string]struct {
		b    []byte
		mime string
		meta map[string]any
		want Marking
	}{
		"signed":             {signed, "image/png", byModel, MarkingSigned},
		"given by a person":  {png, "image/png", nil, ""},
		"drawn by rule":      {png, "image/png", rule, ""},
		"a cut gif":          {[]byte("GIF89a"), "image/gif", byModel, MarkingNone},
		"an old gif":         {[]byte("GIF87a\x01\x00\x01\x00\x00\x00\x00rest"), "image/gif", byModel, MarkingNone},
		"a cut flac":         {files["audio/flac"][:60], "audio/flac", byModel, MarkingNone},
		"no flac":            {[]byte("fLaC"), "audio/flac", byModel, MarkingNone},
		"vorbis":             {vorbis, "audio/ogg", byModel, MarkingNone},
		"a cut opus":         {files["audio/ogg"][:100], "audio/ogg", byModel, MarkingNone},
		"a cut film":         {files["video/mp4"][:100], "video/mp4", byModel, MarkingNone},
		"an endless box":     {[]byte("\x00\x00\x00\x00mdatrest"), "video/mp4", byModel, MarkingNone},
		"aac":                {[]byte("\xff\xf1\x58\x40rest"), "audio/aac", byModel, MarkingNone},
		"a cut wav":          {short, "audio/wav", byModel, MarkingNone},
		"a cut png":          {png[:20], "image/png", byModel, MarkingNone},
		"an empty svg":       {[]byte("<svg/>"), "image/svg+xml", byModel, MarkingNone},
		"no svg":             {[]byte("<<<"), "image/svg+xml", byModel, MarkingNone},
		"no webp":            {[]byte("RIFF"), "image/webp", byModel, MarkingNone},
		"another tag of mp3": {[]byte("ID3\x02\x00\x00\x00\x00\x00\x00rest"), "audio/mpeg", byModel, MarkingNone},
	} {
		if out, m := exportedAs(t, c.b, c.mime, c.meta); m != c.want || !bytes.Equal(out, c.b) {
			t.Errorf("%s: %q, want %q; the same bytes: %v", name, m, c.want, bytes.Equal(out, c.b))
		}
	}
}

// TestSignatureAcrossReads finds the manifest however reads split it.
func TestSignatureAcrossReads(t *testing.T) {
	t.Parallel()
	for size := 1; size < 20; size++ {
		m, err := markingOf(&slowReader{b: []byte("some bytes jumdc2pa more"), n: size})
		if err != nil || m != MarkingSigned {
			t.Errorf("%d bytes a read: %q, %v", size, m, err)
		}
	}
}
