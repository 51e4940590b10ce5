package offline_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/provider/offline"
	"atelier/media"
	"atelier/media/imaging"
)

// storeInput stores a picture as an input.
func storeInput(t *testing.T, m *memoryStore, img image.Image, l imaging.Label) media.Output {
	t.Helper()
	var buf bytes.Buffer
	if err := imaging.EncodePNG(&buf, img, l); err != nil {
		t.Fatal(err)
	}
	b, err := m.Store(t.Context(), &buf, "image/png")
	if err != nil {
		t.Fatal(err)
	}
	return media.NewOutput(b, media.Meta{})
}

// hillPicture returns a picture with colours and grain.
func hillPicture(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(60 + 120*x/w), G: uint8(200 - 100*y/h), B: uint8(90 + (x*7+y*13)%40), A: 255})
		}
	}
	return img
}

// hole returns a mask that allows changes in a rectangle.
func hole(w, h int, r image.Rectangle) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.Black, image.Point{}, draw.Src)
	draw.Draw(img, r, image.Transparent, image.Point{}, draw.Src)
	return img
}

// edited runs a task and decodes its pictures.
func edited(t *testing.T, m *memoryStore, task driver.Task) []*image.NRGBA {
	t.Helper()
	up, err := newDriver(t, m).Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	var out []*image.NRGBA
	for _, it := range up.Items {
		if it.Err != nil || it.Blob == nil {
			t.Fatalf("item %+v", it)
		}
		img, _, err := image.Decode(bytes.NewReader(m.blobs[it.Blob.Digest]))
		if err != nil {
			t.Fatal(err)
		}
		c := image.NewNRGBA(img.Bounds())
		draw.Draw(c, c.Rect, img, image.Point{}, draw.Src)
		out = append(out, c)
	}
	return out
}

// mean returns the mean of each channel.
func mean(img *image.NRGBA) (m [3]float64) {
	for i := 0; i < len(img.Pix); i += 4 {
		for c := range m {
			m[c] += float64(img.Pix[i+c])
		}
	}
	for c := range m {
		m[c] /= float64(len(img.Pix) / 4)
	}
	return m
}

func TestMaskBoundsWhatChanges(t *testing.T) {
	t.Parallel()
	const w, h = 160, 120
	where := image.Rect(40, 30, 100, 90)
	for name, prompt := range map[string]string{
		"adjustment": "make it much darker", "subject": "a lighthouse", "addition": "add a sailing boat",
		"words without a rule": "lorem ipsum", "colour": "turn the sea red",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &memoryStore{}
			base, mask := hillPicture(w, h), hole(w, h, where)
			mo := storeInput(t, m, mask, imaging.Label{})
			got := edited(t, m, driver.Task{Method: generate.MethodEdit, Prompt: prompt, Inputs: []media.Output{storeInput(t, m, base, imaging.Label{})}, Mask: &mo})[0]
			if got.Rect != base.Rect {
				t.Fatalf("size %v, want the input's %v", got.Rect, base.Rect)
			}
			changed := 0
			for y := range h {
				for x := range w {
					same := got.NRGBAAt(x, y) == base.NRGBAAt(x, y)
					inside := image.Pt(x, y).In(where)
					if !inside && !same {
						t.Fatalf("pixel %d, %d outside the mask changed from %v to %v", x, y, base.NRGBAAt(x, y), got.NRGBAAt(x, y))
					}
					if inside && !same {
						changed++
					}
				}
			}
			if all := where.Dx() * where.Dy(); changed < all*9/10 {
				t.Errorf("%d of %d pixels inside the mask changed", changed, all)
			}
		})
	}
}

