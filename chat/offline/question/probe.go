package question

import (
	"fmt"
	"slices"
	"strings"
)

// probe is the statement that looks for the unknown words among the values that the
// description does not list; empty if there is nothing to look for.
func (r *reader) probe(unknown []int) string {
	var forms []string
	for _, i := range unknown {
		raw := r.ts[i].raw
		if len(raw) < 2 {
			continue
		}
		for _, w := range []string{raw, strings.ToLower(raw), shorter(strings.ToLower(raw))} {
			if !slices.Contains(forms, w) {
				forms = append(forms, w)
			}
		}
	}
	grams := r.literalGrams(unknown)
	var selects []string
	for ti, t := range r.src.Tables {
		from := table(t.Name)
		if t.union != "" {
			from = "(" + t.union + ") AS every_year"
		}
		for ci, c := range t.Columns {
			if c.Type != "text" || !c.DistinctCapped && c.Distinct <= int64(len(c.Values)) || len(selects) == 16 {
				continue
			}
			var likes []string
			for _, w := range forms {
				likes = append(likes, fmt.Sprintf("lower(%s) LIKE %s", ident(c.Name), literal("%"+w+"%")))
			}
			whole := fmt.Sprintf("lower(%s) IN (%s)", ident(c.Name), grams)
			selects = append(selects, fmt.Sprintf("SELECT * FROM (SELECT %d AS table_no, %d AS column_no, %s AS value FROM %s WHERE %s OR %s GROUP BY %s ORDER BY CASE WHEN %s THEN 0 ELSE 1 END LIMIT 25) AS p%d",
				ti, ci, ident(c.Name), from, whole, strings.Join(likes, " OR "), ident(c.Name), whole, len(selects)))
		}
	}
	if len(forms) == 0 || len(forms) > mostForms || len(selects) == 0 || grams == "" {
		return ""
	}
	return strings.Join(selects, " UNION ALL ")
}

// literalGrams are the runs of words around unknown ones, as values may be written.
func (r *reader) literalGrams(unknown []int) string {
	var out []string
	l, ts := r.lex, r.ts
	add := func(g string) {
		if !slices.Contains(out, literal(g)) {
			out = append(out, literal(g))
		}
	}
	for _, at := range unknown {
		for from := max(0, at-2); from <= at; from++ {
			for to := at + 1; to <= min(len(ts), at+3); to++ {
				if l.small(ts[from]) || l.small(ts[to-1]) {
					continue // no name begins or ends with how many
				}
				var ws []string
				for _, t := range ts[from:to] {
					ws = append(ws, strings.ToLower(t.raw))
				}
				add(strings.Join(ws, " "))
				if from, to := ts[from].from, ts[to-1].to; from < to && to <= len(r.text) {
					add(strings.ToLower(r.text[from:to])) // INV-2024-011
				}
			}
		}
	}
	return strings.Join(out, ", ")
}

// small says whether a word is one of questions, of no name.
func (l *lexicon) small(t token) bool {
	return !t.quoted && t.num == nil && (l.fill[t.fold] || l.phrases[t.fold] != nil)
}

// shorter cuts the ending of a plural.
func shorter(w string) string {
	for _, end := range []string{"ies", "en", "es", "s", "n", "e"} {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) > 3 {
			return base
		}
	}
	return w
}

// learn keeps the values that probing found.
func (r *reader) learn(res Result) {
	r.found = map[[2]string][]string{}
	for _, row := range res.Rows {
		if len(row) != 3 {
			continue
		}
		ti, ok := number(row[0])
		ci, ok2 := number(row[1])
		value, ok3 := row[2].(string)
		if ok && ok2 && ok3 && int(ti) < len(r.src.Tables) && int(ci) < len(r.src.Tables[int(ti)].Columns) {
			t := r.src.Tables[int(ti)]
			key := [2]string{t.Name, t.Columns[int(ci)].Name}
			r.found[key] = append(r.found[key], value)
		}
	}
}
