package catalog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"atelier/generate/internal/fault"
	"atelier/media"
)

// maxAskedSide is the longest side that a request may name, in pixels.
const maxAskedSide = 65535

// Sides is a size in pixels.
type Sides struct{ W, H int }

func (s Sides) String() string { return fmt.Sprintf("%dx%d", s.W, s.H) }

// Pixels returns width times height.
func (s Sides) Pixels() int { return s.W * s.H }

// Ratio returns width divided by height.
func (s Sides) Ratio() float64 { return float64(s.W) / float64(s.H) }

// ParseSize parses WIDTHxHEIGHT; it also accepts ×, X and * as the separator.
func ParseSize(text string) (Sides, error) {
	w, h, ok := strings.Cut(strings.NewReplacer("×", "x", "X", "x", "*", "x", " ", "").Replace(text), "x")
	width, werr := strconv.Atoi(w)
	height, herr := strconv.Atoi(h)
	if !ok || werr != nil || herr != nil || min(width, height) < 1 || max(width, height) > maxAskedSide {
		return Sides{}, media.Errorf(media.CodeInvalid, "size %q is not WIDTHxHEIGHT in pixels: write something like 1536x1024, or auto", fault.Quote(text))
	}
	return Sides{width, height}, nil
}

// ParseRatio parses W:H; it also accepts W/H and WxH.
func ParseRatio(text string) (float64, error) {
	w, h, ok := strings.Cut(strings.NewReplacer("/", ":", "x", ":", "×", ":", " ", "").Replace(text), ":")
	width, werr := strconv.ParseFloat(w, 64)
	height, herr := strconv.ParseFloat(h, 64)
	r := width / height
	if !ok || werr != nil || herr != nil || !(width > 0) || !(height > 0) || !(r >= 0.01 && r <= 100) {
		return 0, media.Errorf(media.CodeInvalid, "aspect_ratio %q is not WIDTH:HEIGHT: write something like 16:9", fault.Quote(text))
	}
	return r, nil
}

// SameRatio reports whether two ratios are equal within the rounding of pixels.
func SameRatio(a, b float64) bool { return math.Abs(math.Log(a/b)) < 0.005 }

// Fit is a geometry that a model accepts.
type Fit struct {
	Sides       // 0 if the provider decides
	Ratio, Tier string
}

// FitSize returns the geometry nearest to the requested pixels: first by ratio, then by area; ties go to the larger.
func (r SizeRule) FitSize(ask Sides) Fit {
	switch r.Mode {
	case "enum":
		return Fit{Sides: r.nearestValue(ask.Ratio(), ask.Pixels())}
	case "free":
		return Fit{Sides: r.freeSize(ask)}
	case "tier":
		ratio := r.NearestRatio(ask.Ratio())
		return r.TierFit(ratio, r.NearestTier(ratio, ask.Pixels()))
	case "ratio":
		return r.anyRatio(ask.Ratio())
	}
	return Fit{}
}

// FitRatio returns the geometry nearest to the requested ratio, at the model's default area. The tier is the one that
// quality requested, or empty.
func (r SizeRule) FitRatio(ask float64, tier string) Fit {
	const usual = 1024 * 1024
	switch r.Mode {
	case "enum":
		return Fit{Sides: r.nearestValue(ask, usual)}
	case "free":
		area := float64(max(usual, r.MinPixels))
		return Fit{Sides: r.freeSize(Sides{int(math.Round(math.Sqrt(area * ask))), int(math.Round(math.Sqrt(area / ask)))})}
	case "tier":
		return r.TierFit(r.NearestRatio(ask), tier)
	case "ratio":
		return r.anyRatio(ask)
	}
	return Fit{}
}

// TierFit returns the geometry of a cell of the table.
func (r SizeRule) TierFit(ratio, tier string) Fit {
	f := Fit{Ratio: ratio, Tier: tier}
	f.Sides, _ = ParseSize(r.Table[cmp.Or(tier, r.UsualTier())][ratio]) // the catalogue is checked
	return f
}

