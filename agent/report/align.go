package report

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// figure matches the text of a numeric cell: with a sign, separators, a currency or a short unit. A
// year alone is a label.
var figure = regexp.MustCompile(`^[-−+±~<>≈]?\s*[$€£¥]?\s*[-−+]?[0-9][0-9.,'’\s\x{a0}\x{202f}]*\s*(?:%|[$€£¥]|[\p{L}°²³/]{1,6})?$`)

// alignNumbers right-aligns the numeric columns of each table, with their headings, so that digits
// of the same place are aligned.
func alignNumbers(root *html.Node) {
	for _, table := range tables(root) {
		if slices.ContainsFunc(slices.Collect(table.Descendants()), func(n *html.Node) bool {
			return attribute(n, "colspan") != "" || attribute(n, "rowspan") != ""
		}) {
			continue // a cell spans several places, so cell indices are not columns
		}
		var columns [][]*html.Node
		for row := range table.Descendants() {
			if row.DataAtom != atom.Tr {
				continue
			}
			i := 0
			for cell := range row.ChildNodes() {
				if cell.DataAtom != atom.Td && cell.DataAtom != atom.Th {
					continue
				}
				if i == len(columns) {
					columns = append(columns, nil)
				}
				columns[i] = append(columns[i], cell)
				i++
			}
		}
		for _, column := range columns {
			if numeric(column) {
				for _, cell := range column {
					setAttribute(cell, "class", strings.TrimSpace(attribute(cell, "class")+" "+reservedPrefix+"figure"))
				}
			}
		}
	}
}

// numeric reports whether a column contains only numbers and empty cells.
func numeric(column []*html.Node) bool {
	figures, years := 0, 0
	for _, cell := range column {
		text := strings.TrimSpace(wordsOf(cell))
		switch {
		case cell.DataAtom == atom.Th || text == "" || text == "–" || text == "—" || text == "-":
		case !figure.MatchString(text):
			return false
		default:
			figures++
			if len(text) == 4 && (text[:2] == "19" || text[:2] == "20") && strings.Trim(text, "0123456789") == "" {
				years++
			}
		}
	}
	return figures > years
}
