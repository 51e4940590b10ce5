package table

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// unitInName finds the unit that a column's name ends with: weight (kg), Umsatz in €,
// body_mass_g, Rabatt %.
func unitInName(name string) string {
	if u := bracketed(name); u != "" {
		return u
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '_' })
	if len(parts) < 2 {
		return ""
	}
	last := parts[len(parts)-1]
	if c, ok := currency(last); ok {
		return c
	}
	if c, ok := currency(strings.ToUpper(last)); ok {
		return c
	}
	snake := strings.Contains(name, "_")
	switch lower := strings.ToLower(last); {
	case last == "%" || lower == "pct" || lower == "percent" || lower == "prozent":
		return "%"
	case snake && (last == "g" || last == "m"), isUnit(last) && len(last) > 1 && !slices.Contains([]string{"in", "min", "px", "pt", "sec"}, last):
		return last
	case snake && (lower == "c" || lower == "f") && strings.Contains(strings.ToLower(name), "temp"):
		return "°" + strings.ToUpper(last)
	case snake && lower == "kwh":
		return "kWh"
	}
	return ""
}

// bracketed finds a unit in brackets at the end of a name. Other words in brackets, such as
// (estimated), are none.
func bracketed(name string) string {
	n := len(name)
	if n < 4 {
		return ""
	}
	var open byte
	switch name[n-1] {
	case ')':
		open = '('
	case ']':
		open = '['
	default:
		return ""
	}
	i := strings.LastIndexByte(name, open)
	if i < 1 {
		return ""
	}
	u := strings.TrimPrefix(strings.TrimSpace(name[i+1:n-1]), "in ")
	if u == "" || utf8.RuneCountInString(u) > 20 || u[0] >= '0' && u[0] <= '9' {
		return ""
	}
	if c, ok := unitOf(u, false); ok {
		return c
	}
	if strings.ContainsAny(u, "€$£%°/²³µ") || name[n-1] == ']' {
		return u
	}
	for _, w := range words(u) {
		switch w {
		case "thousand", "thousands", "million", "millions", "billion", "billions", "tsd", "mio", "mrd", "milliers", "milliards", "stk", "stück", "pcs", "pieces", "hours", "days", "weeks",
			"months", "years", "minutes", "seconds", "stunden", "tage", "jahre", "persons", "people", "points", "eur", "usd", "gbp", "chf":
			return u
		}
	}
	return ""
}
