// Package money reads and writes amounts in US dollars as exact decimal text: those of prices,
// charges and budgets. It imports the standard library only.
package money

import (
	"math/big"
	"regexp"
	"strings"
)

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// Parse reads decimal text; ok is false for anything else.
func Parse(text string) (*big.Rat, bool) {
	if !decimal.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// Text writes an amount exactly. Prices are decimals and tokens are divided by a
// million, so every sum of them has an end; 18 places hold any of them.
func Text(r *big.Rat) string { return Rounded(r, 18) }

// Rounded writes an amount with at most so many places, without zeros at its end.
func Rounded(r *big.Rat, places int) string {
	s := r.FloatString(places)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// About writes an amount of dollars for people: with two digits that count, or to the cent
// above a dollar and to the dollar above ten. What that changes is "about $0.13", the rest
// "$0.2". Other text than a decimal number stays as it is.
func About(usd string) string {
	exact, ok := Parse(usd)
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
