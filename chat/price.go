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

// Pricing is what the tokens of one model cost.
type Pricing struct {
	// Rate is the price of tokens; Prices are those that hold instead under a condition, of
	// several that do the last.
	Rate   `yaml:",inline"`
	Prices []Price `json:"prices,omitempty" yaml:"prices"`
	// ReportsCost is true if each answer reports its own cost.
	ReportsCost bool `json:"reports_cost,omitempty" yaml:"reports_cost"`
}

// Priced reports whether the model's tokens have a known price, or its answers tell it.
func (f Profile) Priced() bool {
	return f.Offline || f.ReportsCost || f.InputUSD != "" && f.OutputUSD != ""
}

// Cost is the exact price of a call at a time, in US dollars as decimal text; nil if a
// price that it needs is not known.
func (f Profile) Cost(u Usage, at time.Time) *string {
	if f.Offline && f.InputUSD == "" {
		return new("0")
	}
	return f.cost(u, at)
}

// cost is the price of a call by the rate that holds for it.
func (p Pricing) cost(u Usage, at time.Time) *string {
	r := p.Rate
	for _, c := range p.Prices {
		if u.InputTokens > c.Above && !at.Before(c.From) {
			r = c.Rate
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
		if !ok {
			return nil
		}
		sum.Add(sum, price.Mul(price, big.NewRat(part.tokens, 1)))
	}
	return USD(sum.Quo(sum, big.NewRat(1_000_000, 1)))
}

// USD writes an amount in US dollars as decimal text, with eighteen places at most.
func USD(amount *big.Rat) *string {
	s := strings.TrimSuffix(strings.TrimRight(amount.FloatString(18), "0"), ".")
	return &s
}
