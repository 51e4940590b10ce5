package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/xuri/excelize/v2"
)

// lookRows is the number of rows of a sheet that determine the formats of its columns.
const lookRows = 1000

// display is what a number's format says about the number.
type display int

const (
	asNumber  display = iota
	asText            // 1067 shown as 01067
	asYear            // 45352 shown as 2024
	asPercent         // 0.125 shown as 12.5%
	asUnit            // 12.5 shown as 12.50 €
	asDate            // 45352 shown as 01.03.2024
	asClock           // 45352.5 shown with a time
	asHours           // 1.5 shown as 36:00
)

// format is a display with its unit, or the width of its text.
type format struct {
	display display
	unit    string
	width   int
}

// sheetFormats are the formats of a sheet's columns seen so far.
type sheetFormats struct {
	epoch1904 bool
	columns   map[int]format
	// mixed reports whether a column shows its numbers in several ways.
	mixed bool
}

// cell converts a cell that stores raw and shows seen. If seen is empty, the cell has the format of those above it.
func (s *sheetFormats) cell(column int, raw, seen string) cell {
	raw, seen = strings.TrimSpace(raw), strings.TrimSpace(seen)
	v, err := strconv.ParseFloat(raw, 64)
	if err != nil || len(raw) > 1 && raw[0] == '0' && raw[1] != '.' {
		return cell{text: []byte(clipBytes(raw, maxField))}
	}
	t, err := excelize.ExcelDateToTime(v, s.epoch1904)
	t, dated := t.Round(time.Second), err == nil && v >= 0 && v < 2958466
	f, known := s.columns[column]
	if seen != "" {
		f = formatOf(v, raw, seen, t, dated)
		s.mixed = s.mixed || known && f != s.columns[column]
		s.columns[column] = f
	}
	if (f.display == asDate || f.display == asClock || f.display == asYear) && !dated {
		f = format{}
	}
	return f.cell(v, raw, t)
}

// formatOf derives the format of a number from the text that shows it.
func formatOf(v float64, raw, seen string, t time.Time, dated bool) format {
	n, ok := parseNumber([]byte(seen))
	shown, whole := n.value(false)
	hours, _, clock := strings.Cut(seen, ":")
	switch {
	case seen == raw:
	case clock && v >= 1 && digits([]byte(hours)) == seconds(v)/3600:
		return format{display: asHours}
	case ok && n.zeros:
		return format{display: asText, width: len(seen)}
	case ok && dated && whole && v > 367 && int(shown) == t.Year():
		return format{display: asYear}
	case ok && n.unit == "%":
		return format{display: asPercent}
	case ok && n.unit != "":
		return format{display: asUnit, unit: n.unit}
	case !ok && dated && showsTime(seen, t) && clock:
		return format{display: asClock}
	case !ok && dated && showsTime(seen, t):
		return format{display: asDate}
	}
	return format{}
}

// cell writes a number according to its format.
func (f format) cell(v float64, raw string, t time.Time) cell {
	switch f.display {
	case asText:
		return cell{text: []byte(strings.Repeat("0", max(0, f.width-len(raw))) + raw)}
	case asYear:
		return cell{text: []byte(strconv.Itoa(t.Year())), exact: true}
	case asPercent:
		return cell{text: append(exactText(strconv.FormatFloat(v*100, 'g', 15, 64)), " %"...), exact: true}
	case asUnit:
		return cell{text: append(exactText(raw), " "+f.unit...), exact: true}
	case asDate:
		return cell{text: []byte(t.Format(time.DateOnly))}
	case asClock:
		if v < 1 {
			return cell{text: []byte(t.Format(time.TimeOnly))}
		}
		return cell{text: []byte(t.Format(time.DateTime))}
	case asHours:
		s := seconds(v)
		return cell{text: fmt.Appendf(nil, "%02d:%02d:%02d", s/3600, s/60%60, s%60)}
	case asNumber:
	}
	return cell{text: exactText(raw), exact: true}
}

// seconds converts days.
func seconds(days float64) int { return int(math.Round(days * 24 * 3600)) }

// showsTime reports whether a text shows t as a date or time: it contains the name of a month or several numbers, and
// all its numbers are parts of t.
func showsTime(seen string, t time.Time) bool {
	parts := []int{t.Year(), t.Year() % 100, int(t.Month()), t.Day(), t.Hour(), (t.Hour()+11)%12 + 1, t.Minute(), t.Second()}
	numbers := strings.FieldsFunc(seen, func(r rune) bool { return r < '0' || r > '9' })
	for _, n := range numbers {
		if !slices.Contains(parts, digits([]byte(n))) {
			return false
		}
	}
	named := slices.ContainsFunc(strings.FieldsFunc(seen, func(r rune) bool { return !unicode.IsLetter(r) }), func(w string) bool { return monthOf(w) > 0 })
	return len(numbers) > 1 || named
}

// exactText limits a typed number to the 15 digits that are exact, and leaves whole ids unchanged.
func exactText(s string) []byte {
	if len(s) <= maxDigits || !strings.ContainsAny(s, ".eE") {
		return []byte(s)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return []byte(s)
	}
	return fmt.Appendf(nil, "%.15g", v)
}
