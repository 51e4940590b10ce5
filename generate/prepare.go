package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"slices"
	"strings"

	"atelier/imaging"
	"atelier/media"
)

// prepare makes the pictures of a plan fit for its model, before anything is
// journalled or paid: types that the model does not take are converted, pictures over
// its limit are made smaller, the mask gets the model's polarity. Originals stay as
// they are; the dispositions of inputs and mask tell. A picture or mask that is cut off or
// damaged is refused: those that are converted when they are decoded, the others by their
// structure, and a PNG by its stream of pixels, which takes no memory ([imaging.Whole]). Without
// Storage the others are not looked at. Errors are those of the pictures: media.CodeInvalid, media.CodeTooLarge,
// media.CodeUnsupported.
func (g *Gateway) prepare(ctx context.Context, p *Plan) error {
	if len(p.task.Inputs) == 0 {
		return nil
	}
	for _, o := range append(slices.Clone(p.req.Inputs), masks(p.req)...) {
		if err := g.config.Limits.Check(o.Facts); err != nil {
			return wrap("prepare picture "+told(o), err)
		}
	}
	p.task.Inputs = slices.Clone(p.task.Inputs)
	var notes []string
	for i := range p.task.Inputs {
		note, err := g.fitInput(ctx, p, &p.task.Inputs[i])
		if err != nil {
			return wrap("prepare picture "+told(p.req.Inputs[i]), err)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	if len(notes) > 0 {
		p.adapt("inputs", "converted pictures", strings.Join(notes, "; "))
	}
	if p.task.Mask == nil {
		return nil
	}
	note, err := g.fitMask(ctx, p)
	if err != nil {
		return wrap("prepare mask "+told(*p.req.Mask), err)
	}
	if note != "" {
		p.adapt("mask", "png, "+p.Model.Mask, note)
	}
	return nil
}

// accept lets the caller keep the pictures of a plan that is carried out.
func (p *Plan) accept(ctx context.Context) (err error) {
	if p.req.Accept == nil {
		return nil
	}
	p.req.Inputs = slices.Clone(p.req.Inputs)
	for i, o := range p.req.Inputs {
		if p.req.Inputs[i], err = p.req.Accept(ctx, o); err != nil {
			return wrap("keep picture "+told(o), err)
		}
	}
	if p.req.Mask == nil {
		return nil
	}
	mask, err := p.req.Accept(ctx, *p.req.Mask)
	if err != nil {
		return wrap("keep mask "+told(mask), err)
	}
	p.req.Mask = &mask
	return nil
}

// told names a picture as its person knows it: by its file if it came as one, and by its ref.
func told(o media.Output) string {
	if o.FileName == "" {
		return string(o.Ref)
	}
	return clip(o.FileName) + " (" + string(o.Ref) + ")"
}

// masks is the mask of a request as a list.
func masks(r Request) []media.Output {
	if r.Mask == nil {
		return nil
	}
	return []media.Output{*r.Mask}
}

// adapt notes that a setting which was applied had to be changed.
func (p *Plan) adapt(setting, applied, reason string) {
	for i := range p.Dispositions {
		if d := &p.Dispositions[i]; d.Setting == setting {
			d.Applied, d.Outcome, d.Reason = applied, OutcomeAdapted, reason
		}
	}
}

// fitInput converts one picture in place if the model does not take it as it is.
func (g *Gateway) fitInput(ctx context.Context, p *Plan, o *media.Output) (note string, err error) {
	m := p.Model
	var why []string
	if len(m.InputTypes) > 0 && !slices.Contains(m.InputTypes, o.MIMEType) {
		why = append(why, "it does not take "+o.MIMEType)
	}
	large := m.MaxInputBytes > 0 && o.SizeBytes > m.MaxInputBytes
	if large {
		why = append(why, fmt.Sprintf("it takes %d bytes a picture, not %d", m.MaxInputBytes, o.SizeBytes))
	}
	if m.MaxInputPixels > 0 && o.Width*o.Height > m.MaxInputPixels {
		if p.task.Mask != nil {
			return "", media.Errorf(media.CodeTooLarge, "it has %d pixels and %s takes %d: make picture and mask smaller", o.Width*o.Height, m.Name, m.MaxInputPixels)
		}
		why = append(why, fmt.Sprintf("it takes %d pixels a picture, not %d", m.MaxInputPixels, o.Width*o.Height))
	}
	if o.Orientation > 1 && p.task.Mask != nil {
		why = append(why, "the picture had to be turned upright for its mask")
	}
	if len(why) == 0 {
		return "", g.whole(ctx, *o)
	}
	was := told(*o)
	if *o, err = g.shrink(ctx, p, *o, large); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s was converted to %s of %d × %d pixels for %s: %s", was, o.MIMEType, o.Width, o.Height, m.Name, strings.Join(why, ", ")), nil
}

// shrinkSteps is how often a picture's sides are made smaller by a quarter before it
// is given up: to a tenth.
const shrinkSteps = 8

// shrink encodes a picture anew until it fits: without loss, with loss, then smaller
// and smaller. A picture with a mask keeps its size.
func (g *Gateway) shrink(ctx context.Context, p *Plan, o media.Output, large bool) (media.Output, error) {
	job := imaging.Job{Facts: o.Facts, Limits: g.config.Limits, Format: imaging.FormatPNG, Quality: convertQuality}
	if large || !p.Model.takes("image/png") {
		job.Format = imaging.FormatAuto
		if !p.Model.takes("image/png") {
			job.Format = imaging.FormatJPEG
		}
	}
	if most := p.Model.MaxInputPixels; most > 0 && o.Width*o.Height > most {
		scale := math.Sqrt(float64(most) / float64(o.Width*o.Height))
		job.Width, job.Height = max(1, int(float64(o.Width)*scale)), max(1, int(float64(o.Height)*scale))
	}
	for step := range shrinkSteps {
		if step > 0 && p.task.Mask != nil && job.Format == imaging.FormatAuto {
			break
		}
		b, err := g.transcode(ctx, o, job)
		if err != nil {
			return o, err
		}
		if p.Model.MaxInputBytes == 0 || b.SizeBytes <= p.Model.MaxInputBytes {
			return media.NewOutput(b, media.Meta{Label: o.Label, FileName: o.FileName}), nil
		}
		if job.Format == imaging.FormatPNG {
			job.Format = imaging.FormatAuto
			continue
		}
		job.Width, job.Height = max(1, b.Width*3/4), max(1, b.Height*3/4)
	}
	return o, media.Errorf(media.CodeTooLarge, "it is too large for %s, which takes %d bytes a picture: make it smaller", p.Model.Name, p.Model.MaxInputBytes)
}

// takes reports whether the model takes pictures of a type.
func (m Model) takes(mime string) bool {
	return len(m.InputTypes) == 0 || slices.Contains(m.InputTypes, mime)
}

// transcode makes and stores another form of a picture.
func (g *Gateway) transcode(ctx context.Context, o media.Output, job imaging.Job) (media.Blob, error) {
	var buf bytes.Buffer // one encoded picture within the pixel limit
	var f media.Facts
	err := g.read(ctx, o, func(r io.Reader) (err error) {
		f, err = imaging.Transcode(ctx, &buf, r, job)
		return err
	})
	if err != nil {
		return media.Blob{}, err
	}
	return g.config.Storage.Store(ctx, &buf, f.MIMEType)
}

// whole refuses a picture whose file is cut off or damaged, without decoding it.
func (g *Gateway) whole(ctx context.Context, o media.Output) error {
	if g.config.Storage == nil {
		return nil // nothing can be read here; the driver's transport has the bytes
	}
	return g.read(ctx, o, func(r io.Reader) error { return imaging.Whole(ctx, r, o.MIMEType) })
}

// read opens a picture for a function. What is wrong with the picture is the caller's bad
// input; what is wrong with the store, whose reader fails, is not.
func (g *Gateway) read(ctx context.Context, o media.Output, use func(io.Reader) error) error {
	if g.config.Storage == nil {
		return media.Errorf(media.CodeUnsupported, "it has to be converted and this gateway was set up without Storage")
	}
	r, err := g.config.Storage.Open(ctx, o.Digest)
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

// failing remembers that its reader failed.
type failing struct {
	io.Reader
	err error // other than the end
}

// Read implements [io.Reader].
func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// fitMask brings the mask into the model's polarity.
func (g *Gateway) fitMask(ctx context.Context, p *Plan) (note string, err error) {
	mask := *p.task.Mask
	var img image.Image
	err = g.read(ctx, mask, func(r io.Reader) (err error) {
		img, err = imaging.Decode(ctx, r, mask.Facts, g.config.Limits)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := sameSize(mask, p.req.Inputs[0], sides{img.Bounds().Dx(), img.Bounds().Dy()}); err != nil {
		return "", err
	}
	area := readMask(img)
	if area.empty() {
		return "", media.Errorf(media.CodeInvalid, "it marks nothing: make the area to change transparent, or white on black")
	}
	want := p.Model.Mask
	if mask.MIMEType == "image/png" && mask.Orientation <= 1 && area.fits(want) {
		return "", p.checkMask(mask.SizeBytes)
	}
	var buf bytes.Buffer
	if err := imaging.EncodePNG(&buf, area.in(want), imaging.Label{}); err != nil {
		return "", err
	}
	if err := p.checkMask(int64(buf.Len())); err != nil {
		return "", err
	}
	b, err := g.config.Storage.Store(ctx, &buf, "image/png")
	if err != nil {
		return "", err
	}
	o := media.NewOutput(b, media.Meta{Label: mask.Label})
	p.task.Mask = &o
	how := "its transparent parts are the area to change"
	if !area.transparent {
		how = "it has no transparency, so its white parts are the area to change"
	}
	return fmt.Sprintf("%s takes masks as png in the form %s: %s", p.Model.Name, want, how), nil
}

// checkMask compares a mask with the model's limit.
func (p *Plan) checkMask(size int64) error {
	if most := p.Model.MaxMaskBytes; most > 0 && size > most {
		return media.Errorf(media.CodeTooLarge, "it has %d bytes as png and %s takes %d: use flat areas without grain", size, p.Model.Name, most)
	}
	return nil
}
