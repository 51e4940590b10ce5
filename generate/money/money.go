// Package money parses and formats amounts in US dollars as exact decimal text, for prices, charges and budgets. It
// imports only the standard library.
package money

import (
	"math/big"
	"regexp"
	"strings"
)

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// Parse parses decimal text; ok is false for anything else.
func Parse(text string) (*big.Rat, bool) {
	if !decimal.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// Text formats an amount exactly. Prices are decimals and token counts are divided by a million, so every sum is a
// finite decimal; 18 places hold any of them.
func Text(r *big.Rat) string { return Rounded(r, 18) }

// Rounded formats an amount with at most the given decimal places, without trailing zeros.
func Rounded(r *big.Rat, places int) string {
	s := r.FloatString(places)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// About formats a dollar amount for people: two significant digits, cents from a dollar up, whole dollars from ten up.
// A rounded amount is "about $0.13", an exact one "$0.2". Text that is not a decimal number is returned after a dollar
// sign.
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
