package evidence

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/internal/pattern"
)

var (
	currencyCode = pattern.Lazy(`^(?:EUR|USD|CHF|GBP|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|Rs)[0-9]`)
	currencyHere = pattern.Lazy(`(?:[$€£¥₹₽₩]|\b(?:EUR|USD|CHF|GBP|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|Rs\.?|Fr\.))[ \x{a0}\x{202f}\x{2009}]?$`)
	exponent     = pattern.Lazy(`^[eE][+-]?[0-9]{1,2}`)

	gap = `[ \x{a0}\x{202f}\x{2009}-]?`
	// A percent sign or word.
	percentMark = pattern.Lazy(`^(?:` + gap + `(?:%|٪|％)|` + gap + `(?i:percent(?:age)?|per cent|prozent(?:punkte?n?)?|pour[ \x{a0}]?cent|por ciento|per cento|procent|points? de pourcentage|pp|p\.p\.)(?:[ -](?i:points?))?)`)
	// Scale words. Single letters must directly follow the digits.
	scaleWord = pattern.Lazy(`^(?:(?:[kKMB]|bn|mn|tn)|` + gap + `(?:(?i:thousand|tausend|tsd\.?|mille|millions?|millionen|millones|milioni|mio\.?|billions?|billionen|bill\.|milliarden?|milliards?|miliardi|mrd\.?|trillions?|trillionen|lakh|crore)|mn|bn|tn|M|Mill\.))`)
	unitMark  = pattern.Lazy(`^` + gap + `(?:[°$€£¥₹₽₩‰′″µ]|(?:EUR|USD|CHF|GBP|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|AUD|CAD|Euros?|euros?|Franken|dollars?|Dollar|pounds?|cents?|Cent|kg|g|mg|t|lb|lbs|oz|km|m|cm|mm|mi|ft|ha|m²|m³|km²|km/h|mph|l|L|ml|hl|W|kW|MW|GW|TW|Wh|kWh|MWh|GWh|TWh|J|kJ|MJ|Hz|kHz|MHz|GHz|V|A|Pa|hPa|bar|ppm|ppb|K|ms|s|min|h|kB|MB|GB|TB|dB|CO2e|kcal)(?:[^\p{L}\p{N}_]|$))`)
	ordinal   = pattern.Lazy(`^(?:st|nd|rd|th|er|ers|re|e|ème|º|ª|o|a)(?:[^\p{L}\p{N}_]|$)`)
	decade    = pattern.Lazy(`^(?:'?s|’s|er|ern)(?:[^\p{L}\p{N}_]|$)`)

	percentName = pattern.Lazy(`(?i)%|percent|prozent|pct\b|pourcent|anteil.*%`)
)

// number reads the number that begins at i and returns the end of what it read.
func (s *scanner) number(i int) int {
	before, size := utf8.DecodeLastRuneInString(s.plain[:i])
	if before == '#' || before == '-' && unicode.IsLetter(lastRune(s.plain[:i-size])) { // part of a name
		return s.wordEnd(i)
	}
	groups, seps, end := s.groups(i)
	all := readings(groups, seps)
	switch {
	case all != nil:
		return s.take(Number{Start: i, End: end, readings: all})
	case len(seps) == 0 || seps[0] == '.': // too long for a number; 1.2.3
		return end
	}
	for k, g := range groups { // a list without blanks: 14,15,16
		end = s.take(Number{Start: i, End: i + len(g), readings: parsed(g, "")})
		if i += len(g); k < len(seps) {
			i += utf8.RuneLen(seps[k])
		}
	}
	return end
}

