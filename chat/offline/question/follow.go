package question

import (
	"slices"

	"atelier/chat/offline/question/plan"
	"atelier/internal/pattern"
)

// anaphor matches a word for the rows that the previous question counted: how many of them.
var anaphor = pattern.Lazy(`(?i)\b(?:it|that|this|they|them|their|those|these|its|ihre[rnms]?|deren|davon|dabei|dafür|sie|es|diese[rnms]?)\b|\bdas(?:\s+(?:insgesamt|zusammen)|\s*$)`)

// continuesPrevious reports whether a part continues about the rows of the part before it without
// stating their conditions itself, and whether the previous answer already covers it.
func (p part) continuesPrevious(r *reader, before *plan.Plan) (goesOn, said bool) {
	if !p.follows || before == nil || before.Op != plan.OpCount && before.Op != plan.OpValue || before.Counted != nil || before.Tally != "" || len(before.Filters) == 0 {
		return false, false
	}
	many := moreOf().MatchString(p.text)
	if bare().MatchString(p.text) || anaphor().MatchString(p.text) && r.SumOnly(p.text) {
		return true, many == (before.Op == plan.OpCount)
	}
	return anaphor().MatchString(p.text) || r.SumOnly(p.text), false
}

var moreOf = pattern.Lazy(`(?i)^(?:how many|wie ?viele)\b`)

// readFollowUp reads a part under the conditions of the part before it. A part that only asks for
// a sum is about the only amount.
func (r *reader) readFollowUp(text string, before *plan.Plan) Reading {
	r.before = before
	if coins := before.View.MoneyField; r.SumOnly(text) && coins != nil && !coins.Mixed() {
		out := r.read(before.Say("what is the total ", "wie hoch ist die Summe ") + coins.Label())
		out.Part = text
		return out
	}
	return r.read(text)
}

// broadensScope reports whether a figure that is asked for after a condition does not mention it:
// how many members are in Leeds and what is the average fee, of these or of all.
func broadensScope(before, p *plan.Plan) bool {
	conds := func(p *plan.Plan) bool {
		return slices.ContainsFunc(p.Filters, func(f plan.Filter) bool { return !f.Total })
	}
	return before != nil && p != nil && before.View == p.View && (p.Op == plan.OpValue || p.Op == plan.OpCount) && conds(before) && !conds(p)
}