// UsualTier returns the provider's default tier: 1K if there is one, else the first.
func (r SizeRule) UsualTier() string {
	switch {
	case slices.Contains(r.Tiers, "1K"):
		return "1K"
	case len(r.Tiers) > 0:
		return r.Tiers[0]
	}
	return ""
}

// nearest returns the candidate with the smallest distance; ties go to the largest size.
func nearest[T any](all []T, distance, size func(T) float64) T {
	var best T
	for i, x := range all {
		d := cmp.Compare(math.Round(distance(x)*1e9), math.Round(distance(best)*1e9))
		if i == 0 || d < 0 || d == 0 && size(x) > size(best) {
			best = x
		}
	}
	return best
}

func (r SizeRule) nearestValue(ratio float64, pixels int) Sides {
	var all []Sides
	for _, v := range r.Values {
		s, _ := ParseSize(v) // the catalogue is checked
		all = append(all, s)
	}
	size := func(s Sides) float64 { return float64(s.Pixels()) }
	byRatio := func(s Sides) float64 { return math.Abs(math.Log(s.Ratio() / ratio)) }
	near := nearest(all, byRatio, size)
	all = slices.DeleteFunc(all, func(s Sides) bool { return !SameRatio(s.Ratio(), near.Ratio()) })
	return nearest(all, func(s Sides) float64 { return math.Abs(math.Log(size(s) / float64(pixels))) }, size)
}

// NearestRatio returns the ratio of the table that is nearest to ask, which is width by height.
func (r SizeRule) NearestRatio(ask float64) string {
	value := func(text string) float64 { v, _ := ParseRatio(text); return v } // the catalogue is checked
	area := func(text string) float64 {
		s, _ := ParseSize(r.Table[r.UsualTier()][text])
		return float64(s.Pixels())
	}
	return nearest(r.Ratios, func(t string) float64 { return math.Abs(math.Log(value(t) / ask)) }, area)
}

// NearestTier returns the tier whose size at a ratio has the nearest area.
func (r SizeRule) NearestTier(ratio string, pixels int) string {
	if len(r.Tiers) == 0 {
		return ""
	}
	area := func(t string) float64 { s, _ := ParseSize(r.Table[t][ratio]); return float64(s.Pixels()) }
	// The areas of tiers differ by factors of four. Rounding logarithms to a tenth ignores small differences, so that
	// 3840x2160, which people call 4K, selects the 4K tier.
	return nearest(r.Tiers, func(t string) float64 { return math.Round(10*math.Abs(math.Log(area(t)/float64(pixels)))) / 10 }, area)
}

// freeSize fits a size into the limits: first the ratio, then area and sides by scaling. Then it rounds both sides to
// multiples of the step, to the nearest legal pair.
func (r SizeRule) freeSize(ask Sides) Sides {
	if r.allows(ask) {
		return ask
	}
	w, h := float64(ask.W), float64(ask.H)
	if r.MaxRatio > 0 && max(w, h)/min(w, h) > r.MaxRatio {
		mean := math.Sqrt(w * h)
		long, short := mean*math.Sqrt(r.MaxRatio), mean/math.Sqrt(r.MaxRatio)
		if w > h {
			w, h = long, short
		} else {
			w, h = short, long
		}
	}
	scale := 1.0
	if r.MinPixels > 0 {
		scale = max(scale, math.Sqrt(float64(r.MinPixels)/(w*h)))
	}
	scale = max(scale, float64(r.MinSide)/min(w, h))
	if r.MaxPixels > 0 {
		scale = min(scale, math.Sqrt(float64(r.MaxPixels)/(w*h)))
	}
	scale = min(scale, float64(r.MaxSide)/max(w, h))
	w, h = w*scale, h*scale
	least, most := (r.MinSide+r.Step-1)/r.Step*r.Step, r.MaxSide/r.Step*r.Step
	around := func(v float64) [2]int {
		steps := v / float64(r.Step)
		below, above := int(math.Floor(steps))*r.Step, int(math.Ceil(steps))*r.Step
		return [2]int{max(least, min(most, below)), max(least, min(most, above))}
	}
	var all, legal []Sides
	for _, x := range around(w) {
		for _, y := range around(h) {
			s := Sides{x, y}
			all = append(all, s)
			if r.allows(s) {
				legal = append(legal, s)
			}
		}
	}
	if len(legal) > 0 {
		all = legal
	}
	return nearest(all, func(s Sides) float64 {
		return math.Abs(math.Log(float64(s.W)/w)) + math.Abs(math.Log(float64(s.H)/h))
	}, func(s Sides) float64 { return float64(s.Pixels()) })
}