func TestWordsDoWhatTheySay(t *testing.T) {
	t.Parallel()
	base := hillPicture(128, 96)
	was := mean(base)
	sum := func(v [3]float64) float64 { return v[0] + v[1] + v[2] }
	for prompt, ok := range map[string]func(now [3]float64, img *image.NRGBA) bool{
		"Make it bluer":             func(n [3]float64, _ *image.NRGBA) bool { return n[2]-n[0] > was[2]-was[0]+20 },
		"redder please":             func(n [3]float64, _ *image.NRGBA) bool { return n[0]-n[2] > was[0]-was[2]+20 },
		"make it warmer":            func(n [3]float64, _ *image.NRGBA) bool { return n[0]-n[2] > was[0]-was[2]+10 },
		"Darker!":                   func(n [3]float64, _ *image.NRGBA) bool { return sum(n) < sum(was)-60 },
		"brighter":                  func(n [3]float64, _ *image.NRGBA) bool { return sum(n) > sum(was)+40 },
		"at night":                  func(n [3]float64, _ *image.NRGBA) bool { return sum(n) < sum(was)-120 && n[2] > n[0] },
		"in black and white":        func(_ [3]float64, i *image.NRGBA) bool { p := i.NRGBAAt(90, 20); return p.R == p.G && p.G == p.B },
		"flip it":                   func(_ [3]float64, i *image.NRGBA) bool { return i.NRGBAAt(0, 5).R > i.NRGBAAt(127, 5).R },
		"something quite different": func(_ [3]float64, i *image.NRGBA) bool { return i.NRGBAAt(60, 50) != base.NRGBAAt(60, 50) },
	} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			m := &memoryStore{}
			task := driver.Task{Method: generate.MethodEdit, Prompt: prompt, Inputs: []media.Output{storeInput(t, m, base, imaging.Label{})}}
			got := edited(t, m, task)[0]
			if now := mean(got); !ok(now, got) {
				t.Errorf("mean was %.0f, is %.0f", was, now)
			}
			if again := edited(t, m, task)[0]; !bytes.Equal(again.Pix, got.Pix) {
				t.Error("the same edit gave another picture")
			}
		})
	}
}

func TestAdditionKeepsTheRest(t *testing.T) {
	t.Parallel()
	m := &memoryStore{}
	base := hillPicture(160, 120)
	got := edited(t, m, driver.Task{Method: generate.MethodEdit, Prompt: "add a lighthouse", Inputs: []media.Output{storeInput(t, m, base, imaging.Label{})}})[0]
	if !bytes.Equal(got.Pix[:160*4*40], base.Pix[:160*4*40]) || bytes.Equal(got.Pix, base.Pix) {
		t.Error("the upper third changed, or nothing did")
	}
}

func TestSeveralInputs(t *testing.T) {
	t.Parallel()
	red := image.NewNRGBA(image.Rect(0, 0, 80, 200))
	draw.Draw(red, red.Rect, image.NewUniform(color.NRGBA{R: 220, G: 20, B: 20, A: 255}), image.Point{}, draw.Src)
	base := hillPicture(160, 120)
	was := mean(base)
	for prompt, ok := range map[string]func(img *image.NRGBA) bool{
		"blend the two":                func(i *image.NRGBA) bool { n := mean(i); return n[0] > was[0]+20 && n[1] < was[1] },
		"in the colours of the second": func(i *image.NRGBA) bool { n := mean(i); return n[0]-n[1] > was[0]-was[1]+40 },
	} {
		m := &memoryStore{}
		got := edited(t, m, driver.Task{
			Method: generate.MethodEdit, Prompt: prompt,
			Inputs: []media.Output{storeInput(t, m, base, imaging.Label{}), storeInput(t, m, red, imaging.Label{})},
		})[0]
		if got.Rect != base.Rect || !ok(got) {
			t.Errorf("%s: %v with mean %.0f, was %.0f", prompt, got.Rect, mean(got), was)
		}
	}
}

func TestVariationsFollowTheSeed(t *testing.T) {
	t.Parallel()
	m := &memoryStore{}
	task := driver.Task{Method: generate.MethodVariation, Inputs: []media.Output{storeInput(t, m, hillPicture(128, 128), imaging.Label{})}, N: 4, Seed: seed(7)}
	first, again := edited(t, m, task), edited(t, m, task)
	seen := map[string]bool{string(hillPicture(128, 128).Pix): true}
	for i := range first {
		if !bytes.Equal(first[i].Pix, again[i].Pix) {
			t.Errorf("variation %d is not repeatable", i)
		}
		if seen[string(first[i].Pix)] {
			t.Errorf("variation %d is one of the others, or the original", i)
		}
		seen[string(first[i].Pix)] = true
	}
	task.Prompt = "add a moon"
	if moonlit := edited(t, m, task); bytes.Equal(moonlit[0].Pix, first[0].Pix) {
		t.Error("a variation adds no moon")
	}
	task.Prompt = ""
	task.Seed, task.N = seed(9), 2 // the third of the four above
	if later := edited(t, m, task); !bytes.Equal(later[0].Pix, first[2].Pix) {
		t.Error("seed 7 + 2 is not seed 9")
	}
}

