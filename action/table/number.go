package table

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// number is a cell parsed as a number. The value of 1.234 depends on the decimal sign; that of 1234 does not.
type number struct {
	// point is the value with a decimal point, comma the value with a decimal comma.
	point, comma     float64
	okPoint, okComma bool
	// decimalsPoint and decimalsComma are the numbers of decimals of the two values.
	decimalsPoint, decimalsComma int
	unit                         string
	// twofold reports that the format types the cell as a number that would be another one as a text: 1.234.
	twofold bool
	// zeros reports leading zeros that have no numeric meaning: 01067.
	zeros bool
}

// value returns the number for one decimal sign, and whether it has no decimals. A cell that is a number only with the
// other sign is read with that one.
func (n number) value(comma bool) (v float64, whole bool) {
	if comma && n.okComma || !n.okPoint {
		return n.comma, n.decimalsComma == 0
	}
	return n.point, n.decimalsPoint == 0
}

// maxNumber is the maximum length of a cell with a number, in bytes.
const maxNumber = 48

// maxDigits is the maximum number of digits before the decimal sign: longer numbers are not exact, and are ids.
const maxDigits = 15

// parseNumber reads 1234, -1,234.5, 1.234,5, 1 234,5, 1'234.50, (12), $1,200, 12 %, 5 kg, 1e6.
func parseNumber(b []byte) (number, bool) {
	if len(b) == 0 || len(b) > maxNumber {
		return number{}, false
	}
	if n, ok := plainNumber(b); ok {
		return n, true
	}
	if b[0] == '+' && len(b) > 8 {
		return number{}, false // a telephone number
	}
	negative := false
	if b[0] == '(' && b[len(b)-1] == ')' {
		b, negative = bytes.TrimSpace(b[1:len(b)-1]), true
	}
	b, minus := cutSign(b)
	before, b := cutPrefix(b)
	b, again := cutSign(b)
	core, after := cutSuffix(b)
	if len(core) == 0 || minus && again {
		return number{}, false
	}
	negative = negative != (minus || again)
	if after == "-" {
		negative, after = true, ""
	}
	n := number{unit: before}
	n.point, n.decimalsPoint, n.okPoint, n.zeros = reading(core, '.', ',')
	n.comma, n.decimalsComma, n.okComma, _ = reading(core, ',', '.')
	if after != "" {
		if before != "" && before != after {
			return number{}, false
		}
		n.unit = after
	}
	if negative {
		n.point, n.comma = -n.point, -n.comma
	}
	return n, n.okPoint || n.okComma || n.zeros
}

// plainNumber reads digits with an optional sign and point, and powers of ten.
func plainNumber(b []byte) (number, bool) {
	i, negative := 0, false
	if b[0] == '-' || b[0] == '+' {
		i, negative = 1, b[0] == '-'
	}
	from, mantissa, point := i, uint64(0), -1
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			mantissa = mantissa*10 + uint64(c-'0')
		case c == '.' && point < 0:
			point = i
		case (c == 'e' || c == 'E') && i > from:
			return power(b)
		default:
			return number{}, false
		}
		if point < 0 && i-from >= maxDigits {
			return number{}, false
		}
	}
	digits, decimals := i-from, 0
	if point >= 0 {
		digits--
		decimals = len(b) - point - 1
	}
	if digits == 0 || b[0] == '+' && digits > 8 {
		return number{}, false
	}
	if b[from] == '0' && digits > 1 && (point < 0 || point > from+1) {
		return number{zeros: true}, point < 0
	}
	if point >= 0 && decimals == 3 && point > from && b[from] != '0' && point-from <= 3 {
		return number{}, false // 1.234 has two readings
	}
	v := float64(mantissa) / math.Pow10(decimals)
	if digits > maxDigits { // binary fractions as programs write them: 0.30000000000000004
		v, _ = strconv.ParseFloat(string(b[from:]), 64) // the digits have been checked
	}
	if negative {
		v = -v
	}
	n := number{point: v, comma: v, okPoint: true, okComma: point < 0, decimalsPoint: decimals}
	return n, true
}

