package file

import (
	"bytes"
	"strconv"
	"strings"
)

// preview reads the first records of a sample; a record that the sample cuts is
// left out.
func preview(sample []byte, comma byte) [][]string {
	r := newCSVReader(bytes.NewReader(sample), comma)
	var out [][]string
	for len(out) < previewRows {
		cells, err := r.next()
		if err != nil {
			break
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		out = append(out, row)
	}
	if len(sample) == sampleSize && len(out) > 1 && len(out) < previewRows {
		out = out[:len(out)-1]
	}
	return out
}

// usualWidth is the most frequent number of cells.
func usualWidth(sample [][]string) int {
	counts := map[int]int{}
	best := 0
	for _, row := range sample {
		counts[len(row)]++
		if n, b := counts[len(row)], counts[best]; n > b || n == b && len(row) > best {
			best = len(row)
		}
	}
	return best
}

// isPreamble tells comment lines and titles above the header.
func isPreamble(row []string, width int) bool {
	if strings.HasPrefix(row[0], "#") {
		return true
	}
	filled := 0
	for _, c := range row {
		if strings.TrimSpace(c) != "" {
			filled++
		}
	}
	return width > 1 && filled <= 1 && (len(row) < width || strings.TrimSpace(row[0]) != "")
}

// isHeader tells whether the first row names columns: text in it where numbers or
// dates follow, or text alone; years count as names where other text is beside them.
func isHeader(sample [][]string, d dialect) bool {
	first := sample[0]
	values, years, texts := 0, 0, 0
	for _, cell := range first {
		b := []byte(strings.TrimSpace(cell))
		_, isYear := parseYear(b)
		_, isDate := d.parseDate(b)
		_, isNumber := d.parseNumber(b)
		switch {
		case isYear:
			years++
		case isDate, isNumber:
			values++
		case len(b) > 0:
			texts++
		}
	}
	if values > 0 || years > 0 && (texts == 0 || years < 3) {
		return false
	}
	return texts > 0 && (len(distinct(first)) >= texts || hasValues(sample[1:], d))
}

// distinct gives the different texts of a row.
func distinct(row []string) map[string]bool {
	seen := map[string]bool{}
	for _, cell := range row {
		if key := strings.TrimSpace(cell); key != "" {
			seen[key] = true
		}
	}
	return seen
}

// hasValues tells whether numbers or dates stand in the rows.
func hasValues(sample [][]string, d dialect) bool {
	for _, row := range sample {
		for _, cell := range row {
			b := []byte(strings.TrimSpace(cell))
			_, isDate := d.parseDate(b)
			_, isNumber := d.parseNumber(b)
			if isDate || isNumber {
				return true
			}
		}
	}
	return false
}

// dayFirst looks for a date with slashes whose first number is no month.
func dayFirst(sample [][]string, d dialect) bool {
	day := false
	for _, row := range sample {
		for _, cell := range row {
			parts, n, sep, _ := splitDate([]byte(cell))
			if n != 3 || sep != '/' || len(parts[0]) > 2 {
				continue
			}
			if _, ok := d.parseDate([]byte(cell)); !ok {
				continue
			}
			if atoi(parts[1]) > 12 {
				return false
			}
			day = day || atoi(parts[0]) > 12
		}
	}
	return day
}

// columnNames makes names that are present and different.
func columnNames(cells []string) []string {
	names := make([]string, len(cells))
	seen := map[string]int{}
	for i, c := range cells {
		name := short(strings.Join(strings.Fields(c), " "), 60)
		if name == "" {
			name = "Column " + strconv.Itoa(i+1)
		}
		seen[name]++
		if n := seen[name]; n > 1 {
			name += " (" + strconv.Itoa(n) + ")"
		}
		names[i] = name
	}
	return names
}
