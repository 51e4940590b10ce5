// Package probe reads the facts of media from their bytes: type, width and height as displayed, EXIF orientation,
// number of frames or pages, duration. It never takes a fact from a request or a file name.
//
// Input is assumed to be hostile. Parsers read through one bounded window, never allocate by a number found in a file,
// and stop at the end of the file: a truncated or lying file yields the facts that can be read. The only errors are
// those of the underlying reader and a negative size ([media.CodeInvalid]).
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

// Head returns the facts that the first bytes of a file contain. The type and the dimensions of most images need at
// most 4 KiB. Durations, frame and page counts need [Read]. An empty MIMEType means unknown.
func Head(head []byte) media.Facts {
	s := &source{r: bytes.NewReader(head), size: int64(len(head)), headOnly: true, budget: readBudget}
	return readAs(s, sniff(s))
}

// Read returns all facts of a file of size bytes. It reads beyond the beginning where necessary: for a long EXIF block
// in a JPEG, an index at the end of an MP4, the last page of an OGG. It reads at most 32 MiB in total, usually a few
// KiB; a duration or page count that this does not suffice for is left out. An empty MIMEType means unknown and is not
// an error; the error is that of r.
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

// Declare chooses the type of bytes that have no signature of their own: plain text and raw bytes.
// The sniffed type takes precedence over the declared one, with one exception: a declared text type
// (text/markdown) overrides a sniffed text type, because Markdown may begin with a tag. A declared
// type that would have a signature is ignored: such bytes become application/octet-stream.
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

// maxDeclared is the maximum length of a declared type. Types are shown in prompts, and a longer
// one carries something else.
const maxDeclared = 100

// hasSignature reports whether bytes of type t would have been recognised.
func hasSignature(t string) bool {
	if t == "audio/pcm" || t == "audio/l16" || t == "audio/basic" {
		return false
	}
	top, _, _ := strings.Cut(t, "/")
	return top == "image" || top == "audio" || top == "video" || t == typePDF
}

// parsers holds the function that reads the facts of each type.
var parsers = map[string]func(*source, *media.Facts){
	typePNG: readPNG, typeJPEG: readJPEG, typeGIF: readGIF, typeWebP: readWebP, typeBMP: readBMP, typeSVG: readSVG, typePDF: readPDF,
	typeAVIF: readAVIF, typeHEIC: readAVIF, typeMP4: readMP4, typeMOV: readMP4, typeM4A: readMP4, typeWebM: readMatroska, typeMKV: readMatroska,
	typeWAV: readWAV, typeMP3: readMP3, typeOGG: readOGG, typeFLAC: readFLAC,
}

// readAs reads the facts of a file of type t and makes them consistent: dimensions come in pairs, as displayed, and
// durations are plausible.
func readAs(s *source, t string) media.Facts {
	f := media.Facts{MIMEType: t}
	if parse := parsers[t]; parse != nil {
		parse(s, &f)
	}
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
	return f
}
