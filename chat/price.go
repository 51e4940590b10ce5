package chat

import (
	"math/big"
	"strings"
	"time"
)

// Rate is what tokens cost, in US dollars per million as decimal text; empty means
// unknown.
type Rate struct {
	InputUSD  string `json:"input_usd,omitempty" yaml:"input_usd"`
	OutputUSD string `json:"output_usd,omitempty" yaml:"output_usd"`
	// CachedUSD is the price of prompt tokens that the provider read from its cache; empty
	// means that of others.
	CachedUSD string `json:"cached_usd,omitempty" yaml:"cached_usd"`
	// ImageOutputUSD is the price of the tokens of pictures in the answer.
	ImageOutputUSD string `json:"image_output_usd,omitempty" yaml:"image_output_usd"`
}

// Price is a rate that holds under a condition.
type Price struct {
	Rate `yaml:",inline"`
	// Above is the number of prompt tokens above which it holds; 0 means any.
	Above int64 `json:"above,omitempty" yaml:"above"`
	// From is when it begins to hold; the zero time means always.
	From time.Time `json:"from,omitzero" yaml:"from"`
}

// rate is the price that holds for a call.
func (f Profile) rate(u Usage, at time.Time) Rate {
	r := f.Rate
	for _, p := range f.Prices {
		if u.InputTokens > p.Above && !at.Before(p.From) {
			r = p.Rate
		}
	}
	return r
}

// Priced reports whether the model's tokens have a known price, or its answers tell it.
func (f Profile) Priced() bool {
	return f.Offline || f.ReportsCost || f.InputUSD != "" && f.OutputUSD != ""
}

// Cost is the exact price of a call at a time, in US dollars as decimal text; nil if a
// price that it needs is not known.
func (f Profile) Cost(u Usage, at time.Time) *string {
	if f.Offline && f.InputUSD == "" {
		free := "0"
		return &free
	}
	r := f.rate(u, at)
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
		if !ok {
			return nil
		}
		sum.Add(sum, price.Mul(price, big.NewRat(part.tokens, 1)))
	}
	s := decimal(sum.Quo(sum, big.NewRat(1_000_000, 1)))
	return &s
}

// decimal writes an amount with eighteen places at most.
func decimal(usd *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(usd.FloatString(18), "0"), ".")
}
