package answer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// money are the units that are written with two decimals.
var money = speech.Folded("€ eur euro $ usd £ gbp chf fr")

// amount formats a value with the unit of its column.
func (p *phrases) amount(v float64, f *schema.Field) string {
	unit := ""
	if f != nil && (f.Yearly() || f.Key()) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if f != nil {
		unit = f.UnitSymbol()
	}
	s := speech.Number(v, max(2, p.places), p.Text.Lang)
	if money[strings.ToLower(unit)] && v != math.Trunc(v) {
		// 48,210.50 €, not 48,210.5 €
		if i := strings.LastIndexAny(s, ".,"); i == len(s)-2 {
			s += "0"
		}
	}
	switch {
	case unit == "":
		return s
	case (unit == "$" || unit == "£") && p.Text.Lang == speech.English:
		return strings.Replace(unit+s, unit+"−", "−"+unit, 1)
	}
	return s + "\u00a0" + unit
}

// difference formats the difference of two values: that of two percentages is in percentage points.
func (p *phrases) difference(v float64, f *schema.Field) string {
	if f == nil || f.UnitSymbol() != "%" {
		return p.amount(v, f)
	}
	return speech.Number(v, max(2, p.places), p.Text.Lang) + "\u00a0" + p.Say("percentage point"+choose(v == 1, "", "s"), "Prozentpunkt"+choose(v == 1, "", "e"))
}

// cell formats one value of a result for readers.
func (p *phrases) cell(v any, f *schema.Field, unit string) string {
	switch t := v.(type) {
	case nil:
		return "–"
	case string:
		if f != nil && f.Dated() || unit != "" {
			if at, ok := speech.IsoPeriod(t); ok {
				if f != nil && f.Monthly() && at.Unit == "day" {
					at.Unit = "month"
				}
				return p.When(at)
			}
		}
		if f != nil && f.Clock() {
			if t = strings.TrimLeft(t, "0"); strings.HasPrefix(t, ":") {
				t = "0" + t
			}
			return t
		}
		if n, ok := schema.NumberOf(t); ok && f != nil && f.Numeric() {
			return p.amount(n, f)
		}
		return t
	case bool:
		if t {
			return p.Say("yes", "ja")
		}
		return p.Say("no", "nein")
	}
	n, ok := schema.NumberOf(v)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case unit == "weekday":
		return p.When(speech.Period{Unit: "weekday", N: int(n) % 7})
	case f != nil && f.Boolean():
		return p.cell(n != 0, nil, "")
	case f != nil && (f.Key() || f.Yearly()):
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return p.amount(n, f)
}

// named returns a label for the inside of a sentence: English words begin in lower case unless they are names.
func (p *phrases) named(f *schema.Field) string {
	l := f.Label()
	if _, err := strconv.Atoi(l); err == nil {
		l = strings.Join(schema.SplitName(p.View.Tables[f.Table].Name), " ") + " " + l // one column for each year
	}
	if base, ok := strings.CutSuffix(p.View.Tables[f.Table].Name, "_long"); ok && f.Name == "value" {
		l = strings.Join(schema.SplitName(base), " ")
	}
	if p.Text.Lang == speech.German {
		return l
	}
	// A name that the question writes in lower case stays in lower case.
	words := strings.Fields(l)
	for i, w := range words {
		for _, t := range p.Text.Tokens {
			if t.Raw == strings.ToLower(w) || schema.Camel().MatchString(f.Name) && w != strings.ToUpper(w) {
				words[i] = strings.ToLower(w)
			}
		}
	}
	return strings.Join(words, " ")
}

// measured returns what a number is: the total revenue.
func (p *phrases) measured(m *plan.Measure) string {
	if m == nil {
		if p.Counted != nil {
			return p.Say("the number of different values of ", "die Anzahl verschiedener Werte von ") + p.named(p.Counted)
		}
		return p.Say("the number of ", "die Anzahl ") + p.rowsCalled()
	}
	n := p.named(m.Field)
	if p.PerRow && m.How == "avg" && p.RowKey() != nil {
		return p.Say("the mean per "+p.RowKey().Words[0].Fold+" of ", "der Mittelwert je "+speech.Upper(p.RowKey().Words[0].Fold)+" von ") + n
	}
	switch m.How {
	case "sum":
		if m.Field.Factors != nil && !m.Field.Difference {
			return p.Say("the total "+n, "die Summe "+n) + " (" + m.Field.Factors[0].Label() + " × " + m.Field.Factors[1].Label() + ")"
		}
		return p.Say("the total "+without(n, "total"), "die Summe von "+n)
	case "avg":
		return p.Say("the mean "+without(n, "mean", "average", "avg"), "der Mittelwert von "+n)
	case "median":
		return p.Say("the median "+n, "der Median von "+n)
	case "max":
		return p.Say("the highest "+without(n, "max", "maximum", "highest"), "der höchste Wert von "+n)
	case "min":
		return p.Say("the lowest "+without(n, "min", "minimum", "lowest"), "der niedrigste Wert von "+n)
	}
	return p.Say("the "+n, n)
}

// without removes a first word that the sentence already contains.
func without(name string, words ...string) string {
	first, rest, ok := strings.Cut(name, " ")
	for _, w := range words {
		if ok && strings.EqualFold(first, w) {
			return rest
		}
	}
	return name
}

// conds returns the times and, in brackets, the other conditions, for the end of a phrase.
func (p *phrases) conds(but ...int) string {
	var out []string
	times := ""
	for i, f := range p.Filters {
		switch {
		case slices.Contains(but, i):
		case f.Time != "":
			times += " " + f.Time
		case f.Text != "":
			out = append(out, f.Text)
		}
	}
	if len(out) == 0 {
		return times
	}
	return times + " (" + strings.Join(out, "; ") + ")"
}

// bracketed returns the conditions, including times, in brackets.
func (p *phrases) bracketed() string {
	var out []string
	for _, f := range p.Filters {
		if f.Text != "" {
			out = append(out, f.Text)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}
