package plan

import (
	"cmp"
	"math/big"
	"unicode/utf8"

	"atelier/generate/catalog"
	"atelier/generate/driver"
)

const megapixel = 1_000_000

// perResult returns the price of one result by count, characters or pixels.
func perResult(t driver.Task) (*big.Rat, bool) {
	size := "auto" // a size that the provider chooses
	if t.Width > 0 {
		size = catalog.Sides{W: t.Width, H: t.Height}.String()
	}
	quality, tier := cmp.Or(t.Quality, "auto"), t.Tier
	if tier == "" && t.Model.Size.Mode == "tier" {
		tier = t.Model.Size.UsualTier()
	}
	if each, ok := t.Model.Price("image", quality, size, tier); ok {
		return each, true
	}
	if each, ok := t.Model.Price("character", quality, size, tier); ok {
		return each.Mul(each, big.NewRat(int64(utf8.RuneCountInString(t.Prompt)), 1_000_000)), true
	}
	each, ok := t.Model.Price("megapixel", quality, size, tier)
	if !ok || t.Width == 0 {
		return nil, false
	}
	return each.Mul(each, big.NewRat(int64(t.Width)*int64(t.Height), megapixel)), true
}

// wholeMegapixel is one megapixel for providers that bill whole megapixels: a typical picture of 1024 by 1024 costs
// only the first one.
const wholeMegapixel = 1024 * 1024

// perArea returns the price of one picture that is billed by its whole megapixels and those of its inputs; false if the
// catalogue has no such prices. A picture without a size is as large as its first input, or one megapixel.
func perArea(t driver.Task) (*big.Rat, bool) {
	each, ok := t.Model.Price("megapixel_first", t.Quality, "", t.Tier)
	if !ok {
		return nil, false
	}
	pixels := t.Width * t.Height
	if pixels == 0 && len(t.Inputs) > 0 {
		pixels = t.Inputs[0].Width * t.Inputs[0].Height
		if most := t.Model.Size.MaxPixels; most > 0 {
			pixels = min(pixels, most)
		}
	}
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
	return each, part("megapixel_more", megapixels(pixels)-1) && part("megapixel_in", inputs)
}

// megapixels rounds up to whole megapixels, at least one.
func megapixels(pixels int) int {
	return max(1, (pixels+wholeMegapixel-1)/wholeMegapixel)
}
