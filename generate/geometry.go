package generate

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"atelier/media"
)

// maxAskedSide is the longest side that a request may name, in pixels.
const maxAskedSide = 65535

// sides is a size in pixels.
type sides struct{ w, h int }

func (s sides) String() string { return fmt.Sprintf("%dx%d", s.w, s.h) }

func (s sides) pixels() int { return s.w * s.h }

// ratio is width by height.
func (s sides) ratio() float64 { return float64(s.w) / float64(s.h) }

// parseSize reads WIDTHxHEIGHT; ×, X and * serve as well.
func parseSize(text string) (sides, error) {
	w, h, ok := strings.Cut(strings.NewReplacer("×", "x", "X", "x", "*", "x", " ", "").Replace(text), "x")
	width, werr := strconv.Atoi(w)
	height, herr := strconv.Atoi(h)
	if !ok || werr != nil || herr != nil || min(width, height) < 1 || max(width, height) > maxAskedSide {
		return sides{}, media.Errorf(media.CodeInvalid, "size %q is not WIDTHxHEIGHT in pixels: write something like 1536x1024, or auto", clip(text))
	}
	return sides{width, height}, nil
}

// parseRatio reads W:H; W/H and WxH serve as well.
func parseRatio(text string) (float64, error) {
	w, h, ok := strings.Cut(strings.NewReplacer("/", ":", "x", ":", "×", ":", " ", "").Replace(text), ":")
	width, werr := strconv.ParseFloat(w, 64)
	height, herr := strconv.ParseFloat(h, 64)
	r := width / height
	if !ok || werr != nil || herr != nil || !(width > 0) || !(height > 0) || !(r >= 0.01 && r <= 100) {
		return 0, media.Errorf(media.CodeInvalid, "aspect_ratio %q is not WIDTH:HEIGHT: write something like 16:9", clip(text))
	}
	return r, nil
}

// sameRatio allows for the rounding of pixels.
func sameRatio(a, b float64) bool { return math.Abs(math.Log(a/b)) < 0.005 }

// fit is a geometry that a model takes.
type fit struct {
	sides       // 0 if the provider decides
	ratio, tier string
}

// fitSize finds the geometry nearest to the asked pixels: first the ratio, then
// the area; ties go to the larger.
func (r SizeRule) fitSize(ask sides) fit {
	switch r.Mode {
	case "enum":
		return fit{sides: r.nearestValue(ask.ratio(), ask.pixels())}
	case "free":
		return fit{sides: r.freeSize(ask)}
	case "tier":
		ratio := r.nearestRatio(ask.ratio())
		return r.tierFit(ratio, r.nearestTier(ratio, ask.pixels()))
	case "ratio":
		return r.anyRatio(ask.ratio())
	}
	return fit{}
}

// fitRatio finds the geometry nearest to an asked ratio, at the model's usual area.
// The tier is what quality asked for, or empty.
func (r SizeRule) fitRatio(ask float64, tier string) fit {
	const usual = 1024 * 1024
	switch r.Mode {
	case "enum":
		return fit{sides: r.nearestValue(ask, usual)}
	case "free":
		area := float64(max(usual, r.MinPixels))
		return fit{sides: r.freeSize(sides{int(math.Round(math.Sqrt(area * ask))), int(math.Round(math.Sqrt(area / ask)))})}
	case "tier":
		return r.tierFit(r.nearestRatio(ask), tier)
	case "ratio":
		return r.anyRatio(ask)
	}
	return fit{}
}

// tierFit names a cell of the table.
func (r SizeRule) tierFit(ratio, tier string) fit {
	f := fit{ratio: ratio, tier: tier}
	look := tier
	if look == "" && len(r.Tiers) > 0 {
		look = r.usualTier()
	}
	f.sides, _ = parseSize(r.Table[look][ratio]) // the catalogue is checked
	return f
}

// usualTier is what the provider takes when no tier is named: 1K if there is one.
func (r SizeRule) usualTier() string {
	for _, t := range r.Tiers {
		if t == "1K" {
			return t
		}
	}
	if len(r.Tiers) == 0 {
		return ""
	}
	return r.Tiers[0]
}

// nearest gives the candidate with the least distance; of equals the one with the
// greatest size.
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

