package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"atelier/media"
	"atelier/media/imaging"
)

// Blobs is where pictures are read and where their smaller forms are kept;
// *wire.Codec is one.
type Blobs interface {
	// Open reads a stored blob; the caller closes it.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
	// Store reads r to its end and returns the stored blob.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error)
}

// Fitted is a picture in the form in which a model takes it.
type Fitted struct {
	// Output is the original, or a derivative with the original as its parent.
	Output media.Output
	// Reason is why it had to change; empty for an original.
	Reason string
}

// Room is what a request has room for.
type Room struct {
	// Images is how many pictures the request carries together.
	Images int `json:"images"`
	// MaxBytes bounds this picture; 0 leaves it to the profile.
	MaxBytes int64 `json:"max_bytes,omitempty"`
}

// Fit converts a picture to a form that the model accepts: another type, smaller sides, fewer
// bytes, the first frame of an animated GIF. A picture that fits is returned unchanged; a
// derivative is stored, not recorded, and keeps the AI label. Errors: [media.CodeUnsupported] for a
// model without vision and for what cannot be decoded, [media.CodeTooLarge], [media.CodeCorrupt]
// and those of blobs.
func (f Profile) Fit(ctx context.Context, blobs Blobs, o media.Output, room Room) (Fitted, error) {
	if err := f.Sees(o); err != nil {
		return Fitted{}, err
	}
	why, side := f.misfit(o, room)
	if len(why) == 0 {
		return Fitted{Output: o}, f.present(ctx, blobs, o)
	}
	made, err := f.shrink(ctx, blobs, o, room, side)
	if err != nil {
		return Fitted{}, err
	}
	return Fitted{Output: made, Reason: f.Name + " takes " + strings.Join(why, ", ")}, nil
}

// Fits reports whether the model takes a picture of this kind as it is.
func (f Profile) Fits(o media.Output, room Room) bool {
	why, _ := f.misfit(o, room)
	return f.Sees(o) == nil && len(why) == 0
}

// Sees is nil if the model can be shown a picture of this kind, as it is or converted.
func (f Profile) Sees(o media.Output) error {
	switch {
	case !f.SupportsVision:
		return media.Errorf(media.CodeUnsupported, "%s does not accept pictures: choose a chat model with vision", f)
	case o.Modality != media.ModalityImage:
		return media.Errorf(media.CodeUnsupported, "%s is %s, not a picture: give PNG, JPEG, WebP or GIF", name(o), o.MIMEType)
	case o.MIMEType == "image/svg+xml":
		return media.Errorf(media.CodeUnsupported, "%s is an SVG drawing, which chat models cannot view: give a PNG of it, or have it read as text", name(o))
	case !f.Accepts(o.MIMEType) && !decodable(o.MIMEType):
		return media.Errorf(media.CodeUnsupported, "%s is %s, which %s does not accept and which cannot be converted: give PNG or JPEG", name(o), o.MIMEType, f)
	}
	return nil
}

// decodable tells the types that package imaging reads.
func decodable(mimeType string) bool {
	switch mimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp":
		return true
	}
	return false
}

// name is a picture as errors name it.
func name(o media.Output) string {
	if o.FileName != "" {
		return o.FileName
	}
	return string(o.Ref)
}

// misfit lists what the model takes instead of what the picture is; side is the
// longest side to come down to, 0 for any.
func (f Profile) misfit(o media.Output, room Room) (why []string, side int) {
	if !f.Accepts(o.MIMEType) {
		why = append(why, "no "+o.MIMEType)
	}
	if o.Frames > 1 && o.MIMEType == "image/gif" {
		why = append(why, fmt.Sprintf("one frame, not %d", o.Frames))
	}
	side = f.MaxImageSide
	if f.ManyImages > 0 && room.Images > f.ManyImages {
		side = f.ManyImageSide
	}
	if long := max(o.Width, o.Height); side > 0 && long > side {
		why = append(why, fmt.Sprintf("sides of %d pixels, not %d", side, long))
	}
	if n := int64(o.Width) * int64(o.Height); f.MaxImagePixels > 0 && n > f.MaxImagePixels {
		why = append(why, fmt.Sprintf("%d pixels, not %d", f.MaxImagePixels, n))
	}
	if most := f.most(room); most > 0 && o.SizeBytes > most {
		why = append(why, fmt.Sprintf("%d bytes, not %d", most, o.SizeBytes))
	}
	return why, side
}

