package main

import (
	"slices"
	"strings"
	"time"

	"atelier/generate/catalog"
	"atelier/ledger"
)

// priceList summarizes a model's prices today: for each unit the price, or the lowest and the highest one.
func priceList(m catalog.Model, today time.Time) string {
	type span struct {
		unit          string
		least, most   ledger.Pico
		cheap, dearer string
	}
	var all []span
	for _, p := range m.Prices {
		usd, err := ledger.ParsePico(p.USD)
		if err != nil || p.Until != "" && p.Until < today.UTC().Format(time.DateOnly) {
			continue
		}
		i := slices.IndexFunc(all, func(s span) bool { return s.unit == p.Unit })
		if i < 0 {
			all = append(all, span{p.Unit, usd, usd, p.USD, p.USD})
			continue
		}
		if s := &all[i]; usd < s.least {
			s.least, s.cheap = usd, p.USD
		} else if usd > s.most {
			s.most, s.dearer = usd, p.USD
		}
	}
	if len(all) == 0 {
		return "unknown"
	}
	var results, tokens []string // prices per result precede prices per token
	for _, s := range all {
		text := "$" + s.cheap
		if s.most > s.least {
			text += "–" + s.dearer
		}
		text += " / " + shortUnit(s.unit)
		if strings.HasPrefix(s.unit, "token_") {
			tokens = append(tokens, text)
		} else {
			results = append(results, text)
		}
	}
	return strings.Join(append(results, tokens...), ", ")
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
