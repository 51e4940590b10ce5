package question

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"atelier/chat/offline/question/answer"
	"atelier/chat/offline/question/parse"
	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// reader reads one part of a question.
type reader struct {
	parse.Matcher
	src *schema.Source
}

const (
	// closeBy is the difference in weight up to which another reading makes a question unclear.
	closeBy = 0.9
	// maxStatements limits the statements of one part, maxProbes the columns of a probe.
	maxStatements, maxProbes = 3, 16
)

// read reads one part of the question.
func (r *reader) read(part string) Reading {
	out := Reading{Part: part, Why: plan.ReasonUnknown}
	r.Tokenize(part)
	if len(r.Tokens) == 0 { // only a quotation mark, say
		return out
	}
	plans, reason := r.plans()
	if len(plans) == 0 {
		if probe := r.probe(); probe != "" {
			res, known := r.src.Result(probe)
			if !known {
				out.Statements = []string{probe}
				return out
			}
			r.learn(res)
			plans, reason = r.plans()
		}
	}
	if len(plans) > 0 {
		r.settle(&out, plans)
		return out
	}
	out.Why = reason
	for _, i := range r.unknown() {
		if !r.Lex.Small(r.Tokens[i]) && !slices.ContainsFunc(r.Views, func(v *schema.View) bool {
			return slices.ContainsFunc(r.PiecesAt(v, i), func(p parse.Piece) bool { return p.Kind != speech.KindUnknown })
		}) {
			out.Unknown = append(out.Unknown, r.Tokens[i].Raw)
		}
	}
	return out
}

