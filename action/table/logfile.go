package table

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"atelier/action/file"
	"atelier/action/internal/charset"
)

// logFormat is a format of logs with one record per line.
type logFormat struct {
	columns []string
	line    *regexp.Regexp
}

// logFormats are the formats of servers and most libraries: the common log format of web servers
// (https://httpd.apache.org/docs/current/logs.html#common), plain or combined, and lines of a time, a level, an
// optional component and a text.
var logFormats = []logFormat{
	{
		[]string{"ip_address", "time", "method", "path", "status_code", "bytes", "referrer", "user_agent"},
		regexp.MustCompile(`^(\S+) \S+ \S+ \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d) [+-]\d{4}\] "([A-Z]+) (\S+)[^"]*" (\d{3}) (\d+|-)(?: "([^"]*)" "([^"]*)")?`),
	},
	{
		[]string{"time", "level", "component", "text"},
		regexp.MustCompile(`^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)(?:Z|[+-]\d\d:?\d\d)?\s+\[?(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?:?\s+(?:\[([^\]]+)\]:?\s+)?(.*)$`),
	},
}

// cells returns the cells of a line, or nil if it has another form.
func (f logFormat) cells(line string) []string {
	m := f.line.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	at := slices.Index(f.columns, "time") + 1
	if t, err := time.Parse("02/Jan/2006:15:04:05", m[at]); err == nil { // the time of a web server
		m[at] = t.Format(time.DateTime)
	}
	return m[1:]
}

// logSource provides a log as a table.
type logSource struct {
	open    func() (io.ReadCloser, error)
	columns []string
	cells   func(line string) []string
	other   int // lines of another form
}

var _ source = (*logSource)(nil)

// log imports a log of a known format. Other logs are not tables.
func (im *importer) log(ctx context.Context, f file.Source) error {
	sources := []*logSource{pairs(f.Open)}
	for _, format := range logFormats {
		sources = append(sources, &logSource{open: f.Open, columns: format.columns, cells: format.cells})
	}
	for _, s := range sources {
		fits, err := s.fits()
		if err != nil {
			return unreadable(err)
		}
		if fits {
			s.open = im.progress.opener(f)
			return im.table(ctx, f.Name, "", s)
		}
	}
	return nil
}

const (
	// fitLines is the number of lines that determine whether a log has a format, and the keys of its pairs.
	fitLines = 200
	// maxPairs is the maximum number of keys that become columns.
	maxPairs = 60
)

// pairsLine matches a line of keys and values after an optional time and level, as in logfmt
// (https://brandur.org/logfmt); pair matches one of them.
var (
	pairsLine = regexp.MustCompile(`^(?:(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)\S*\s+)?(?:\[?(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?:?\s+)?((?:[A-Za-z_][\w.-]*=(?:"[^"]*"|\S*)(?:\s+|$)){2,})$`)
	pair      = regexp.MustCompile(`([A-Za-z_][\w.-]*)=(?:"([^"]*)"|(\S*))`)
)

// pairs reads a log of keys and values. Its columns are the keys of the first lines.
func pairs(open func() (io.ReadCloser, error)) *logSource {
	s := &logSource{open: open}
	index := map[string]int{}
	s.cells = func(line string) []string {
		m := pairsLine.FindStringSubmatch(line)
		if m == nil {
			return nil
		}
		keys := pair.FindAllStringSubmatch(m[3], -1)
		for i, name := range []string{"time", "level"} {
			if m[i+1] != "" {
				keys = append([][]string{{"", name, "", m[i+1]}}, keys...)
			}
		}
		for _, k := range keys {
			if _, known := index[k[1]]; !known && len(s.columns) < maxPairs {
				index[k[1]] = len(s.columns)
				s.columns = append(s.columns, k[1])
			}
		}
		cells := make([]string, len(s.columns))
		for _, k := range keys {
			if at, known := index[k[1]]; known {
				cells[at] = k[2] + k[3]
			}
		}
		return cells
	}
	return s
}

// fits reports whether nearly all of the first lines have the format.
func (s *logSource) fits() (bool, error) {
	lines, other := 0, 0
	err := s.lines(func(cells []string) error {
		if lines++; cells == nil {
			other++
		}
		if lines == fitLines {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return false, err
	}
	return lines >= 5 && other*10 <= lines, nil
}

// lines calls fn with the cells of each line that is not empty, or with nil if it has another form.
func (s *logSource) lines(fn func(cells []string) error) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	in := bufio.NewScanner(charset.NewReader(r))
	in.Buffer(nil, maxLine)
	for in.Scan() {
		line := strings.TrimRight(in.Text(), " \r")
		if line == "" {
			continue
		}
		if err := fn(s.cells(line)); err != nil {
			return err
		}
	}
	return in.Err()
}

func (s *logSource) each(ctx context.Context, fn func([]cell) error) error {
	record := make([]cell, len(s.columns))
	write := func(texts []string) error {
		clear(record)
		for i, t := range texts[:min(len(texts), len(record))] {
			record[i] = cell{text: []byte(clipBytes(t, maxField))}
		}
		return fn(record)
	}
	if err := write(s.columns); err != nil {
		return err
	}
	s.other = 0
	n := 0
	return s.lines(func(cells []string) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if cells == nil {
			s.other++
			return nil
		}
		return write(cells)
	})
}

func (s *logSource) style() style { return style{named: true, loose: true} }

func (s *logSource) notes() []string {
	if s.other == 0 {
		return nil
	}
	return []string{counted(s.other, "line has another form than the others and is omitted", "lines have another form than the others and are omitted")}
}
