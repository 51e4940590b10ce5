package answer

import (
	"fmt"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// acrossSQL selects one row for each of the columns.
func (p *statement) acrossSQL(q *plan.Query) string {
	var rows []string
	for i := range p.Measures {
		m := &p.Measures[i]
		rows = append(rows, fmt.Sprintf("SELECT %s AS %s, %s AS %s, COUNT(%s) AS %s", speech.QuotedText(m.Field.Label()), schema.QuotedName(p.Say("column", "Spalte")), p.expr(q, m), schema.QuotedName(p.Say("value", "Wert")), q.Col(m.Field), schema.QuotedName(p.Say("values", "Werte")))+q.From(p.Filters))
	}
	return strings.Join(rows, " UNION ALL ") + " ORDER BY 2 " + choose(p.Superlative.Arg == "asc", "ASC", "DESC") + ", 1"
}

var others = speech.Folded("other others sonstige andere rest übrige")

// sayAcross states the first of the columns.
func (p *reply) sayAcross(a *Answer) plan.Reason {
	rows := a.Result.Rows
	if n, ok := schema.Figure(rows[0], 2); !ok || n == 0 {
		return plan.ReasonEmpty
	}
	how := p.Measures[0].How
	f := p.Measures[0].Field
	var parts []string
	for _, row := range rows[:tied(rows, 1, p.N)] {
		v, ok := schema.Figure(row, 1)
		if !ok {
			return plan.ReasonEmpty
		}
		name := p.cell(row[0], nil, "")
		if others[speech.Fold(name)] {
			return plan.ReasonAmbiguous
		}
		parts = append(parts, name+" ("+p.amount(v, f)+")")
	}
	if oneEach(rows, 2) {
		how = ""
	}
	low := p.Superlative.Arg == "asc"
	a.Heading = p.Say(choose(low, "The lowest ", "The highest ")+map[string]string{"": "value", "sum": "total", "avg": "mean", "max": "value", "min": "value"}[how]+" of the columns",
		choose(low, "Niedrigste", "Höchste")+map[string]string{"": "r Wert", "sum": " Summe", "avg": "r Mittelwert", "max": "r Wert", "min": "r Wert"}[how]+" der Spalten")
	a.Sentences = []string{a.Heading + p.conds() + ": " + p.Enumerate(parts) + "."}
	c := &Chart{Kind: "bar", Title: a.Heading, Unit: f.UnitSymbol(), Series: []Series{{Name: a.Heading}}}
	for _, row := range rows[:min(len(rows), plan.MaxBars)] {
		c.Labels = append(c.Labels, p.cell(row[0], nil, ""))
		c.Series[0].Values = append(c.Series[0].Values, pointer(row, 1))
	}
	a.Chart = c
	return ""
}
