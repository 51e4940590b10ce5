package table

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"atelier/action/file"
	"atelier/action/internal/charset"
)

// logFormat is a format of logs, of one line for each record.
type logFormat struct {
	columns []string
	line    *regexp.Regexp
}

// logFormats are the formats that servers and most libraries write: the common log format of
// web servers (https://httpd.apache.org/docs/current/logs.html#common), plain or combined, and
// lines of a time, a level, perhaps a component, and a text.
var logFormats = []logFormat{
	{
		[]string{"ip_address", "time", "method", "path", "status_code", "bytes", "referrer", "user_agent"},
		regexp.MustCompile(`^(\S+) \S+ \S+ \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d) [+-]\d{4}\] "([A-Z]+) (\S+)[^"]*" (\d{3}) (\d+|-)(?: "([^"]*)" "([^"]*)")?`),
	},
	{
		[]string{"time", "level", "component", "text"},
		regexp.MustCompile(`^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\s+\[?(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?:?\s+(?:\[([^\]]+)\]:?\s+)?(.*)$`),
	},
}

// logSource is a log as a table.
type logSource struct {
	open   func() (io.ReadCloser, error)
	format logFormat
	other  int // lines of another form
}

var _ source = (*logSource)(nil)

// log imports a log of a known format; others are no tables.
func (im *importer) log(ctx context.Context, f file.Source) error {
	for _, format := range logFormats {
		s := &logSource{open: f.Open, format: format}
		fits, err := s.fits()
		if err != nil {
			return refuse("it cannot be read: %s", file.Clip(err.Error(), 100))
		}
		if fits {
			im.progress.begin(f.Name, f.Size)
			s.open = im.progress.opener(f.Open)
			return im.table(ctx, f.Name, "", s)
		}
	}
	return nil
}

// fits reports whether nearly all of the first lines have the format.
func (s *logSource) fits() (bool, error) {
	lines, other := 0, 0
	err := s.lines(func(cells []string) error {
		if lines++; cells == nil {
			other++
		}
		if lines == 200 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return lines >= 5 && other*10 <= lines, err
}

// lines gives the cells of each line that is not empty; nil for one of another form.
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
		var cells []string
		if m := s.format.line.FindStringSubmatch(line); m != nil {
			cells = m[1:]
			for i, c := range s.format.columns {
				if c == "time" {
					cells[i] = isoTime(cells[i])
				}
			}
		}
		if err := fn(cells); err != nil {
			return err
		}
	}
	return in.Err()
}

// isoTime writes the time of a web server's log as other logs do.
func isoTime(text string) string {
	t, err := time.Parse("02/Jan/2006:15:04:05", text)
	if err != nil {
		return text
	}
	return t.Format(time.DateTime)
}

func (s *logSource) each(ctx context.Context, fn func([]cell) error) error {
	record := make([]cell, len(s.format.columns))
	write := func(texts []string) error {
		for i, t := range texts {
			record[i] = cell{text: []byte(clipBytes(t, maxField))}
		}
		return fn(record)
	}
	if err := write(s.format.columns); err != nil {
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
	return []string{counted(s.other, "line is of another form than the others and is left out", "lines are of another form than the others and are left out")}
}
