package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"atelier/generate/catalog"
	"atelier/ledger"
)

// priceList summarizes a model's prices today: for each unit the price, or the lowest and the highest one. Prices per
// result precede prices per token.
func priceList(m catalog.Model, today time.Time) string {
	var units []string
	prices := map[string][]string{}
	for _, p := range m.Prices {
		if p.Until != "" && p.Until < today.UTC().Format(time.DateOnly) {
			continue
		}
		if !slices.Contains(units, p.Unit) {
			units = append(units, p.Unit)
		}
		prices[p.Unit] = append(prices[p.Unit], p.USD)
	}
	var results, tokens []string
	for _, unit := range units {
		compare := func(a, b string) int { return cmp.Compare(ledger.PicoOf(&a), ledger.PicoOf(&b)) }
		least, most := slices.MinFunc(prices[unit], compare), slices.MaxFunc(prices[unit], compare)
		text := "$" + least
		if compare(least, most) < 0 {
			text += "–" + most
		}
		text += " / " + shortUnit(unit)
		if strings.HasPrefix(unit, "token_") {
			tokens = append(tokens, text)
		} else {
			results = append(results, text)
		}
	}
	return cmp.Or(strings.Join(append(results, tokens...), ", "), "unknown")
}

// shortUnit returns the unit of a price for a table.
func shortUnit(unit string) string {
	kind, isToken := strings.CutPrefix(unit, "token_")
	switch {
	case unit == "character":
		return "1M characters"
	case isToken:
		return "1M " + strings.ReplaceAll(kind, "_", " ")
	}
	return strings.ReplaceAll(unit, "_", " ")
}
