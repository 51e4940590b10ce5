// Package mermaid parses the text language Mermaid and draws it as SVG without a browser. Flowcharts, sequence, pie,
// class, state, entity-relationship and Gantt diagrams are drawn; other kinds are refused by name. Styling statements
// are skipped with a warning. The same input returns the same bytes.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the line. The package may import media
// and the other packages of draw.
package mermaid

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// DefaultWidth is the width of a page, in pixels, if none is requested.
const DefaultWidth = 800

// MaxCode is the maximum number of bytes of Mermaid. Mermaid itself reads 50,000.
const MaxCode = 200_000

// Draw returns the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	code, _ := params["Code"].(string)
	d, err := parse(code)
	if err != nil {
		return svg.Drawing{}, err
	}
	if value.Text(params["Title"]) == "" {
		params = maps.Clone(params)
		params["Title"] = cmp.Or(value.Text(d.notes().title), upper(d.kind()))
	}
	page, err := svg.ReadPage(params, DefaultWidth, 0)
	if err != nil {
		return svg.Drawing{}, err
	}
	page.Warnings = d.notes().list
	data, err := d.draw(&page)
	if err != nil {
		return svg.Drawing{}, err
	}
	return page.Drawing(d.kind(), data, map[string]any{"DiagramType": d.kind()}), nil
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// diagram is a diagram of one kind.
type diagram interface {
	// kind names the diagram for people.
	kind() string
	notes() *remarks
	// statement parses one statement; end is called after the last one.
	statement(l line) error
	end() error
	// draw returns the file and describes it on the page.
	draw(page *svg.Page) ([]byte, error)
}

// remarks holds the title and the warnings of a diagram.
type remarks struct {
	title string
	list  []string
}

func (n *remarks) notes() *remarks { return n }

// warn adds a warning once.
func (n *remarks) warn(s string) {
	if !slices.Contains(n.list, s) {
		n.list = append(n.list, s)
	}
}

const styled = "Colours and styles in the source are not drawn: the picture has its own, for light and dark."