// power reads 1.5e-7.
func power(b []byte) (number, bool) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsInf(v, 0) || len(bytes.Trim(b, "0123456789+-.eE")) > 0 { // hexadecimal, and with underscores
		return number{}, false
	}
	decimals := 1
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		decimals = 0
	}
	return number{point: v, comma: v, okPoint: true, okComma: !bytes.ContainsRune(b, '.'), decimalsPoint: decimals, decimalsComma: decimals}, true
}

// cutSign removes a sign and the space after it.
func cutSign(b []byte) (rest []byte, negative bool) {
	r, size := utf8.DecodeRune(b)
	switch r {
	case '-', '−', '–':
		return bytes.TrimSpace(b[size:]), true
	case '+':
		return b[size:], false
	}
	return b, false
}

// cutPrefix removes a currency before the number.
func cutPrefix(b []byte) (unit string, rest []byte) {
	i := bytes.IndexFunc(b, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' || r == ',' || r == '-' || r == '−' })
	if i <= 0 || i > 8 {
		return "", b
	}
	c, ok := currency(string(bytes.TrimSpace(b[:i])))
	if !ok {
		return "", nil
	}
	return c, b[i:]
}

// cutSuffix removes a unit after the number, and the dash that stands for no cents: 1.200,- €.
func cutSuffix(b []byte) (core []byte, unit string) {
	i := len(b)
	for i > 0 && (b[i-1] < '0' || b[i-1] > '9') {
		i--
	}
	core, tail := b[:i], b[i:]
	if i < len(b) && (b[i] == '.' || b[i] == ',') { // "12." and "12,"
		core, tail = b[:i+1], bytes.TrimLeft(b[i+1:], "-–")
	}
	trimmed := bytes.TrimSpace(tail)
	if len(trimmed) == 0 {
		return core, ""
	}
	unit, ok := unitOf(string(trimmed), len(trimmed) < len(tail))
	if !ok {
		return nil, ""
	}
	return core, unit
}

// unitOf reads the text after a number: a known sign or, after a space, one short word.
func unitOf(s string, spaced bool) (string, bool) {
	if c, ok := currency(s); ok {
		return c, true
	}
	switch s {
	case "%", "‰", "°", "°C", "°F", "K", "-":
		return s, true
	}
	if units[s] {
		return s, true
	}
	if !spaced || utf8.RuneCountInString(s) > 12 {
		return "", false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && r != '.' && r != '/' && r != '²' && r != '³' && r != '°' && r != 'µ' {
			return "", false
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	return s, unicode.IsLetter(first) || first == '°' || first == '/'
}

// units may follow a number without a space.
var units = wordSet(`mm cm dm m km m² m2 sqm qm sqft km² km2 m³ m3 ha mi ft in yd mg g kg t lb lbs oz
	ml cl dl l L hl ms s sec min h hrs W kW MW GW Wh kWh MWh GWh TWh V mV A mA
	Hz kHz MHz GHz Pa hPa kPa bar mbar B kB KB MB GB TB KiB MiB GiB ppm ppb dB
	km/h kmh m/s mph kn kt kcal kJ J N px pt x`)

// currencies maps the written forms of currencies to their signs.
var currencies = map[string]string{
	"EUR": "€", "Euro": "€", "euro": "€", "Eur": "€", "USD": "$", "US$": "$", "usd": "$", "GBP": "£", "JPY": "¥",
	"Fr.": "CHF", "SFr.": "CHF", "Fr": "CHF", "INR": "₹", "Rs": "₹", "Rs.": "₹",
}

// signs are the currency signs that stay as written.
var signs = wordSet("€ $ £ ¥ CHF ₹ ₽ RUB zł PLN kr SEK NOK DKK CAD AUD NZD A$ C$ CA$ R$ BRL CNY CZK HUF Ft TRY ₺ ₩ KRW MXN ZAR SGD HKD")

// currency returns the sign of a currency.
func currency(s string) (string, bool) {
	if sign, ok := currencies[s]; ok {
		return sign, true
	}
	return s, signs[s]
}

// reading reads digits with the given decimal sign. other, spaces or apostrophes may separate groups of three.
func reading(core []byte, decimal, other byte) (v float64, decimals int, ok, zeros bool) {
	whole, rest := core, []byte(nil)
	if i := bytes.IndexByte(core, decimal); i >= 0 {
		whole, rest = core[:i], core[i+1:]
	}
	digits := make([]byte, 0, maxNumber)
	digits, grouped, ok := groups(digits, whole, other)
	if !ok || len(digits) == 0 && len(rest) == 0 {
		return 0, 0, false, false
	}
	if len(digits) > 1 && digits[0] == '0' {
		return 0, 0, false, !grouped && len(rest) == 0 && len(digits) == len(core)
	}
	if len(digits) > maxDigits {
		return 0, 0, false, false
	}
	digits = append(digits, '.')
	for _, c := range rest {
		if c < '0' || c > '9' {
			return 0, 0, false, false
		}
		digits = append(digits, c)
	}
	v, err := strconv.ParseFloat(string(digits), 64)
	return v, len(rest), err == nil, false
}

// groups appends the digits of groups of three, or of one unbroken run, to to.
func groups(to, b []byte, other byte) (digits []byte, grouped, ok bool) {
	var sep rune
	run := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		b = b[size:]
		if r >= '0' && r <= '9' {
			to = append(to, byte(r))
			run++
			continue
		}
		switch r {
		case rune(other), '\'', '’':
		case ' ', '\u00a0', '\u202f', '\u2009':
			r = ' '
		default:
			return nil, false, false
		}
		if run == 0 || run > 3 || sep != 0 && (run != 3 || r != sep) {
			return nil, false, false
		}
		sep, run = r, 0
	}
	if sep != 0 && (run != 3 || to[0] == '0') {
		return nil, true, false
	}
	return to, sep != 0, true
}

// unitInName returns the unit at the end of a column name: weight (kg), Umsatz in €, body_mass_g, Rabatt %.
func unitInName(name string) string {
	if u := bracketed(name); u != "" {
		return u
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '_' })
	if n := len(parts); n < 2 || slices.Contains([]string{"per", "pro", "je", "par"}, strings.ToLower(parts[n-2])) {
		return "" // price_per_kwh is no energy
	}
	last := parts[len(parts)-1]
	for _, s := range []string{last, strings.ToUpper(last)} {
		if c, ok := currency(s); ok {
			return c
		}
	}
	snake := strings.Contains(name, "_")
	switch lower := strings.ToLower(last); {
	case last == "%" || lower == "pct" || lower == "percent" || lower == "prozent":
		return "%"
	case snake && (last == "g" || last == "m"), units[last] && len(last) > 1 && !slices.Contains([]string{"in", "min", "px", "pt", "sec"}, last):
		return last
	case snake && (lower == "c" || lower == "f") && strings.Contains(strings.ToLower(name), "temp"):
		return "°" + strings.ToUpper(last)
	case snake && lower == "kwh":
		return "kWh"
	}
	return ""
}

// bracketed returns a unit in brackets at the end of a name. Other words in brackets, such as (estimated), are not
// units.
func bracketed(name string) string {
	square := strings.HasSuffix(name, "]")
	open := map[bool]byte{true: '[', false: '('}[square]
	i := strings.LastIndexByte(name, open)
	if i < 1 || !square && !strings.HasSuffix(name, ")") {
		return ""
	}
	u := strings.TrimPrefix(strings.TrimSpace(name[i+1:len(name)-1]), "in ")
	if u == "" || utf8.RuneCountInString(u) > 20 || u[0] >= '0' && u[0] <= '9' {
		return ""
	}
	if c, ok := unitOf(u, false); ok {
		return c
	}
	if strings.ContainsAny(u, "€$£%°/²³µ") || square {
		return u
	}
	if slices.ContainsFunc(words(u), func(w string) bool { return quantities[w] }) {
		return u
	}
	return ""
}

// quantities are words that make a text in brackets a unit.
var quantities = wordSet(`thousand thousands million millions billion billions tsd mio mrd milliers milliards stk stück pcs pieces hours days weeks
	months years minutes seconds stunden tage jahre persons people points eur usd gbp chf`)
