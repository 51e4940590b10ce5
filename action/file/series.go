package file

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// seriesMaker draws the rows of a table together into points.
type seriesMaker struct {
	p      *profiler
	plan   plan
	bucket bucket
	lines  []*line          // in order of appearance
	byName map[string]*line // line by group, or by measure where there is no group
	labels []string         // names on a category axis, by key
	keys   map[string]int64 // key by name
	lost   map[string]int   // what did not fit, by reason
	notes  []string
}

// line is one group or one measure.
type line struct {
	name, measure string
	rate          bool // averaged rather than added up
	all           sum
	points        map[int64]*sum
}

// sum adds up values.
type sum struct {
	value float64
	count int
}

func (s *sum) add(f float64) { s.value += f; s.count++ }

// get gives the mean or the sum.
func (s *sum) get(mean bool) float64 {
	if mean {
		return s.value / float64(max(1, s.count))
	}
	return s.value
}

func newSeriesMaker(p *profiler, pl plan) *seriesMaker {
	s := &seriesMaker{p: p, plan: pl, byName: map[string]*line{}, keys: map[string]int64{}, lost: map[string]int{}}
	switch {
	case pl.melted:
		s.bucket = bucket{layout: "2006", start: func(t time.Time) time.Time { return t }}
	case pl.dated:
		s.bucket = bucketFor(p.columns[pl.x], maxPoints)
	}
	return s
}

// add takes one record.
func (s *seriesMaker) add(cells [][]byte) error {
	if s.plan.melted {
		s.melt(cells)
		return nil
	}
	key, ok := s.key(s.plan.x, cells[s.plan.x])
	if !ok {
		return nil
	}
	if len(s.plan.measures) == 0 {
		s.put(s.group(cells, "count"), nil, key, 1)
		return nil
	}
	for _, i := range s.plan.measures {
		c := s.p.columns[i]
		if f, ok := c.dialect.parseNumber(cells[i]); ok && !isMissing(cells[i]) {
			s.put(s.group(cells, c.name), c, key, f)
		}
	}
	return nil
}

// melt reads one value per year column.
func (s *seriesMaker) melt(cells [][]byte) {
	for _, i := range s.plan.measures {
		c := s.p.columns[i]
		year, _ := parseYear([]byte(c.name))
		if f, ok := c.dialect.parseNumber(cells[i]); ok {
			s.put(s.group(cells, "value"), c, year.minutes, f)
		}
	}
}

// group names the line of a record.
func (s *seriesMaker) group(cells [][]byte, otherwise string) string {
	if s.plan.group < 0 {
		return otherwise
	}
	if isMissing(cells[s.plan.group]) {
		return "(none)"
	}
	return short(string(cells[s.plan.group]), 60)
}

// key gives a record's place on the x axis.
func (s *seriesMaker) key(i int, cell []byte) (int64, bool) {
	if isMissing(cell) {
		return 0, false
	}
	if s.plan.dated {
		d, ok := s.p.columns[i].stamp(cell)
		return s.bucket.start(d.time()).Unix() / 60, ok
	}
	if k, ok := s.keys[string(cell)]; ok {
		return k, true
	}
	if len(s.labels) >= maxNames {
		s.lost["names on the x axis beyond the first 50,000"]++
		return 0, false
	}
	k := int64(len(s.labels))
	s.keys[string(cell)] = k
	s.labels = append(s.labels, short(string(cell), 60))
	return k, true
}

// put adds a value of column c, nil for counting rows, to a line.
func (s *seriesMaker) put(name string, c *column, key int64, f float64) {
	l, ok := s.byName[name]
	if !ok {
		if len(s.lines) >= maxGroups {
			s.lost["groups beyond the first 1,000"]++
			return
		}
		l = &line{name: name, measure: "count", points: map[int64]*sum{}}
		if c != nil {
			l.measure, l.rate = c.name, c.isRate()
		}
		if s.plan.melted {
			l.measure = "value"
		}
		s.byName[name] = l
		s.lines = append(s.lines, l)
	}
	l.all.add(f)
	at, ok := l.points[key]
	if !ok {
		at = &sum{}
		l.points[key] = at
	}
	at.add(f)
}

