package file

// plan says which columns make the series of a table.
type plan struct {
	x, group int   // -1 for none
	measures []int // number columns; with a group just one
	// melted: the measures are columns named by years, one value per row and year.
	melted bool
	// dated: x is a date column.
	dated bool
}

// usable tells whether there is something to draw.
func (p plan) usable() bool { return p.melted || p.x >= 0 }

// plan chooses by the columns' kinds. It prefers dates for x, then names; groups
// only where x repeats; and numbers that are not identifiers for measures.
func (p *profiler) plan() plan {
	if melted, ok := p.meltedPlan(); ok {
		return melted
	}
	out := plan{x: -1, group: -1}
	for i, c := range p.columns {
		switch {
		case c.count == 0:
		case c.kind() == typeDate && out.x < 0:
			out.x, out.dated = i, true
		case c.kind() == typeNumber && !c.isIdentity():
			out.measures = append(out.measures, i)
		}
	}
	if out.dated {
		if !p.columns[out.x].unique() {
			out.group = p.category(out.x, 2, 50)
		}
	} else {
		out.x = p.names()
	}
	limit := maxSeries
	switch {
	case out.group >= 0:
		limit = 1
	case !out.dated:
		limit = 4
	}
	out.measures = out.measures[:min(limit, len(out.measures))]
	return out
}

// meltedPlan recognises tables with one column per year.
func (p *profiler) meltedPlan() (plan, bool) {
	out := plan{x: -1, group: p.firstText(), melted: true, dated: true}
	for i, c := range p.columns {
		if _, ok := parseYear([]byte(c.name)); ok && c.kind() == typeNumber {
			out.measures = append(out.measures, i)
		}
	}
	return out, len(out.measures) >= 3
}

// names finds a column of names for x where there are no dates: names that stand
// once if they are few, else a category, else any names.
func (p *profiler) names() int {
	anyNames := -1
	for i, c := range p.columns {
		if c.kind() != typeText || c.count == 0 || c.length/c.count > 60 {
			continue
		}
		if c.unique() && c.count <= maxPoints {
			return i
		}
		if anyNames < 0 {
			anyNames = i
		}
	}
	if i := p.category(-1, 2, maxPoints); i >= 0 {
		return i
	}
	return anyNames
}

// category finds a text column, other than x, with few values that repeat.
func (p *profiler) category(x, least, most int) int {
	for i, c := range p.columns {
		k := c.kind()
		if i == x || k != typeText && k != typeBoolean || c.capped {
			continue
		}
		n := len(c.distinct)
		if n >= least && n <= most && c.count >= 2*n && c.length/c.count <= 40 {
			return i
		}
	}
	return -1
}
