package generate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"atelier/imaging"
	"atelier/media"
)

// output turns an item into an output, which is recorded with its slot, or says why it is none.
func (d *delivery) output(ctx context.Context, item Item, index int, said map[string]any) (media.Output, *media.Error) {
	if err := d.arrive(ctx, &item); err != nil {
		return media.Output{}, err
	}
	if err := d.acceptable(*item.Blob); err != nil {
		return media.Output{}, err
	}
	o := d.describe(ctx, *item.Blob, index, said)
	item.keep(o.Metadata)
	if words := item.unknownWords(); words != "" {
		d.x.warn(d.call.plan.Model.Name + " does not know these words, and the picture does not show them: " + words)
	}
	if item.Seed != nil {
		o.Metadata["seed"] = *item.Seed
	}
	if item.parent != nil {
		o.Lineage = append(o.Lineage, *item.parent)
	}
	d.compareTypes(&o, item.DeclaredMIME)
	return d.inFormat(ctx, o), nil
}

// arrive sees to it that the item's bytes are stored.
func (d *delivery) arrive(ctx context.Context, item *Item) *media.Error {
	switch {
	case item.Err != nil:
		return asError(item.Err)
	case item.Blob != nil:
		return nil
	case strings.TrimSpace(item.Text) != "":
		return d.write(ctx, item)
	case item.URL == "":
		return media.Errorf(media.CodeBadResponse, "%s answered with an empty result", d.call.plan.Model.Name)
	}
	b, declared, err := d.fetch(ctx, item.URL)
	if err != nil {
		return asError(err)
	}
	item.Blob, item.DeclaredMIME = &b, cmp.Or(item.DeclaredMIME, declared)
	return nil
}

// acceptable checks the sniffed facts: the provider's word does not count.
func (d *delivery) acceptable(b media.Blob) *media.Error {
	model := d.call.plan.Model
	want := model.Modality
	have := media.ModalityOf(b.MIMEType)
	mime := b.MIMEType
	if mime == "" {
		mime = "something unknown"
	}
	switch {
	case b.Digest.IsZero():
		return media.Errorf(media.CodeBadResponse, "%s answered with media that could not be stored", model.Name)
	case have != want:
		return media.Errorf(media.CodeBadResponse, "%s answered with %s instead of %s: try again or use another model", model.Name, mime, want)
	case want != media.ModalityImage:
		return nil
	case b.Width == 1 && b.Height == 1:
		return media.Errorf(media.CodeBadResponse, "%s answered with a picture of 1 × 1 pixel: try again or use another model", model.Name)
	case b.Width == 0 && isRaster(mime):
		return media.Errorf(media.CodeBadResponse, "%s answered with %s that cannot be read: try again or use another model", model.Name, mime)
	}
	if err := d.x.g.config.Limits.Check(b.Facts); err != nil {
		return asError(wrap("accept the picture of "+model.Name, err))
	}
	return nil
}

// isRaster tells the types whose size is always in their first bytes.
func isRaster(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp":
		return true
	}
	return false
}

// compareTypes warns where the declared type is not the sniffed one.
func (d *delivery) compareTypes(o *media.Output, declared string) {
	declared, _, _ = strings.Cut(strings.ToLower(declared), ";")
	declared = strings.TrimSpace(declared)
	if declared == "image/jpg" {
		declared = "image/jpeg"
	}
	if declared == "" || declared == o.MIMEType || declared == "application/octet-stream" {
		return
	}
	o.Metadata["declared_mime_type"] = clip(declared)
	d.x.warn(fmt.Sprintf("%s declared %s and sent %s; the bytes count", d.call.plan.Model.Name, clip(declared), o.MIMEType))
}

// formats notes what became of an asked output format.
type formats struct {
	converted string // the format of an answer that was converted
	native    int
	left      string // the format of an answer that stayed as it was
	why       string
}

