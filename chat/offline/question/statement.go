package question

import (
	"fmt"
	"slices"
	"strings"
)

// fetched is how many rows a statement asks for.
const fetched = 1000

// statement is the SQL of the plan, with the files that it reads.
func (p *plan) statement() (string, []string) {
	q := newQuery(p.v, p.r.src.Postgres)
	return q.finish(operations[p.op].sql(p, q)), q.paths()
}

// operation is what a plan does: its SQL, and the sentences that state the result.
type operation struct {
	sql func(*plan, *query) string
	say func(*plan, *Answer) Reason
}

var operations = map[string]operation{
	opValue:    {(*plan).valueSQL, (*plan).sayValue},
	opGroups:   {(*plan).groupSQL, (*plan).sayGroups},
	opCompare:  {(*plan).groupSQL, (*plan).sayGroups},
	opRank:     {(*plan).rankSQL, (*plan).sayRank},
	opExtreme:  {(*plan).extremeSQL, (*plan).sayExtreme},
	opCount:    {(*plan).countSQL, (*plan).sayCount},
	opUnusable: {(*plan).unusableSQL, (*plan).sayCount},
	opShare:    {(*plan).shareSQL, (*plan).sayShare},
	opChange:   {(*plan).changeSQL, (*plan).sayChange},
	opTrend:    {(*plan).trendSQL, (*plan).sayTrend},
	opCourse:   {(*plan).courseSQL, (*plan).sayCourse},
	opLookup:   {(*plan).listSQL, (*plan).sayList},
	opList:     {(*plan).listSQL, (*plan).sayList},
	opMeter:    {(*plan).meterSQL, (*plan).sayMeter},
	opAcross:   {(*plan).acrossSQL, (*plan).sayAcross},
}

func (p *plan) unusableSQL(q *query) string {
	return fmt.Sprintf("SELECT COUNT(*) - COUNT(%s) AS %s, COUNT(*) AS %s", q.col(p.counted), ident(p.say("rows without a value", "Zeilen ohne Wert")), ident(p.rowsName())) + q.from(p.filters)
}

func (p *plan) rowsName() string { return p.say("rows", "Zeilen") }

// expr is the aggregate of a measure, or the number of rows or of different values.
func (p *plan) expr(q *query, m *measure) string {
	switch {
	case m == nil && p.tally != "":
		return "COUNT(DISTINCT " + q.bucket(p.time, p.tally) + ")"
	case m == nil && p.counted == nil:
		return "COUNT(*)"
	case m == nil:
		return "COUNT(DISTINCT " + q.col(p.counted) + ")"
	case m.how == "":
		return q.aggregate("max", m.field)
	case p.perRow && m.how == "avg" && p.rowKey() != nil:
		return fmt.Sprintf("1.0 * SUM(%s) / COUNT(DISTINCT %s)", q.col(m.field), q.col(p.rowKey()))
	}
	return q.aggregate(m.how, m.field)
}

// rowKey is the key of things that have several rows each: the order of an order line.
func (p *plan) rowKey() *field {
	if p.perKey != nil {
		if p.perKey.unique(p.v.tables[0].RowCount) {
			return nil
		}
		return p.perKey
	}
	for _, f := range p.v.fields {
		if f.table == 0 && f.key(p.r.lex) && len(f.words) > 1 && f.Missing == 0 && !f.DistinctCapped && f.Distinct < p.v.tables[0].RowCount {
			for i, x := range p.ps {
				if x.kind == kindEntity && p.by(i) && p.r.ts[x.from].stem == f.words[0].stem {
					return f
				}
			}
		}
	}
	return nil
}

// first is the only measure; nil counts.
func (p *plan) first() *measure {
	if len(p.measures) == 0 {
		return nil
	}
	return &p.measures[0]
}