func (r SizeRule) nearestValue(ratio float64, pixels int) sides {
	var all []sides
	for _, v := range r.Values {
		s, _ := parseSize(v) // the catalogue is checked
		all = append(all, s)
	}
	size := func(s sides) float64 { return float64(s.pixels()) }
	byRatio := func(s sides) float64 { return math.Abs(math.Log(s.ratio() / ratio)) }
	near := nearest(all, byRatio, size)
	var same []sides
	for _, s := range all {
		if sameRatio(s.ratio(), near.ratio()) {
			same = append(same, s)
		}
	}
	return nearest(same, func(s sides) float64 { return math.Abs(math.Log(size(s) / float64(pixels))) }, size)
}

func (r SizeRule) nearestRatio(ask float64) string {
	value := func(text string) float64 { v, _ := parseRatio(text); return v } // the catalogue is checked
	area := func(text string) float64 {
		s, _ := parseSize(r.Table[r.usualTier()][text])
		return float64(s.pixels())
	}
	return nearest(r.Ratios, func(t string) float64 { return math.Abs(math.Log(value(t) / ask)) }, area)
}

func (r SizeRule) nearestTier(ratio string, pixels int) string {
	if len(r.Tiers) == 0 {
		return ""
	}
	area := func(t string) float64 { s, _ := parseSize(r.Table[t][ratio]); return float64(s.pixels()) }
	// Tiers lie factors of four apart; a tenth of a logarithm is no difference between
	// them, so that 3840x2160, which people call 4K, goes to the 4K tier.
	return nearest(r.Tiers, func(t string) float64 { return math.Round(10*math.Abs(math.Log(area(t)/float64(pixels)))) / 10 }, area)
}

// freeSize brings a size into the limits: the ratio first, then area and sides by
// scaling, then the step.
func (r SizeRule) freeSize(ask sides) sides {
	if r.legal(ask) {
		return ask
	}
	w, h := float64(ask.w), float64(ask.h)
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
	return r.onStep(w*scale, h*scale)
}

// Near gives the size nearest to a picture's, for edits that are to look alike; 0 where the
// rule is not free, or the picture's size is unknown.
func (r SizeRule) Near(width, height int) (w, h int) {
	if r.Mode != "free" || width <= 0 || height <= 0 {
		return 0, 0
	}
	s := r.freeSize(sides{width, height})
	return s.w, s.h
}

// onStep rounds both sides to the step, to the nearest legal pair.
func (r SizeRule) onStep(w, h float64) sides {
	step := float64(r.Step)
	around := func(v float64) []int {
		lo, hi := int(math.Floor(v/step))*r.Step, int(math.Ceil(v/step))*r.Step
		return []int{clamp(lo, r.roundUp(r.MinSide), r.MaxSide/r.Step*r.Step), clamp(hi, r.roundUp(r.MinSide), r.MaxSide/r.Step*r.Step)}
	}
	var all, legal []sides
	for _, x := range around(w) {
		for _, y := range around(h) {
			s := sides{x, y}
			all = append(all, s)
			if r.legal(s) {
				legal = append(legal, s)
			}
		}
	}
	if len(legal) > 0 {
		all = legal
	}
	return nearest(all, func(s sides) float64 {
		return math.Abs(math.Log(float64(s.w)/w)) + math.Abs(math.Log(float64(s.h)/h))
	}, func(s sides) float64 { return float64(s.pixels()) })
}

func (r SizeRule) roundUp(v int) int { return (v + r.Step - 1) / r.Step * r.Step }

func clamp(v, lo, hi int) int { return max(lo, min(hi, v)) }

// legal reports whether a free size may be sent as it is.
func (r SizeRule) legal(s sides) bool {
	long, short := max(s.w, s.h), min(s.w, s.h)
	return s.w%r.Step == 0 && s.h%r.Step == 0 && short >= r.MinSide && long <= r.MaxSide &&
		s.pixels() >= r.MinPixels && (r.MaxPixels == 0 || s.pixels() <= r.MaxPixels) &&
		(r.MaxRatio == 0 || float64(long) <= r.MaxRatio*float64(short)+1e-9)
}

// clip shortens text that is quoted in a message.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