// plans returns the plans of the question that make sense, best first.
func (r *reader) plans() ([]*plan.Plan, plan.Reason) {
	var out []*plan.Plan
	reason := plan.ReasonUnknown
	for _, v := range r.Views {
		var best *parse.Cover // the fullest explanation by this table
		for _, c := range r.Covers(v) {
			p, no := plan.New(&r.Matcher, v, c)
			if no == "" && (best == nil || r.names(c, *best)) {
				out = append(out, p)
				continue
			}
			no = cmp.Or(no, plan.ReasonUnclear) // a word that names a column is not a filler
			if best == nil && no != plan.ReasonUnknown {
				best = &c
			}
			if reason == plan.ReasonUnknown || no == plan.ReasonBeyond {
				reason = no
			}
			if no == plan.ReasonAmbiguous || no == plan.ReasonBeyond && len(out) == 0 {
				break // what the likeliest reading leaves open, another one does not settle
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *plan.Plan) int { return cmp.Compare(b.Weight, a.Weight) })
	return out, reason
}

// names reports whether every word that another explanation reads as a column, a value or a
// question word is read as one that matters here.
func (r *reader) names(c, o parse.Cover) bool {
	matters := func(at int, row bool) bool {
		return slices.ContainsFunc(c.Pieces, func(p parse.Piece) bool {
			switch p.Kind {
			case speech.KindField, speech.KindValue, speech.KindTime, speech.KindNum, speech.KindSup, speech.KindCmp, speech.KindNone:
				return p.From <= at && at < p.To
			}
			return p.From <= at && at < p.To && (p.Kind == speech.KindBound && p.To > p.From+2 || row && p.Kind == speech.KindEntity || p.From == 0 && p.Kind == speech.KindAsk)
		})
	}
	for _, p := range o.Pieces {
		if p.Kind == speech.KindAsk && p.Arg == "which" && p.From == 0 && !matters(0, false) {
			return false // the question word must be used
		}
		row := p.Kind == speech.KindField && !p.Field.Measure() // a key or a name: the rows themselves
		for i := p.From; i < p.To && (p.Kind == speech.KindField || p.Kind == speech.KindValue); i++ {
			if !matters(i, row) && (!r.Lex.Small(r.Tokens[i]) || !row && p.Weight >= 10 && p.To == p.From+1) {
				return false
			}
		}
	}
	return true
}

// unknown returns the tokens that the best explanation of any view leaves without a meaning, otherwise all that
// may be part of a name.
func (r *reader) unknown() []int {
	var best, names []int
	for n, v := range r.Views {
		var at []int
		for _, p := range r.Covers(v)[0].Pieces {
			if p.Kind == speech.KindUnknown {
				at = append(at, p.From)
			}
		}
		if n == 0 || len(at) < len(best) {
			best = at
		}
	}
	for i := 0; i < len(r.Tokens); i++ {
		if asks, ok := r.PhraseAt(i, speech.KindAsk); ok {
			i += len(asks.Words) - 1 // how many
		} else if !r.Lex.Small(r.Tokens[i]) {
			names = append(names, i) // known words may be part of a name: Film 7
		}
	}
	if len(best) > 0 {
		return best
	}
	return names
}

// probe returns the statement that searches for the unknown words among the values that the
// description does not list; it is empty if there is nothing to search for.
func (r *reader) probe() string {
	unknown := r.unknown()
	grams := r.LiteralGrams(unknown)
	var forms []string
	for _, i := range unknown {
		raw := r.Tokens[i].Raw
		if len(raw) < 2 {
			continue
		}
		for _, w := range []string{raw, strings.ToLower(raw), speech.Trunk(strings.ToLower(raw), "ies", "en", "es", "s", "n", "e")} {
			if !slices.Contains(forms, w) {
				forms = append(forms, w)
			}
		}
	}
	if len(forms) == 0 || len(forms) > parse.MaxSpellings || grams == "" {
		return ""
	}
	var selects []string
	for ti, t := range r.src.Tables {
		for ci, c := range t.Columns {
			if c.Type != "text" || !c.DistinctCapped && c.Distinct <= int64(len(c.Values)) || len(selects) == maxProbes {
				continue
			}
			name := schema.QuotedName(c.Name)
			whole := fmt.Sprintf("lower(%s) IN (%s)", name, grams)
			where := whole
			for _, w := range forms {
				where += fmt.Sprintf(" OR lower(%s) LIKE %s", name, speech.QuotedText("%"+w+"%"))
			}
			selects = append(selects, fmt.Sprintf("SELECT * FROM (SELECT %d AS table_no, %d AS column_no, %s AS value FROM %s WHERE %s GROUP BY %s ORDER BY CASE WHEN %s THEN 0 ELSE 1 END LIMIT 25) AS p%d",
				ti, ci, name, schema.QuotedTable(t.Name), where, name, whole, len(selects)))
		}
	}
	return strings.Join(selects, " UNION ALL ")
}

// learn stores the values that the probe found.
func (r *reader) learn(res schema.Result) {
	r.Found = map[[2]string][]string{}
	for _, row := range res.Rows {
		ti, ok := schema.Figure(row, 0)
		ci, ok2 := schema.Figure(row, 1)
		if !ok || !ok2 || len(row) != 3 || int(ti) >= len(r.src.Tables) || int(ci) >= len(r.src.Tables[int(ti)].Columns) {
			continue
		}
		if value, ok := row[2].(string); ok {
			t := r.src.Tables[int(ti)]
			key := [2]string{t.Name, t.Columns[int(ci)].Name}
			r.Found[key] = append(r.Found[key], value)
		}
	}
}

// settle requests the statements of the best readings and answers with the first one, if
// those that fit as well state the same.
func (r *reader) settle(out *Reading, plans []*plan.Plan) {
	out.best, out.Why = plans[0], plan.ReasonAmbiguous
	var rivals []*plan.Plan
	var statements []string
	var first *answer.Answer
	var by *plan.Plan
	for _, p := range plans {
		if p.Weight < plans[0].Weight-closeBy {
			break
		}
		if sql, _ := answer.Statement(p, r.src.Postgres); !slices.ContainsFunc(statements, func(o string) bool { return schema.SameStatement(o, sql) }) {
			rivals, statements = append(rivals, p), append(statements, sql)
		}
	}
	if len(rivals) > maxStatements {
		return
	}
	for i, p := range rivals {
		res, ok := r.src.Result(statements[i])
		if !ok {
			out.Statements = append(out.Statements, statements[i])
			continue
		}
		_, paths := answer.Statement(p, r.src.Postgres)
		switch ans, reason := answer.New(p, res, paths); {
		case reason != "":
			out.Why = reason
		case first == nil:
			first, by = ans, p
		case !agree(first, ans) || by.View != p.View && schema.Alike(by.View.Tables[0], p.View.Tables[0]): // the tables of several years: one of them, or all
			out.Why = plan.ReasonAmbiguous
			return
		}
	}
	if len(out.Statements) == 0 && first != nil {
		out.Why, out.Answer = "", first
	}
}

// agree reports whether two answers state the same.
func agree(a, b *answer.Answer) bool {
	if a.OnlyFigure && b.OnlyFigure && len(a.Result.Rows) == 1 && len(b.Result.Rows) == 1 {
		x, ok := schema.Figure(a.Result.Rows[0], 0)
		y, ok2 := schema.Figure(b.Result.Rows[0], 0)
		return ok && ok2 && x == y // the same figure, whatever it is called
	}
	return strings.TrimRight(a.Sentences[0], ".") == strings.TrimRight(b.Sentences[0], ".") || len(a.Cells) > 0 && slices.EqualFunc(a.Cells, b.Cells, slices.Equal)
}
