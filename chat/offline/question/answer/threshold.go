package answer

import (
	"fmt"
	"strconv"

	"atelier/chat/offline/question/plan"
	"atelier/chat/offline/question/schema"
)

// having returns the condition on the groups.
func (p *statement) having(q *plan.Query) string {
	if p.Bound == nil {
		return ""
	}
	return fmt.Sprintf(" HAVING %s %s %s", p.expr(q, p.First()), p.Bound.Op, strconv.FormatFloat(p.Bound.N, 'f', -1, 64))
}

// manySQL counts the groups that a threshold keeps.
func (p *statement) manySQL(q *plan.Query) string {
	cols, _, conds := p.keys(q)
	by := cols[len(cols)-1]
	return fmt.Sprintf("SELECT COUNT(*) AS %s FROM (SELECT %s AS g%s GROUP BY %s%s) AS kept", schema.QuotedName(p.Say("number", "Anzahl")), by, q.From(p.Filters, conds...), by, p.having(q))
}

// sayMany states how many groups a threshold keeps.
func (p *reply) sayMany(a *Answer) plan.Reason {
	if p.Tally = p.Unit; p.Tally == "" {
		p.Counted = p.Groups[len(p.Groups)-1]
	}
	return p.sayCount(a)
}
