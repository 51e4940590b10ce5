package question

import (
	"fmt"
	"slices"
	"strings"
)

// columnNouns are the nouns for what the columns of a wide table are, and for what their
// numbers count: one column for each party, votes in all of them.
var columnNouns = []struct{ noun, counts map[string]bool }{
	{folded("party parties partei parteien candidate candidates kandidat kandidaten liste list"), folded("vote votes stimme stimmen seats sitze")},
	{folded("channel channels kanal kanale medium media"), folded("visits sessions clicks visitors traffic besuche klicks sitzungen")},
	{folded("subject subjects fach facher"), folded("grade grades mark marks score scores points note noten punkte")},
	{folded("source sources quelle quellen energietrager energiequelle fuel fuels technology"), folded("electricity power energy strom energie")},
	{folded("category categories kategorie kategorien product products produkt produkte item items sorte sorten type types"), nil},
	{folded("question questions frage fragen aspect aspects aspekt aspekte criterion criteria kriterium"), folded("rating ratings score scores rated bewertung note")},
}

// besides are words of columns that stand beside those of the parties.
var besides = folded(`total totals sum gesamt summe insgesamt all overall invalid ungultig ungultige valid gultig gultige eligible registered wahlberechtigte berechtigte turnout beteiligung wahlbeteiligung
population id no nr number year jahr month monat week woche day tag age alter`)

// columnsOf are the numbers of the own table that are columns of one kind: of one unit, and
// of names that say no kind of number themselves.
func (v *view) columnsOf(l *lexicon) []*field {
	var out []*field
	for _, f := range v.fields {
		if f.table != 0 || f.factors != nil || !f.measure(l) {
			continue
		}
		if slices.ContainsFunc(f.words, func(w word) bool { return besides[w.fold] }) || v.generic(l, f) {
			continue
		}
		if _, ok := monthNames[f.words[0].fold]; ok {
			return nil // the long form answers that
		}
		out = append(out, f)
	}
	if len(out) < 3 || slices.ContainsFunc(out, func(f *field) bool { return f.unit() != out[0].unit() }) {
		return nil
	}
	return out
}

// generic says whether a column is named by a kind of number: a price is no party.
func (v *view) generic(l *lexicon, f *field) bool {
	for _, c := range slices.Concat(additive, ratelike, []string{"max", "min", "rank", "population", "rent", "rating", "satisfaction"}) {
		if l.means(f.head(), c) {
			return true
		}
	}
	return false
}

// acrossAt finds the noun for the columns of a wide table, or for what they count.
func (r *reader) acrossAt(v *view, i int) []piece {
	t := r.ts[i]
	if t.quoted || v.wide == nil || slices.ContainsFunc(v.fields, func(f *field) bool {
		return slices.ContainsFunc(f.words, func(w word) bool { return r.level(t, w) > 2 })
	}) {
		return nil
	}
	for _, n := range columnNouns {
		if n.noun[t.fold] {
			return []piece{{kind: kindAcross, arg: "noun", from: i, to: i + 1, weight: 5}}
		}
	}
	return nil
}

// countsAt finds what the columns of a wide table count: the votes of the parties.
func (r *reader) countsAt(v *view, i int) []piece {
	if r.ts[i].quoted || v.wide == nil || !v.ballot() || !columnNouns[0].counts[r.ts[i].fold] {
		return nil
	}
	return []piece{{kind: kindEntity, arg: "topic", from: i, to: i + 1, weight: 4}}
}

