package offline

import (
	"context"
	"errors"
	"image"
	"io"
	"math/rand/v2"
	"slices"

	xdraw "golang.org/x/image/draw"

	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/imaging"
)

// EditNote is the statement of origin in the metadata of edits and variations.
const EditNote = "edited by rule, not by an AI model: colours follow the words, and what is new is drawn"

// editInputs holds the inputs of an edit, every picture upright.
type editInputs struct {
	base   *image.NRGBA // in the size of the result
	others []*image.NRGBA
	// mask marks the area to change by transparency; nil means everything.
	mask *image.NRGBA
	// label is the provenance label of an input that a model made, which derivatives keep.
	label imaging.Label
}

// open reads the pictures of a task and sets the size of the result: the requested one, else that of the first picture,
// within the sizes that the driver draws.
func (d *Driver) open(ctx context.Context, t *driver.Task) (*editInputs, error) {
	if len(t.Inputs) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "%s needs an input picture: name one", t.Method)
	}
	w := &editInputs{}
	for _, in := range t.Inputs {
		img, l, err := d.picture(ctx, in)
		if err != nil {
			return nil, err
		}
		if w.label.IsZero() && l.SourceType != imaging.SourceAlgorithmic {
			w.label = l
		}
		w.others = append(w.others, img)
	}
	w.base, w.others = w.others[0], w.others[1:]
	width, height := w.base.Rect.Dx(), w.base.Rect.Dy()
	if t.Width == 0 && t.Height == 0 && t.AspectRatio == "" {
		k := max(min(1, MaxSide/float64(max(width, height))), MinSide/float64(min(width, height)))
		side := func(n int) int { return min(MaxSide, max(MinSide, int(float64(n)*k+0.5))) }
		t.Width, t.Height = side(width), side(height)
	}
	if t.Mask == nil {
		return w, nil
	}
	mask, _, err := d.picture(ctx, *t.Mask)
	if err == nil && mask.Rect != w.base.Rect {
		err = media.Errorf(media.CodeInvalid, "the mask is %d × %d pixels and the picture %d × %d: make the mask in the picture's size", mask.Rect.Dx(), mask.Rect.Dy(), width, height)
	}
	w.mask = mask
	return w, err
}

// picture reads one input and its provenance label.
func (d *Driver) picture(ctx context.Context, o media.Output) (img *image.NRGBA, l imaging.Label, err error) {
	for _, use := range []func(r io.Reader) error{
		func(r io.Reader) (err error) {
			l, err = imaging.ReadLabel(r)
			return err
		},
		func(r io.Reader) error {
			m, err := imaging.Decode(ctx, r, o.Facts, imaging.Limits{})
			if err == nil {
				img = image.NewNRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
				xdraw.Draw(img, img.Rect, m, m.Bounds().Min, xdraw.Src)
			}
			return err
		},
	} {
		r, err := d.store.Open(ctx, o.Digest)
		if err == nil {
			err = errors.Join(use(r), r.Close())
		}
		if err != nil {
			return nil, l, media.Errorf(media.CodeOf(err), "read picture %s: %w", o.Ref, err)
		}
	}
	return img, l, nil
}