func TestEditSizes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w, h     int
		task     driver.Task
		ww, hh   int
		maskSize int
	}{
		"own":      {200, 100, driver.Task{}, 200, 100, 0},
		"asked":    {200, 100, driver.Task{Width: 128, Height: 128}, 128, 128, 0},
		"tiny":     {20, 10, driver.Task{}, 128, 64, 0},
		"sliver":   {4000, 1, driver.Task{}, 4096, 64, 0},
		"one":      {1, 1, driver.Task{}, 64, 64, 1},
		"by ratio": {200, 100, driver.Task{AspectRatio: "1:1"}, 1024, 1024, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &memoryStore{}
			c.task.Method, c.task.Prompt = generate.MethodEdit, "darker"
			c.task.Inputs = []media.Output{storeInput(t, m, hillPicture(c.w, c.h), imaging.Label{})}
			if c.maskSize > 0 {
				o := storeInput(t, m, hole(c.maskSize, c.maskSize, image.Rect(0, 0, c.maskSize, c.maskSize)), imaging.Label{})
				c.task.Mask = &o
			}
			if got := edited(t, m, c.task)[0].Rect; got.Dx() != c.ww || got.Dy() != c.hh {
				t.Errorf("%v, want %d × %d", got, c.ww, c.hh)
			}
		})
	}
}

// TestMarksStay: a picture that a model made is still marked as such after a rule-based edit.
func TestMarksStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		label imaging.Label
		want  string
	}{
		"photograph": {imaging.Label{}, imaging.SourceAlgorithmic},
		"of a model": {imaging.Generated("M", "S"), imaging.SourceGenerated},
	} {
		for _, format := range []string{"png", "jpeg", "webp"} {
			m := &memoryStore{}
			up, err := newDriver(t, m).Start(t.Context(), driver.Task{
				Method: generate.MethodEdit, Prompt: "warmer", OutputFormat: format, Inputs: []media.Output{storeInput(t, m, hillPicture(64, 64), c.label)},
			})
			if err != nil {
				t.Fatal(err)
			}
			l, err := imaging.ReadLabel(bytes.NewReader(m.blobs[up.Items[0].Blob.Digest]))
			if err != nil || l.SourceType != c.want || up.Metadata["note"] != offline.EditNote {
				t.Errorf("%s, %s: %+v, %v, %v", name, format, l, err, up.Metadata)
			}
		}
	}
}

func TestBadEdits(t *testing.T) {
	t.Parallel()
	m := &memoryStore{}
	good := storeInput(t, m, hillPicture(64, 64), imaging.Label{})
	small := storeInput(t, m, hole(32, 32, image.Rect(0, 0, 9, 9)), imaging.Label{})
	var cut bytes.Buffer
	if err := png.Encode(&cut, hillPicture(64, 64)); err != nil {
		t.Fatal(err)
	}
	b, err := m.Store(t.Context(), bytes.NewReader(cut.Bytes()[:cut.Len()/2]), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		task driver.Task
		code media.Code
		says string
	}{
		"mask of another size": {driver.Task{Inputs: []media.Output{good}, Mask: &small}, media.CodeInvalid, "32 × 32"},
		"half a file":          {driver.Task{Inputs: []media.Output{media.NewOutput(b, media.Meta{})}}, media.CodeCorrupt, "read picture"},
		"not stored":           {driver.Task{Inputs: []media.Output{{Ref: "img-01234567"}}}, media.CodeNotFound, "img-01234567"},
		"format":               {driver.Task{Inputs: []media.Output{good}, OutputFormat: "gif"}, media.CodeUnsupported, "png"},
	} {
		c.task.Method, c.task.Prompt = generate.MethodEdit, "bluer"
		up, err := newDriver(t, m).Start(t.Context(), c.task)
		if media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || len(up.Items) != 0 {
			t.Errorf("%s: %v (%s), %d items", name, err, media.CodeOf(err), len(up.Items))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := newDriver(t, m).Start(ctx, driver.Task{Method: generate.MethodEdit, Prompt: "x", Inputs: []media.Output{good}}); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("ended context: %v", err)
	}
}

func BenchmarkEdit(b *testing.B) {
	m := &memoryStore{}
	var buf bytes.Buffer
	if err := imaging.EncodePNG(&buf, hillPicture(1024, 1024), imaging.Label{}); err != nil {
		b.Fatal(err)
	}
	in, err := m.Store(b.Context(), &buf, "image/png")
	if err != nil {
		b.Fatal(err)
	}
	d, err := offline.New(offline.Config{Store: m})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := d.Start(b.Context(), driver.Task{Method: generate.MethodEdit, Prompt: "make it bluer", Inputs: []media.Output{media.NewOutput(in, media.Meta{})}}); err != nil {
			b.Fatal(err)
		}
	}
}
