package answer

import (
	"fmt"
	"slices"
	"strings"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
)

// Fetched is the maximum number of rows that a statement requests.
const Fetched = 1000

// Statement returns the SQL of a plan, with the files that it reads.
func Statement(p *plan.Plan, postgres bool) (string, []string) {
	q := plan.NewQuery(p.View, postgres)
	return q.Finish(operations[p.Op].sql(&statement{phrases{Plan: p}}, q)), q.Paths()
}

// statement writes the SQL of a plan.
type statement struct{ phrases }

// operation is what a plan does: its SQL, and the sentences that state the result.
type operation struct {
	sql func(*statement, *plan.Query) string
	say func(*reply, *Answer) plan.Reason
}

var operations = map[string]operation{
	plan.OpValue:   {(*statement).valueSQL, (*reply).sayValue},
	plan.OpGroups:  {(*statement).groupSQL, (*reply).sayGroups},
	plan.OpCompare: {(*statement).groupSQL, (*reply).sayGroups},
	plan.OpRank:    {(*statement).rankSQL, (*reply).sayRank},
	plan.OpCount:   {(*statement).countSQL, (*reply).sayCount},
	plan.OpShare:   {(*statement).shareSQL, (*reply).sayShare},
	plan.OpChange:  {(*statement).changeSQL, (*reply).sayChange},
	plan.OpTrend:   {(*statement).trendSQL, (*reply).sayTrend},
	plan.OpLookup:  {(*statement).listSQL, (*reply).sayList},
	plan.OpList:    {(*statement).listSQL, (*reply).sayList},
}

// expr returns the aggregate of a measure, or the number of rows or of distinct values.
func (p *statement) expr(q *plan.Query, m *plan.Measure) string {
	switch {
	case m == nil && p.Tally != "":
		return "COUNT(DISTINCT " + q.Bucket(p.Time, p.Tally) + ")"
	case m == nil && p.Counted == nil:
		return "COUNT(*)"
	case m == nil:
		return "COUNT(DISTINCT " + q.Col(p.Counted) + ")"
	case m.How == "":
		return q.Aggregate("max", m.Field)
	case p.PerRow && m.How == "avg" && p.RowKey() != nil:
		return fmt.Sprintf("1.0 * SUM(%s) / COUNT(DISTINCT %s)", q.Col(m.Field), q.Col(p.RowKey()))
	}
	if p.Outflow {
		return "-(" + q.Aggregate(m.How, m.Field) + ")"
	}
	return q.Aggregate(m.How, m.Field)
}

func (p *statement) valueSQL(q *plan.Query) string {
	var cols []string
	for i := range p.Measures {
		m := &p.Measures[i]
		if m.How == "median" {
			c := q.Col(m.Field)
			inner := fmt.Sprintf("SELECT %s AS v, ROW_NUMBER() OVER (ORDER BY %s) AS i, COUNT(*) OVER () AS n", c, c) + q.From(p.Filters, c+" IS NOT NULL")
			return fmt.Sprintf("SELECT AVG(v) AS %s, MAX(n) AS %s, MAX(n) AS %s, MIN(v) AS a, MAX(v) AS b FROM (%s) AS ordered WHERE i IN ((n + 1) / 2, (n + 2) / 2)",
				schema.QuotedName(p.MeasureName(m)), schema.QuotedName(p.Say("values", "Werte")), schema.QuotedName(p.RowsName()), inner)
		}
		cols = append(cols, p.expr(q, m)+" AS "+schema.QuotedName(p.MeasureName(m)))
	}
	f := p.Measures[0].Field
	cols = append(cols, "COUNT("+q.Col(f)+") AS "+schema.QuotedName(p.Say("values", "Werte")), "COUNT(*) AS "+schema.QuotedName(p.RowsName()),
		"MIN("+q.Col(f)+") AS "+schema.QuotedName(p.Say("least", "kleinster")), "MAX("+q.Col(f)+") AS "+schema.QuotedName(p.Say("greatest", "größter")))
	return "SELECT " + strings.Join(cols, ", ") + q.From(p.Filters)
}

// keys returns the columns that the result is grouped by, these with their names as a result selects them, and the
// conditions that they have a value.
func (p *statement) keys(q *plan.Query) (cols, selected, conds []string) {
	add := func(expr, name string) {
		cols, selected, conds = append(cols, expr), append(selected, expr+" AS "+schema.QuotedName(name)), append(conds, expr+" IS NOT NULL")
	}
	for _, g := range p.KeyFields() {
		if g != p.Time || p.Unit == "" {
			add(p.plain(q, g), g.Label())
		}
	}
	if p.Unit != "" {
		add(q.Bucket(p.Time, p.Unit), p.UnitName())
	}
	return cols, selected, conds
}