// edit applies the prompt to the first picture, and blends the others with it. Only pixels that are transparent in the
// mask change; the rest stays bit-identical. A prompt that names nothing to change or add is drawn: into the masked
// area, or else over the picture, blended with it.
func (w *editInputs) edit(ctx context.Context, sp spec) (*image.NRGBA, error) {
	base, asked := cover(w.base, sp.w, sp.h), readWish(sp.prompt, true)
	changed, where, part := apply(base, asked, sp.seed), base.Rect, 1.0
	share := func(int) float64 { return part }
	paints := len(asked.adjustments(true))+len(asked.things) == 0 && !asked.tags["join"]
	if w.mask != nil {
		mask := cover(w.mask, sp.w, sp.h)
		share = func(i int) float64 { return float64(255-mask.Pix[i+3]) / 255 }
		where, paints = image.Rectangle{}, asked.paints(sp.prompt)
		for i := 0; i < len(mask.Pix); i += 4 {
			if x, y := i%mask.Stride/4, i/mask.Stride; mask.Pix[i+3] < 255 {
				where = where.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if paints {
		at := sp
		part, at.w, at.h = 0.6, max(MinSide, where.Dx()), max(MinSide, where.Dy())
		drawn, err := draw(ctx, at)
		if err != nil {
			return nil, err
		}
		changed = blended(base, base, nil)
		xdraw.Draw(changed, where, cover(drawn, where.Dx(), where.Dy()), image.Point{}, xdraw.Src)
	}
	return blended(base, w.join(changed, sp), share), ctx.Err()
}

// vary returns one variation: another crop, light and colour by the seed, then the changes of the prompt.
func (w *editInputs) vary(ctx context.Context, sp spec) (*image.NRGBA, error) {
	r := rand.New(rand.NewPCG(uint64(sp.seed), 0x0a71a7e)) //nolint:gosec // for pictures, not secrets
	img := crop(w.base, sp.w, sp.h, 1.04+0.14*r.Float64(), pt{r.Float64(), r.Float64()})
	a := adjustment{
		hue: (r.Float64() - 0.5) * 0.7, warmth: (r.Float64() - 0.5) * 0.24, exposure: (r.Float64() - 0.5) * 0.5,
		saturation: (r.Float64() - 0.5) * 0.5, contrast: (r.Float64() - 0.5) * 0.3, mirror: r.IntN(2) == 0,
	}
	return w.join(apply(a.apply(img), readWish(sp.prompt, true), sp.seed), sp), ctx.Err()
}

// apply adjusts a picture and adds things to it.
func apply(img *image.NRGBA, asked *wish, seed int64) *image.NRGBA {
	if img = asked.adjust(img, true); len(asked.things) > 0 {
		img = add(img, asked, seed)
	}
	return img
}

// paints reports whether an edit with a mask draws its prompt there rather than changing what is there.
func (b *wish) paints(prompt string) bool {
	return len(b.adjustments(true)) == 0 || b.adds || !b.turns && len(readDrawing(prompt, "", "").things) > 0
}

// join blends a picture with the other ones.
func (w *editInputs) join(img *image.NRGBA, sp spec) *image.NRGBA {
	for i, o := range w.others {
		img = blended(img, cover(o, sp.w, sp.h), func(int) float64 { return 1 / float64(i+2) })
	}
	return img
}

// add draws things into a picture. No other pixel changes.
func add(base *image.NRGBA, b *wish, seed int64) *image.NRGBA {
	w, h := base.Rect.Dx(), base.Rect.Dy()
	pix, light := make([]float32, 3*w*h), 0.0
	for i := range pix {
		pix[i] = linear[base.Pix[i/3*4+i%3]]
		light += float64(pix[i]) / float64(len(pix))
	}
	b.tags = map[string]bool{"day": light > 0.08, "night": light <= 0.08}
	s := newScene(w, h, seed, b)
	s.pix, s.horizon, s.S = pix, s.H*0.62, s.S*0.8
	s.extra()
	out := blended(base, base, nil)
	for i, v := range pix {
		if c := code(v, 0); c != out.Pix[i/3*4+i%3] { // unchanged light gives the same code again
			out.Pix[i/3*4+i%3], out.Pix[i/3*4+3] = c, 255
		}
	}
	return out
}

// cover scales a picture to fill w × h and crops the excess. A picture of that size is returned unchanged.
func cover(img *image.NRGBA, w, h int) *image.NRGBA {
	if img.Rect.Dx() == w && img.Rect.Dy() == h {
		return img
	}
	return crop(img, w, h, 1, pt{0.5, 0.5})
}

// crop is cover for a part of the picture: zoomed, at a position from 0 to 1 in the remaining space.
func crop(img *image.NRGBA, w, h int, zoom float64, v pt) *image.NRGBA {
	r := img.Rect
	k := min(float64(r.Dx())/float64(w), float64(r.Dy())/float64(h)) / zoom
	cw, ch := min(r.Dx(), max(1, int(float64(w)*k+0.5))), min(r.Dy(), max(1, int(float64(h)*k+0.5)))
	at := image.Pt(int(float64(r.Dx()-cw)*v.x), int(float64(r.Dy()-ch)*v.y))
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	xdraw.CatmullRom.Scale(out, out.Rect, img, image.Rectangle{at, at.Add(image.Pt(cw, ch))}, xdraw.Src, nil)
	return out
}

// blended returns a copy of a whose pixels are moved towards those of b by share, if any; i is the index of the pixel's
// first byte.
func blended(a, b *image.NRGBA, share func(i int) float64) *image.NRGBA {
	out := &image.NRGBA{Pix: slices.Clone(a.Pix), Stride: a.Stride, Rect: a.Rect}
	for i := 0; i < len(out.Pix) && share != nil; i += 4 {
		t := share(i)
		for k := i; k < i+4 && t > 0; k++ {
			p, q := float64(a.Pix[k]), float64(b.Pix[k])
			out.Pix[k] = uint8(p + (q-p)*t + 0.5)
		}
	}
	return out
}