// take completes a number and returns the end of the text that belongs to it.
func (s *scanner) take(n Number) int {
	// A number may begin with its decimal point: .05.
	before, point := strings.CutSuffix(s.plain[:n.Start], ".")
	if len(n.readings) > 0 && point && (before == "" || strings.ContainsRune(" (<>=≤≥", lastRune(before))) {
		n.readings = parsed("0", s.plain[n.Start:n.End])
		n.Start--
	}
	if len(n.readings) == 0 { // .2.2 is not a number
		return n.End
	}
	if m := exponent().FindString(s.plain[n.End:]); m != "" && !startsWord(s.plain[n.End+len(m):]) {
		e, err := strconv.Atoi(m[1:])
		if err != nil {
			return s.wordEnd(n.End)
		}
		for k := range n.readings {
			n.readings[k].value *= math.Pow10(e)
			n.readings[k].places -= e
		}
		n.End += len(m)
	}
	if !s.suffix(&n) {
		return s.wordEnd(n.End)
	}
	s.prefix(&n)
	s.found = append(s.found, n)
	return n.End
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// groups reads digits and the separators between them.
func (s *scanner) groups(i int) (groups []string, seps []rune, end int) {
	for {
		start := i
		for i < len(s.plain) && s.plain[i] >= '0' && s.plain[i] <= '9' {
			i++
		}
		groups = append(groups, s.plain[start:i])
		sep, size := utf8.DecodeRuneInString(s.plain[i:])
		digits := leadingDigits(s.plain[i+size:])
		switch sep {
		case '.', ',':
			if digits == 0 {
				return groups, seps, i
			}
		case '\'', '’', '\u00a0', '\u202f', '\u2009', ' ':
			first, last := len(groups) == 1, groups[len(groups)-1]
			other := len(seps) > 0 && seps[len(seps)-1] != sep
			if digits != 3 || first && len(last) > 3 || !first && len(last) != 3 || other || last[0] == '0' && first {
				return groups, seps, i
			}
		default:
			return groups, seps, i
		}
		seps = append(seps, sep)
		i += size
	}
}

func leadingDigits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// readings returns the possible values of groups of digits; nil if they are not a single number.
func readings(groups []string, seps []rune) []reading {
	last := len(groups) - 1
	switch {
	case last == 0:
		return parsed(groups[0], "")
	case last == 1:
		var all []reading
		if decimal(seps[0]) {
			all = parsed(groups[0], groups[1])
		}
		if thousands(groups, seps) {
			all = append(all, parsed(groups[0]+groups[1], "")...)
		}
		return all
	case thousands(groups, seps):
		return parsed(strings.Join(groups, ""), "")
	case decimal(seps[last-1]) && seps[last-1] != seps[0] && thousands(groups[:last], seps[:last-1]):
		return parsed(strings.Join(groups[:last], ""), groups[last])
	}
	return nil
}

func decimal(sep rune) bool { return sep == '.' || sep == ',' }

// thousands reports whether there are groups of three, or of two before the last as in India, with one separator.
func thousands(groups []string, seps []rune) bool {
	for _, s := range seps {
		if s != seps[0] {
			return false
		}
	}
	if groups[0] == "" || len(groups[0]) > 3 || groups[0][0] == '0' || len(groups[len(groups)-1]) != 3 {
		return false
	}
	size := len(groups[1])
	for _, g := range groups[1 : len(groups)-1] {
		if len(g) != size || size < 2 || size > 3 {
			return false
		}
	}
	return size == 3 || seps[0] == ','
}

func parsed(whole, decimals string) []reading {
	text := whole
	if decimals != "" {
		text += "." + decimals
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return []reading{{v, len(decimals)}}
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && isWord(r)
}

// suffix reads the text after a number that belongs to it. It returns false for a name that begins
// with digits: 7f3a, 0123.
func (s *scanner) suffix(n *Number) bool {
	rest := s.plain[n.End:]
	whole := s.plain[n.Start:n.End]
	if len(whole) > 1 && whole[0] == '0' && leadingDigits(whole) == len(whole) {
		return false // a code: ZIP code, article number, telephone number
	}
	if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, blanks+"\u2009-")); isDigit(next) || strings.ContainsRune(",.;:)!?(/", next) || rest == "" {
		return true // no suffix
	}
	if m := scaleWord().FindString(rest); m != "" && !startsWord(rest[len(m):]) && n.scaled(m) {
		n.Text, n.unit = m, true
		rest = rest[len(m):]
	}
	if m := percentMark().FindString(rest); m != "" && (!startsWord(rest[len(m):]) || !isWord(lastRune(m))) {
		n.Percent, n.unit = true, true
		n.Text += m
		return true
	}
	if n.Text == "" && n.isDecade(rest) {
		n.role = roleYear
		return true
	}
	if unitMark().MatchString(rest) {
		n.unit = true
		return true
	}
	if n.Text != "" || !startsWord(rest) {
		return true
	}
	if ordinal().MatchString(rest) {
		n.unit = n.readings[0].value > maxSmall
		return true
	}
	word := rest
	for i, r := range rest {
		if !isWord(r) {
			word = rest[:i]
			break
		}
	}
	n.unit = n.readings[0].value > maxSmall // 100x, but not 5G
	return !strings.ContainsFunc(word, func(r rune) bool { return r == '_' || isDigit(r) })
}

