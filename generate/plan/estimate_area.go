package plan

import (
	"math/big"

	"atelier/generate/driver"
	"atelier/generate/money"
)

// wholeMegapixel is what providers that bill by whole megapixels count as one: the
// usual picture of 1024 by 1024 costs the first and no other.
const wholeMegapixel = 1024 * 1024

// estimateArea is what n results should cost where a picture is billed by its whole
// megapixels and those of its inputs; nil if the catalogue has no such prices. A
// picture without a size is as large as its first input, or one megapixel.
func estimateArea(t driver.Task, n int) *string {
	first, ok := t.Model.Price("megapixel_first", t.Quality, "", t.Tier)
	if !ok {
		return nil
	}
	pixels := t.Width * t.Height
	if pixels == 0 && len(t.Inputs) > 0 {
		pixels = t.Inputs[0].Width * t.Inputs[0].Height
		if most := t.Model.Size.MaxPixels; most > 0 {
			pixels = min(pixels, most)
		}
	}
	each := new(big.Rat).Set(first)
	part := func(unit string, count int) bool {
		usd, ok := t.Model.Price(unit, t.Quality, "", t.Tier)
		if count > 0 && ok {
			each.Add(each, usd.Mul(usd, big.NewRat(int64(count), 1)))
		}
		return ok || count == 0
	}
	inputs := 0
	for _, in := range t.Inputs {
		inputs += megapixels(in.Width * in.Height)
	}
	if !part("megapixel_more", megapixels(pixels)-1) || !part("megapixel_in", inputs) {
		return nil
	}
	text := money.Text(each.Mul(each, big.NewRat(int64(n), 1)))
	return &text
}

// megapixels rounds up to whole ones, at least one.
func megapixels(pixels int) int {
	return max(1, (pixels+wholeMegapixel-1)/wholeMegapixel)
}
