package report

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// figure is the text of a cell that is a number: with a sign, separators, a currency or a short unit.
// A year alone is a label.
var figure = regexp.MustCompile(`^[-−+±~<>≈]?\s*[$€£¥]?\s*[-−+]?[0-9][0-9.,'’\s\x{a0}\x{202f}]*\s*(?:%|[$€£¥]|[\p{L}°²³/]{1,6})?$`)

// alignNumbers sets the columns of numbers of each table flush right, with their headings, so that
// digits of one place stand below each other.
func alignNumbers(root *html.Node) {
	for _, table := range tables(root) {
		if slices.ContainsFunc(slices.Collect(table.Descendants()), func(n *html.Node) bool {
			return attribute(n, "colspan") != "" || attribute(n, "rowspan") != ""
		}) {
			continue // a cell takes several places: those in a row are no columns
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
					cell.Attr = append(cell.Attr, html.Attribute{Key: "class", Val: ours + "figure"})
				}
			}
		}
	}
}

// numeric reports whether a column holds numbers, besides empty cells.
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
