package table

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"atelier/media"
)

var (
	totalWords = strings.Split("total,totals,grand total,sum,summe,gesamt,gesamtsumme,insgesamt,endsumme,total général,total general,somme,all,alle,subtotal,"+
		"sub-total,sub total,zwischensumme,sous-total,ergebnis,gesamtergebnis,overall,σ,∑", ",")
	meanWords = wordSet("average mean avg durchschnitt mittelwert mittel moyenne")
)

// totalWord reads a label such as "Total", "Summe" or "Average". exact reports whether the label is only that word,
// mean whether it is an average.
func totalWord(label string) (mean, exact, ok bool) {
	if len(label) > 60 {
		return false, false, false
	}
	l := strings.Trim(strings.ToLower(label), " :.*=")
	if mean = meanWords[l]; mean || slices.Contains(totalWords, l) {
		return mean, true, true
	}
	return false, false, slices.ContainsFunc([]string{"total", "summe", "gesamt", "subtotal", "zwischensumme", "somme"}, func(w string) bool {
		return strings.HasPrefix(l, w+" ") || strings.HasSuffix(l, " "+w)
	})
}

// totalLabel reads the first text of a row with [totalWord].
func totalLabel(record []cell) (mean, exact, ok bool) {
	for _, c := range record {
		if len(c.text) > 0 && !c.exact && (c.text[0] >= 'A' || c.text[0] == '*') && !isMissing(c.text) {
			return totalWord(string(c.text))
		}
	}
	return false, false, false
}

// isTotal reports whether a row repeats the rows above it: it has the label of a total, and one of its numbers is the
// sum (or mean) of the column above.
func (s *survey) isTotal(record []cell) (sure, suspect bool) {
	mean, exact, ok := totalLabel(record)
	if !ok || s.rows < 2 {
		return false, false
	}
	texts, numbers, below := 0, 0, 0
	for i, c := range record[:min(len(record), len(s.tallies))] {
		if isMissing(c.text) {
			continue
		}
		n, ok := numberOf(c)
		if !ok {
			texts++
			continue
		}
		numbers++
		t := s.tallies[i]
		if t.agrees(n, mean) {
			return true, false
		}
		if v, _ := n.value(false); !mean && t.low >= 0 && v < t.high {
			below++ // less than one of its parts
		}
	}
	return false, exact && texts == 1 && numbers > below
}

// agrees reports whether n is the sum of the column so far, or since the last subtotal, with either decimal sign.
func (t *tally) agrees(n number, mean bool) bool {
	if t.numbers < 2 {
		return false
	}
	for _, comma := range []bool{false, true} {
		v, _ := n.value(comma)
		sum, decimals := t.sumPoint, n.decimalsPoint
		if comma {
			sum, decimals = t.sumComma, n.decimalsComma
		}
		near := func(of float64) bool {
			return v != 0 && math.Abs(v-of) <= max(math.Abs(v)*5e-4, math.Pow10(-decimals))
		}
		if mean && near(sum.all/float64(t.numbers)) || !mean && (near(sum.all) || near(sum.part)) {
			return true
		}
	}
	return false
}

// isFooter reports whether a record is a remark below the table: a single cell in a table of several columns. In a loose
// table of two columns, a single cell is more likely a row without its second value.
func isFooter(record []cell, width int, loose bool) bool {
	if width < 2 || len(record) == 0 || len(record[0].text) == 0 {
		return false
	}
	text := strings.ToLower(string(record[0].text))
	if !blank(record[1:]) || kindOf(text) != Text {
		return false
	}
	if len(record) == 1 && (width > 2 || !loose) || len(text) > 40 {
		return true
	}
	return slices.ContainsFunc([]string{"source:", "sources:", "quelle:", "quellen:", "note:", "notes:", "anmerkung", "hinweis:", "stand:", "stand ", "*", "©", "¹", "1)", "remark:", "updated", "generated", "exported", "last updated", "as of "}, func(w string) bool { return strings.HasPrefix(text, w) })
}

// maxWholes is the maximum number of values and columns that are compared.
const maxWholes = 5

// noteAggregates adds notes on values of text columns that represent all others together, such as "All countries":
// their rows contain the sums of the other rows, so that a sum over all rows counts twice.
func (s *store) noteAggregates(ctx context.Context, tb *table) error {
	var numbers []*column
	for _, c := range tb.columns {
		if (c.kind == Integer || c.kind == Number) && len(numbers) < maxWholes && !isCalendar(c.name) {
			numbers = append(numbers, c)
		}
	}
	for _, c := range tb.columns {
		if c.kind != Text || c.capped || len(c.counts) < 3 {
			continue
		}
		var values []string
		for v := range c.counts {
			if label, _ := v.(string); isAggregateLabel(label) {
				values = append(values, label)
			}
		}
		slices.Sort(values)
		for _, v := range values[:min(maxWholes, len(values))] {
			whole, err := s.isWhole(ctx, tb, c, v, numbers)
			if err != nil {
				return err
			}
			if whole {
				tb.notes = append(tb.notes, fmt.Sprintf("%q: the rows with %q contain the sums of the other rows: exclude them from sums and counts", c.name, v))
			}
		}
	}
	return nil
}

// isAggregateLabel reports whether a value names a whole.
func isAggregateLabel(v string) bool {
	l := strings.ToLower(v)
	if mean, exact, ok := totalWord(l); ok && !mean && (exact || strings.HasPrefix(l, "total ") || strings.HasPrefix(l, "gesamt ")) {
		return true
	}
	return l == "world" || l == "welt" || l == "monde" || l == "both sexes" ||
		slices.ContainsFunc([]string{"all ", "alle ", "tous ", "toutes "}, func(w string) bool { return strings.HasPrefix(l, w) })
}

// isWhole compares the sum of the rows with v to that of the other rows, within half a percent.
func (s *store) isWhole(ctx context.Context, tb *table, c *column, v string, numbers []*column) (bool, error) {
	for _, n := range numbers {
		var whole, others float64
		q := fmt.Sprintf("SELECT coalesce(sum(CASE WHEN %[1]s = ? THEN %[2]s END), 0), coalesce(sum(CASE WHEN %[1]s <> ? THEN %[2]s END), 0) FROM %[3]s", quote(c.name), quote(n.name), quote(tb.name)) //nolint:gosec // the names are quoted
		if err := s.conn.QueryRowContext(ctx, q, v, v).Scan(&whole, &others); err != nil {
			return false, media.Errorf(media.CodeInternal, "compare sums of %s: %w", tb.name, err)
		}
		if whole != 0 && math.Abs(whole-others) <= 0.005*math.Abs(whole) {
			return true, nil
		}
	}
	return false, nil
}