// most is how many bytes one picture may have.
func (f Profile) most(room Room) int64 {
	if room.MaxBytes > 0 && f.MaxImageBytes > 0 {
		return min(room.MaxBytes, f.MaxImageBytes)
	}
	return max(room.MaxBytes, f.MaxImageBytes)
}

// present finds out that the bytes are there and whole.
func (f Profile) present(ctx context.Context, blobs Blobs, o media.Output) error {
	r, err := blobs.Open(ctx, o.Digest)
	if err != nil {
		return fmt.Errorf("read %s: %w", name(o), err)
	}
	_, err = io.Copy(io.Discard, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("read %s: %w", name(o), err)
	}
	return nil
}

const (
	// shrinkSteps is how often the sides are made smaller by a quarter: to a tenth.
	shrinkSteps = 9
	// fitQuality keeps text in pictures readable.
	fitQuality = 88
)

// shrink encodes a picture again until it fits: without loss, with loss, then smaller.
func (f Profile) shrink(ctx context.Context, blobs Blobs, o media.Output, room Room, side int) (media.Output, error) {
	formats := f.formats(o)
	if len(formats) == 0 {
		return media.Output{}, media.Errorf(media.CodeUnsupported, "%s accepts %s, but %s can only be converted to PNG or JPEG: give another picture, or choose another model", f, strings.Join(f.Types(), ", "), name(o))
	}
	job := imaging.Job{Facts: o.Facts, Format: formats[0], Quality: fitQuality, Width: side, Height: side}
	if n := float64(o.Width) * float64(o.Height); f.MaxImagePixels > 0 && n > float64(f.MaxImagePixels) {
		scale := math.Sqrt(float64(f.MaxImagePixels) / n)
		w, h := max(1, int(float64(o.Width)*scale)), max(1, int(float64(o.Height)*scale))
		if int64(w)*int64(h) > f.MaxImagePixels { // one side is a single pixel
			w, h = int(min(int64(w), f.MaxImagePixels)), int(min(int64(h), f.MaxImagePixels))
		}
		if side == 0 || max(w, h) < side {
			job.Width, job.Height = w, h
		}
	}
	for range shrinkSteps {
		b, n, err := f.encode(ctx, blobs, o, job, room)
		if err != nil {
			return media.Output{}, fmt.Errorf("convert %s: %w", name(o), err)
		}
		if !b.Digest.IsZero() {
			made := media.NewOutput(b, media.Meta{Label: o.Label, FileName: o.FileName, Lineage: []media.Parent{{Ref: o.Ref, Role: "input"}}})
			made.Origin = o.Origin
			return made, nil
		}
		if last := formats[len(formats)-1]; job.Format != last {
			job.Format = last
			continue
		}
		job.Width, job.Height = max(1, n.Width*3/4), max(1, n.Height*3/4)
	}
	return media.Output{}, media.Errorf(media.CodeTooLarge, "%s is too large for %s, whose limit is %d bytes per picture: make it smaller", name(o), f, f.most(room))
}

// formats are what a picture is encoded in, without loss first where it had none.
func (f Profile) formats(o media.Output) (list []imaging.Format) {
	if f.Accepts("image/png") && (o.MIMEType != "image/jpeg" || !f.Accepts("image/jpeg")) {
		list = append(list, imaging.FormatPNG)
	}
	if f.Accepts("image/jpeg") {
		list = append(list, imaging.FormatJPEG)
	}
	return list
}

// encode makes one form, and stores it if it is small enough.
func (f Profile) encode(ctx context.Context, blobs Blobs, o media.Output, job imaging.Job, room Room) (media.Blob, media.Facts, error) {
	r, err := blobs.Open(ctx, o.Digest)
	if err != nil {
		return media.Blob{}, media.Facts{}, err
	}
	var buf bytes.Buffer // one encoded picture within the pixel limit
	facts, err := imaging.Transcode(ctx, &buf, r, job)
	if err = errors.Join(err, r.Close()); err != nil {
		return media.Blob{}, facts, err
	}
	if most := f.most(room); most > 0 && int64(buf.Len()) > most {
		return media.Blob{}, facts, nil
	}
	b, err := blobs.Store(ctx, &buf, facts.MIMEType)
	return b, facts, err
}
