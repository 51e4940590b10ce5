// Package imaging decodes pictures under limits, turns them upright, makes thumbnails and other
// formats of them, and writes the label that marks a picture as machine-made.
//
// [CheckComplete] checks, without decoding, whether a file is complete. Limits are checked against headers
// before any pixel is decoded: against the facts that probe read and against the header of the
// stream itself. PNG, JPEG, GIF (its first frame), WebP and BMP are decoded; PNG, JPEG and WebP are
// encoded. Memory use is the decoded pixels, four bytes each, plus O(64 KiB). Received originals
// are never changed: the package makes derivatives, and each of them keeps the label of its source.
//
// Errors: [media.CodeTooLarge] beyond a limit, [media.CodeUnsupported] for other formats, [media.CodeCorrupt] for bytes
// that do not decode, [media.CodeInvalid] for bad arguments. An error of a reader or writer keeps its code. The package
// imports media, probe, golang.org/x/image and a WebP encoder.
package imaging

import (
	"cmp"
	"fmt"
	"strings"

	"atelier/media"
)

// Defaults of [Limits] and [Job].
const (
	DefaultMaxPixels = 100_000_000
	DefaultMaxFrames = 200
	DefaultQuality   = 85
)

// Limits restricts which pictures are decoded. The zero value means the defaults.
type Limits struct {
	// MaxPixels is the largest width × height; 0 means [DefaultMaxPixels].
	MaxPixels int64
	// MaxFrames is the largest number of frames; 0 means [DefaultMaxFrames].
	MaxFrames int
}

// Check compares facts with the limits. Unknown dimensions pass; they are checked again when the stream's own header is
// read. The error has code [media.CodeTooLarge].
func (l Limits) Check(f media.Facts) error {
	l = Limits{cmp.Or(l.MaxPixels, DefaultMaxPixels), cmp.Or(l.MaxFrames, DefaultMaxFrames)}
	w, h := int64(f.Width), int64(f.Height)
	if w > l.MaxPixels || h > l.MaxPixels || w*h > l.MaxPixels {
		return media.Errorf(media.CodeTooLarge, "the image is %d × %d pixels: the limit is %s megapixels: use a smaller one",
			w, h, strings.TrimSuffix(fmt.Sprintf("%.1f", float64(l.MaxPixels)/1e6), ".0"))
	}
	if f.Frames > l.MaxFrames {
		return media.Errorf(media.CodeTooLarge, "the image has %d frames: the limit is %d: use a shorter one", f.Frames, l.MaxFrames)
	}
	return nil
}

// Format is a file format that this package writes.
type Format string

// The formats. Auto is JPEG for opaque pictures and PNG for the others.
const (
	FormatAuto Format = ""
	FormatPNG  Format = "png"
	FormatJPEG Format = "jpeg"
	FormatWebP Format = "webp"
)

// ParseFormat parses the name, the file extension or the MIME type of a format, ignoring case. The
// error has code [media.CodeUnsupported].
func ParseFormat(s string) (Format, error) {
	switch strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "image/"), ".") {
	case "png":
		return FormatPNG, nil
	case "jpeg", "jpg":
		return FormatJPEG, nil
	case "webp":
		return FormatWebP, nil
	}
	return "", media.Errorf(media.CodeUnsupported, "images cannot be written as %q: use png, jpeg or webp", s)
}

// MIMEType returns the format's MIME type, or "" for [FormatAuto].
func (f Format) MIMEType() string {
	if f == FormatAuto {
		return ""
	}
	return "image/" + string(f)
}

// Extension returns the usual file extension with its dot: .png, .jpg, .webp.
func (f Format) Extension() string {
	if f == FormatAuto {
		return ""
	}
	return "." + strings.Replace(string(f), "jpeg", "jpg", 1)
}
