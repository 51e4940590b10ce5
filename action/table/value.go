package table

import (
	"strings"
	"unicode"
)

// Type is what a column holds.
type Type string

// The types of columns.
const (
	Integer  Type = "integer"
	Number   Type = "number"
	Text     Type = "text"
	Date     Type = "date"
	DateTime Type = "datetime"
	Boolean  Type = "boolean"
)

// isMissing knows the marks for "no value" that mean so in every column.
func isMissing(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if len(b) > 12 {
		return false
	}
	switch string(b) {
	case "-", "–", "—", "--", "---", ".", "..", "...", "NA", "N/A", "n/a", "N/a", "na", "#N/A", "#NV", "n.a.", "N.A.", "n. a.", "n.v.", "k.A.", "k. A.", "k.a.", "K.A.",
		"null", "NULL", "Null", "nan", "NaN", "NAN", "<NA>", "NaT", "nil", `\N`:
		return true
	}
	return false
}

// isWeaklyMissing knows words that are values in a column of text, and none elsewhere.
func isWeaklyMissing(b []byte) bool {
	if len(b) > 12 {
		return false
	}
	switch strings.ToLower(string(b)) {
	case "none", "?", "*", "keine", "inf", "-inf", "infinity", "-infinity":
		return true
	}
	return false
}

// isBroken recognises the errors of spreadsheets.
func isBroken(b []byte) bool {
	if len(b) < 4 || len(b) > 14 || b[0] != '#' {
		return false
	}
	switch string(b) {
	case "#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!", "#CALC!", "#ERROR!", "#BEZUG!", "#WERT!", "#ZAHL!", "#VALEUR!", "#NOM?", "#NOMBRE!":
		return true
	}
	return false
}

// truth reads the words of a boolean. Single letters are so only in pairs: letter is set.
func truth(b []byte) (v, letter, ok bool) {
	if len(b) > 6 {
		return false, false, false
	}
	switch strings.ToLower(string(b)) {
	case "true", "yes", "ja", "oui", "wahr", "vrai", "si", "sí":
		return true, false, true
	case "false", "no", "nein", "non", "falsch", "faux":
		return false, false, true
	case "y", "t", "j", "o":
		return true, true, true
	case "n", "f":
		return false, true, true
	}
	return false, false, false
}

// isCode recognises two capital letters, such as the code of a country: NA is Namibia there.
func isCode(b []byte) bool {
	return len(b) == 2 && b[0] >= 'A' && b[0] <= 'Z' && b[1] >= 'A' && b[1] <= 'Z'
}

// words cuts a name into lower-case words: "orderNo", "order_no" and "Order no." alike.
func words(name string) []string {
	var b strings.Builder
	last := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteByte(' ')
		}
		last = r
	}
	return strings.Fields(b.String())
}

// isKey recognises by its name a column whose digits name things: ids, codes, ZIP codes,
// SKUs, phone numbers. They stay text.
func isKey(name string) bool {
	w := words(name)
	for i, word := range w {
		last := i == len(w)-1
		switch word {
		case "id", "ids", "uuid", "guid", "zip", "zipcode", "plz", "postcode", "postleitzahl", "postal", "sku", "ean", "gtin", "upc", "isbn", "issn", "asin", "iban", "bic",
			"phone", "telephone", "telefon", "tel", "fax", "mobile", "mobil", "handy", "telefonnummer", "téléphone", "portable", "fips", "siret", "siren", "vat", "ssn", "barcode", "imei", "vin":
			return true
		case "no", "nr", "number", "nummer", "code", "num", "nbr", "numéro", "numero", "key", "account", "konto", "ref", "reference", "référence", "kennung", "serial":
			if last && i > 0 {
				return true
			}
		}
		for _, end := range []string{"nummer", "nr", "kennung"} {
			if last && len(word) > len(end)+2 && strings.HasSuffix(word, end) {
				return true
			}
		}
	}
	return len(w) == 1 && (w[0] == "code" || w[0] == "key" || w[0] == "konto")
}

// isCalendar recognises by its name a column of small numbers that may be written with
// zeros in front: the month 03.
func isCalendar(name string) bool {
	for _, word := range words(name) {
		switch word {
		case "month", "monat", "mois", "day", "tag", "jour", "hour", "stunde", "heure", "week", "kw", "woche", "semaine", "quarter", "quartal", "minute", "year", "jahr":
			return true
		}
	}
	return false
}

// isDateName recognises by its name a column of dates, where 20240301 is one.
func isDateName(name string) bool {
	for _, word := range words(name) {
		switch {
		case word == "date", word == "day", word == "tag", strings.HasSuffix(word, "datum"), word == "jour", strings.HasSuffix(word, "date"):
			return true
		}
	}
	return false
}

// isYear recognises by its name a column of years.
func isYear(name string) bool {
	for _, word := range words(name) {
		if word == "year" || word == "jahr" || word == "année" || word == "annee" || word == "yr" {
			return true
		}
	}
	return false
}
