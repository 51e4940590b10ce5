package offline

import (
	"context"
	"errors"
	"image"
	"io"
	"math/rand/v2"

	"atelier/generate"
	"atelier/imaging"
	"atelier/media"
)

// EditNote is what the metadata of edits and variations says about their origin.
const EditNote = "edited by rule, not by an AI model: colours follow the words, and what is new is drawn"

// work is what an edit starts from: every picture upright.
type work struct {
	base   *image.NRGBA // in the size of the result
	others []*image.NRGBA
	// marks is what a mask lets change, 255 all and 0 nothing; nil means everything.
	marks *image.Gray
	// label is the mark of an input that a model made, which derivatives keep.
	label imaging.Label
}

// open reads the pictures of a task and settles the size of the result: the asked
// one, else the first picture's, within what the driver draws.
func (d *Driver) open(ctx context.Context, t *generate.Task) (*work, error) {
	if len(t.Inputs) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "%s needs an input picture: name one", t.Method)
	}
	w := &work{}
	var all []*image.NRGBA
	for _, in := range t.Inputs {
		img, l, err := d.picture(ctx, in)
		if err != nil {
			return nil, err
		}
		if w.label.IsZero() && l.SourceType != imaging.SourceAlgorithmic {
			w.label = l
		}
		all = append(all, img)
	}
	if t.Width == 0 && t.Height == 0 && t.AspectRatio == "" {
		t.Width, t.Height = drawable(all[0].Rect.Dx(), all[0].Rect.Dy())
	}
	if t.Mask != nil {
		mask, _, err := d.picture(ctx, *t.Mask)
		if err != nil {
			return nil, err
		}
		if mask.Rect != all[0].Rect {
			return nil, media.Errorf(media.CodeInvalid, "the mask is %d × %d pixels and the picture %d × %d: make the mask in the picture's size",
				mask.Rect.Dx(), mask.Rect.Dy(), all[0].Rect.Dx(), all[0].Rect.Dy())
		}
		w.marks = image.NewGray(mask.Rect)
		for i := range w.marks.Pix {
			w.marks.Pix[i] = 255 - mask.Pix[4*i+3]
		}
	}
	w.base, w.others = all[0], all[1:]
	return w, nil
}

// picture reads one input and the mark that it carries.
func (d *Driver) picture(ctx context.Context, o media.Output) (*image.NRGBA, imaging.Label, error) {
	var l imaging.Label
	err := d.read(ctx, o, func(r io.Reader) error {
		var err error
		l, err = imaging.ReadLabel(r)
		return err
	})
	if err != nil {
		l = imaging.Label{} // a file without a readable mark has none
	}
	var img image.Image
	err = d.read(ctx, o, func(r io.Reader) error {
		img, err = imaging.Decode(ctx, r, o.Facts, imaging.Limits{})
		return err
	})
	if err != nil {
		return nil, l, media.Errorf(media.CodeOf(err), "read picture %s: %w", o.Ref, err)
	}
	return toNRGBA(img), l, nil
}

func (d *Driver) read(ctx context.Context, o media.Output, use func(io.Reader) error) error {
	r, err := d.store.Open(ctx, o.Digest)
	if err != nil {
		return err
	}
	return errors.Join(use(r), r.Close())
}

// drawable brings sides into what the driver draws, ratio kept.
func drawable(w, h int) (int, int) {
	k := 1.0
	if most := max(w, h); most > MaxSide {
		k = MaxSide / float64(most)
	}
	if least := min(w, h); float64(least)*k < MinSide {
		k = MinSide / float64(least)
	}
	side := func(n int) int { return min(MaxSide, max(MinSide, int(float64(n)*k+0.5))) }
	return side(w), side(h)
}

// edit makes one edited picture.
func (w *work) edit(ctx context.Context, sp spec) (image.Image, error) {
	base := cover(w.base, sp.w, sp.h)
	marks := coverGray(w.marks, sp.w, sp.h)
	changed, err := change(ctx, base, marks, sp)
	if err != nil {
		return nil, err
	}
	changed = w.join(changed, sp)
	if marks == nil {
		return changed, nil
	}
	return inside(base, changed, marks), nil
}

// vary makes one variation: another crop, light and colour by the seed, then what the
// words ask for.
func (w *work) vary(ctx context.Context, sp spec) (image.Image, error) {
	r := rand.New(rand.NewPCG(uint64(sp.seed), 0x0a71a7e)) //nolint:gosec // pictures, not secrets
	img := crop(w.base, sp.w, sp.h, view{1.04 + 0.14*r.Float64(), r.Float64(), r.Float64()})
	a := adjustment{
		hue: (r.Float64() - 0.5) * 0.7, warmth: (r.Float64() - 0.5) * 0.24, exposure: (r.Float64() - 0.5) * 0.5,
		saturation: (r.Float64() - 0.5) * 0.5, contrast: (r.Float64() - 0.5) * 0.3, mirror: r.IntN(2) == 0,
	}
	img = a.apply(img)
	if wish, ok := readAdjustment(sp.prompt); ok {
		img = wish.apply(img)
	}
	return w.join(img, sp), ctx.Err()
}

// change does to the whole picture what the words say; marks tell where it will show.
func change(ctx context.Context, base *image.NRGBA, marks *image.Gray, sp spec) (*image.NRGBA, error) {
	wish, known := readAdjustment(sp.prompt)
	adds := addsSomething(sp.prompt)
	if subject := len(readBrief(sp.prompt, "", "").motifs) > 0; known && !adds && (marks == nil || !subject || changesWhatIs(sp.prompt)) {
		return wish.apply(base), nil
	}
	where := markedBounds(marks, base.Rect)
	if marks == nil {
		where = spot(base.Rect, sp.seed)
	}
	drawn, err := draw(ctx, spec{
		w: max(MinSide, where.Dx()), h: max(MinSide, where.Dy()), seed: sp.seed,
		prompt: sp.prompt, negative: sp.negative, style: sp.style,
	})
	if err != nil {
		return nil, err
	}
	switch new := cover(toNRGBA(drawn), where.Dx(), where.Dy()); {
	case marks != nil:
		return paste(base, new, where, nil), nil
	case adds:
		return paste(base, new, where, softOval), nil
	default: // the whole picture is to be something else: its light stays
		drawn, err := draw(ctx, sp)
		if err != nil {
			return nil, err
		}
		return mixed(base, toNRGBA(drawn), 0.6), nil
	}
}

// join brings the other pictures in as the words say: beside the first one, blended
// with it, or as the source of its colours.
func (w *work) join(img *image.NRGBA, sp spec) *image.NRGBA {
	if len(w.others) == 0 {
		return img
	}
	switch text := words(sp.prompt); {
	case hasWord(text, "collage", "beside", "side", "next", "row", "panel", "panels", "together"):
		return columns(append([]*image.NRGBA{img}, w.others...), sp.w, sp.h)
	case hasWord(text, "blend", "merge", "mix", "combine", "exposure", "overlay"):
		for i, o := range w.others {
			img = mixed(img, cover(o, sp.w, sp.h), 1/float64(i+2))
		}
		return img
	}
	for _, o := range w.others {
		img = coloured(img, o)
	}
	return img
}
