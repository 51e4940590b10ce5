package money_test

import (
	"math/big"
	"testing"

	"atelier/generate/money"
)

// TestParse: only plain decimals are amounts.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"0": "0", "0.04": "0.04", "12": "12", "007.50": "7.5", "0.000000000000000001": "0.000000000000000001"} {
		r, ok := money.Parse(text)
		if !ok || money.Text(r) != want {
			t.Errorf("%q is %v, %t", text, r, ok)
		}
	}
	for _, text := range []string{"", "-1", "+1", ".5", "5.", "1e3", "1/3", "0x10", "1,5", " 1", "$1", "NaN", "Inf", "1.2.3", "١"} {
		if r, ok := money.Parse(text); ok {
			t.Errorf("%q is read as %v", text, r)
		}
	}
}

// TestTextIsExact: a cost at a price per million tokens is exact to its last digit.
func TestTextIsExact(t *testing.T) {
	t.Parallel()
	price, _ := money.Parse("0.075")
	cost := new(big.Rat).Mul(price, big.NewRat(1, 1_000_000))
	if got := money.Text(cost); got != "0.000000075" {
		t.Errorf("one token costs %s", got)
	}
	if got := money.Text(new(big.Rat).Mul(cost, big.NewRat(4_000_000, 1))); got != "0.3" {
		t.Errorf("four million tokens cost %s", got)
	}
}

// TestAbout: amounts for people have two significant digits, and say if digits were left out.
func TestAbout(t *testing.T) {
	t.Parallel()
	for usd, want := range map[string]string{
		"0": "$0", "0.00": "$0.00", "0.2": "$0.2", "0.134": "about $0.13", "0.0421": "about $0.042", "0.00000751": "about $0.0000075",
		"1.234": "about $1.23", "2.001": "about $2", "9.99": "$9.99", "12.4": "about $12", "1000": "$1000", "a lot": "$a lot",
	} {
		if got := money.About(usd); got != want {
			t.Errorf("%q is %q, want %q", usd, got, want)
		}
	}
}
