package file

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxTotals is how many groups the totals name.
const maxTotals = 15

// totals compares the groups, or the names on the x axis where there are no groups.
func (s *seriesMaker) totals() []total {
	var list []total
	switch {
	case s.plan.group >= 0 || s.plan.dated:
		for _, l := range s.lines {
			list = append(list, total{Group: l.name, Measure: l.measure, Value: l.all.get(l.rate)})
		}
	default:
		l := s.lines[0]
		for k, at := range l.points {
			list = append(list, total{Group: s.labels[k], Measure: l.measure, Value: at.get(l.rate)})
		}
	}
	slices.SortFunc(list, func(a, b total) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Group, b.Group))
	})
	if len(s.lost) == 0 && !s.lines[0].rate && (s.plan.group >= 0 || !s.plan.dated) {
		s.shares(list)
	}
	for i := range list {
		list[i].Value = tidy(list[i].Value)
	}
	return list[:min(maxTotals, len(list))]
}

// shares sets each group's part of the whole. A group that is the whole itself
// ("All natural disasters") has no share and does not count.
func (s *seriesMaker) shares(list []total) {
	whole := 0.0
	for i, t := range list {
		if t.Value < 0 {
			return
		}
		if i == 0 && len(list) > 2 && isWhole(t.Group) {
			s.note(fmt.Sprintf("%q looks like the total of the other groups; shares leave it out", t.Group))
			continue
		}
		whole += t.Value
	}
	if whole == 0 || len(list) < 2 {
		return
	}
	for i, t := range list {
		if i == 0 && len(list) > 2 && isWhole(t.Group) {
			continue
		}
		share := math.Round(t.Value/whole*10000) / 10000
		list[i].Share = &share
	}
}

// isWhole tells the name of a group that sums up the others.
func isWhole(name string) bool {
	n := strings.ToLower(strings.TrimSpace(name))
	return n == "all" || n == "total" || n == "overall" || n == "world" || n == "sum" ||
		strings.HasPrefix(n, "all ") || strings.HasPrefix(n, "total") || strings.HasPrefix(n, "grand total")
}
