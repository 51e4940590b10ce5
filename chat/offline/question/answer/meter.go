package answer

import (
	"fmt"
	"slices"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
	"atelier/chat/offline/question/speech"
)

// meterSQL selects the difference between two readings, both readings and how many there are on their days.
func (p *statement) meterSQL(q *plan.Query) string {
	r, _ := p.BetweenReadings()
	own := slices.DeleteFunc(slices.Clone(p.Filters), func(f plan.Filter) bool { return f.Field == p.Time })
	f, d := q.Col(p.Measures[0].Field), q.Date(p.Time, 10)
	on := func(how, day string) string {
		return fmt.Sprintf("%s(CASE WHEN %s = %s THEN %s END)", how, d, speech.QuotedText(day), f)
	}
	last, count := on("MAX", r.Last), on("COUNT", r.Last)
	if r.Or != "" {
		last = "COALESCE(" + last + ", " + on("MAX", r.Or) + ")"
		count = "CASE WHEN " + count + " > 0 THEN " + count + " ELSE " + on("COUNT", r.Or) + " END"
	}
	return fmt.Sprintf("SELECT %s - %s AS %s, %s AS %s, %s AS %s, %s AS %s, %s AS %s", last, on("MAX", r.First), schema.QuotedName(p.Say("difference", "Differenz")),
		on("MAX", r.First), schema.QuotedName(p.Say("first reading", "erster Stand")), last, schema.QuotedName(p.Say("last reading", "letzter Stand")),
		on("COUNT", r.First), schema.QuotedName(p.Say("first readings", "erste Stände")), count, schema.QuotedName(p.Say("last readings", "letzte Stände"))) + q.From(own)
}

// sayMeter states the difference between two readings.
func (p *reply) sayMeter(a *Answer) plan.Reason {
	row := a.Result.Rows[0]
	diff, ok := schema.Figure(row, 0)
	n0, _ := schema.Figure(row, 3)
	n1, _ := schema.Figure(row, 4)
	if !ok || n0 == 0 || n1 == 0 {
		return plan.ReasonEmpty
	}
	if n0 > 1 || n1 > 1 || diff < 0 {
		return plan.ReasonAmbiguous // several meters, or one that was replaced
	}
	v0, _ := schema.Figure(row, 1)
	v1, _ := schema.Figure(row, 2)
	f := p.Measures[0].Field
	p.align(v0, v1)
	a.Heading = speech.Upper(f.Label())
	a.Sentences = []string{fmt.Sprintf(p.Say("The reading of %s%s went from %s to %s: %s", "Der Stand von %s%s ging von %s auf %s: %s"), p.named(f), p.conds(), p.amount(v0, f), p.amount(v1, f), p.amount(diff, f)) + "."}
	return ""
}
