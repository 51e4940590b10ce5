package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier/action/file"
)

// previewRows is the number of records that determine preamble, header and units.
const previewRows = 200

// layout is the position of the table in the records.
type layout struct {
	// skip is the number of records before the first row of data.
	skip  int
	names []string
	// named reports for each column whether the header names it.
	named []bool
	// units are those in a row of units below the header, by column.
	units []string
	// header is the header as written, to recognize its repetitions.
	header []string
	// title is the text of the lines above the header.
	title string
	notes []string
}

// findLayout derives the layout from the first records of a table.
func findLayout(sample [][]string, s style) layout {
	var l layout
	if len(sample) == 0 {
		return l
	}
	width := usualWidth(sample)
	for !s.named && l.skip < len(sample)-1 && l.skip < 40 && isPreamble(sample[l.skip:], width) {
		l.skip++
	}
	if l.skip > 0 {
		cells := slices.Concat(sample[:l.skip]...)
		l.title = clipBytes(strings.Join(slices.DeleteFunc(cells, func(c string) bool { return c == "" }), " · "), maxTitle)
		l.notes = append(l.notes, counted(l.skip, "line before the header is omitted", "lines before the header are omitted"))
	}
	rest := sample[l.skip:]
	if !s.named && !isHeader(rest) {
		l.names, l.named = columnNames(make([]string, width))
		l.notes = append(l.notes, "there is no header row; columns are numbered")
		return l
	}
	names := slices.Clone(rest[0])
	if l.skip > 0 && distinct(names) < filled(names) {
		names = prefixGroups(sample[l.skip-1], names)
	}
	l.skip++
	l.header = rest[0]
	// The rows begin with text and fill one cell more than the header has.
	if len(names) == width-1 && usualKind(rest[1:], 0) == Text && usualKind(rest[1:], width-1) != "" {
		names = slices.Insert(names, 0, "") // the column of row names has no name
		l.notes = append(l.notes, "the header has one name too few: the first column is unnamed")
	}
	for len(names) < width {
		names = append(names, "")
	}
	l.names, l.named = columnNames(names)
	if !s.named && len(rest) > 2 && isUnitsRow(rest[1], rest[2:]) {
		l.units = make([]string, len(l.names))
		for i, u := range rest[1] {
			if i < len(l.units) {
				l.units[i] = trimUnit(u)
			}
		}
		l.skip++
		l.notes = append(l.notes, "the row of units below the header is omitted")
	}
	return l
}

// maxTitle is the maximum length of a title, in bytes.
const maxTitle = 200

// prefixGroups prefixes names with those in a row of groups (2022,,2023,) above them.
func prefixGroups(groups, names []string) []string {
	if filled(groups) < 2 {
		return names
	}
	out, group := slices.Clone(names), ""
	for i := range out {
		if i < len(groups) && groups[i] != "" {
			group = groups[i]
		}
		if i > 0 && out[i] != "" {
			out[i] = strings.TrimSpace(group + " " + out[i])
		}
	}
	return out
}

// counted formats a number with the words for one or for several.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// filled returns the number of cells of a row that are not empty.
func filled(row []string) int {
	n := 0
	for _, c := range row {
		if c != "" {
			n++
		}
	}
	return n
}

// usualWidth returns the most frequent number of cells in a row; the larger of two that are equally frequent.
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

// isPreamble reports whether the first row is a comment, a title or a fact about the file above the header.
func isPreamble(rows [][]string, width int) bool {
	row := rows[0]
	n := filled(row)
	switch {
	case n == 0 || strings.HasPrefix(row[0], "#") && len(row) < width:
		return true
	case width == 1:
		return strings.HasPrefix(row[0], "#")
	case n == 1 && (len(row) < width || row[0] != "" && width > 2 || strings.HasPrefix(row[0], "#")):
		return true
	}
	// A fact about the file, such as "Exported;2024-01-01", and a title over two columns precede what is certainly a
	// header.
	near := rows[1:min(len(rows), 12)]
	most := 0
	for _, r := range near {
		most = max(most, filled(r))
	}
	if n >= most && !hasValue(row) {
		return false
	}
	at := slices.IndexFunc(near, func(r []string) bool { return filled(r) == most && !hasValue(r) })
	if at < 0 {
		return false
	}
	header, below := near[at], rows[2+at:]
	for i, c := range header {
		if kind := usualKind(below, i); kindOf(c) == Text && kind != "" && kind != Text {
			return true
		}
	}
	return false
}

// hasValue reports whether a row contains a number or date. Years do not count, because they can be names.
func hasValue(row []string) bool {
	return slices.ContainsFunc(row, func(c string) bool { k := kindOf(c); return k == Number || k == Date })
}

