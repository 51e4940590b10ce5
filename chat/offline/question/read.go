package question

import (
	"slices"
	"strings"
)

// closeBy is how much lighter another reading has to be for a question to be clear.
const closeBy = 0.9

// mostStatements bounds what one part asks.
const mostStatements = 3

// read reads one part of the question.
func (r *reader) read(part string) Reading {
	out := Reading{Part: part}
	r.tokenize(part)
	plans, why := r.plans()
	if len(plans) == 0 {
		if probe := r.probe(r.unknown()); probe != "" {
			res, asked := r.src.result(probe)
			if !asked {
				out.Ask = []string{probe}
				return out
			}
			r.learn(res)
			plans, why = r.plans()
		}
	}
	if len(plans) == 0 {
		out.Why = why
		for _, i := range r.strange() {
			out.Unknown = append(out.Unknown, r.ts[i].raw)
		}
		return out
	}
	r.settle(&out, plans)
	return out
}

// plans are the readings of the question that make sense, best first.
func (r *reader) plans() ([]*plan, Reason) {
	var out []*plan
	why := ReasonUnknown
	for _, v := range r.views {
		var best *cover // the fullest explanation by this table
		for _, c := range r.covers(v) {
			p, no := newPlan(r, v, c)
			if no == "" && (best == nil || r.names(c, *best)) {
				out = append(out, p)
				continue
			}
			if no == "" {
				no = ReasonUnclear // a word that names a column is no filler
			}
			if best == nil && no != ReasonUnknown {
				best = &c
			}
			if why == ReasonUnknown && no != ReasonUnknown || no == ReasonBeyond {
				why = no
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *plan) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	return out, why
}

// names says whether every word that another explanation takes for a column, a value or a
// time is one of these here too.
func (r *reader) names(c, o cover) bool {
	naming := func(at int, row bool) bool {
		return slices.ContainsFunc(c.pieces, func(p piece) bool {
			return p.from <= at && at < p.to && (row && p.kind == kindEntity || p.kind == kindField || p.kind == kindValue || p.kind == kindTime || p.kind == kindNum || p.kind == kindSup || p.kind == kindCmp || p.kind == kindNone)
		})
	}
	for _, p := range o.pieces {
		if p.kind != kindField && p.kind != kindValue {
			continue
		}
		row := p.kind == kindField && !p.field.measure(r.lex) // a key or a name: the rows themselves
		for i := p.from; i < p.to; i++ {
			if !naming(i, row) && (!r.lex.small(r.ts[i]) || !row && p.weight >= 10 && p.to == p.from+1) {
				return false
			}
		}
	}
	return true
}

// strange are the tokens that no explanation gives a meaning.
func (r *reader) strange() []int {
	at := r.unknown()
	if len(at) == 0 || len(r.views) == 0 {
		return at
	}
	return slices.DeleteFunc(at, func(i int) bool {
		return slices.ContainsFunc(r.views, func(v *view) bool {
			return slices.ContainsFunc(r.piecesAt(v, i), func(p piece) bool { return p.kind != kindUnknown })
		})
	})
}

// unknown are the tokens that the best explanation of any view leaves without a meaning.
func (r *reader) unknown() []int {
	var best []int
	found := false
	for _, v := range r.views {
		for _, c := range r.covers(v)[:1] {
			var at []int
			for _, p := range c.pieces {
				if p.kind == kindUnknown {
					at = append(at, p.from)
				}
			}
			if !found || len(at) < len(best) {
				best, found = at, true
			}
		}
	}
	if !found {
		for i, t := range r.ts {
			if !r.lex.fill[t.fold] && r.lex.phrases[t.fold] == nil {
				best = append(best, i)
			}
		}
	}
	if len(best) > 0 {
		return best
	}
	for i, t := range r.ts {
		if !r.lex.small(t) {
			best = append(best, i) // known words may be part of a name: Film 7
		}
	}
	return best
}

// settle asks the statements of the best readings and answers with the first, if those
// that fit as well say the same.
func (r *reader) settle(out *Reading, plans []*plan) {
	type asked struct {
		plan  *plan
		sql   string
		paths []string
	}
	var rivals []asked
	for _, p := range plans {
		if p.weight < plans[0].weight-closeBy {
			break
		}
		sql, paths := p.statement()
		if !slices.ContainsFunc(rivals, func(a asked) bool { return same(a.sql, sql) }) {
			rivals = append(rivals, asked{p, sql, paths})
		}
	}
	if len(rivals) > mostStatements {
		out.Why = ReasonAmbiguous
		return
	}
	var answers []*Answer
	for _, a := range rivals {
		res, ok := r.src.result(a.sql)
		if !ok {
			out.Ask = append(out.Ask, a.sql)
			continue
		}
		ans, why := a.plan.answer(res, a.paths)
		if why != "" {
			out.Why = why
			continue
		}
		answers = append(answers, ans)
	}
	if len(out.Ask) > 0 || len(answers) == 0 {
		return
	}
	for _, o := range answers[1:] {
		if !agree(answers[0], o) {
			out.Why = ReasonAmbiguous
			return
		}
	}
	out.Why, out.Answer = "", answers[0]
}

// agree says whether two answers state the same.
func agree(a, b *Answer) bool {
	if len(a.Result.Rows) == 1 && len(b.Result.Rows) == 1 && a.figure && b.figure {
		x, ok := at(a.Result.Rows[0], 0)
		y, ok2 := at(b.Result.Rows[0], 0)
		return ok && ok2 && x == y // the same figure, whatever it is called
	}
	return strings.TrimRight(a.Sentences[0], ".") == strings.TrimRight(b.Sentences[0], ".") || len(a.Cells) > 0 && slices.EqualFunc(a.Cells, b.Cells, slices.Equal)
}