// plain returns a column; values that differ only in case or spaces count as one.
func (p *statement) plain(q *plan.Query, f *schema.Field) string {
	if f.Text() {
		seen := map[string]bool{}
		for _, v := range f.Values {
			s, _ := v.(string)
			if k := strings.ToLower(strings.TrimSpace(s)); seen[k] {
				return "lower(trim(" + q.Col(f) + "))"
			} else {
				seen[k] = true
			}
		}
	}
	return q.Col(f)
}

func (p *statement) groupSQL(q *plan.Query) string {
	cols, out, conds := p.keys(q)
	for _, m := range p.MeasureList() {
		out = append(out, p.expr(q, m)+" AS "+schema.QuotedName(p.MeasureName(m)))
	}
	sort := "1"
	for i := 2; i <= len(cols); i++ {
		sort += fmt.Sprintf(", %d", i)
	}
	if g := p.KeyFields(); p.Unit == "" && len(cols) == 1 && !g[0].Dated() && !g[0].Yearly() && !g[0].Named("month") {
		sort = fmt.Sprintf("%d DESC, 1", len(cols)+1)
	}
	return fmt.Sprintf("SELECT %s%s GROUP BY %s ORDER BY %s LIMIT %d", strings.Join(out, ", "), q.From(p.Filters, conds...), strings.Join(cols, ", "), sort, Fetched)
}

// rankSQL groups the rows of each name. If the question leaves the aggregate open, it
// selects the total, the mean and the extreme, so that an answer holds whichever is meant.
func (p *statement) rankSQL(q *plan.Query) string {
	cols, out, conds := p.keys(q)
	for _, how := range p.RankBy() {
		m := p.First()
		if m != nil {
			m = &plan.Measure{Field: m.Field, How: how}
			if known := q.Col(m.Field) + " IS NOT NULL"; !slices.Contains(conds, known) {
				conds = append(conds, known)
			}
		}
		out = append(out, p.expr(q, m)+" AS "+schema.QuotedName(p.MeasureName(m)))
	}
	out = append(out, "COUNT(*) AS "+schema.QuotedName(p.RowsName()))
	dir := choose(p.Superlative.Arg == "asc", "ASC", "DESC")
	group := strings.Join(cols, ", ")
	if k := p.HiddenKey(); k != nil {
		group += ", " + q.Col(k) // people of the same name stay apart
	}
	return fmt.Sprintf("SELECT %s%s GROUP BY %s ORDER BY %d %s, 1 LIMIT %d", strings.Join(out, ", "), q.From(p.Filters, conds...), group, len(cols)+1, dir, Fetched)
}

func (p *statement) countSQL(q *plan.Query) string {
	s := "SELECT " + p.expr(q, nil) + " AS " + schema.QuotedName(p.MeasureName(nil))
	if p.Counted != nil || p.Tally != "" {
		s += ", COUNT(*) AS " + schema.QuotedName(p.RowsName())
	}
	return s + q.From(p.Filters)
}

// shareSQL selects the part of the rows, or of the total, that meets the last condition.
func (p *statement) shareSQL(q *plan.Query) string {
	k := p.ShareCond()
	cond, rest := p.Filters[k], slices.Delete(slices.Clone(p.Filters), k, k+1)
	whole, part := "COUNT(*)", "SUM(CASE WHEN "+cond.Condition(q)+" THEN 1 ELSE 0 END)"
	if m := p.First(); m != nil {
		c := q.Col(m.Field)
		whole, part = "SUM("+c+")", "SUM(CASE WHEN "+cond.Condition(q)+" THEN "+c+" ELSE 0 END)"
	}
	names := []string{p.Say("share in %", "Anteil in %"), p.Say("part", "Teil"), p.Say("whole", "Ganzes")}
	cols := fmt.Sprintf("100.0 * %s / NULLIF(%s, 0) AS %s, %s AS %s, %s AS %s", part, whole, schema.QuotedName(names[0]), part, schema.QuotedName(names[1]), whole, schema.QuotedName(names[2]))
	known := q.Col(cond.Field) + " IS NOT NULL"
	if cond.Null {
		known = "1 = 1"
	}
	return "SELECT " + cols + q.From(rest, known)
}