// isDecade recognises 1990s and 90er by the text after the digits.
func (n *Number) isDecade(rest string) bool {
	r := n.readings[0]
	if r.places > 0 || !decade().MatchString(rest) {
		return false
	}
	_, year := asYear(r.value)
	return year || r.value < 100 && int(r.value)%10 == 0
}

// scaled sets the factors of a scale word. A single M or K that may be a unit counts only directly
// after the digits, or with a currency.
func (n *Number) scaled(mark string) bool {
	word := strings.ToLower(strings.TrimLeft(mark, " \u00a0\u202f\u2009-"))
	switch strings.TrimSuffix(word, ".") {
	case "k", "thousand", "tausend", "tsd", "mille":
		n.scales = []float64{1e3}
	case "m", "mn", "million", "millions", "millionen", "millones", "milioni", "mio", "mill":
		n.scales = []float64{1e6}
	case "b", "bn", "milliarde", "milliarden", "milliard", "milliards", "miliardi", "mrd", "billions":
		n.scales = []float64{1e9}
	case "billion":
		n.scales = []float64{1e9, 1e12}
	case "tn", "billionen", "bill":
		n.scales = []float64{1e12}
	case "trillion", "trillions":
		n.scales = []float64{1e12, 1e18}
	case "trillionen":
		n.scales = []float64{1e18}
	case "lakh":
		n.scales = []float64{1e5}
	case "crore":
		n.scales = []float64{1e7}
	default:
		return false
	}
	return true
}

// factorOf returns the value of one unit of a column according to its name, as in "Revenue (million €)".
func factorOf(name string) float64 {
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && r != '.' && !isDigit(r) }) {
		if len(w) < 2 {
			continue
		}
		var n Number
		if n.scaled(w) {
			return n.scales[0]
		}
		if w == "1000" || w == "1.000" {
			return 1e3
		}
	}
	return 1
}

// prefix reads the sign and the currency before a number.
func (s *scanner) prefix(n *Number) {
	before := s.plain[:n.Start]
	currency := "" // with a following blank
	if last := lastRune(strings.TrimRight(before, blanks)); unicode.IsLetter(last) || last == '.' || unicode.Is(unicode.Sc, last) {
		currency = currencyHere().FindString(before[max(0, len(before)-8):])
	}
	if currency != "" {
		n.unit = true
		before = before[:len(before)-len(currency)]
		if r := s.plain[n.End:]; r != "" && r[0]|0x20 == 'm' && !startsWord(r[1:]) && len(n.scales) == 0 {
			n.scales, n.Text = []float64{1e6}, "m"
		}
	}
	sign, size := utf8.DecodeLastRuneInString(before)
	if !strings.ContainsRune("-−–+", sign) || size == 0 {
		return
	}
	if outer, _ := utf8.DecodeLastRuneInString(before[:len(before)-size]); len(before) > size && !unicode.IsSpace(outer) && !strings.ContainsRune("([{:=/|", outer) {
		return // a range or a compound
	}
	if n.sign = -1; sign == '+' {
		n.sign = 1
	}
}