// name is the heading of the column of a measure.
func (p *plan) name(m *measure) string {
	switch {
	case m == nil && p.counted == nil:
		return p.rowsName()
	case m == nil:
		return p.say("different ", "verschiedene ") + p.counted.label()
	}
	switch m.how {
	case "sum":
		return p.say("total ", "Summe ") + m.field.label()
	case "avg":
		return p.say("mean ", "Mittelwert ") + m.field.label()
	case "median":
		return "Median " + m.field.label()
	case "max":
		return p.say("highest ", "höchster Wert ") + m.field.label()
	case "min":
		return p.say("lowest ", "niedrigster Wert ") + m.field.label()
	}
	return m.field.label()
}

func (p *plan) valueSQL(q *query) string {
	var cols []string
	for i := range p.measures {
		m := &p.measures[i]
		if m.how == "median" {
			return p.medianSQL(q, m)
		}
		cols = append(cols, p.expr(q, m)+" AS "+ident(p.name(m)))
	}
	f := p.measures[0].field
	cols = append(cols, "COUNT("+q.col(f)+") AS "+ident(p.say("values", "Werte")), "COUNT(*) AS "+ident(p.rowsName()),
		"MIN("+q.col(f)+") AS "+ident(p.say("least", "kleinster")), "MAX("+q.col(f)+") AS "+ident(p.say("greatest", "größter")))
	return "SELECT " + strings.Join(cols, ", ") + q.from(p.filters)
}

func (p *plan) medianSQL(q *query, m *measure) string {
	c := q.col(m.field)
	inner := fmt.Sprintf("SELECT %s AS v, ROW_NUMBER() OVER (ORDER BY %s) AS i, COUNT(*) OVER () AS n", c, c) + q.from(p.filters, c+" IS NOT NULL")
	return fmt.Sprintf("SELECT AVG(v) AS %s, MAX(n) AS %s, MAX(n) AS %s, MIN(v) AS a, MAX(v) AS b FROM (%s) AS ordered WHERE i IN ((n + 1) / 2, (n + 2) / 2)",
		ident(p.name(m)), ident(p.say("values", "Werte")), ident(p.rowsName()), inner)
}

// keys are the columns that the result is grouped by, with the condition that they are there.
func (p *plan) keys(q *query) (cols, names, conds []string) {
	add := func(expr, name string) {
		cols, names, conds = append(cols, expr), append(names, name), append(conds, expr+" IS NOT NULL")
	}
	for _, g := range p.keyFields() {
		if g == p.time && p.unit != "" {
			continue
		}
		add(p.plain(q, g), g.label())
	}
	if p.unit != "" {
		add(q.bucket(p.time, p.unit), p.unitName())
	}
	return cols, names, conds
}

// keyFields are the columns that rows are put together by.
func (p *plan) keyFields() []*field {
	switch {
	case p.op == opCompare:
		return []*field{p.either}
	case p.op == opRank && p.target != nil && p.nameFor(p.target) != nil:
		return append([]*field{p.nameFor(p.target), p.target}, p.groups...)
	case p.op == opRank && p.target != nil:
		if p.target.named(p.r.lex, "month") && p.target.Type != "date" {
			// A month of several years is several months.
			for _, f := range p.v.fields {
				if f.table == p.target.table && f.yearly(p.r.lex) && f.Distinct > 1 && !p.filtered(f) {
					return []*field{f, p.target}
				}
			}
		}
		return append([]*field{p.target}, p.groups...)
	}
	return p.groups
}

// nameFor is the name of what a key stands for, in the table that the key leads to or its own.
func (p *plan) nameFor(key *field) *field {
	if !key.key(p.r.lex) {
		return nil
	}
	for i, j := range p.v.on {
		if i > 0 && (j.from != key.table || j.ownKey != key.Name) || i == 0 && !key.unique(p.v.tables[0].RowCount) {
			continue
		}
		for _, f := range p.v.fields {
			if f.table == i && f.names != nil {
				return f
			}
		}
		for _, f := range p.v.fields {
			if f.table == i && f.text() && !f.key(p.r.lex) && (f.named(p.r.lex, "name") || nameWords[f.words[len(f.words)-1].stem]) {
				return f
			}
		}
	}
	return nil
}

