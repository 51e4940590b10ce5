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
	// before is the plan of the part that this one continues.
	before *plan.Plan
}

// probe returns the statement that searches for the unknown words among the values that the
// description does not list; it is empty if there is nothing to search for.
func (r *reader) probe(unknown []int) string {
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
	grams := r.LiteralGrams(unknown)
	var selects []string
	for ti, t := range r.src.Tables {
		from := schema.QuotedTable(t.Name)
		if t.Union != "" {
			from = "(" + t.Union + ") AS every_year"
		}
		for ci, c := range t.Columns {
			if c.Type != "text" || !c.DistinctCapped && c.Distinct <= int64(len(c.Values)) || len(selects) == 16 {
				continue
			}
			var likes []string
			for _, w := range forms {
				likes = append(likes, fmt.Sprintf("lower(%s) LIKE %s", schema.QuotedName(c.Name), speech.QuotedText("%"+w+"%")))
			}
			whole := fmt.Sprintf("lower(%s) IN (%s)", schema.QuotedName(c.Name), grams)
			selects = append(selects, fmt.Sprintf("SELECT * FROM (SELECT %d AS table_no, %d AS column_no, %s AS value FROM %s WHERE %s OR %s GROUP BY %s ORDER BY CASE WHEN %s THEN 0 ELSE 1 END LIMIT 25) AS p%d",
				ti, ci, schema.QuotedName(c.Name), from, whole, strings.Join(likes, " OR "), schema.QuotedName(c.Name), whole, len(selects)))
		}
	}
	if len(forms) == 0 || len(forms) > parse.MaxSpellings || len(selects) == 0 || grams == "" {
		return ""
	}
	return strings.Join(selects, " UNION ALL ")
}

// learn stores the values that the probe found.
func (r *reader) learn(res schema.Result) {
	r.Found = map[[2]string][]string{}
	for _, row := range res.Rows {
		if len(row) != 3 {
			continue
		}
		ti, ok := schema.NumberOf(row[0])
		ci, ok2 := schema.NumberOf(row[1])
		value, ok3 := row[2].(string)
		if ok && ok2 && ok3 && int(ti) < len(r.src.Tables) && int(ci) < len(r.src.Tables[int(ti)].Columns) {
			t := r.src.Tables[int(ti)]
			key := [2]string{t.Name, t.Columns[int(ci)].Name}
			r.Found[key] = append(r.Found[key], value)
		}
	}
}

// closeBy is the difference in weight up to which another reading makes a question unclear.
const closeBy = 0.9

// maxStatements limits the statements of one part.
const maxStatements = 3

// read reads one part of the question.
func (r *reader) read(part string) Reading {
	out := Reading{Part: part}
	r.Tokenize(part)
	if len(r.Tokens) == 0 { // only a quotation mark, say
		out.Why = plan.ReasonUnknown
		return out
	}
	plans, reason := r.plans()
	if len(plans) == 0 {
		if probe := r.probe(r.unknown()); probe != "" {
			res, known := r.src.Result(probe)
			if !known {
				out.Statements = []string{probe}
				return out
			}
			r.learn(res)
			plans, reason = r.plans()
		}
	}
	if len(plans) == 0 {
		out.Why = reason
		for _, i := range r.unknown() {
			explained := slices.ContainsFunc(r.Views, func(v *schema.View) bool {
				return slices.ContainsFunc(r.PiecesAt(v, i), func(p parse.Piece) bool { return p.Kind != speech.KindUnknown })
			})
			if !explained && !quantifiers[r.Tokens[i].Fold] {
				out.Unknown = append(out.Unknown, r.Tokens[i].Raw)
			}
		}
		return out
	}
	r.settle(&out, plans)
	return out
}

// quantifiers are words that say what is asked, not of what.
var quantifiers = speech.Folded("how much many wie viel viele wieviel")

// plans returns the plans of the question that make sense, best first.
func (r *reader) plans() ([]*plan.Plan, plan.Reason) {
	var out []*plan.Plan
	reason := plan.ReasonUnknown
	for _, v := range r.Views {
		var best *parse.Cover // the fullest explanation by this table
		covers := r.Covers(v)
		if slices.ContainsFunc(covers[0].Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindNever && x.To > x.From+1 }) {
			reason = plan.ReasonBeyond // "in a row" names no row
			continue
		}
		for _, c := range covers {
			p, no := plan.New(&r.Matcher, r.before, v, c)
			if no == "" && (best == nil || r.names(c, *best)) {
				out = append(out, p)
				continue
			}
			if no == "" {
				no = plan.ReasonUnclear // a word that names a column is not a filler
			}
			if best == nil && no != plan.ReasonUnknown {
				best = &c
			}
			if reason == plan.ReasonUnknown && no != plan.ReasonUnknown || no == plan.ReasonBeyond {
				reason = no
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *plan.Plan) int { return cmp.Compare(b.Weight, a.Weight) })
	return out, reason
}

