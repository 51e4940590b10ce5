package question

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number writes a number in a language, rounded to at most the given places; it never says about.
func Number(v float64, places int, lang Language) string {
	a := math.Abs(v)
	if a > 0 && a < 1 {
		// Small numbers keep four significant digits.
		places = max(places, min(8, max(4, 1-int(math.Floor(math.Log10(a))))))
	}
	s := strconv.FormatFloat(a, 'f', places, 64)
	whole, part, _ := strings.Cut(s, ".")
	part = strings.TrimRight(part, "0")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if part != "" {
		whole += "." + part
	}
	if lang == German {
		whole = strings.NewReplacer(",", ".", ".", ",").Replace(whole)
	}
	if v < 0 && strings.Trim(whole, "0.,") != "" {
		return "−" + whole
	}
	return whole
}

// money are the units that are written with two places.
var money = folded("€ eur euro $ usd £ gbp chf fr")

// amount writes a value with the unit of its column.
func (p *plan) amount(v float64, f *field) string {
	unit := ""
	if f != nil && (f.yearly(p.r.lex) || f.key(p.r.lex)) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if f != nil {
		unit = f.unit()
	}
	s := Number(v, p.places(v, f), p.r.lang)
	if money[strings.ToLower(unit)] && v != math.Trunc(v) {
		// 48,210.50 €, not 48,210.5 €
		if i := strings.LastIndexAny(s, ".,"); i == len(s)-2 {
			s += "0"
		}
	}
	switch {
	case unit == "":
		return s
	case (unit == "$" || unit == "£") && p.r.lang == English:
		return strings.Replace(unit+s, unit+"−", "−"+unit, 1)
	}
	return s + "\u00a0" + unit
}

// places is how many decimals a value is written with: single values keep theirs.
func (p *plan) places(v float64, f *field) int {
	if p.single && f != nil {
		if s := strconv.FormatFloat(v, 'f', -1, 64); strings.Contains(s, ".") && len(s)-strings.Index(s, ".") <= 7 {
			return max(2, len(s)-strings.Index(s, ".")-1)
		}
	}
	return 2
}

// cell writes one value of a result for readers.
func (p *plan) cell(v any, f *field, unit string) string {
	switch t := v.(type) {
	case nil:
		return "–"
	case string:
		if f != nil && f.dated() || unit != "" {
			if at, ok := isoPeriod(t); ok {
				if f != nil && f.monthly() && at.unit == "day" {
					at.unit = "month"
				}
				return p.when(at)
			}
		}
		if f != nil && f.clock() {
			if t = strings.TrimLeft(t, "0"); strings.HasPrefix(t, ":") {
				t = "0" + t
			}
			return t
		}
		if n, ok := number(t); ok && f != nil && f.numeric() {
			if strings.HasPrefix(t, "-") {
				n = -n
			}
			return p.amount(n, f)
		}
		return t
	case bool:
		if t {
			return p.say("yes", "ja")
		}
		return p.say("no", "nein")
	}
	n, ok := number(v)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case unit == "weekday":
		return p.when(period{unit: "weekday", n: int(n) % 7})
	case f != nil && f.boolean():
		return p.cell(n != 0, nil, "")
	case f != nil && (f.key(p.r.lex) || f.yearly(p.r.lex)):
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return p.amount(n, f)
}

// named writes a label inside a sentence: English ones begin small unless they are names.
func (p *plan) named(f *field) string {
	l := f.label()
	if _, err := strconv.Atoi(l); err == nil {
		l = strings.Join(splitName(p.v.tables[f.table].Name), " ") + " " + l // one column for each year
	}
	if base, ok := strings.CutSuffix(p.v.tables[f.table].Name, "_long"); ok && f.Name == "value" {
		l = strings.Join(splitName(base), " ")
	}
	if p.r.lang == German {
		return l
	}
	// A name that the question writes small stands small.
	words := strings.Fields(l)
	for i, w := range words {
		for _, t := range p.r.ts {
			if t.raw == strings.ToLower(w) || camel.MatchString(f.Name) && w != strings.ToUpper(w) {
				words[i] = strings.ToLower(w)
			}
		}
	}
	return strings.Join(words, " ")
}

// measured names what a number is: the total revenue.
func (p *plan) measured(m *measure) string {
	if m == nil {
		if p.counted != nil {
			return p.say("the number of different values of ", "die Anzahl verschiedener Werte von ") + p.named(p.counted)
		}
		return p.say("the number of ", "die Anzahl ") + p.rowsCalled()
	}
	n := p.named(m.field)
	if p.perRow && m.how == "avg" && p.rowKey() != nil {
		return p.say("the mean per "+p.rowKey().words[0].fold+" of ", "der Mittelwert je "+upper(p.rowKey().words[0].fold)+" von ") + n
	}
	switch m.how {
	case "sum":
		if m.field.factors != nil && !m.field.less {
			return p.say("the total "+n, "die Summe "+n) + " (" + m.field.factors[0].label() + " × " + m.field.factors[1].label() + ")"
		}
		return p.say("the total "+without(n, "total"), "die Summe von "+n)
	case "avg":
		return p.say("the mean "+without(n, "mean", "average", "avg"), "der Mittelwert von "+n)
	case "median":
		return p.say("the median "+n, "der Median von "+n)
	case "max":
		return p.say("the highest "+without(n, "max", "maximum", "highest"), "der höchste Wert von "+n)
	case "min":
		return p.say("the lowest "+without(n, "min", "minimum", "lowest"), "der niedrigste Wert von "+n)
	}
	return p.say("the "+n, n)
}

// without leaves out a first word that the sentence says already.
func without(name string, words ...string) string {
	first, rest, ok := strings.Cut(name, " ")
	for _, w := range words {
		if ok && strings.EqualFold(first, w) {
			return rest
		}
	}
	return name
}

// title is a phrase as a heading: without its article.
func (p *plan) title(s string) string {
	for _, article := range []string{"the ", "der ", "die ", "das "} {
		s = strings.TrimPrefix(s, article)
	}
	return upper(s)
}

// upper begins a text with a capital.
func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// conds are the conditions in brackets, for the end of a phrase.
func (p *plan) conds(but ...int) string {
	var out []string
	times := ""
next:
	for i, f := range p.filters {
		for _, b := range but {
			if i == b {
				continue next
			}
		}
		switch {
		case f.when != "":
			times += " " + f.when
		case f.text != "":
			out = append(out, f.text)
		}
	}
	if len(out) == 0 {
		return times
	}
	return times + " (" + strings.Join(out, "; ") + ")"
}

// bracketed are the conditions, times too, in brackets.
func (p *plan) bracketed() string {
	var out []string
	for _, f := range p.filters {
		if f.text != "" {
			out = append(out, f.text)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}

// enumerate joins parts of a sentence: a, b and c.
func (p *plan) enumerate(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + p.say(" and ", " und ") + parts[len(parts)-1]
}