func (p *plan) filtered(f *field) bool {
	for _, x := range p.filters {
		if x.field == f && !x.total {
			return true
		}
	}
	return false
}

// plain is a column; values that differ only in case or spaces count as one.
func (p *plan) plain(q *query, f *field) string {
	if f.text() {
		seen := map[string]bool{}
		for _, v := range f.Values {
			s, _ := v.(string)
			if k := strings.ToLower(strings.TrimSpace(s)); seen[k] {
				return "lower(trim(" + q.col(f) + "))"
			} else {
				seen[k] = true
			}
		}
	}
	return q.col(f)
}

func (p *plan) unitName() string {
	names := map[string][2]string{"year": {"year", "Jahr"}, "quarter": {"quarter", "Quartal"}, "month": {"month", "Monat"}, "day": {"day", "Tag"}, "weekday": {"weekday", "Wochentag"}, "hour": {"hour", "Stunde"}}
	n := names[p.unit]
	return p.say(n[0], n[1])
}

func (p *plan) groupSQL(q *query) string {
	cols, names, conds := p.keys(q)
	var out, order []string
	for i := range cols {
		out = append(out, cols[i]+" AS "+ident(names[i]))
	}
	ms := p.measureList()
	for _, m := range ms {
		out = append(out, p.expr(q, m)+" AS "+ident(p.name(m)))
	}
	for i := range cols {
		order = append(order, fmt.Sprint(i+1))
	}
	by := strings.Join(order, ", ")
	sort := by
	if g := p.keyFields(); p.unit == "" && len(cols) == 1 && !g[0].dated() && !g[0].yearly(p.r.lex) && !g[0].named(p.r.lex, "month") {
		sort = fmt.Sprintf("%d DESC, 1", len(cols)+1)
	}
	return fmt.Sprintf("SELECT %s%s GROUP BY %s ORDER BY %s LIMIT %d", strings.Join(out, ", "), q.from(p.filters, conds...), strings.Join(cols, ", "), sort, fetched)
}

func (p *plan) measureList() []*measure {
	if len(p.measures) == 0 {
		return []*measure{nil}
	}
	var out []*measure
	for i := range p.measures {
		out = append(out, &p.measures[i])
	}
	return out
}

// rankSQL puts the rows of each name together. Where the question leaves open how, the
// total, the mean and the extreme are asked for, so that an answer holds whichever is meant.
func (p *plan) rankSQL(q *query) string {
	cols, names, conds := p.keys(q)
	var out []string
	for i := range cols {
		out = append(out, cols[i]+" AS "+ident(names[i]))
	}
	for _, how := range p.rankBy() {
		m := p.first()
		if m != nil {
			m = &measure{field: m.field, how: how}
			conds = addOnce(conds, q.col(m.field)+" IS NOT NULL")
		}
		out = append(out, p.expr(q, m)+" AS "+ident(p.name(m)))
	}
	out = append(out, "COUNT(*) AS "+ident(p.rowsName()))
	dir := "DESC"
	if p.sup.arg == "asc" {
		dir = "ASC"
	}
	group := strings.Join(cols, ", ")
	if k := p.hiddenKey(); k != nil {
		group += ", " + q.col(k) // people of the same name stay apart
	}
	return fmt.Sprintf("SELECT %s%s GROUP BY %s ORDER BY %d %s, 1 LIMIT %d", strings.Join(out, ", "), q.from(p.filters, conds...), group, len(cols)+1, dir, fetched)
}

// hiddenKey is the key of the rows where a ranking is of their names, which may be equal.
func (p *plan) hiddenKey() *field {
	t := p.target
	if t == nil || t.table != 0 || t.key(p.r.lex) || t.unique(p.v.tables[0].RowCount) || !t.named(p.r.lex, "name") && t.names == nil {
		return nil
	}
	for _, f := range p.v.fields {
		if f.table == 0 && f.key(p.r.lex) && f.unique(p.v.tables[0].RowCount) {
			if slices.ContainsFunc([]string{"order", "invoice", "payment", "ticket", "loan", "donation", "trip", "event"}, func(c string) bool { return f.named(p.r.lex, c) }) {
				return nil // the number of an order keeps no customers apart
			}
			return f
		}
	}
	return nil
}

