package mermaid

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"atelier/draw/graph"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// maxTasks is the maximum number of tasks of one schedule.
const maxTasks = 150

// task is one bar, or a point in time.
type task struct {
	name, id string
	section  int // -1 before the first section
	from, to time.Time
	flags    map[string]bool // done, active, crit, milestone, vert
}

func (t task) point() bool { return t.flags["milestone"] || t.flags["vert"] }

// gantt is a schedule.
type gantt struct {
	remarks
	layout   string
	sections []string
	tasks    []task
}

func (*gantt) kind() string { return "Gantt chart" }

func (d *gantt) end() error {
	if len(d.tasks) == 0 {
		return svg.Invalid("Code has no task: write Name : 2026-01-05, 10d")
	}
	return nil
}

func (d *gantt) statement(l line) error {
	word, rest := l.first()
	switch word {
	case "title":
		d.title = plain(rest)
		return nil
	case "dateFormat":
		d.layout = strings.NewReplacer("YYYY", "2006", "YY", "06", "MMMM", "January", "MMM", "Jan", "MM", "01", "M", "1", "DD", "02", "D", "2", "HH", "15", "mm", "04", "ss", "05").Replace(rest)
		return nil
	case "excludes", "includes", "weekend":
		d.warn("Days off (" + word + ") are not counted: durations run through.")
		return nil
	case "inclusiveEndDates":
		d.warn("Bars end at the beginning of their end dates: inclusiveEndDates is not supported.")
		return nil
	case "axisFormat", "tickInterval", "todayMarker", "topAxis", "weekday", "click", "displayMode:":
		return nil
	case "section":
		d.sections = append(d.sections, plain(rest))
		return nil
	}
	name, meta, ok := strings.Cut(l.text, ":")
	if name = plain(name); !ok || name == "" {
		return l.bad("a task is written Name : 2026-01-05, 10d")
	}
	if len(d.tasks) >= maxTasks {
		return l.bad("more than %d tasks: split the schedule", maxTasks)
	}
	return d.task(l, name, meta)
}

func (d *gantt) task(l line, name, meta string) error {
	t := task{name: name, section: len(d.sections) - 1, flags: map[string]bool{}}
	var fields []string
	for f := range strings.SplitSeq(meta, ",") {
		switch f = strings.TrimSpace(f); f {
		case "done", "active", "crit", "milestone", "vert":
			t.flags[f] = true
		case "":
		default:
			fields = append(fields, f)
		}
	}
	// The last field is an end or a duration, the one before it a start, the one before that an id.
	if len(fields) == 0 || len(fields) > 3 {
		return l.bad("a task has an id, a start and an end or duration: Name : id, 2026-01-05, 10d")
	}
	end := fields[len(fields)-1]
	var err error
	switch len(fields) {
	case 3:
		t.id = fields[0]
		t.from, err = d.start(l, fields[1])
	case 2:
		t.from, err = d.start(l, fields[0])
		if err != nil && !strings.HasPrefix(fields[0], "after") {
			t.id = fields[0]
			t.from, err = d.impliedStart(l, t, end)
		}
	default:
		t.from, err = d.impliedStart(l, t, end)
	}
	if err != nil {
		return err
	}
	if id, ok := strings.CutPrefix(end, "until "); ok {
		var until task
		until, err = d.find(l, strings.TrimSpace(id))
		t.to = until.from
	} else if t.to, ok = after(t.from, end); !ok {
		t.to, err = d.date(l, end)
	}
	if err != nil {
		return err
	}
	if t.to.Before(t.from) {
		return l.bad("the task ends before it begins")
	}
	d.tasks = append(d.tasks, t)
	return nil
}

// impliedStart returns the start of a task without one: the date of a milestone, for others the end of the previous task.
func (d *gantt) impliedStart(l line, t task, end string) (time.Time, error) {
	if at, err := d.date(l, end); err == nil && t.point() {
		return at, nil
	}
	if len(d.tasks) == 0 {
		return time.Time{}, l.bad("the first task needs a start")
	}
	return d.tasks[len(d.tasks)-1].to, nil
}

func (d *gantt) start(l line, s string) (time.Time, error) {
	if ids, ok := strings.CutPrefix(s, "after "); ok {
		var at time.Time
		for id := range strings.FieldsSeq(ids) {
			t, err := d.find(l, id)
			if err != nil {
				return at, err
			}
			if t.to.After(at) {
				at = t.to
			}
		}
		return at, nil
	}
	return d.date(l, s)
}

func (d *gantt) find(l line, id string) (task, error) {
	for _, t := range d.tasks {
		if t.id == id {
			return t, nil
		}
	}
	return task{}, l.bad("there is no task %s above", svg.Clip(id))
}

func (d *gantt) date(l line, s string) (time.Time, error) {
	for _, layout := range []string{d.layout, time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() < 10000 {
			if t.Year() > 0 {
				return t, nil
			} else if !strings.Contains(layout, "06") { // times of a day without a date
				return t.AddDate(2000, 0, 0), nil
			}
		}
	}
	return time.Time{}, l.bad("%q is not a date in the format of dateFormat", svg.Clip(s))
}

var duration = pattern.Lazy(`^(\d{1,6}(?:\.\d{1,3})?)\s*(ms|s|m|h|d|w|M|y)$`)

// after adds a duration such as 3d or 2w to a time.
func after(from time.Time, s string) (time.Time, bool) {
	m := duration().FindStringSubmatch(s)
	if m == nil {
		return from, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return from, false
	}
	var to time.Time
	switch m[2] {
	case "M":
		to = from.AddDate(0, int(n), 0)
	case "y":
		to = from.AddDate(int(n), 0, 0)
	default:
		unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
		if n*float64(unit) > 1e18 {
			return from, false
		}
		to = from.Add(time.Duration(n * float64(unit)))
	}
	return to, to.Year() < 10000
}

// said returns a time for the description, without the time of day if that is midnight.
func (d *gantt) said(t time.Time) string {
	switch {
	case !strings.Contains(d.layout, "06"):
		return t.Format(d.layout)
	case t.Hour()+t.Minute() > 0:
		return t.Format("2006-01-02 15:04")
	}
	return t.Format(time.DateOnly)
}

func (d *gantt) describe(title string) string {
	var b strings.Builder
	lo, hi := d.span()
	fmt.Fprintf(&b, "Gantt chart: %s. %s from %s to %s.", strings.TrimRight(title, ".!? "), graph.Count(len(d.tasks), "task"), d.said(lo), d.said(hi))
	for i, t := range d.tasks {
		if i == 12 {
			fmt.Fprintf(&b, " And %d more.", len(d.tasks)-12)
			break
		}
		at := d.said(t.from) + " to " + d.said(t.to)
		if t.point() {
			at = d.said(t.from.Add(t.to.Sub(t.from) / 2))
		}
		fmt.Fprintf(&b, " %s: %s.", svg.Clip(t.name), at)
	}
	return b.String()
}

func (d *gantt) span() (lo, hi time.Time) {
	lo, hi = d.tasks[0].from, d.tasks[0].to
	for _, t := range d.tasks {
		if t.from.Before(lo) {
			lo = t.from
		}
		if t.to.After(hi) {
			hi = t.to
		}
	}
	return lo, hi
}
