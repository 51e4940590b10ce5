package generate

import (
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// million is what token prices are for.
const million = 1_000_000

// dollars reads decimal text; ok is false for anything else.
func dollars(text string) (*big.Rat, bool) {
	if !decimalText.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// decimal writes an amount exactly. Prices are decimals and tokens are divided by a
// million, so every sum of them has an end; 18 places hold any of them.
func decimal(r *big.Rat) string {
	const places = 18
	s := r.FloatString(places)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// on gives the model with the prices of one day: lines that have ended are left out, and of
// lines for the same thing the one that ends first holds.
func (m Model) on(day time.Time) Model {
	today := day.UTC().Format(time.DateOnly)
	var lines []Price
	for _, p := range m.Prices {
		if p.Until != "" && p.Until < today {
			continue
		}
		i := slices.IndexFunc(lines, p.sameThing)
		switch {
		case i < 0:
			lines = append(lines, p)
		case p.Until != "" && (lines[i].Until == "" || p.Until < lines[i].Until):
			lines[i] = p
		}
	}
	m.Prices = lines
	return m
}

// sameThing reports whether two lines are prices of the same at different times.
func (p Price) sameThing(o Price) bool {
	return p.Unit == o.Unit && p.Quality == o.Quality && p.Size == o.Size && p.Tier == o.Tier
}

// price finds the price of a unit for these settings: the line that names most of
// them wins; a line that names another value does not count.
func (m Model) price(unit, quality, size, tier string) (*big.Rat, bool) {
	best, bestScore := "", -1
	for _, p := range m.Prices {
		score := 0
		fits := p.Unit == unit
		for _, pair := range [][2]string{{p.Quality, quality}, {p.Size, size}, {p.Tier, tier}} {
			if pair[0] == "" {
				continue
			}
			score++
			fits = fits && pair[0] == pair[1]
		}
		if fits && score > bestScore {
			best, bestScore = p.USD, score
		}
	}
	if bestScore < 0 {
		return nil, false
	}
	return dollars(best)
}

// estimate is what n results of this task should cost; nil if the catalogue cannot
// tell, which is not zero.
func estimate(t Task, n int) *string {
	size := "auto" // what the provider decides on
	if t.Width > 0 {
		size = sides{t.Width, t.Height}.String()
	}
	quality, tier := t.Quality, t.Tier
	if quality == "" {
		quality = "auto"
	}
	if tier == "" && t.Model.Size.Mode == "tier" {
		tier = t.Model.Size.usualTier()
	}
	each, ok := t.Model.price("image", quality, size, tier)
	if usd, spoken := t.Model.price("character", quality, size, tier); spoken && !ok {
		each, ok = usd.Mul(usd, big.NewRat(int64(utf8.RuneCountInString(t.Prompt)), million)), true
	}
	if !ok {
		var perMP *big.Rat
		if perMP, ok = t.Model.price("megapixel", quality, size, tier); !ok || t.Width == 0 {
			return nil
		}
		each = new(big.Rat).Mul(perMP, big.NewRat(int64(t.Width)*int64(t.Height), million))
	}
	text := decimal(new(big.Rat).Mul(each, big.NewRat(int64(n), 1)))
	return &text
}

// creditCost prices the provider's own unit; empty if the unit or its price is unknown.
func (m Model) creditCost(credits string) string {
	amount, ok := dollars(credits)
	if !ok {
		return ""
	}
	each, ok := m.price("credit", "", "", "")
	if !ok {
		return ""
	}
	return decimal(amount.Mul(amount, each))
}

// free reports whether the model costs nothing at all.
func (m Model) free() bool {
	for _, p := range m.Prices {
		if amount, ok := dollars(p.USD); !ok || amount.Sign() != 0 {
			return false
		}
	}
	return len(m.Prices) > 0
}

// tokenCost prices the tokens of a call; false if there are none, or if a kind of
// token was used that has no price.
func (m Model) tokenCost(u Usage) (*big.Rat, bool) {
	if u.InputTokens+u.OutputTokens == 0 {
		return nil, false
	}
	sum := new(big.Rat)
	for _, part := range []struct {
		unit   string
		tokens int64
	}{
		{"token_text_in", u.InputTokens - u.ImageInputTokens},
		{"token_image_in", u.ImageInputTokens},
		{"token_text_out", u.OutputTokens - u.ImageOutputTokens},
		{"token_image_out", u.ImageOutputTokens},
	} {
		if part.tokens <= 0 {
			continue
		}
		usd, ok := m.price(part.unit, "", "", "")
		if !ok {
			return nil, false
		}
		sum.Add(sum, usd.Mul(usd, big.NewRat(part.tokens, million)))
	}
	return sum, true
}

// About writes an amount of dollars for people: with two digits that count, or to the cent
// above a dollar and to the dollar above ten. What that changes is "about $0.13", the rest
// "$0.2". Other text than a decimal number stays as it is.
func About(usd string) string {
	exact, ok := dollars(usd)
	if !ok || exact.Sign() == 0 {
		return "$" + usd
	}
	digits := 2
	for least := big.NewRat(1, 10); exact.Cmp(least) < 0 && digits < 15; least.Quo(least, big.NewRat(10, 1)) {
		digits++
	}
	if exact.Cmp(big.NewRat(10, 1)) >= 0 {
		digits = 0
	}
	rounded := exact.FloatString(digits)
	if is, _ := new(big.Rat).SetString(rounded); is.Cmp(exact) == 0 {
		return "$" + usd
	}
	return "about $" + strings.TrimSuffix(rounded, ".00")
}
