package table

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"atelier/media"
)

// maxWholes is how many values and columns are compared.
const maxWholes = 5

// wholes notes values of text columns that stand for all others together, such as
// "All countries": their rows hold the sums of the other rows, so that a sum over all rows
// counts twice.
func (s *store) wholes(ctx context.Context, tb *table) error {
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
		values := slices.DeleteFunc(slices.Sorted(maps.Keys(c.counts)), func(v string) bool { return !standsForAll(v) })
		for _, v := range values[:min(maxWholes, len(values))] {
			whole, err := s.isWhole(ctx, tb, c, v, numbers)
			if err != nil {
				return err
			}
			if whole {
				tb.notes = append(tb.notes, fmt.Sprintf("%q: the rows of %q hold the sums of the other rows: leave them out of sums and counts", c.name, v))
			}
		}
	}
	return nil
}

// standsForAll recognises names of a whole.
func standsForAll(v string) bool {
	l := strings.ToLower(v)
	if mean, exact, ok := totalWord(l); ok && !mean && (exact || strings.HasPrefix(l, "total ") || strings.HasPrefix(l, "gesamt ")) {
		return true
	}
	return l == "world" || l == "welt" || l == "monde" || l == "both sexes" || strings.HasPrefix(l, "all ") || strings.HasPrefix(l, "alle ") || strings.HasPrefix(l, "tous ") || strings.HasPrefix(l, "toutes ")
}

// isWhole compares the sum of the rows of v with that of the others, within half a percent.
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