// names reports whether every word that another explanation reads as a column, a value or a
// time is also read as one of these here.
func (r *reader) names(c, o parse.Cover) bool {
	naming := func(at int, row bool) bool {
		return slices.ContainsFunc(c.Pieces, func(p parse.Piece) bool {
			return p.From <= at && at < p.To && (p.Kind == speech.KindBound && p.To > p.From+2 || row && p.Kind == speech.KindEntity || p.Kind == speech.KindField || p.Kind == speech.KindValue || p.Kind == speech.KindTime || p.Kind == speech.KindNum || p.Kind == speech.KindSup || p.Kind == speech.KindCmp || p.Kind == speech.KindNone)
		})
	}
	for _, p := range o.Pieces {
		if p.Kind == speech.KindAsk && p.Arg == "which" && p.From == 0 && !slices.ContainsFunc(c.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindAsk && x.From == 0 }) {
			return false // the question word must be used
		}
		if p.Kind != speech.KindField && p.Kind != speech.KindValue {
			continue
		}
		if p.Kind == speech.KindValue && p.To > p.From+1 && slices.ContainsFunc(c.Pieces, func(x parse.Piece) bool { return x.Kind == speech.KindTrend && p.From <= x.From && x.From < p.To }) {
			return false // a rose bush has not risen
		}
		row := p.Kind == speech.KindField && !p.Field.Measure() && !p.Field.Clock() // a key or a name: the rows themselves
		for i := p.From; i < p.To; i++ {
			if !naming(i, row) && (!r.Lex.Small(r.Tokens[i]) || !row && p.Weight >= 10 && p.To == p.From+1) {
				return false
			}
		}
	}
	return true
}

// unknown returns the tokens that the best explanation of any view leaves without a meaning.
func (r *reader) unknown() []int {
	var best []int
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
	if len(r.Views) == 0 {
		for i := 0; i < len(r.Tokens); i++ {
			if asks, ok := r.PhraseAt(i, speech.KindAsk); ok {
				i += len(asks.Words) - 1 // how many
			} else if !r.Lex.Small(r.Tokens[i]) {
				best = append(best, i)
			}
		}
	}
	if len(best) > 0 {
		return best
	}
	for i, t := range r.Tokens {
		if !r.Lex.Small(t) {
			best = append(best, i) // known words may be part of a name: Film 7
		}
	}
	return best
}

// settle requests the statements of the best readings and answers with the first one, if
// those that fit as well state the same.
func (r *reader) settle(out *Reading, plans []*plan.Plan) {
	type rival struct {
		plan  *plan.Plan
		sql   string
		paths []string
	}
	var rivals []rival
	for _, p := range plans {
		if p.Weight < plans[0].Weight-closeBy {
			break
		}
		sql, paths := answer.Statement(p, r.src.Postgres)
		if !slices.ContainsFunc(rivals, func(a rival) bool { return schema.SameStatement(a.sql, sql) }) {
			rivals = append(rivals, rival{p, sql, paths})
		}
	}
	if len(rivals) == 1 {
		out.plan = rivals[0].plan
	}
	out.best = rivals[0].plan
	if len(rivals) > maxStatements {
		out.Why = plan.ReasonAmbiguous
		return
	}
	var answers []*answer.Answer
	for _, a := range rivals {
		res, ok := r.src.Result(a.sql)
		if !ok {
			out.Statements = append(out.Statements, a.sql)
			continue
		}
		ans, reason := answer.New(a.plan, res, a.paths)
		if reason != "" {
			out.Why = reason
			continue
		}
		answers = append(answers, ans)
	}
	if len(out.Statements) > 0 || len(answers) == 0 {
		return
	}
	for _, o := range answers[1:] {
		if !agree(answers[0], o) {
			out.Why = plan.ReasonAmbiguous
			return
		}
	}
	out.Why, out.Answer = "", answers[0]
}

// agree reports whether two answers state the same.
func agree(a, b *answer.Answer) bool {
	if len(a.Result.Rows) == 1 && len(b.Result.Rows) == 1 && a.OnlyFigure && b.OnlyFigure {
		x, ok := schema.Figure(a.Result.Rows[0], 0)
		y, ok2 := schema.Figure(b.Result.Rows[0], 0)
		return ok && ok2 && x == y // the same figure, whatever it is called
	}
	return strings.TrimRight(a.Sentences[0], ".") == strings.TrimRight(b.Sentences[0], ".") || len(a.Cells) > 0 && slices.EqualFunc(a.Cells, b.Cells, slices.Equal)
}
