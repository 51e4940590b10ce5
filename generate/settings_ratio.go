package generate

import (
	"math"
	"strconv"
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
func (r SizeRule) anyRatio(ask float64) fit {
	return fit{ratio: ratioText(max(1/r.MaxRatio, min(r.MaxRatio, ask)))}
}
