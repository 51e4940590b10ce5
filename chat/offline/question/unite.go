package question

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fileYear is the year in the name of a file: stays_2021.
var fileYear = regexp.MustCompile(`(?:^|[_-])((?:19|20)\d\d)(?:$|[_-])`)

// unite makes one table of those that have the same columns and differ by the year in
// their names, with a column for that year where they have none.
func unite(tables []Table) []Table {
	groups := map[string][]Table{}
	key := func(t Table) string {
		if !fileYear.MatchString(t.Name) {
			return ""
		}
		return fileYear.ReplaceAllString(t.Name, "_")
	}
	for _, t := range tables {
		if k := key(t); k != "" && t.union == "" && t.Path != "" {
			groups[k] = append(groups[k], t)
		}
	}
	var out []Table
	done := map[string]bool{}
	for _, t := range tables {
		k := key(t)
		g := groups[k]
		if len(g) < 2 || slices.ContainsFunc(g[1:], func(o Table) bool { return !sameColumns(g[0], o) }) {
			out = append(out, t)
			continue
		}
		if !done[k] {
			done[k] = true
			out = append(out, united(strings.Trim(k, "_-"), g))
		}
	}
	return out
}

// sameColumns compares names and types in their order.
func sameColumns(a, b Table) bool {
	return slices.EqualFunc(a.Columns, b.Columns, func(x, y Column) bool { return x.Name == y.Name && x.Type == y.Type && x.Unit == y.Unit })
}

// united is the table of a group.
func united(name string, group []Table) Table {
	t := Table{Name: name}
	var selects, paths []string
	var years []float64
	timed := slices.ContainsFunc(group[0].Columns, func(c Column) bool {
		return c.Type == "date" || c.Type == "datetime" || strings.EqualFold(c.Name, "year") || strings.EqualFold(c.Name, "jahr")
	})
	for _, g := range group {
		year, err := strconv.Atoi(fileYear.FindStringSubmatch(g.Name)[1])
		if err != nil {
			continue
		}
		years = append(years, float64(year))
		var cols []string
		if !timed {
			cols = append(cols, fmt.Sprintf("%d AS %s", year, ident("year")))
		}
		for _, c := range g.Columns {
			cols = append(cols, ident(c.Name))
		}
		selects = append(selects, "SELECT "+strings.Join(cols, ", ")+" FROM "+table(g.Name))
		paths = append(paths, g.Path)
		t.RowCount += g.RowCount
	}
	t.union, t.Path = strings.Join(selects, " UNION ALL "), strings.Join(paths, ", ")
	if !timed {
		t.Columns = append(t.Columns, Column{Name: "year", Type: "integer", Min: slices.Min(years), Max: slices.Max(years), Distinct: int64(len(years))})
	}
	for i := range group[0].Columns {
		t.Columns = append(t.Columns, unitedColumn(group, i))
	}
	return t
}

// unitedColumn puts the descriptions of one column together. How many different values
// it has is not known.
func unitedColumn(group []Table, i int) Column {
	c := group[0].Columns[i]
	c.Values = slices.Clone(c.Values)
	complete := true
	for k, g := range group {
		o := g.Columns[i]
		complete = complete && !o.DistinctCapped && o.Distinct <= int64(len(o.Values))
		if k == 0 {
			continue
		}
		c.Missing, c.Unusable = c.Missing+o.Missing, c.Unusable+o.Unusable
		for _, v := range o.Values {
			if !slices.Contains(c.Values, v) {
				c.Values = append(c.Values, v)
			}
		}
		if compareCells(o.Min, c.Min) < 0 {
			c.Min = o.Min
		}
		if compareCells(o.Max, c.Max) > 0 {
			c.Max = o.Max
		}
	}
	c.Distinct, c.DistinctCapped = int64(len(c.Values)), !complete || c.Type != "text"
	return c
}
