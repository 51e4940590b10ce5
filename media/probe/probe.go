// Package probe reads from media bytes what they are: type, width and height as
// shown, EXIF orientation, number of frames or pages, duration. Nothing is ever
// taken from a request or a file name.
//
// Input is hostile by assumption. Parsers read through one bounded window, never
// allocate by a number found in a file, and stop where the file stops: a truncated
// or lying file gives the facts that are there. The only errors are those of the
// reader underneath and a bad size ([media.CodeInvalid]).
//
// The package imports media and the standard library.
package probe

import (
	"bytes"
	"io"
	"math"
	"mime"
	"strings"

	"atelier/media"
)

// Head returns the facts that the first bytes of a file tell. The type needs at most
// 4 KiB; dimensions of most images are there too. Durations, frame and page counts
// need [Read]. An empty MIMEType means unknown.
func Head(head []byte) media.Facts {
	s := &source{r: bytes.NewReader(head), size: int64(len(head)), headOnly: true, budget: readBudget}
	return readAs(s, sniff(s))
}

// Read returns all facts of a file of size bytes, walking it where it must: a JPEG
// whose EXIF block is long, an MP4 whose index is at the end, the last page of an
// OGG. It reads at most 32 MiB in all, most often a few KiB. An empty MIMEType
// means unknown and is no error; the error is that of r.
func Read(r io.ReaderAt, size int64) (media.Facts, error) {
	if size < 0 {
		return media.Facts{}, media.Errorf(media.CodeInvalid, "probe: size %d is negative", size)
	}
	s := &source{r: r, size: size, budget: readBudget}
	f := readAs(s, sniff(s))
	if s.err != nil {
		return media.Facts{}, media.Errorf(media.CodeOf(s.err), "read media to probe it: %w", s.err)
	}
	return f, nil
}

// Declare settles the type where bytes have no signature of their own: plain text
// and raw bytes. The sniffed type beats the declared one, with one exception: a
// declared text type (text/markdown) beats a sniffed text type, because Markdown
// may begin with a tag. A declared type that would have had a signature is not
// believed: such bytes are application/octet-stream.
func Declare(f media.Facts, declared string) media.Facts {
	t, _, err := mime.ParseMediaType(declared)
	if err != nil || !strings.Contains(t, "/") || len(t) > maxDeclared {
		t = ""
	}
	switch {
	case f.MIMEType == "" && (t == "" || hasSignature(t)):
		f.MIMEType = "application/octet-stream"
	case f.MIMEType == "":
		f.MIMEType = t
	case (f.MIMEType == typeHTML || f.MIMEType == typeJSON) && (strings.HasPrefix(t, "text/") || t == "application/json"):
		f.MIMEType = t
	}
	return f
}

// maxDeclared is the longest declared type that is believed; types are shown in
// prompts, and a longer one carries something else.
const maxDeclared = 100

// hasSignature reports whether bytes of that type would have been recognised.
func hasSignature(t string) bool {
	if t == "audio/pcm" || t == "audio/l16" || t == "audio/basic" {
		return false
	}
	top, _, _ := strings.Cut(t, "/")
	return top == "image" || top == "audio" || top == "video" || t == typePDF
}

// parsers read the facts of files of a type.
var parsers = map[string]func(*source, *media.Facts){
	typePNG: readPNG, typeJPEG: readJPEG, typeGIF: readGIF, typeWebP: readWebP, typeBMP: readBMP, typeSVG: readSVG, typePDF: readPDF,
	typeAVIF: readAVIF, typeHEIC: readAVIF, typeMP4: readMP4, typeMOV: readMP4, typeM4A: readMP4, typeWebM: readMatroska, typeMKV: readMatroska,
	typeWAV: readWAV, typeMP3: readMP3, typeOGG: readOGG, typeFLAC: readFLAC,
}

// readAs reads the facts that a file of type t tells.
func readAs(s *source, t string) media.Facts {
	f := media.Facts{MIMEType: t}
	if parse := parsers[t]; parse != nil {
		parse(s, &f)
	}
	settle(&f)
	return f
}

// settle makes facts consistent: dimensions come in pairs, lengths are sane.
func settle(f *media.Facts) {
	if f.Width <= 0 || f.Height <= 0 {
		f.Width, f.Height = 0, 0
	}
	if f.Orientation >= 5 {
		f.Width, f.Height = f.Height, f.Width
	}
	f.Frames = max(f.Frames, 0)
	if d := f.DurationSeconds; math.IsNaN(d) || d <= 0 || d > maxSeconds {
		f.DurationSeconds = 0
	}
	f.DurationSeconds = math.Round(f.DurationSeconds*1000) / 1000
}
