package offline

import (
	"context"
	"image"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

func picture(tb testing.TB, w, h int, seed int64, prompt string) *image.NRGBA {
	tb.Helper()
	img, err := draw(context.Background(), spec{w: w, h: h, seed: seed, prompt: prompt})
	if err != nil {
		tb.Fatal(err)
	}
	return img
}

// brightness returns the mean brightness of rows y0 to y1 and its standard deviation.
func brightness(img *image.NRGBA, y0, y1 int) (mean, spread float64) {
	n := 0.0
	sum, sq := 0.0, 0.0
	for y := y0; y < y1; y++ {
		for x := range img.Rect.Dx() {
			c := img.NRGBAAt(x, y)
			v := 0.3*float64(c.R) + 0.59*float64(c.G) + 0.11*float64(c.B)
			sum, sq, n = sum+v, sq+v*v, n+1
		}
	}
	mean = sum / n
	return mean, math.Sqrt(max(0, sq/n-mean*mean))
}

// TestEveryThingDraws draws every thing of the vocabulary, with varying times of day and styles, and checks that the
// picture is not flat.
func TestEveryThingDraws(t *testing.T) {
	t.Parallel()
	times := []string{"", "sunrise", "sunset", "night", "storm", "fog", "dusk", "golden hour", "winter", "autumn", "sepia", "black and white"}
	seen := map[string]bool{}
	for _, w := range slices.Sorted(maps.Keys(english)) {
		m := english[w][0]
		if m.kind != "thing" || seen[m.name] {
			continue
		}
		seen[m.name] = true
		prompt := strings.ReplaceAll(w, "_", " ") + " " + times[len(seen)%len(times)]
		img := picture(t, 112, 80, int64(len(seen)), prompt)
		if _, spread := brightness(img, 0, 80); spread < 3 {
			t.Errorf("%q is nearly flat: spread %.1f", prompt, spread)
		}
		if unknown := (Painter{}).UnknownWords(prompt); len(unknown) > 0 {
			t.Errorf("%q: %q is unknown", prompt, unknown)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d things", len(seen))
	}
}

// TestCountsAreHonoured: a count of n draws a thing n times.
func TestCountsAreHonoured(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(countable) {
		for n := 1; n <= maxDrawn; n++ {
			b := readWish("", false)
			b.things[name], b.order = n, []string{name}
			if got := len(newScene(96, 64, int64(n), b).spread(name, 10, 60)); got != n {
				t.Errorf("%d × %s: %d", n, name, got)
			}
		}
	}
}

// TestSpritesAreComplete: every drawing has the numbers that its shapes need.
func TestSpritesAreComplete(t *testing.T) {
	t.Parallel()
	least := map[string]int{"p": 6, "c": 6, "o": 4, "l": 5, "w": 4, "g": 4}
	inks := newScene(64, 64, 1, readWish("", false)).inks
	if len(sprites) < 15 {
		t.Fatalf("%d drawings", len(sprites))
	}
	for name, marks := range sprites {
		for i, m := range marks {
			if n := least[m.shape]; n == 0 || len(m.v) < n || m.times < 1 {
				t.Errorf("%s, line %d: %+v", name, i+1, m)
			}
			if _, named := inks[m.colour]; !named && m.colour != "accent" && (len(m.colour) != 7 || m.colour[0] != '#') {
				t.Errorf("%s, line %d: no ink %q", name, i+1, m.colour)
			}
		}
	}
}

func TestAnyPromptAndSeedDraws(t *testing.T) {
	t.Parallel()
	for i, p := range []string{"", " ", "日本の富士山", "\x00\xff", strings.Repeat("sea ", 3000), strings.Repeat("grünseeboot", 3000), strings.Repeat("1 ", 9000), "no no no", "without", "a cat playing the piano", "100% 🎉"} {
		for _, seed := range []int64{0, -1, math.MaxInt64, math.MinInt64, int64(i)} {
			picture(t, 64, 64, seed, p)
		}
	}
}

func TestLightOfDay(t *testing.T) {
	t.Parallel()
	day, _ := brightness(picture(t, 96, 96, 3, "wind turbines on hills, sunny day"), 0, 96)
	night, _ := brightness(picture(t, 96, 96, 3, "wind turbines on hills at night"), 0, 96)
	if night > day*0.6 {
		t.Errorf("night %.0f is not clearly darker than day %.0f", night, day)
	}
}

func TestColourWords(t *testing.T) {
	t.Parallel()
	ratio := func(p string) float64 {
		img := picture(t, 96, 96, 5, p)
		r, b := 1.0, 1.0
		for i := 0; i < len(img.Pix); i += 4 {
			r, b = r+float64(img.Pix[i]), b+float64(img.Pix[i+2])
		}
		return r / b
	}
	if red, blue := ratio("abstract flow in red and orange"), ratio("abstract flow in blue and navy"); red < blue*1.3 {
		t.Errorf("red by blue: %.2f for red, %.2f for blue", red, blue)
	}
	img := picture(t, 64, 64, 5, "mountains, black and white")
	for i := 0; i < len(img.Pix); i += 4 {
		if d := int(img.Pix[i]) - int(img.Pix[i+2]); d < -2 || d > 2 {
			t.Fatalf("pixel %d of a black and white picture has colour: %v", i/4, img.Pix[i:i+4])
		}
	}
}

func TestCompositionDoesNotDependOnSize(t *testing.T) {
	t.Parallel()
	// The difference in brightness between the upper and lower half does not depend on the size.
	for _, p := range []string{"lighthouse at night", "hills", "city skyline at sunset"} {
		diff := func(n int) float64 {
			img := picture(t, n, n, 11, p)
			a, _ := brightness(img, 0, n/2)
			b, _ := brightness(img, n/2, n)
			return a - b
		}
		if a, b := diff(96), diff(256); math.Abs(a-b) > 14 {
			t.Errorf("%q: upper minus lower half is %.0f at 96 and %.0f at 256 pixels", p, a, b)
		}
	}
}

func TestColourRoundTrip(t *testing.T) {
	t.Parallel()
	for _, v := range []uint32{0x000000, 0xffffff, 0x2f6fd0, 0xd7263d, 0x3f9b57} {
		c := hex(v)
		back := c.lab().rgba(1)
		for _, d := range []float32{back.r - c.r, back.g - c.g, back.b - c.b} {
			if d > 1e-3 || d < -1e-3 {
				t.Errorf("%06x: %v through OKLab becomes %v", v, c, back)
			}
		}
	}
}

func BenchmarkDraw1024(b *testing.B) {
	for name, prompt := range map[string]string{"landscape": "solar panels and wind turbines at sunrise", "storm": "lighthouse in a storm", "abstract": "abstract concept of energy transition"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				picture(b, 1024, 1024, 1, prompt)
			}
		})
	}
}
