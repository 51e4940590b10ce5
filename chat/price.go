package chat

import (
	"math/big"
	"strings"
	"time"
)

// Rate is the price of tokens in US dollars per million, as decimal text; empty means unknown.
type Rate struct {
	InputUSD  string `json:"input_usd,omitempty" yaml:"input_usd"`
	OutputUSD string `json:"output_usd,omitempty" yaml:"output_usd"`
	// CachedUSD is the price of prompt tokens that the provider read from its cache; empty means the price of other
	// prompt tokens.
	CachedUSD string `json:"cached_usd,omitempty" yaml:"cached_usd"`
	// ImageOutputUSD is the price of tokens for pictures in the answer.
	ImageOutputUSD string `json:"image_output_usd,omitempty" yaml:"image_output_usd"`
}

// Price is a rate that applies under a condition.
type Price struct {
	Rate `yaml:",inline"`
	// Above is the number of prompt tokens above which the rate applies; 0 means any.
	Above int64 `json:"above,omitempty" yaml:"above"`
	// From is the time from which the rate applies; the zero time means always.
	From time.Time `json:"from,omitzero" yaml:"from"`
}

// Pricing is the price of the tokens of one model.
type Pricing struct {
	// Rate is the default price. Prices are rates that apply instead under a condition; if several apply, the last one
	// is used.
	Rate   `yaml:",inline"`
	Prices []Price `json:"prices,omitempty" yaml:"prices"`
	// ReportsCost means that each answer reports its own cost.
	ReportsCost bool `json:"reports_cost,omitempty" yaml:"reports_cost"`
}

// Priced reports whether the price of the model's tokens is known or reported by its answers.
func (f Profile) Priced() bool {
	return f.Offline || f.ReportsCost || f.InputUSD != "" && f.OutputUSD != ""
}

// Cost returns the exact price of a call at a time, in US dollars as decimal text; nil if a required price is unknown, or
// if no tokens were counted and they are not free.
func (f Profile) Cost(u Usage, at time.Time) *string {
	if f.Offline && f.InputUSD == "" {
		return new("0")
	}
	r := f.Rate
	for _, p := range f.Prices {
		if u.InputTokens > p.Above && !at.Before(p.From) {
			r = p.Rate
		}
	}
	cached := min(u.CachedTokens, u.InputTokens)
	if r.CachedUSD == "" {
		cached = 0
	}
	images := min(u.ImageTokens, u.OutputTokens)
	sum := new(big.Rat)
	for _, part := range []struct {
		tokens int64
		usd    string
		needed bool
	}{
		{u.InputTokens - cached, r.InputUSD, true},
		{u.OutputTokens - images, r.OutputUSD, true},
		{cached, r.CachedUSD, cached > 0},
		{images, r.ImageOutputUSD, images > 0},
	} {
		if !part.needed {
			continue
		}
		price, ok := new(big.Rat).SetString(part.usd)
		if !ok || u == (Usage{}) && price.Sign() != 0 {
			return nil
		}
		sum.Add(sum, price.Mul(price, big.NewRat(part.tokens, 1)))
	}
	return USD(sum.Quo(sum, big.NewRat(1_000_000, 1)))
}

// USD formats an amount in US dollars as decimal text with at most eighteen decimal places.
func USD(amount *big.Rat) *string {
	return new(strings.TrimSuffix(strings.TrimRight(amount.FloatString(18), "0"), "."))
}
