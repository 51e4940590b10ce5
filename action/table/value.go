package table

import (
	"slices"
	"strings"
	"unicode"
)

// Type is the type of a column's values.
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

// wordSet returns the set of the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

var (
	// missing are the marks for a missing value in every column.
	missing = wordSet(`- – — -- --- . .. ... NA N/A n/a N/a na #N/A #NV n.a. N.A. n.v. k.A. k.a. K.A. null NULL Null nan NaN NAN <NA> NaT nil \N`)
	// weaklyMissing are words that are values in a text column and missing values in all others.
	weaklyMissing = wordSet("none ? * keine inf -inf infinity -infinity")
	// broken are spreadsheet errors.
	broken = wordSet("#REF! #DIV/0! #VALUE! #NAME? #NULL! #NUM! #SPILL! #CALC! #ERROR! #BEZUG! #WERT! #ZAHL! #VALEUR! #NOM? #NOMBRE!")
)

func isMissing(b []byte) bool {
	return len(b) == 0 || len(b) <= 5 && !isDigit(b[0]) && (missing[string(b)] || string(b) == "n. a." || string(b) == "k. A.")
}

func isWeaklyMissing(b []byte) bool {
	return len(b) <= 12 && !isDigit(b[0]) && weaklyMissing[strings.ToLower(string(b))]
}

// truths are the words for a boolean; single letters count only in pairs.
var truths = map[string]struct{ value, letter bool }{
	"true": {true, false}, "yes": {true, false}, "ja": {true, false}, "oui": {true, false}, "wahr": {true, false}, "vrai": {true, false}, "si": {true, false}, "sí": {true, false},
	"false": {}, "no": {}, "nein": {}, "non": {}, "falsch": {}, "faux": {},
	"y": {true, true}, "t": {true, true}, "j": {true, true}, "o": {true, true},
	"n": {false, true}, "f": {false, true},
}

// truth reads the word for a boolean; letter reports whether it is a single letter.
func truth(b []byte) (v, letter, ok bool) {
	if len(b) > 6 {
		return false, false, false
	}
	t, ok := truths[strings.ToLower(string(b))]
	return t.value, t.letter, ok
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// words splits a name into lower-case words: "orderNo", "order_no" and "Order no." give the same words.
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

var (
	keyWords = wordSet(`id ids uuid guid zip zipcode plz postcode postleitzahl postal sku ean gtin upc isbn issn asin iban bic
		phone telephone telefon tel fax mobile mobil handy telefonnummer téléphone portable fips siret siren vat ssn barcode imei vin`)
	// keyEnds mark a key at the end of a name of several words.
	keyEnds       = wordSet("no nr number nummer code num nbr numéro numero key account konto ref reference référence kennung serial")
	calendarWords = wordSet("month monat mois day tag jour hour stunde heure week kw woche semaine quarter quartal minute year jahr")
	yearWords     = wordSet("year jahr année annee yr")
)

// isKey reports whether a name is that of a column whose digits identify things: ids, codes, ZIP codes, SKUs, phone
// numbers. Such columns stay text.
func isKey(name string) bool {
	w := words(name)
	if len(w) == 0 {
		return false
	}
	last := w[len(w)-1]
	compound := slices.ContainsFunc([]string{"nummer", "nr", "kennung"}, func(end string) bool { return len(last) > len(end)+2 && strings.HasSuffix(last, end) })
	single := len(w) == 1 && (last == "code" || last == "key" || last == "konto")
	return compound || single || len(w) > 1 && keyEnds[last] || slices.ContainsFunc(w, func(word string) bool { return keyWords[word] })
}

// isCalendar reports whether a name is that of a column of small numbers that may have leading zeros: the month 03.
func isCalendar(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool { return calendarWords[word] })
}

// isDateName reports whether a name is that of a column of dates, in which 20240301 is a date.
func isDateName(name string) bool {
	return slices.ContainsFunc(words(name), func(word string) bool {
		return word == "day" || word == "tag" || word == "jour" || strings.HasSuffix(word, "datum") || strings.HasSuffix(word, "date")
	})
}