// inFormat converts an output into the asked format where it is not; the original is
// recorded first and is the parent. What cannot be converted stays.
func (d *delivery) inFormat(ctx context.Context, o media.Output) media.Output {
	x := d.x
	f := d.call.plan.req.OutputFormat
	if f == "" || o.Modality != media.ModalityImage || !writable(f) {
		return o
	}
	note := func(change func(*formats)) {
		x.mu.Lock()
		defer x.mu.Unlock()
		change(&x.formats)
	}
	if o.MIMEType == "image/"+f {
		note(func(n *formats) { n.native++ })
		return o
	}
	o = x.record(ctx, o)
	b, err := d.convert(ctx, o, f)
	if err != nil {
		note(func(n *formats) { n.left, n.why = strings.TrimPrefix(o.MIMEType, "image/"), err.Error() })
		return o
	}
	note(func(n *formats) { n.converted = strings.TrimPrefix(o.MIMEType, "image/") })
	converted := o
	converted.ID, converted.Blob = "", b
	converted.Ref = media.RefOf(o.Modality, b.Digest)
	converted.Lineage = append(append([]media.Parent(nil), o.Lineage...), media.Parent{Ref: o.Ref, Role: "input"})
	return converted
}

// convertQuality is the quality of converted jpeg and webp pictures.
const convertQuality = 92

// convert makes a picture of another format, marked as made by a model: the mark
// that the original carries, or one of its own.
func (d *delivery) convert(ctx context.Context, o media.Output, format string) (media.Blob, error) {
	to, err := imaging.ParseFormat(format)
	if err != nil {
		return media.Blob{}, err
	}
	store := d.x.g.config.Storage
	if store == nil {
		return media.Blob{}, media.Errorf(media.CodeUnsupported, "this gateway was set up without Storage")
	}
	job := imaging.Job{Facts: o.Facts, Limits: d.x.g.config.Limits, Format: to, Quality: convertQuality}
	if q := d.call.plan.req.Compression; q != nil && *q > 0 {
		job.Quality = *q
	}
	if d.call.plan.Model.Provider != offlineProvider {
		job.Label = imaging.Generated(d.call.plan.Model.Name, "Atelier")
		job.Label.SourceType = d.call.plan.sourceType()
	}
	r, err := store.Open(ctx, o.Digest)
	if err != nil {
		return media.Blob{}, wrap("open original", err)
	}
	var buf bytes.Buffer // one encoded picture within the pixel limit
	_, err = imaging.Transcode(ctx, &buf, r, job)
	if err = errors.Join(err, r.Close()); err != nil {
		return media.Blob{}, wrap("convert to "+format, err)
	}
	b, err := store.Store(ctx, &buf, to.MIMEType())
	if err != nil {
		return media.Blob{}, wrap("store converted picture", err)
	}
	return b, nil
}

// judgeFormat corrects the disposition of the output format by what really came.
func (x *execution) judgeFormat() {
	x.mu.Lock()
	f := x.formats
	x.mu.Unlock()
	if f.native == 0 && f.converted == "" && f.left == "" {
		return
	}
	x.judge("output_format", func(d *Disposition) {
		switch {
		case f.left != "":
			d.Applied, d.Outcome, d.Reason = f.left, OutcomeAdapted, fmt.Sprintf("%s answered in %s, which stays as it is: %s", x.op.Model, f.left, f.why)
		case f.converted != "":
			d.Applied, d.Outcome, d.Reason = converted(f.converted, x.plan.req.OutputFormat), OutcomeAdapted, x.op.Model+" answered in another format; it was converted and the original kept"
		default:
			d.Applied, d.Outcome, d.Reason = d.Asked, OutcomeApplied, ""
		}
	})
}

// judge changes a disposition in a copy of the list: the plan keeps its own.
func (x *execution) judge(setting string, change func(*Disposition)) {
	out := append([]Disposition(nil), x.op.Dispositions...)
	for i := range out {
		if out[i].Setting == setting {
			change(&out[i])
		}
	}
	x.op.Dispositions = out
}
