package file

import (
	"strconv"
	"time"
)

// bucket draws dates together that are too many for single points.
type bucket struct {
	// name is what one point covers; empty for single values.
	name string
	// layout writes the bucket's first date.
	layout string
	// minutes is the least length of a bucket.
	minutes int64
	start   func(time.Time) time.Time
}

const (
	dayMinutes  = 24 * 60
	yearMinutes = 365 * dayMinutes
)

// buckets from fine to coarse.
func buckets() []bucket {
	list := []bucket{
		{"hour", "2006-01-02T15:04", 60, func(t time.Time) time.Time { return t.Truncate(time.Hour) }},
		{"day", "2006-01-02", dayMinutes, func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }},
		{"week", "2006-01-02", 7 * dayMinutes, func(t time.Time) time.Time { return t.Truncate(7 * 24 * time.Hour) }},
		{"month", "2006-01", 28 * dayMinutes, func(t time.Time) time.Time { return month(t.Year(), t.Month()) }},
		{"quarter", "2006-01", 90 * dayMinutes, func(t time.Time) time.Time { return month(t.Year(), (t.Month()-1)/3*3+1) }},
	}
	for _, n := range []int{1, 2, 5, 10, 25, 50, 100} {
		name := "year"
		if n > 1 {
			name = strconv.Itoa(n) + " years"
		}
		list = append(list, bucket{name, "2006", int64(n) * yearMinutes, func(t time.Time) time.Time {
			return month(t.Year()/n*n, 1)
		}})
	}
	return list
}

func month(y int, m time.Month) time.Time { return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC) }

// bucketFor finds the finest bucket that keeps a date column within limit points.
func bucketFor(c *column, limit int) bucket {
	if !c.capped && len(c.distinct) <= limit {
		layout := "2006-01-02T15:04"
		switch {
		case c.wholeYears():
			layout = "2006"
		case c.wholeMonths():
			layout = "2006-01"
		case c.wholeDays():
			layout = "2006-01-02"
		}
		return bucket{layout: layout, start: func(t time.Time) time.Time { return t }}
	}
	span := c.lastDate.minutes - c.firstDate.minutes
	list := buckets()
	for _, b := range list {
		if span/b.minutes+2 <= int64(limit) {
			return b
		}
	}
	return list[len(list)-1]
}

// wholeMonths tells a column all of whose dates are first days of a month.
func (c *column) wholeMonths() bool {
	return c.all(func(t time.Time) bool { return t.Day() == 1 && t.Hour() == 0 && t.Minute() == 0 })
}

// wholeDays tells a column without times of day.
func (c *column) wholeDays() bool {
	return c.all(func(t time.Time) bool { return t.Hour() == 0 && t.Minute() == 0 })
}

// all asks about every date of a column that has few enough of them.
func (c *column) all(is func(time.Time) bool) bool {
	if c.capped {
		return false
	}
	for v := range c.distinct {
		if s, ok := c.stamp([]byte(v)); ok && !is(s.time()) {
			return false
		}
	}
	return true
}
