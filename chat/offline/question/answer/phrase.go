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

// phrases provides the words for what a plan is about.
type phrases struct {
	*plan.Plan
	places int // the decimals that figures keep; 2 if it is less
}

// ofRow is the number of decimals that a figure keeps if it is one value of the table, no total and no mean.
const ofRow = 6

// choose returns one if first is true, otherwise other.
func choose[T any](first bool, one, other T) T {
	if first {
		return one
	}
	return other
}

// align keeps so many decimals of two values that their difference is that of the values as stated.
func (p *phrases) align(from, to float64) {
	round := func(v float64) float64 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', p.places, 64), 64)
		return v
	}
	p.places = max(p.places, 2, speech.Places(from, 2), speech.Places(to, 2), speech.Places(to-from, 2))
	for p.places < 12 && round(round(to)-round(from)) != round(to-from) {
		p.places++
	}
}

// number formats a number of rows or values.
func (p *phrases) number(v float64) string { return speech.Number(v, 0, p.Text.Lang) }

// money are the units that are written with two decimals.
var money = speech.Folded("€ eur euro $ usd £ gbp chf fr")

// amount formats a value with the unit of its column.
func (p *phrases) amount(v float64, f *schema.Field) string {
	if f == nil {
		return speech.Number(v, 2, p.Text.Lang)
	}
	year := v == math.Trunc(v) && v >= 1500 && v <= 2100 && namesYear(f)
	if f.Key() || year {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	unit := f.UnitSymbol()
	s := speech.Number(v, max(2, p.places), p.Text.Lang)
	if i := strings.LastIndexAny(s, ".,"); v != math.Trunc(v) && i == len(s)-2 && money[strings.ToLower(unit)] {
		s += "0" // 48,210.50 €, not 48,210.5 €
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
	return speech.Number(v, max(2, p.places), p.Text.Lang) + "\u00a0" + p.Say("percentage points", "Prozentpunkte")
}

// namesYear reports whether a name is that of a year, Baujahr or model year, which has no thousands separator.
func namesYear(f *schema.Field) bool {
	return f.Yearly() || slices.ContainsFunc(f.Words, func(w speech.Word) bool { return w.Fold == "year" || strings.HasSuffix(w.Fold, "jahr") })
}

// cell formats one value of a result for readers.
func (p *phrases) cell(v any, f *schema.Field, unit string) string {
	n, number := schema.NumberOf(v)
	text, isText := v.(string)
	yes, isBool := v.(bool)
	switch {
	case v == nil:
		return "–"
	case isBool:
		return p.Say(choose(yes, "yes", "no"), choose(yes, "ja", "nein"))
	case number && unit == "weekday":
		return p.When(speech.Period{Unit: "weekday", N: int(n) % 7})
	case isText && (f != nil && f.Dated() || unit != ""):
		at, ok := speech.IsoPeriod(text)
		if ok && f != nil && f.Monthly() && at.Unit == "day" {
			at.Unit = "month"
		}
		return choose(ok, p.When(at), text)
	case number && f != nil && f.Boolean():
		return p.cell(n != 0, nil, "")
	case number && (!isText || f != nil && f.Numeric()):
		return p.amount(n, f)
	}
	return fmt.Sprint(v)
}

// named returns a label for the inside of a sentence: English words begin in lower case as the question writes them.
func (p *phrases) named(f *schema.Field) string {
	l, table := f.Label(), p.View.Tables[f.Table].Name
	if _, err := strconv.Atoi(l); err == nil {
		l = strings.Join(schema.SplitName(table), " ") + " " + l // one column for each year
	}
	if base, ok := strings.CutSuffix(table, "_long"); ok && f.Name == "value" {
		l = strings.Join(schema.SplitName(base), " ")
	}
	words := strings.Fields(l)
	for i, w := range words {
		if p.Text.Lang == speech.English && slices.ContainsFunc(p.Text.Tokens, func(t speech.Token) bool { return t.Raw == strings.ToLower(w) }) {
			words[i] = strings.ToLower(w)
		}
	}
	return strings.Join(words, " ")
}

// measured returns what a number is, without an article: total revenue.
func (p *phrases) measured(m *plan.Measure) string {
	switch {
	case m == nil && p.Counted != nil:
		return p.Say("number of different values of ", "Anzahl verschiedener Werte von ") + p.named(p.Counted)
	case m == nil:
		return p.Say("number of ", "Anzahl ") + p.rowsCalled()
	}
	n := p.named(m.Field)
	how := map[string]string{
		"sum": p.Say("total ", "Summe von "), "avg": p.Say("mean ", "Mittelwert von "), "median": p.Say("median ", "Median von "),
		"max": p.degree(m.Field, false) + p.Say(" ", " Wert von "), "min": p.degree(m.Field, true) + p.Say(" ", " Wert von "),
	}[m.How]
	if p.PerRow && m.How == "avg" && p.RowKey() != nil {
		how = p.Say("mean per ", "Mittelwert je ") + p.RowKey().Words[0].Fold + p.Say(" of ", " von ")
	}
	if first, rest, ok := strings.Cut(n, " "); ok && p.Text.Lang == speech.English && slices.Contains(strings.Fields(sameAggregate[m.How]), strings.ToLower(first)) {
		n = rest // the total of a column Total Sales; but the mean of a column Max Temp keeps its name
	}
	if p.Op == plan.OpValue && p.things(m) && (m.How == "" || m.How == "sum") {
		how += "number of "
	}
	return how + n
}

// sameAggregate are words at the beginning of a name that say the same as the aggregate.
var sameAggregate = map[string]string{"sum": "total", "avg": "mean average", "median": "median", "max": "max maximum highest", "min": "min minimum lowest"}

// things reports whether a measure counts things in English: deaths, votes. Such things are most or fewest.
func (p *phrases) things(m *plan.Measure) bool {
	n := m.Field.Label()
	return p.Text.Lang == speech.English && m.Field.Type == "integer" && m.Field.UnitSymbol() == "" && !p.View.OfMoney(m.Field) && len(n) > 3 && strings.HasSuffix(n, "s") && !strings.HasSuffix(n, "ss") && !strings.HasSuffix(n, "us")
}

// degree returns the superlative of a measure: lowest, or earliest of a time; in German without its ending.
func (p *phrases) degree(f *schema.Field, low bool) string {
	if f.Dated() || namesYear(f) {
		return p.Say(choose(low, "earliest", "latest"), choose(low, "früheste", "späteste"))
	}
	return p.Say(choose(low, "lowest", "highest"), choose(low, "niedrigste", "höchste"))
}

// the returns a measure with its article as the beginning of a sentence.
func (p *phrases) the(m *plan.Measure) string {
	if p.Text.Lang == speech.English {
		return "The " + p.measured(m)
	}
	article := "Die "
	if m != nil {
		article = map[string]string{"sum": "Die ", "avg": "Der ", "median": "Der ", "max": "Der ", "min": "Der "}[m.How]
	}
	return speech.Upper(article + p.measured(m))
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

// rowsCalled returns the question's word for the rows.
func (p *phrases) rowsCalled() string {
	if p.Called != "" {
		return p.Called
	}
	for i, x := range p.Pieces {
		if t := p.Text.Tokens[x.From]; x.Rows() && !t.Part && !strings.HasSuffix(t.Fold, "ed") && (p.Asked(i) != "" || slices.Contains(p.View.Entity, t.Stem)) {
			return t.Raw
		}
		if x.Kind == speech.KindField && x.Field.Key() && x.Field != p.Target && p.Op == plan.OpRank {
			return p.Text.Tokens[x.From].Raw
		}
	}
	return p.RowsName()
}

// key formats the keys of a row.
func (p *phrases) key(row []any) string {
	var out []string
	for i, f := range p.KeyOf() {
		out = append(out, p.cell(row[i], f, choose(f == nil, p.Unit, "")))
	}
	keys := p.KeyFields()
	switch {
	case p.Op != plan.OpRank || len(out) != 2 || len(keys) != 2:
		return strings.Join(out, ", ")
	case keys[0].Yearly():
		return out[1] + " " + out[0]
	}
	return out[0] + " [" + out[1] + "]"
}

func (p *phrases) keyNames() string {
	var out []string
	for _, f := range p.KeyOf() {
		if f == nil {
			out = append(out, p.UnitName())
			continue
		}
		out = append(out, p.named(f))
	}
	return p.Enumerate(out)
}

// temporal reports whether the only key is a time.
func (p *phrases) temporal() bool {
	fs := p.KeyOf()
	return len(fs) == 1 && (fs[0] == nil || fs[0].Dated() || fs[0].Yearly())
}

// caveats states which rows are left out because they have no value of a measure or of what is grouped by.
func (p *phrases) caveats() []string {
	var fields []*schema.Field
	if m := p.First(); m != nil {
		fields = append(fields, m.Field)
	}
	keys := p.KeyFields()
	switch {
	case p.Op == plan.OpCompare:
		keys = nil // two values are compared
	case p.Op == plan.OpShare && !p.Filters[p.ShareCond()].Null:
		keys = []*schema.Field{p.Filters[p.ShareCond()].Field}
	}
	if p.Unit != "" {
		keys = append(slices.Clip(keys), p.Time)
	}
	for _, f := range keys {
		if f.Table == 0 && !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	var out []string
	for _, f := range fields {
		if f.Unusable+f.Missing > 0 {
			out = append(out, p.caveat(f))
		}
	}
	return out
}

// caveat says how many values of a column are unusable or missing, and that they are left out.
func (p *phrases) caveat(f *schema.Field) string {
	var parts []string
	if f.Unusable > 0 {
		parts = append(parts, p.number(float64(f.Unusable))+p.Say(choose(f.Unusable == 1, " is unusable", " are unusable"), " unbrauchbar"))
	}
	if f.Missing > 0 {
		parts = append(parts, p.number(float64(f.Missing))+p.Say(choose(f.Missing == 1, " is missing", " are missing"), " nicht vorhanden"))
	}
	one := f.Unusable+f.Missing == 1
	return fmt.Sprintf(p.Say("Of the %s values of %s in the table, %s; %s left out.", "Von den %s Werten von %s in der Tabelle sind %s; %s nicht mitgerechnet."),
		p.number(float64(p.View.Tables[f.Table].RowCount)), p.named(f), p.Enumerate(parts), p.Say(choose(one, "it is", "these are"), "diese sind"))
}
