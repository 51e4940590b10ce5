package chat

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"atelier/media"
	"atelier/media/imaging"
)

// Fitted is a picture in a form that a model accepts.
type Fitted struct {
	// Output is the original, or a derivative with the original as its parent.
	Output media.Output
	// Reason says why the picture was converted; empty for an original.
	Reason string
}

// Room is the capacity of a request for pictures.
type Room struct {
	// Images is the total number of pictures in the request.
	Images int `json:"images"`
	// MaxBytes is the maximum size of this picture; 0 means the limit of the profile.
	MaxBytes int64 `json:"max_bytes,omitempty"`
}

// Fit converts a picture to a form that the model accepts: another type, smaller sides, fewer bytes, or the first frame
// of an animated GIF. It returns a picture that fits unchanged. A derivative is stored but not recorded, and keeps the
// AI label. The error has code [media.CodeUnsupported] for a model without vision and for types that cannot be decoded,
// [media.CodeTooLarge], [media.CodeCorrupt], or a code of blobs.
func (f Profile) Fit(ctx context.Context, blobs media.Storage, o media.Output, room Room) (Fitted, error) {
	if err := f.CheckVision(o); err != nil {
		return Fitted{}, err
	}
	reason, side := f.misfit(o, room)
	if len(reason) == 0 { // read the bytes to check that they exist and are intact
		r, err := blobs.Open(ctx, o.Digest)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			return Fitted{Output: o}, fmt.Errorf("read %s: %w", name(o), err)
		}
		return Fitted{Output: o}, nil
	}
	made, err := f.shrink(ctx, blobs, o, room, side)
	if err != nil {
		return Fitted{}, err
	}
	return Fitted{Output: made, Reason: f.Name + " takes " + strings.Join(reason, ", ")}, nil
}

// Fits reports whether the model accepts a picture of this kind unchanged.
func (f Profile) Fits(o media.Output, room Room) bool {
	reason, _ := f.misfit(o, room)
	return f.CheckVision(o) == nil && len(reason) == 0
}

// CheckVision returns nil if the model can be shown a picture of this kind, unchanged or converted.
func (f Profile) CheckVision(o media.Output) error {
	switch {
	case !f.SupportsVision:
		return media.Errorf(media.CodeUnsupported, "%s does not accept pictures: choose a chat model with vision", f)
	case o.Modality != media.ModalityImage:
		return media.Errorf(media.CodeUnsupported, "%s is %s, not a picture: give PNG, JPEG, WebP or GIF", name(o), o.MIMEType)
	case o.MIMEType == "image/svg+xml":
		return media.Errorf(media.CodeUnsupported, "%s is an SVG drawing, which chat models cannot view: give a PNG of it, or have it read as text", name(o))
	case !f.Accepts(o.MIMEType) && !slices.Contains(decodable, o.MIMEType):
		return media.Errorf(media.CodeUnsupported, "%s is %s, which %s does not accept and which cannot be converted: give PNG or JPEG", name(o), o.MIMEType, f)
	}
	return nil
}

// decodable lists the types that package imaging decodes.
var decodable = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}

// name returns the name of a picture in errors.
func name(o media.Output) string { return cmp.Or(o.FileName, string(o.Ref)) }

// misfit returns what the model accepts instead of the picture's properties, and the maximum length of the longest
// side; 0 means any.
func (f Profile) misfit(o media.Output, room Room) (reason []string, side int) {
	if !f.Accepts(o.MIMEType) {
		reason = append(reason, "no "+o.MIMEType)
	}
	if o.Frames > 1 && o.MIMEType == "image/gif" {
		reason = append(reason, fmt.Sprintf("one frame, not %d", o.Frames))
	}
	side = f.MaxImageSide
	if f.ManyImages > 0 && room.Images > f.ManyImages {
		side = cmp.Or(f.ManyImageSide, side)
	}
	if long := max(o.Width, o.Height); side > 0 && long > side {
		reason = append(reason, fmt.Sprintf("sides of %d pixels, not %d", side, long))
	}
	if n := int64(o.Width) * int64(o.Height); f.MaxImagePixels > 0 && n > f.MaxImagePixels {
		reason = append(reason, fmt.Sprintf("%d pixels, not %d", f.MaxImagePixels, n))
	}
	if most := f.maxPictureBytes(room); most > 0 && o.SizeBytes > most {
		reason = append(reason, fmt.Sprintf("%d bytes, not %d", most, o.SizeBytes))
	}
	return reason, side
}

