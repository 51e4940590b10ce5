package offline

import (
	"context"
	"errors"
	"image"
	"io"
	"math/rand/v2"
	"slices"

	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/imaging"

	xdraw "golang.org/x/image/draw"
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
		w, h := all[0].Rect.Dx(), all[0].Rect.Dy()
		k := max(min(1, MaxSide/float64(max(w, h))), MinSide/float64(min(w, h)))
		side := func(n int) int { return min(MaxSide, max(MinSide, int(float64(n)*k+0.5))) }
		t.Width, t.Height = side(w), side(h)
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
		w.mask = mask
	}
	w.base, w.others = all[0], all[1:]
	return w, nil
}

// picture reads one input and its provenance label.
func (d *Driver) picture(ctx context.Context, o media.Output) (*image.NRGBA, imaging.Label, error) {
	var l imaging.Label
	err := d.read(ctx, o, func(r io.Reader) error {
		var err error
		l, err = imaging.ReadLabel(r)
		return err
	})
	if err != nil {
		l = imaging.Label{} // a file without a readable label has none
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

func (w *editInputs) edit(ctx context.Context, sp spec) (image.Image, error) {
	base, mask := cover(w.base, sp.w, sp.h), w.mask
	if mask != nil {
		mask = cover(mask, sp.w, sp.h)
	}
	changed, err := change(ctx, base, mask, sp)
	if err != nil {
		return nil, err
	}
	changed = w.join(changed, sp)
	if mask != nil {
		// Pixels that are transparent in the mask change; the rest stays bit-identical.
		changed = blended(base, changed, func(i int) float64 { return float64(255-mask.Pix[i+3]) / 255 })
	}
	return changed, nil
}

// vary returns one variation: another crop, light and colour by the seed, then the changes of the prompt.
func (w *editInputs) vary(ctx context.Context, sp spec) (image.Image, error) {
	r := rand.New(rand.NewPCG(uint64(sp.seed), 0x0a71a7e)) //nolint:gosec // for pictures, not secrets
	img := crop(w.base, sp.w, sp.h, view{1.04 + 0.14*r.Float64(), r.Float64(), r.Float64()})
	a := adjustment{
		hue: (r.Float64() - 0.5) * 0.7, warmth: (r.Float64() - 0.5) * 0.24, exposure: (r.Float64() - 0.5) * 0.5,
		saturation: (r.Float64() - 0.5) * 0.5, contrast: (r.Float64() - 0.5) * 0.3, mirror: r.IntN(2) == 0,
	}
	img = a.apply(img)
	asked := readEdit(sp.prompt)
	if wish, ok := asked.adjustment(); ok {
		img = wish.apply(img)
	}
	if len(asked.things) > 0 {
		img = add(img, asked, sp.seed)
	}
	return w.join(img, sp), ctx.Err()
}

// change applies the prompt to the whole picture; the mask selects later where it shows. A prompt that names nothing to
// change or add is drawn: into the masked area, or else over the picture, blended with it.
func change(ctx context.Context, base *image.NRGBA, mask *image.NRGBA, sp spec) (*image.NRGBA, error) {
	asked := readEdit(sp.prompt)
	wish, known := asked.adjustment()
	switch {
	case mask != nil && asked.paints(sp.prompt):
		var where image.Rectangle // the smallest one around the mask's transparent pixels
		for i := 0; i < len(mask.Pix); i += 4 {
			if mask.Pix[i+3] < 255 {
				x, y := i%mask.Stride/4, i/mask.Stride
				where = where.Union(image.Rect(x, y, x+1, y+1))
			}
		}
		at := sp
		at.w, at.h = max(MinSide, where.Dx()), max(MinSide, where.Dy())
		drawn, err := draw(ctx, at)
		if err != nil {
			return nil, err
		}
		out := cloned(base)
		xdraw.Draw(out, where, cover(toNRGBA(drawn), where.Dx(), where.Dy()), image.Point{}, xdraw.Src)
		return out, nil
	case known:
		base = wish.apply(base)
	}
	if len(asked.things) > 0 {
		return add(base, asked, sp.seed), nil
	}
	if known || asked.edits["join"] {
		return base, nil
	}
	drawn, err := draw(ctx, sp)
	if err != nil {
		return nil, err
	}
	return mixed(base, toNRGBA(drawn), 0.6), nil
}

// paints reports whether an edit with a mask draws its prompt there rather than changing what is there.
func (b *wording) paints(prompt string) bool {
	_, known := b.adjustment()
	return !known || b.adds || !b.turns && len(readDrawing(prompt, "", "").things) > 0
}

// join adds the other pictures: beside the first one, with a white gap, if the prompt says so, else blended with it.
func (w *editInputs) join(img *image.NRGBA, sp spec) *image.NRGBA {
	if len(w.others) == 0 {
		return img
	}
	if readEdit(sp.prompt).edits["beside"] {
		out := image.NewNRGBA(image.Rect(0, 0, sp.w, sp.h))
		xdraw.Draw(out, out.Rect, image.White, image.Point{}, xdraw.Src)
		gap, n := max(1, sp.w/100), len(w.others)+1
		for i, one := range append([]*image.NRGBA{img}, w.others...) {
			x0, x1 := i*(sp.w+gap)/n, (i+1)*(sp.w+gap)/n-gap
			if x1 > x0 {
				xdraw.Draw(out, image.Rect(x0, 0, x1, sp.h), cover(one, x1-x0, sp.h), image.Point{}, xdraw.Over)
			}
		}
		return out
	}
	for i, o := range w.others {
		img = mixed(img, cover(o, sp.w, sp.h), 1/float64(i+2))
	}
	return img
}

// add draws things into a picture. No other pixel changes.
func add(base *image.NRGBA, b *wording, seed int64) *image.NRGBA {
	w, h := base.Rect.Dx(), base.Rect.Dy()
	before, light := make([]float32, 0, 3*w*h), 0.0
	for i := range w * h {
		c := linearAt(base.Pix[4*i:])
		before = append(before, c.r, c.g, c.b)
		light += float64(c.g) / float64(w*h)
	}
	b.tags["day"], b.tags["night"] = light > 0.08, light <= 0.08
	s := newScene(w, h, seed, b)
	copy(s.pix, before)
	s.horizon, s.S = s.H*0.62, s.S*0.8
	s.extra()
	out := cloned(base)
	for i := range w * h {
		if p := s.pix[3*i : 3*i+3]; !slices.Equal(p, before[3*i:3*i+3]) {
			store(out.Pix[4*i:], rgba{p[0], p[1], p[2], 1})
			out.Pix[4*i+3] = 255
		}
	}
	return out
}

// extra draws the things to add to an existing picture.
func (s *scene) extra() {
	b := s.b
	if b.has("star") {
		s.p.night = 1
		s.sky.starfield(s.horizon*0.8, 260, 0.8)
	}
	if b.has("sun") {
		s.p.time = "day"
		s.sky.luminary()
	}
	if b.has("moon") {
		s.sky.moon(s.sun.x, s.horizon*0.3, s.S*0.05)
	}
	for i := range 4 * btoi(b.has("cloud")) {
		s.sky.cumulus(s.W*(float64(i)+s.rnd.Float64())/4, s.horizon*s.between(0.25, 0.6), s.S*s.between(0.2, 0.35), 0.3)
	}
	var all []placed
	for k, t := range s.singles() {
		switch t.name {
		case "bird", "balloon":
		case "flower":
			b.things["flower"] = max(7*btoi(b.things["flower"] == 0), b.things["flower"])
			s.meadow(nil)
		default:
			all = append(all, s.spread(t, k, s.H*0.7, s.H*0.86)...)
		}
	}
	if b.has("train") {
		all = append(all, placed{name: "train", x: s.W / 2, y: s.H * 0.8, w: s.W / 17, h: s.S * 0.05, accent: s.accent("train", 0)})
	}
	s.stand(all)
	s.aloft()
}