// Near returns the size nearest to that of a picture, for edits that keep the picture's size; 0 if the rule is not free
// or the picture's size is unknown.
func (r SizeRule) Near(width, height int) (w, h int) {
	if r.Mode != "free" || width <= 0 || height <= 0 {
		return 0, 0
	}
	s := r.freeSize(Sides{width, height})
	return s.W, s.H
}

// allows reports whether a free size can be sent unchanged.
func (r SizeRule) allows(s Sides) bool {
	long, short := max(s.W, s.H), min(s.W, s.H)
	return s.W%r.Step == 0 && s.H%r.Step == 0 && short >= r.MinSide && long <= r.MaxSide &&
		s.Pixels() >= r.MinPixels && (r.MaxPixels == 0 || s.Pixels() <= r.MaxPixels) &&
		(r.MaxRatio == 0 || float64(long) <= r.MaxRatio*float64(short)+1e-9)
}

// Name returns the size in pixels, or the ratio if the provider decides on the pixels.
func (f Fit) Name() string {
	if f.Sides == (Sides{}) {
		return f.Ratio
	}
	return f.String()
}

// Cell formats a ratio and a tier for people: "16:9 2K".
func (f Fit) Cell() string { return strings.TrimSpace(f.Ratio + " " + f.Tier) }

// ratioSlack is how far a fraction may differ from the requested ratio.
const ratioSlack = 0.002

// anyRatio returns the ratio nearest to the requested one within the model's limit, as the smallest whole numbers that
// are close enough: 1.778 is 16:9.
func (r SizeRule) anyRatio(ask float64) Fit {
	const most = 100
	ask = max(1/r.MaxRatio, min(r.MaxRatio, ask))
	best, off := "1:1", math.Inf(1)
	for h := 1; h <= most && off >= ratioSlack; h++ {
		w := math.Round(ask * float64(h))
		if d := math.Abs(math.Log(w / float64(h) / ask)); w >= 1 && d < off {
			best, off = fmt.Sprintf("%d:%d", int(w), h), d
		}
	}
	return Fit{Ratio: best}
}

// Limits describes the limits of free sizes and ratios to people; empty for models with other rules.
func (r SizeRule) Limits() string {
	var rules []string
	if r.Mode == "free" {
		if r.Step > 1 {
			rules = append(rules, fmt.Sprintf("multiples of %d", r.Step))
		}
		rules = append(rules, fmt.Sprintf("%d to %d pixels a side", r.MinSide, r.MaxSide))
	}
	if (r.Mode == "free" || r.Mode == "ratio") && r.MaxRatio > 0 {
		rules = append(rules, fmt.Sprintf("ratios up to %g:1", r.MaxRatio))
	}
	if r.Mode == "free" && r.MinPixels > 0 {
		rules = append(rules, fmt.Sprintf("at least %.2f megapixels", float64(r.MinPixels)/million))
	}
	if r.Mode == "free" && r.MaxPixels > 0 {
		rules = append(rules, fmt.Sprintf("at most %.2f megapixels", float64(r.MaxPixels)/million))
	}
	return strings.Join(rules, ", ")
}
