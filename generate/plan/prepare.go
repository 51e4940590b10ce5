package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/internal/fault"
	"atelier/media"
	"atelier/media/imaging"
)

// Prepare makes the pictures of a plan fit for its model, before anything is journalled or paid for: unsupported types
// are converted, pictures over the model's limits are shrunk, and the mask gets the model's polarity. Originals are
// kept; the dispositions of inputs and mask report the changes. Truncated or damaged pictures and masks are rejected:
// converted ones when they are decoded, others by their structure, and a PNG by its pixel stream, which needs no memory
// ([imaging.CheckComplete]). Without Storage the others are not checked. Errors are those of the pictures:
// media.CodeInvalid, media.CodeTooLarge, media.CodeUnsupported.
func (pl *Planner) Prepare(ctx context.Context, p *Plan) error {
	if len(p.Task.Inputs) == 0 {
		return nil
	}
	given := slices.Clone(p.Request.Inputs)
	if p.Request.Mask != nil {
		given = append(given, *p.Request.Mask)
	}
	for _, o := range given {
		if err := (imaging.Limits{}).Check(o.Facts); err != nil {
			return fault.Wrap("prepare picture "+displayName(o), err)
		}
	}
	p.Task.Inputs = slices.Clone(p.Task.Inputs)
	var notes []string
	for i := range p.Task.Inputs {
		note, err := pl.fitInput(ctx, p, &p.Task.Inputs[i])
		if err != nil {
			return fault.Wrap("prepare picture "+displayName(p.Request.Inputs[i]), err)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if len(notes) > 0 {
		p.adapt("inputs", "converted pictures", strings.Join(notes, "; "))
	}
	if p.Task.Mask == nil {
		return nil
	}
	note, err := pl.fitMask(ctx, p)
	if err != nil {
		return fault.Wrap("prepare mask "+displayName(*p.Request.Mask), err)
	}
	if note != "" {
		p.adapt("mask", "png, "+p.Model.Mask, note)
	}
	return nil
}

// Accept passes the pictures of a plan that is about to be executed to the request's Accept.
func (p *Plan) Accept(ctx context.Context) (err error) {
	if p.Request.Accept == nil {
		return nil
	}
	p.Request.Inputs = slices.Clone(p.Request.Inputs)
	for i, o := range p.Request.Inputs {
		if p.Request.Inputs[i], err = p.Request.Accept(ctx, o); err != nil {
			return fault.Wrap("keep picture "+displayName(o), err)
		}
	}
	if p.Request.Mask == nil {
		return nil
	}
	mask, err := p.Request.Accept(ctx, *p.Request.Mask)
	if err != nil {
		return fault.Wrap("keep mask "+displayName(*p.Request.Mask), err)
	}
	p.Request.Mask = &mask
	return nil
}

// displayName names a picture for people: by its file name, if it has one, and its ref.
func displayName(o media.Output) string {
	if o.FileName == "" {
		return string(o.Ref)
	}
	return fault.Quote(o.FileName) + " (" + string(o.Ref) + ")"
}

// adapt marks a setting's disposition as adapted.
func (p *Plan) adapt(setting, applied, reason string) {
	if d := Find(p.Dispositions, setting); d != nil {
		d.Applied, d.Outcome, d.Reason = applied, generate.OutcomeAdapted, reason
	}
}

// fitInput converts one picture in place if the model does not accept it.
func (pl *Planner) fitInput(ctx context.Context, p *Plan, o *media.Output) (note string, err error) {
	m := p.Model
	var reason []string
	if len(m.InputTypes) > 0 && !slices.Contains(m.InputTypes, o.MIMEType) {
		reason = append(reason, "it does not take "+o.MIMEType)
	}
	large := m.MaxInputBytes > 0 && o.SizeBytes > m.MaxInputBytes
	if large {
		reason = append(reason, fmt.Sprintf("it takes %d bytes a picture, not %d", m.MaxInputBytes, o.SizeBytes))
	}
	if m.MaxInputPixels > 0 && o.Width*o.Height > m.MaxInputPixels {
		if p.Task.Mask != nil {
			return "", media.Errorf(media.CodeTooLarge, "it has %d pixels and %s takes %d: make picture and mask smaller", o.Width*o.Height, m.Name, m.MaxInputPixels)
		}
		reason = append(reason, fmt.Sprintf("it takes %d pixels a picture, not %d", m.MaxInputPixels, o.Width*o.Height))
	}
	if o.Orientation > 1 && p.Task.Mask != nil {
		reason = append(reason, "the picture had to be turned upright for its mask")
	}
	if len(reason) == 0 {
		if pl.config.Storage == nil {
			return "", nil // nothing can be read here; the driver's transport has the bytes
		}
		return "", pl.read(ctx, *o, func(r io.Reader) error { return imaging.CheckComplete(ctx, r, o.MIMEType) })
	}
	was := displayName(*o)
	if *o, err = pl.shrink(ctx, p, *o, large); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s was converted to %s of %d × %d pixels for %s: %s", was, o.MIMEType, o.Width, o.Height, m.Name, strings.Join(reason, ", ")), nil
}

// shrinkSteps is how often a picture is encoded, each time a quarter smaller, before it is too large: to a tenth.
const shrinkSteps = 8

// shrink re-encodes a picture until it fits: in a format of the model without loss, then in one with loss, then smaller
// and smaller. A picture with a mask keeps its size.
func (pl *Planner) shrink(ctx context.Context, p *Plan, o media.Output, large bool) (media.Output, error) {
	formats := []imaging.Format{imaging.FormatPNG, imaging.FormatAuto} // auto is png or jpeg
	if m := p.Model; !m.TakesType("image/png") || !m.TakesType("image/jpeg") {
		formats = slices.DeleteFunc([]imaging.Format{imaging.FormatPNG, imaging.FormatJPEG, imaging.FormatWebP}, func(f imaging.Format) bool { return !m.TakesType(f.MIMEType()) })
	}
	if len(formats) == 0 {
		return o, media.Errorf(media.CodeUnsupported, "it cannot be converted: %s takes only %s", p.Model.Name, strings.Join(p.Model.InputTypes, ", "))
	}
	if large {
		formats = formats[len(formats)-1:]
	}
	job := imaging.Job{Facts: o.Facts, Quality: ConvertQuality}
	if most := p.Model.MaxInputPixels; most > 0 && o.Width*o.Height > most {
		scale := math.Sqrt(float64(most) / float64(o.Width*o.Height))
		job.Width, job.Height = max(1, int(float64(o.Width)*scale)), max(1, int(float64(o.Height)*scale))
	}
	for step := range shrinkSteps {
		job.Format = formats[min(step, len(formats)-1)]
		b, err := pl.Transcode(ctx, o, job)
		if err != nil {
			return o, err
		}
		if p.Model.MaxInputBytes == 0 || b.SizeBytes <= p.Model.MaxInputBytes {
			return media.NewOutput(b, media.Meta{Label: o.Label, FileName: o.FileName}), nil
		}
		if step+1 < len(formats) {
			continue
		}
		if p.Task.Mask != nil {
			break
		}
		job.Width, job.Height = max(1, b.Width*3/4), max(1, b.Height*3/4)
	}
	return o, media.Errorf(media.CodeTooLarge, "it is too large for %s, which takes %d bytes a picture: make it smaller", p.Model.Name, p.Model.MaxInputBytes)
}

// Transcode stores a picture as a job describes it. The error has code media.CodeUnsupported without Storage.
func (pl *Planner) Transcode(ctx context.Context, o media.Output, job imaging.Job) (media.Blob, error) {
	var buf bytes.Buffer // one encoded picture within the pixel limit
	var f media.Facts
	err := pl.read(ctx, o, func(r io.Reader) (err error) {
		f, err = imaging.Transcode(ctx, &buf, r, job)
		return err
	})
	if err != nil {
		return media.Blob{}, err
	}
	return pl.config.Storage.Store(ctx, &buf, f.MIMEType)
}

// read opens a picture and passes it to use. A damaged picture is invalid input of the caller; a failure of the store's
// reader is not.
func (pl *Planner) read(ctx context.Context, o media.Output, use func(io.Reader) error) error {
	if pl.config.Storage == nil {
		return media.Errorf(media.CodeUnsupported, "it has to be converted and this gateway was set up without Storage")
	}
	r, err := pl.config.Storage.Open(ctx, o.Digest)
	if err != nil {
		return err
	}
	src := &failing{Reader: r}
	err = use(src)
	if media.CodeOf(err) == media.CodeCorrupt && src.err == nil {
		err = media.Errorf(media.CodeInvalid, "it is damaged or cut off (%w): save or send it again", err)
	}
	return errors.Join(err, r.Close())
}

// failing records that its reader failed.
type failing struct {
	io.Reader
	err error // any error except the end
}

// Read implements [io.Reader].
func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

func (pl *Planner) fitMask(ctx context.Context, p *Plan) (note string, err error) {
	mask := *p.Task.Mask
	var img image.Image
	err = pl.read(ctx, mask, func(r io.Reader) (err error) {
		img, err = imaging.Decode(ctx, r, mask.Facts, imaging.Limits{})
		return err
	})
	if err != nil {
		return "", err
	}
	if err := sameSize(mask, p.Request.Inputs[0], catalog.Sides{W: img.Bounds().Dx(), H: img.Bounds().Dy()}); err != nil {
		return "", err
	}
	area := readMask(img)
	if !slices.ContainsFunc(area.marks.Pix, func(mark uint8) bool { return mark >= minMark }) {
		return "", media.Errorf(media.CodeInvalid, "it marks nothing: make the area to change transparent, or white on black")
	}
	want := p.Model.Mask
	// A mask for black polarity always changes, because people mark by white.
	fits := want == maskAlpha && area.transparent || want == maskWhite && area.flat
	if mask.MIMEType == "image/png" && mask.Orientation <= 1 && fits {
		return "", p.checkMask(mask.SizeBytes)
	}
	var buf bytes.Buffer
	if err := imaging.EncodePNG(&buf, area.in(want), imaging.Label{}); err != nil {
		return "", err
	}
	if err := p.checkMask(int64(buf.Len())); err != nil {
		return "", err
	}
	b, err := pl.config.Storage.Store(ctx, &buf, "image/png")
	if err != nil {
		return "", err
	}
	p.Task.Mask = new(media.NewOutput(b, media.Meta{Label: mask.Label}))
	how := "its transparent parts are the area to change"
	if !area.transparent {
		how = "it has no transparency, so its white parts are the area to change"
	}
	return fmt.Sprintf("%s takes masks as png in the form %s: %s", p.Model.Name, want, how), nil
}

func (p *Plan) checkMask(size int64) error {
	if most := p.Model.MaxMaskBytes; most > 0 && size > most {
		return media.Errorf(media.CodeTooLarge, "it has %d bytes as png and %s takes %d: use flat areas without grain", size, p.Model.Name, most)
	}
	return nil
}

// ConvertQuality is the quality of converted jpeg and webp pictures.
const ConvertQuality = 92

// Mask polarities in the catalogue: transparent, white or black pixels are repainted.
const (
	maskAlpha = "alpha0"
	maskWhite = "white"
	maskBlack = "black"
)

// area is the area that a mask marks: 255 is repainted, 0 is kept.
type area struct {
	marks *image.Gray
	// transparent reports that the mask marks by transparency rather than by white.
	transparent bool
	// flat reports that it only has black and white pixels.
	flat bool
}

// readMask reads a mask as people draw it: transparent parts are marked, or the white parts of a picture without
// transparency.
func readMask(img image.Image) area {
	b := img.Bounds()
	src := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(src, src.Rect, img, b.Min, draw.Src)
	a := area{marks: image.NewGray(src.Rect)}
	for i := range a.marks.Pix {
		alpha := src.Pix[4*i+3]
		a.marks.Pix[i] = 255 - alpha
		a.transparent = a.transparent || alpha < 255
	}
	if a.transparent {
		return a
	}
	a.flat = true
	for i := range a.marks.Pix {
		p := src.Pix[4*i:]
		a.flat = a.flat && p[0] == p[1] && p[1] == p[2] && (p[0] == 0 || p[0] == 255)
		a.marks.Pix[i] = color.GrayModel.Convert(color.RGBA{p[0], p[1], p[2], 255}).(color.Gray).Y //nolint:forcetypeassert // GrayModel returns Gray
	}
	return a
}

// minMark is the faintest mark that counts: black in a JPEG is not exactly black.
const minMark = 16

func (a area) in(polarity string) image.Image {
	switch polarity {
	case maskWhite:
		return a.marks
	case maskBlack:
		out := image.NewGray(a.marks.Rect)
		for i, m := range a.marks.Pix {
			out.Pix[i] = 255 - m
		}
		return out
	}
	out := image.NewNRGBA(a.marks.Rect)
	for i, m := range a.marks.Pix {
		out.Pix[4*i+3] = 255 - m
	}
	return out
}
