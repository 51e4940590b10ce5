package catalog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ratioSlack is how far a written ratio may lie from the asked one.
const ratioSlack = 0.002

// ratioText writes a ratio in the smallest whole numbers that come near enough:
// 1.778 is 16:9.
func ratioText(r float64) string {
	const most = 100
	best, off := "1:1", math.Inf(1)
	for h := 1; h <= most; h++ {
		w := math.Round(r * float64(h))
		if w < 1 {
			continue
		}
		d := math.Abs(math.Log(w / float64(h) / r))
		if d < off {
			best, off = strconv.Itoa(int(w))+":"+strconv.Itoa(h), d
		}
		if d < ratioSlack {
			break
		}
	}
	return best
}

// anyRatio is the ratio nearest to the asked one within the model's limit.
func (r SizeRule) anyRatio(ask float64) Fit {
	return Fit{Ratio: ratioText(max(1/r.MaxRatio, min(r.MaxRatio, ask)))}
}

// Limits says for people what free sizes and ratios may be; empty for models that are
// sized otherwise.
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