// maxPictureBytes returns the maximum size of one picture in bytes; 0 means no limit.
func (f Profile) maxPictureBytes(room Room) int64 {
	if room.MaxBytes > 0 && f.MaxImageBytes > 0 {
		return min(room.MaxBytes, f.MaxImageBytes)
	}
	return max(room.MaxBytes, f.MaxImageBytes)
}

const (
	// shrinkSteps is the maximum number of attempts. Repeated reductions by a quarter shrink the sides to a tenth.
	shrinkSteps = 9
	// fitQuality is an encoding quality that keeps text in pictures readable.
	fitQuality = 88
)

// shrink encodes a picture until it fits: first lossless, then lossy, then smaller.
func (f Profile) shrink(ctx context.Context, blobs media.Storage, o media.Output, room Room, side int) (media.Output, error) {
	var formats []imaging.Format // lossless first, unless the picture was lossy
	if f.Accepts("image/png") && (o.MIMEType != "image/jpeg" || !f.Accepts("image/jpeg")) {
		formats = append(formats, imaging.FormatPNG)
	}
	if f.Accepts("image/jpeg") {
		formats = append(formats, imaging.FormatJPEG)
	}
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
	return media.Output{}, media.Errorf(media.CodeTooLarge, "%s is too large for %s, whose limit is %d bytes per picture: make it smaller", name(o), f, f.maxPictureBytes(room))
}

// encode encodes a picture once and stores it if it is small enough.
func (f Profile) encode(ctx context.Context, blobs media.Storage, o media.Output, job imaging.Job, room Room) (media.Blob, media.Facts, error) {
	r, err := blobs.Open(ctx, o.Digest)
	if err != nil {
		return media.Blob{}, media.Facts{}, err
	}
	var buf bytes.Buffer // one encoded picture within the pixel limit
	facts, err := imaging.Transcode(ctx, &buf, r, job)
	if err = errors.Join(err, r.Close()); err != nil {
		return media.Blob{}, facts, err
	}
	if most := f.maxPictureBytes(room); most > 0 && int64(buf.Len()) > most {
		return media.Blob{}, facts, nil
	}
	b, err := blobs.Store(ctx, &buf, facts.MIMEType)
	return b, facts, err
}

// CheckImageCount returns an error if the model does not accept that many pictures in one request. The error has code
// [media.CodeUnsupported] and names the model. Its Valid lists the models in wouldDo.
func (f Profile) CheckImageCount(images int, wouldDo []string) error {
	var reason string
	switch {
	case images == 0:
		return nil
	case !f.SupportsVision:
		reason = fmt.Sprintf("%s does not accept pictures", f)
	case f.MaxImages > 0 && images > f.MaxImages:
		reason = fmt.Sprintf("%d pictures are given, but %s accepts %d per request", images, f, f.MaxImages)
	default:
		return nil
	}
	advice := "omit pictures"
	if len(wouldDo) > 0 {
		advice = "use " + strings.Join(wouldDo, ", ")
	}
	e := media.Errorf(media.CodeUnsupported, "%s: %s, or allow pictures to be omitted (lenient images)", reason, advice)
	e.Valid = wouldDo
	return e
}

// seeingModels is the maximum number of models in an error.
const seeingModels = 6

// ModelsWithVision returns models that accept that many pictures, best first: the program's models, the defaults of
// providers with a key, other models of these providers, the offline model. If none accepts them, it returns the
// defaults of providers without a key.
func (r *Registry) ModelsWithVision(images int) []string {
	var names []string
	add := func(f Profile) {
		if f.Alive(r.cfg.Now()) && f.CheckImageCount(images, nil) == nil && !slices.Contains(names, f.name()) && len(names) < seeingModels {
			names = append(names, f.name())
		}
	}
	addDefaults := func(ready bool) {
		for _, p := range r.cfg.Profiles.Providers() {
			for _, f := range r.cfg.Profiles.Find(p.Key + "/" + p.DefaultModel) {
				if (r.Ready(p) == nil) == ready {
					add(f)
				}
			}
		}
	}
	for _, f := range r.Own() {
		add(f)
	}
	addDefaults(true)
	for _, f := range r.cfg.Profiles.Models() {
		if p, ok := r.cfg.Profiles.Provider(f.Provider); ok && r.Ready(p) == nil && len(names) < seeingModels-1 {
			add(f)
		}
	}
	add(r.cfg.Offline.Profile())
	if len(names) == 0 {
		addDefaults(false)
	}
	return names
}

// name returns the name that selects exactly this model.
func (f Profile) name() string {
	if f.Offline {
		return f.ID
	}
	return f.Provider + "/" + f.ID
}