// changeSQL selects the values of two times, their difference and its percentage.
func (p *statement) changeSQL(q *plan.Query) string {
	var parts []string
	names := []string{p.When(p.Periods[0]), p.When(p.Periods[1])}
	group := ""
	if len(p.Groups) == 1 {
		group = p.plain(q, p.Groups[0])
		parts = append(parts, group+" AS g")
	}
	var either []string
	for i, t := range p.Periods {
		f, _ := p.TimeFilter(t, "")
		cond := f.Condition(q)
		either = append(either, cond)
		how, value := "COUNT(", "1"
		if m := p.First(); m != nil {
			how, value = "MAX(", q.Col(m.Field)
			if m.How != "" && m.How != "median" {
				how = strings.ToUpper(m.How) + "("
			}
		} else if p.Counted != nil {
			how, value = "COUNT(DISTINCT ", q.Col(p.Counted)
		}
		parts = append(parts, fmt.Sprintf("%sCASE WHEN %s THEN %s END) AS v%d", how, cond, value, i), fmt.Sprintf("COUNT(CASE WHEN %s THEN %s END) AS n%d", cond, value, i))
	}
	inner := "SELECT " + strings.Join(parts, ", ") + q.From(p.Filters, "("+strings.Join(either, " OR ")+")")
	head := ""
	if group != "" {
		inner += " GROUP BY " + group
		head = "g AS " + schema.QuotedName(p.Groups[0].Label()) + ", "
	}
	s := fmt.Sprintf("SELECT %sv0 AS %s, v1 AS %s, v1 - v0 AS %s, 100.0 * (v1 - v0) / NULLIF(v0, 0) AS %s, n0 AS %s, n1 AS %s FROM (%s) AS both_times",
		head, schema.QuotedName(names[0]), schema.QuotedName(names[1]), schema.QuotedName(p.Say("change", "Änderung")), schema.QuotedName(p.Say("change in %", "Änderung in %")), schema.QuotedName(p.Say("values ", "Werte ")+names[0]), schema.QuotedName(p.Say("values ", "Werte ")+names[1]), inner)
	if group == "" {
		return s
	}
	dir := choose(p.Trend == "down" != (p.Superlative != nil && p.Superlative.Arg == "asc"), "ASC", "DESC")
	return s + fmt.Sprintf(" WHERE g IS NOT NULL ORDER BY 4 %s LIMIT %d", dir, Fetched)
}

// trendSQL selects one value for each time, and for each group if there is one.
func (p *statement) trendSQL(q *plan.Query) string {
	b := q.Bucket(p.Time, p.Unit)
	m := p.First()
	value := p.expr(q, m)
	count := "COUNT(*)"
	conds := []string{b + " IS NOT NULL"}
	if m != nil {
		count = "COUNT(" + q.Col(m.Field) + ")"
		conds = append(conds, q.Col(m.Field)+" IS NOT NULL")
	}
	head, by, group, over := b+" AS "+schema.QuotedName(p.UnitName()), "1", b, "ORDER BY "+b
	if len(p.Groups) == 1 {
		g := p.plain(q, p.Groups[0])
		head, by, group, over = head+", "+g+" AS "+schema.QuotedName(p.Groups[0].Label()), "1, 2", b+", "+g, "PARTITION BY "+g+" "+over
		conds = append(conds, g+" IS NOT NULL")
	}
	start := fmt.Sprintf("FIRST_VALUE(%s) OVER (%s)", value, over)
	change := fmt.Sprintf("100.0 * (%s - %s) / NULLIF(%s, 0) AS %s", value, start, start, schema.QuotedName(p.Say("change since the first in %", "Änderung seit dem ersten in %")))
	return fmt.Sprintf("SELECT %s, %s AS %s, %s AS %s, %s%s GROUP BY %s ORDER BY %s LIMIT %d", head, value, schema.QuotedName(p.MeasureName(m)), count, schema.QuotedName(p.Say("values", "Werte")), change, q.From(p.Filters, conds...), group, by, Fetched)
}

// listSQL selects the names, or the values, of the rows that meet the conditions.
func (p *statement) listSQL(q *plan.Query) string {
	var cols []string
	for _, f := range p.Listed() {
		cols = append(cols, q.Col(f)+" AS "+schema.QuotedName(f.Label()))
	}
	return fmt.Sprintf("SELECT DISTINCT %s%s ORDER BY 1 LIMIT %d", strings.Join(cols, ", "), q.From(p.Filters, q.Col(p.Listed()[0])+" IS NOT NULL"), Fetched)
}