func addOnce(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// rankBy are the aggregates by which a ranking may be meant.
func (p *plan) rankBy() []string {
	m := p.first()
	extreme := "max"
	if p.sup.arg == "asc" {
		extreme = "min"
	}
	switch {
	case m == nil:
		return []string{""}
	case m.how != "":
		return []string{m.how}
	case m.field.dated():
		return []string{extreme}
	case p.target != nil && p.target.table == 0 && p.unit == "" && (p.target.unique(p.v.tables[0].RowCount) || p.hiddenKey() != nil):
		return []string{extreme}
	}
	if p.v.survey && m.field.scale(p.r.lex) || p.judged {
		return []string{"avg"} // the marks of many
	}
	switch p.nature(m.field) {
	case "sum":
		return []string{"sum"}
	case "max", "min":
		return []string{extreme}
	case "rate":
		return []string{extreme, "avg"}
	}
	return []string{"sum", "avg", extreme}
}

// extremeSQL finds the rows with the highest or the lowest value.
func (p *plan) extremeSQL(q *query) string {
	f := p.measures[0].field
	out := []string{q.col(f) + " AS " + ident(f.label())}
	for _, l := range p.extremeLabels() {
		out = append(out, q.col(l)+" AS "+ident(l.label()))
	}
	dir := "DESC"
	if p.sup.arg == "asc" {
		dir = "ASC"
	}
	return fmt.Sprintf("SELECT %s%s ORDER BY 1 %s LIMIT %d", strings.Join(out, ", "), q.from(p.filters, q.col(f)+" IS NOT NULL"), dir, max(p.n, 12))
}

// extremeLabels are the name and the time of the row with an extreme value.
func (p *plan) extremeLabels() []*field {
	var out []*field
	var l *field
	for _, x := range p.ps {
		if x.kind == kindEntity && x.arg == "rows" && l == nil {
			l = p.labelField(x)
		}
	}
	if p.asks == "who" || l == nil && slices.ContainsFunc(p.v.fields, func(f *field) bool { return f.names != nil }) {
		l = p.person()
	}
	if l == nil {
		l = p.nameField()
	}
	if l != nil {
		out = append(out, l)
	} else {
		for _, f := range p.v.fields {
			if f.table == 0 && f.text() && f.factors == nil && (f.Distinct*10 >= p.v.tables[0].RowCount*9 || len(p.extremeEntity(f)) > 0) {
				out = append(out, f)
				break
			}
		}
	}
	if len(out) == 0 {
		out = p.described()
	}
	if t := p.timeField(nil); t != nil && t.table == 0 && t != p.measures[0].field {
		out = append(out, t)
	}
	return out
}

// described is the only column that describes the rows.
func (p *plan) described() []*field {
	var out []*field
	for _, f := range p.v.fields {
		if f.table == 0 && f.text() && !f.free && slices.ContainsFunc(f.words, func(w word) bool { return describes[w.fold] }) {
			out = append(out, f)
		}
	}
	if len(out) > 1 {
		return nil
	}
	return out
}

var describes = folded("description beschreibung verwendungszweck buchungstext title titel subject betreff memo purpose zweck details designation libelle item")

func (p *plan) extremeEntity(f *field) string {
	for _, e := range p.v.entity {
		if f.head() == e {
			return e
		}
	}
	return ""
}

func (p *plan) countSQL(q *query) string {
	s := "SELECT " + p.expr(q, nil) + " AS " + ident(p.name(nil))
	if p.counted != nil || p.tally != "" {
		s += ", COUNT(*) AS " + ident(p.rowsName())
	}
	return s + q.from(p.filters)
}

// shareSQL is the part of the rows, or of the total, that meets the last condition.
func (p *plan) shareSQL(q *query) string {
	if len(p.groups) == 1 && p.shareCond() < 0 {
		return p.groupShareSQL(q)
	}
	k := p.shareCond()
	cond := p.filters[k]
	var rest []filter
	for i, f := range p.filters {
		if i != k {
			rest = append(rest, f)
		}
	}
	whole, part := "COUNT(*)", "SUM(CASE WHEN "+cond.cond(q)+" THEN 1 ELSE 0 END)"
	if m := p.first(); m != nil {
		c := q.col(m.field)
		whole, part = "SUM("+c+")", "SUM(CASE WHEN "+cond.cond(q)+" THEN "+c+" ELSE 0 END)"
	}
	names := []string{p.say("share in %", "Anteil in %"), p.say("part", "Teil"), p.say("whole", "Ganzes")}
	cols := fmt.Sprintf("100.0 * %s / NULLIF(%s, 0) AS %s, %s AS %s, %s AS %s", part, whole, ident(names[0]), part, ident(names[1]), whole, ident(names[2]))
	known := q.col(cond.field) + " IS NOT NULL"
	if strings.HasSuffix(cond.cond(q), "IS NULL") {
		known = "1 = 1"
	}
	if len(p.groups) == 1 {
		g := p.plain(q, p.groups[0])
		return fmt.Sprintf("SELECT %s AS %s, %s%s GROUP BY %s ORDER BY 2 DESC LIMIT %d", g, ident(p.groups[0].label()), cols, q.from(rest, known, g+" IS NOT NULL"), g, fetched)
	}
	return "SELECT " + cols + q.from(rest, known)
}

// shareCond is the condition whose share is asked: the last that is no time.
func (p *plan) shareCond() int {
	at := -1
	for i, f := range p.filters {
		if f.period == nil && !f.total && f.text != "" && f.field != p.time {
			at = i
		}
	}
	return at
}

func (p *plan) groupShareSQL(q *query) string {
	g := p.plain(q, p.groups[0])
	m := p.first()
	value := p.expr(q, m)
	whole := "SUM(" + value + ") OVER ()"
	return fmt.Sprintf("SELECT %s AS %s, %s AS %s, 100.0 * %s / %s AS %s%s GROUP BY %s ORDER BY 2 DESC LIMIT %d", g, ident(p.groups[0].label()),
		value, ident(p.name(m)), value, whole, ident(p.say("share in %", "Anteil in %")), q.from(p.filters, g+" IS NOT NULL"), g, fetched)
}

// changeSQL puts the values of two times beside each other.
func (p *plan) changeSQL(q *query) string {
	var parts []string
	names := []string{p.when(p.periods[0]), p.when(p.periods[1])}
	group := ""
	if len(p.groups) == 1 {
		group = p.plain(q, p.groups[0])
		parts = append(parts, group+" AS g")
	}
	var either []string
	for i, t := range p.periods {
		f, _ := p.timeFilter(t, "")
		cond := f[0].cond(q)
		either = append(either, cond)
		value := "1"
		how := "COUNT"
		if m := p.first(); m != nil {
			value = q.col(m.field)
			if how = strings.ToUpper(m.how); how == "" || how == "MEDIAN" {
				how = "MAX"
			}
		} else if p.counted != nil {
			how, value = "COUNT(DISTINCT ", q.col(p.counted)
		}
		open := "("
		if strings.HasSuffix(how, " ") {
			open = ""
		}
		parts = append(parts, fmt.Sprintf("%s%sCASE WHEN %s THEN %s END) AS v%d", how, open, cond, value, i), fmt.Sprintf("COUNT(CASE WHEN %s THEN %s END) AS n%d", cond, value, i))
	}
	inner := "SELECT " + strings.Join(parts, ", ") + q.from(p.filters, "("+strings.Join(either, " OR ")+")")
	head := ""
	if group != "" {
		inner += " GROUP BY " + group
		head = "g AS " + ident(p.groups[0].label()) + ", "
	}
	s := fmt.Sprintf("SELECT %sv0 AS %s, v1 AS %s, v1 - v0 AS %s, 100.0 * (v1 - v0) / NULLIF(v0, 0) AS %s, n0 AS %s, n1 AS %s FROM (%s) AS both_times",
		head, ident(names[0]), ident(names[1]), ident(p.say("change", "Änderung")), ident(p.say("change in %", "Änderung in %")), ident(p.say("values ", "Werte ")+names[0]), ident(p.say("values ", "Werte ")+names[1]), inner)
	if group == "" {
		return s
	}
	dir := "DESC"
	if p.trend == "down" != (p.sup != nil && p.sup.arg == "asc") {
		dir = "ASC"
	}
	return s + fmt.Sprintf(" WHERE g IS NOT NULL ORDER BY 4 %s LIMIT %d", dir, fetched)
}

// trendSQL is one value for each time, and group if there is one.
func (p *plan) trendSQL(q *query) string {
	b := q.bucket(p.time, p.unit)
	m := p.first()
	value := p.expr(q, m)
	if m != nil && m.how == "median" {
		value = q.aggregate("avg", m.field)
	}
	count := "COUNT(*)"
	conds := []string{b + " IS NOT NULL"}
	if m != nil {
		count = "COUNT(" + q.col(m.field) + ")"
		conds = append(conds, q.col(m.field)+" IS NOT NULL")
	}
	head, by := b+" AS "+ident(p.unitName()), "1"
	group := b
	if len(p.groups) == 1 {
		g := p.plain(q, p.groups[0])
		head, by, group = head+", "+g+" AS "+ident(p.groups[0].label()), "1, 2", b+", "+g
		conds = append(conds, g+" IS NOT NULL")
	}
	over := "ORDER BY " + b
	if len(p.groups) == 1 {
		over = "PARTITION BY " + p.plain(q, p.groups[0]) + " " + over
	}
	start := fmt.Sprintf("FIRST_VALUE(%s) OVER (%s)", value, over)
	change := fmt.Sprintf("100.0 * (%s - %s) / NULLIF(%s, 0) AS %s", value, start, start, ident(p.say("change since the first in %", "Änderung seit dem ersten in %")))
	return fmt.Sprintf("SELECT %s, %s AS %s, %s AS %s, %s%s GROUP BY %s ORDER BY %s LIMIT %d", head, value, ident(p.name(m)), count, ident(p.say("values", "Werte")), change, q.from(p.filters, conds...), group, by, fetched)
}

// courseSQL is every number of a table with one row for each time.
func (p *plan) courseSQL(q *query) string {
	cols := []string{q.col(p.time) + " AS " + ident(p.time.label())}
	for _, m := range p.measures {
		cols = append(cols, q.col(m.field)+" AS "+ident(m.field.label()))
	}
	return fmt.Sprintf("SELECT %s%s ORDER BY 1 LIMIT %d", strings.Join(cols, ", "), q.from(p.filters, q.col(p.time)+" IS NOT NULL"), fetched)
}

// listSQL is the names, or the values, of the rows that meet the conditions.
func (p *plan) listSQL(q *query) string {
	var cols []string
	for _, f := range p.listed() {
		cols = append(cols, q.col(f)+" AS "+ident(f.label()))
	}
	return fmt.Sprintf("SELECT DISTINCT %s%s ORDER BY 1 LIMIT %d", strings.Join(cols, ", "), q.from(p.filters, q.col(p.listed()[0])+" IS NOT NULL"), fetched)
}

// listed are the columns of a list or a lookup.
func (p *plan) listed() []*field {
	var out []*field
	if p.op == opList && p.target != nil {
		if n := p.nameFor(p.target); n != nil {
			out = append(out, n)
		}
		out = append(out, p.target)
	}
	for _, f := range p.attrs {
		if f != p.target && !(p.op == opList && p.filtered(f)) {
			out = append(out, f)
		}
	}
	for _, m := range p.measures {
		out = append(out, m.field)
	}
	return out
}
