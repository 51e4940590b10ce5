package table

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"atelier/action/file"
)

// maxUnusable, maxDistinct and maxValues are the maximum numbers of unusable values shown, distinct values counted and
// frequent values shown of one column.
const (
	maxUnusable = 5
	maxDistinct = 1000
	maxValues   = 24
)

// stats are the facts that the second pass finds about a column.
type stats struct {
	missing, unusable int
	shown             []string    // the first distinct unusable values
	low, high         any         // of numbers and dates
	counts            map[any]int // of each of the first maxDistinct values
	capped            bool        // there are more
	// yes and no are the column's words for a boolean.
	yes, no string
}

// take converts a cell to its stored value, an int64, float64, string or nil, and counts it.
func (c *column) take(in cell) any {
	if c.isMissing(in.text) {
		c.missing++
		return nil
	}
	v, ok := c.convert(in)
	if !ok {
		c.unusable++
		c.show(file.Clip(string(in.text), 60))
		return nil
	}
	if v == nil {
		c.missing++
	}
	c.note(v)
	return v
}

// isMissing reports whether a cell has no value, given the type of the column.
func (c *column) isMissing(b []byte) bool {
	if c.kind != Text {
		return isMissing(b) || isWeaklyMissing(b)
	}
	return isMissing(b) && (!c.code || string(b) != "NA")
}

// show keeps an unusable value if it is among the first distinct ones.
func (c *column) show(s string) {
	if len(c.shown) < maxUnusable && !slices.Contains(c.shown, s) {
		c.shown = append(c.shown, s)
	}
}

// convert converts a cell to the type of the column.
func (c *column) convert(in cell) (any, bool) {
	switch c.kind {
	case Integer, Number:
		if c.yearly {
			m, ok := parseDate(in.text)
			return int64(m.year), ok
		}
		return c.number(in)
	case Date, DateTime:
		return c.date(in.text)
	case Boolean:
		v, _, ok := truth(in.text)
		if v {
			c.yes = string(in.text)
			return int64(1), true
		}
		if ok {
			c.no = string(in.text)
		}
		return int64(0), ok
	case Text:
	}
	return string(bytes.ToValidUTF8(in.text, []byte("�"))), true
}

func (c *column) number(in cell) (any, bool) {
	in.exact = in.exact && !c.retyped
	n, ok := numberOf(in)
	if n.zeros && c.zeros {
		return int64(digits(in.text)), true
	}
	if !ok || n.zeros || n.unit != "" && n.unit != c.unit {
		return nil, false
	}
	v, _ := n.value(c.comma)
	if c.sentinel && isSentinel(v) {
		return nil, true
	}
	if c.kind == Integer && v == math.Trunc(v) {
		return int64(v), true
	}
	return v, true
}

func (c *column) date(b []byte) (any, bool) {
	if c.compact && len(b) == 8 && isPlain(b) {
		m, ok := compactDate(b)
		return m.text(false), ok
	}
	m, ok := parseDate(b)
	if ok {
		m, ok = m.settle(c.dayFirst)
	}
	return m.text(c.kind == DateTime), ok
}

// note updates the range and the distinct values.
func (c *column) note(v any) {
	if v == nil {
		return
	}
	if c.kind != Text && c.kind != Boolean {
		if c.low == nil || compare(v, c.low) < 0 {
			c.low = v
		}
		if c.high == nil || compare(v, c.high) > 0 {
			c.high = v
		}
		if c.capped {
			return
		}
	}
	if s, ok := v.(string); ok && len(s) > 200 {
		v = s[:200] // longer values are distinguished by their beginning
	}
	if c.counts == nil {
		c.counts = map[any]int{}
	}
	if _, known := c.counts[v]; known || len(c.counts) < maxDistinct && !c.capped {
		c.counts[v]++
	} else {
		c.capped = true
	}
}

// compare compares two numbers or two texts.
func compare(a, b any) int {
	if s, ok := a.(string); ok {
		t, _ := b.(string)
		return cmp.Compare(s, t)
	}
	return cmp.Compare(float(a), float(b))
}

// float returns the value of an int64 or float64.
func float(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	f, _ := v.(float64)
	return f
}
