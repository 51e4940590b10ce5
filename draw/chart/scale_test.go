package chart

import (
	"math"
	"strings"
	"testing"

	"atelier/draw/internal/value"
	"atelier/draw/svg"

	"github.com/google/go-cmp/cmp"
)

func texts(list []tick) string {
	var out []string
	for _, t := range list {
		out = append(out, t.text)
	}
	return strings.Join(out, " ")
}

func TestValueAxis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lo, hi, zero float64
		unit, want   string
	}{
		{0, 57, zeroAlways, "", "0 10 20 30 40 50 60"},
		{0, 42734, zeroAlways, "GWh", "0 10k 20k 30k 40k 50k"},
		{315, 410, zeroNear, "", "300 320 340 360 380 400 420"},
		{-32.5, 84, zeroAlways, "%", "−40% −20% 0% 20% 40% 60% 80% 100%"},
		{0, 11731294, zeroAlways, "$", "$0 $2M $4M $6M $8M $10M $12M"},
		{0.1, 0.7, zeroAlways, "", "0 0.2 0.4 0.6 0.8"},
		{7, 7, zeroNear, "", "0 2 4 6 8"},
		{0, 0, zeroAlways, "", "−1.0 −0.5 0 0.5 1.0"},
		{0, 7500, zeroAlways, "", "0 2,000 4,000 6,000 8,000"},
		{0, 9000, zeroAlways, "", "0 2k 4k 6k 8k 10k"},
	} {
		lo, hi, ticks := valueAxis(c.lo, c.hi, c.zero, 6, c.unit)
		if got := texts(ticks); got != c.want {
			t.Errorf("%g..%g: ticks %s, want %s", c.lo, c.hi, got, c.want)
		}
		if lo > c.lo || hi < c.hi {
			t.Errorf("%g..%g does not fit into %g..%g", c.lo, c.hi, lo, hi)
		}
	}
}

func TestTimeTicks(t *testing.T) {
	t.Parallel()
	day := func(s string) float64 {
		d, ok := dayOf(s)
		if !ok {
			t.Fatalf("%q is not a date", s)
		}
		return d
	}
	for _, c := range []struct{ from, to, want string }{
		{"1958-03", "2018-12", "1960 1970 1980 1990 2000 2010"},
		{"2015-01", "2020-12", "2015 2016 2017 2018 2019 2020"},
		{"2023-01", "2024-06", "Jan 2023 Apr 2023 Jul 2023 Oct 2023 Jan 2024 Apr 2024"},
		{"2024-01-01", "2024-01-06", "1 Jan 2 Jan 3 Jan 4 Jan 5 Jan 6 Jan"},
	} {
		if got := texts(timeTicks(day(c.from), day(c.to), 6)); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

func TestPlaceLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		labels string
		kind   kind
		want   xAxis
	}{
		{"2001 2002 2005", kindLine, axisYear},
		{"2001 2002", kindBar, axisCategory},
		{"2024-01 2024-02", kindArea, axisTime},
		{"2024-01-31 2024-02-01", kindLine, axisTime},
		{"3 1 2", kindLine, axisCategory},
		{"3 1 2", kindScatter, axisNumber},
		{"1.5 2.5", kindLine, axisNumber},
		{"a b", kindLine, axisCategory},
		{"2001 soon", kindLine, axisCategory},
	} {
		if got, _ := placeLabels(strings.Fields(c.labels), c.kind); got != c.want {
			t.Errorf("%s in a %s chart: axis %d, want %d", c.labels, c.kind, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	got := map[float64]string{}
	want := map[float64]string{
		0: "0", 5: "5", 1234567: "1,234,567", -1234.56: "−1,234.6", 0.001234: "0.001234", 12.345: "12.35", 1e18: "1 × 10¹⁸", 99.999: "100", -0.5: "−0.5", 1e-7: "1 × 10⁻⁷", 100000.4: "100,000",
	}
	for v := range want {
		got[v] = grouped(v)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFitAndWrap(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"short", "a very long label that will never fit", "日本語のとても長いラベル", "x"} {
		for _, room := range []float64{8, 30, 80, 500} {
			if f := svg.Fit(s, 12, room); f != "…" && svg.Width(f, 12) > room {
				t.Errorf("%q does not fit %g", f, room)
			}
			for _, l := range svg.Wrap(s, 12, room, 2) {
				if l != "…" && svg.Width(l, 12) > room {
					t.Errorf("line %q does not fit %g", l, room)
				}
			}
			if n := len(svg.Wrap(s, 12, room, 2)); n > 2 {
				t.Errorf("%q: %d lines", s, n)
			}
		}
	}
}

func TestEndNamesDoNotTouch(t *testing.T) {
	t.Parallel()
	out, _ := chartOf(t, `{"ChartType":"line","Title":"T","Labels":["a","b"],"Series":[{"name":"p","values":[1,5]},{"name":"q","values":[2,5]},{"name":"r","values":[3,5]},{"name":"s","values":[4,5.01]},{"name":"t","values":[9,0]},{"name":"u","values":[9,0]}]}`)
	var ys []float64
	for _, part := range strings.Split(out, `<text `)[1:] {
		if strings.Contains(part, `class="d f`) {
			y := attr(t, part, "y")
			for _, other := range ys {
				if math.Abs(other-y) < 14 {
					t.Errorf("names at %g and %g touch", other, y)
				}
			}
			ys = append(ys, y)
		}
	}
	if len(ys) != 6 {
		t.Errorf("%d names, want 6", len(ys))
	}
}

func attr(t *testing.T, s, name string) float64 {
	t.Helper()
	_, rest, ok := strings.Cut(s, name+`="`)
	if !ok {
		t.Fatalf("no %s in %s", name, s)
	}
	v, _, _ := strings.Cut(rest, `"`)
	f, ok := value.Number(v)
	if !ok {
		t.Fatalf("%s is %q", name, v)
	}
	return f
}

func TestLabelsBreakBeforeTheySlant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		labels []string
		band   float64
		lines  float64 // height of one line of the labels
		angle  float64
		step   int
	}{
		{[]string{"Flood", "Drought"}, 100, 22, 0, 1},
		{[]string{"Extreme temperature", "Flood"}, 105, 38, 0, 1},
		{[]string{"2001", "2002", "2003"}, 20, 22, 0, 3},
	} {
		if p := planLabels(c.labels, c.band, ordered(c.labels)); p.h != c.lines || p.angle != c.angle || p.step != c.step {
			t.Errorf("%v in %g: %+v", c.labels, c.band, p)
		}
	}
	if p := planLabels([]string{"Bosnia and Herzegovina", "Germany"}, 50, false); p.angle == 0 {
		t.Errorf("long labels in narrow bands are not slanted: %+v", p)
	}
}
