package catalog

import (
	"math/big"
	"slices"
	"time"

	"atelier/generate"
	"atelier/generate/money"
)

// million is the number of tokens or characters that a price applies to.
const million = 1_000_000

// PricedOn returns the model with the prices of one day. Lines that have ended are omitted; of several lines for the
// same thing, the one that ends first applies.
func (m Model) PricedOn(day time.Time) Model {
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

// sameThing reports whether two lines price the same thing at different times.
func (p Price) sameThing(o Price) bool {
	return p.Unit == o.Unit && p.Quality == o.Quality && p.Size == o.Size && p.Tier == o.Tier
}

// Price returns the price of a unit for these settings: the most specific matching line wins; a line with a different
// value does not match.
func (m Model) Price(unit, quality, size, tier string) (*big.Rat, bool) {
	best, bestScore := "", -1
	for _, p := range m.Prices {
		score, fits := 0, p.Unit == unit
		for _, pair := range [][2]string{{p.Quality, quality}, {p.Size, size}, {p.Tier, tier}} {
			if pair[0] != "" {
				score++
				fits = fits && pair[0] == pair[1]
			}
		}
		if fits && score > bestScore {
			best, bestScore = p.USD, score
		}
	}
	return money.Parse(best) // empty if no line fits
}

// CreditCost converts an amount of the provider's credits to US dollars; empty if the amount or the price is unknown.
func (m Model) CreditCost(credits string) string {
	amount, ok := money.Parse(credits)
	each, priced := m.Price("credit", "", "", "")
	if !ok || !priced {
		return ""
	}
	return money.Text(amount.Mul(amount, each))
}

// Free reports whether the model costs nothing.
func (m Model) Free() bool {
	costs := func(p Price) bool { amount, ok := money.Parse(p.USD); return !ok || amount.Sign() != 0 }
	return len(m.Prices) > 0 && !slices.ContainsFunc(m.Prices, costs)
}

// TokenCost returns the price of a call's tokens; false if it used none, or used a kind of token that has no price.
func (m Model) TokenCost(u generate.Usage) (*big.Rat, bool) {
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
		usd, ok := m.Price(part.unit, "", "", "")
		if !ok {
			return nil, false
		}
		sum.Add(sum, usd.Mul(usd, big.NewRat(part.tokens, million)))
	}
	return sum, true
}