// kindOf returns the apparent type of one cell.
func kindOf(s string) Type {
	b := []byte(s)
	if isMissing(b) {
		return ""
	}
	if n, ok := parseNumber(b); ok {
		if v, whole := n.value(false); whole && n.unit == "" && v >= 1000 && v < 3000 && len(s) == 4 {
			return Integer // possibly a year
		}
		return Number
	}
	if _, ok := parseDate(b); ok {
		return Date
	}
	return Text
}

// isHeader reports whether the first row names the columns: it has text above numbers or dates, or years and dates
// above numbers, or only text.
func isHeader(sample [][]string) bool {
	first := sample[0]
	if counts(first) {
		return true
	}
	words, with, against := 0, 0, 0
	for i, c := range first {
		kind := kindOf(c)
		below := usualKind(sample[1:], i)
		switch {
		case kind == Text:
			words++
			if below == Number || below == Integer || below == Date {
				with++
			}
		case kind == Integer && (below == Number || below == Integer && !years(sample[1:], i)), kind == Date && (below == Number || below == Integer):
			with++
		case kind == Number || kind == Date || kind == Integer && below == Integer:
			against++
		}
	}
	if with+against > 0 {
		return with > against || words > 0 && with == against
	}
	return words > 0 && len(sample) == 1 || words > 0 && !repeated(sample) && distinct(first) == filled(first)
}

// counts reports whether a row has a word and consecutive numbers: 1, 2, 3 for months, or 2022, 2023, 2024.
func counts(row []string) bool {
	last, steps, words := 0, 0, 0
	for _, c := range row {
		n := digits([]byte(c))
		switch {
		case c == "":
		case n < 0 && kindOf(c) == Text:
			words++
		case n < 0 || last > 0 && n != last+1:
			return false
		default:
			if last > 0 {
				steps++
			}
			last = n
		}
	}
	return words > 0 && steps >= 2
}

// years reports whether the numbers of a column can all be years from 1900 to 2100.
func years(rows [][]string, i int) bool {
	return !slices.ContainsFunc(rows, func(r []string) bool {
		n := 2000
		if i < len(r) {
			n = digits([]byte(r[i]))
		}
		return n >= 0 && (n < 1900 || n > 2100)
	})
}

// usualKind returns the most frequent type of the cells of a column.
func usualKind(rows [][]string, i int) Type {
	counts := map[Type]int{}
	var best Type
	for _, row := range rows {
		if i >= len(row) {
			continue
		}
		if k := kindOf(row[i]); k != "" {
			if counts[k]++; counts[k] > counts[best] {
				best = k
			}
		}
	}
	return best
}

// repeated reports whether a word of the first row recurs below it in the same column.
func repeated(sample [][]string) bool {
	for i, c := range sample[0] {
		for _, row := range sample[1:] {
			if i < len(row) && c != "" && row[i] == c && !slices.Equal(row, sample[0]) {
				return true
			}
		}
	}
	return false
}

// distinct returns the number of different texts in a row.
func distinct(row []string) int {
	seen := map[string]bool{"": true}
	for _, c := range row {
		seen[c] = true
	}
	return len(seen) - 1
}

// isUnitsRow reports whether a row contains only units, above numbers.
func isUnitsRow(row []string, below [][]string) bool {
	units := 0
	for i, c := range row {
		if isMissing([]byte(c)) {
			continue
		}
		kind := usualKind(below, i)
		u := trimUnit(c)
		_, known := unitOf(u, false)
		bracketed := u != c && utf8.RuneCountInString(u) <= 15
		switch {
		case !known && !bracketed && (!strings.ContainsAny(u, "/²³") || utf8.RuneCountInString(u) > 12):
			return false
		case kind == Number || kind == Integer:
			units++
		}
	}
	return units > 0
}

// trimUnit removes brackets around a unit.
func trimUnit(s string) string {
	if n := len(s); n > 2 && (s[0] == '(' && s[n-1] == ')' || s[0] == '[' && s[n-1] == ']') {
		return strings.TrimSpace(s[1 : n-1])
	}
	if s == "-" || s == "–" {
		return ""
	}
	return s
}

// maxName is the maximum length of a column's name, in characters.
const maxName = 80

// columnNames fills in missing names and makes names unique without regard to case, as in SQL.
func columnNames(cells []string) (names []string, named []bool) {
	names, named = make([]string, len(cells)), make([]bool, len(cells))
	seen := map[string]bool{}
	for i, c := range cells {
		words := strings.FieldsFunc(c, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		name := file.Clip(strings.Join(words, " "), maxName)
		named[i] = name != ""
		if name == "" {
			name = "column_" + strconv.Itoa(i+1)
		}
		base := name
		for n := 2; seen[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		seen[strings.ToLower(name)] = true
		names[i] = name
	}
	return names, named
}