// finish writes series and totals into t.
func (s *seriesMaker) finish(t *table) {
	if len(s.lines) == 0 || len(s.plan.measures) == 0 && !s.several() {
		return // that every row is there once tells nothing
	}
	t.X, t.Measure, t.Bucket = "year", s.lines[0].measure, s.bucket.name
	if s.plan.x >= 0 {
		t.X = s.p.columns[s.plan.x].name
	}
	if s.plan.group >= 0 {
		t.GroupBy = s.p.columns[s.plan.group].name
	}
	t.Aggregation = s.aggregation(s.lines[0])
	t.Totals = s.totals()
	lines := s.largest()
	keys, all := s.order(lines[0])
	if all > len(keys) {
		t.XCount = all
	}
	for _, l := range lines {
		one := series{Name: l.name, Measure: l.measure, Points: s.points(l, keys)}
		if how := s.aggregation(l); how != t.Aggregation {
			one.Aggregation = how
		}
		t.Series = append(t.Series, one)
	}
	for _, why := range slices.Sorted(maps.Keys(s.lost)) {
		s.notes = append(s.notes, fmt.Sprintf("%d rows are not in the series: %s", s.lost[why], why))
	}
}

// aggregation is how several rows became one point of a line.
func (s *seriesMaker) aggregation(l *line) string {
	switch {
	case len(s.plan.measures) == 0:
		return "sum"
	case !s.several():
		return "none"
	case s.bucket.name != "", l.rate:
		return "mean"
	}
	return "sum"
}

// several tells whether any point has more than one row.
func (s *seriesMaker) several() bool {
	for _, l := range s.lines {
		for _, at := range l.points {
			if at.count > 1 {
				return true
			}
		}
	}
	return false
}

// largest keeps the lines that a chart can show, in their order of appearance.
func (s *seriesMaker) largest() []*line {
	if len(s.lines) <= maxSeries {
		return s.lines
	}
	bySize := slices.Clone(s.lines)
	slices.SortStableFunc(bySize, func(a, b *line) int {
		return cmp.Compare(math.Abs(b.all.get(b.rate)), math.Abs(a.all.get(a.rate)))
	})
	s.notes = append(s.notes, fmt.Sprintf("series show the %d largest of %d groups", maxSeries, len(s.lines)))
	return bySize[:maxSeries]
}

// order gives the keys of the x axis: dates in order of time, names in order of
// appearance, or the largest where there are too many; all is how many there are.
func (s *seriesMaker) order(first *line) (keys []int64, all int) {
	seen := map[int64]bool{}
	for _, l := range s.lines {
		for k := range l.points {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	if s.plan.dated || len(keys) <= maxPoints {
		return keys, len(keys)
	}
	slices.SortStableFunc(keys, func(a, b int64) int {
		return cmp.Compare(s.size(first, b), s.size(first, a))
	})
	if s.labels != nil {
		s.note(fmt.Sprintf("series show the %d largest of %d values of %s", maxPoints, len(keys), s.p.columns[s.plan.x].name))
	}
	return keys[:maxPoints], len(keys)
}

// note adds a note once.
func (s *seriesMaker) note(text string) {
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

func (s *seriesMaker) size(l *line, key int64) float64 {
	at, ok := l.points[key]
	if !ok {
		return 0
	}
	return math.Abs(at.get(l.rate))
}

// points writes a line's points at the given keys; absent ones are left out.
func (s *seriesMaker) points(l *line, keys []int64) [][2]any {
	mean := s.aggregation(l) == "mean"
	out := make([][2]any, 0, len(keys))
	for _, k := range keys {
		at, ok := l.points[k]
		if !ok {
			continue
		}
		var label string
		if s.plan.dated {
			label = time.Unix(k*60, 0).UTC().Format(s.bucket.layout)
		} else {
			label = s.labels[k]
		}
		out = append(out, [2]any{label, tidy(at.get(mean))})
	}
	return out
}
