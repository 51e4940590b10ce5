package plan

import (
	"math/big"
	"unicode/utf8"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/money"
)

// megapixel is what prices of areas are for.
const megapixel = 1_000_000

// estimate is what n results of this task should cost; nil if the catalogue cannot
// tell, which is not zero.
func estimate(t driver.Task, n int) *string {
	size := "auto" // what the provider decides on
	if t.Width > 0 {
		size = catalog.Sides{W: t.Width, H: t.Height}.String()
	}
	quality, tier := t.Quality, t.Tier
	if quality == "" {
		quality = "auto"
	}
	if tier == "" && t.Model.Size.Mode == "tier" {
		tier = t.Model.Size.UsualTier()
	}
	each, ok := t.Model.Price("image", quality, size, tier)
	if usd, spoken := t.Model.Price("character", quality, size, tier); spoken && !ok {
		each, ok = usd.Mul(usd, big.NewRat(int64(utf8.RuneCountInString(t.Prompt)), 1_000_000)), true
	}
	if !ok {
		var perMP *big.Rat
		if perMP, ok = t.Model.Price("megapixel", quality, size, tier); !ok || t.Width == 0 {
			return nil
		}
		each = new(big.Rat).Mul(perMP, big.NewRat(int64(t.Width)*int64(t.Height), megapixel))
	}
	text := money.Text(new(big.Rat).Mul(each, big.NewRat(int64(n), 1)))
	return &text
}