// ballot says whether the table is of an election.
func (v *view) ballot() bool {
	says := func(w string) bool {
		for _, part := range []string{"election", "vote", "ballot", "poll", "wahl", "stimm", "elect"} {
			if strings.Contains(w, part) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(v.topics, says) || slices.ContainsFunc(v.fields, func(f *field) bool {
		return slices.ContainsFunc(f.words, func(w word) bool { return says(w.fold) })
	})
}

// decideAcross settles which of the columns has the most.
func (p *plan) decideAcross() Reason {
	p.measures = slices.DeleteFunc(p.measures, func(m measure) bool {
		return slices.ContainsFunc(m.field.words, func(w word) bool { return besides[w.fold] }) // most votes, of the valid votes
	})
	switch {
	case p.sup == nil || p.sup.about != "" || p.asks != "which" && p.asks != "who" && p.asks != "", len(p.periods) > 1, p.unit != "", p.trend != "", p.diff, p.share, p.versus:
		return ReasonUnclear
	case len(p.measures) > 0 || len(p.groups) > 0 || p.target != nil || p.counted != nil || len(p.attrs) > 0 || p.agg == "median":
		return ReasonUnclear
	}
	p.op, p.n = opAcross, max(p.n, 1)
	for _, f := range p.v.wide {
		p.measures = append(p.measures, measure{field: f, how: p.acrossHow(f)})
	}
	return ""
}

// acrossHow is how the values of one column are put together: grades are averaged, votes added.
func (p *plan) acrossHow(f *field) string {
	if p.agg != "" {
		return p.agg
	}
	high, _ := number(f.Max)
	if p.v.survey || f.unit() == "%" || f.Type == "number" && high <= 6 {
		return "avg"
	}
	return "sum"
}

// acrossSQL is one row for each of the columns.
func (p *plan) acrossSQL(q *query) string {
	var rows []string
	for i := range p.measures {
		m := &p.measures[i]
		rows = append(rows, fmt.Sprintf("SELECT %s AS %s, %s AS %s, COUNT(%s) AS %s", literal(m.field.label()), ident(p.say("column", "Spalte")), p.expr(q, m), ident(p.say("value", "Wert")), q.col(m.field), ident(p.say("values", "Werte")))+q.from(p.filters))
	}
	dir := "DESC"
	if p.sup.arg == "asc" {
		dir = "ASC"
	}
	return strings.Join(rows, " UNION ALL ") + " ORDER BY 2 " + dir + ", 1"
}

// sayAcross states the first of the columns.
func (p *plan) sayAcross(a *Answer) Reason {
	rows := a.Result.Rows
	if n, ok := at(rows[0], 2); !ok || n == 0 {
		return ReasonEmpty
	}
	how := p.measures[0].how
	f := p.measures[0].field
	n := min(p.n, len(rows))
	for n < len(rows) && compareCells(rows[n][1], rows[n-1][1]) == 0 {
		n++
	}
	var parts []string
	single := true
	for _, row := range rows {
		count, _ := at(row, 2)
		single = single && count <= 1
	}
	for _, row := range rows[:n] {
		v, ok := at(row, 1)
		if !ok {
			return ReasonEmpty
		}
		name := p.cell(row[0], nil, "")
		switch fold(name) {
		case "other", "others", "sonstige", "andere", "rest", "ubrige":
			return ReasonAmbiguous
		}
		parts = append(parts, name+" ("+p.amount(v, f)+")")
	}
	if single {
		how = ""
	}
	a.Heading = p.highest(how) + p.say(" of the columns", " der Spalten")
	a.Sentences = []string{a.Heading + p.conds() + ": " + p.enumerate(parts) + "."}
	c := &Chart{Kind: "bar", Title: a.Heading, Unit: f.unit(), Series: []Series{{Name: a.Heading}}}
	for i, row := range rows[:min(len(rows), mostBars)] {
		c.Labels = append(c.Labels, p.cell(row[0], nil, ""))
		c.Series[0].Values = append(c.Series[0].Values, pointer(rows[i], 1))
	}
	a.Chart = c
	return ""
}

// highest names the value of the first column.
func (p *plan) highest(how string) string {
	low := p.sup.arg == "asc"
	if p.r.lang == English {
		return map[bool]string{false: "The highest ", true: "The lowest "}[low] + map[string]string{"": "value", "sum": "total", "avg": "mean", "max": "value", "min": "value"}[how]
	}
	return map[bool]string{false: "Höchste", true: "Niedrigste"}[low] + map[string]string{"": "r Wert", "sum": " Summe", "avg": "r Mittelwert", "max": "r Wert", "min": "r Wert"}[how]
}
