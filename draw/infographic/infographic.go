// Package infographic draws one picture about a subject: a heading, key figures, icons and sections of text, lists,
// bars and charts. Charts come from package chart. The same input returns the same bytes.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter. The package may import
// media and the other packages of draw.
package infographic

import (
	"cmp"
	"fmt"
	"strings"

	"atelier/draw/svg"
)

// DefaultWidth is the width of a page, in pixels, if none is requested.
const DefaultWidth = 800

const (
	maxFigures  = 12
	maxSections = 24
	maxItems    = 20
)

// Draw returns the drawing that the parameters describe, in any of the forms in which models write
// them; action/visual documents them. The error has code media.CodeInvalid.
func Draw(params map[string]any) (svg.Drawing, error) {
	page, err := svg.ReadPage(params, DefaultWidth, 0)
	if err != nil {
		return svg.Drawing{}, err
	}
	d := &drawing{page: page}
	if err := d.readFigures(params["Figures"]); err != nil {
		return svg.Drawing{}, err
	}
	if err := d.readSections(params["Sections"]); err != nil {
		return svg.Drawing{}, err
	}
	if len(d.figures)+len(d.sections) == 0 {
		return svg.Drawing{}, svg.Invalid(`Figures and Sections are empty: give at least one, such as [{"heading": "…", "text": "…"}]`)
	}
	d.page.Alt = cmp.Or(page.Alt, d.describe())
	data := d.render()
	return d.page.Drawing("infographic", data, map[string]any{"SectionCount": len(d.sections), "Icons": Icons()}), nil
}

func (d *drawing) describe() string {
	var b strings.Builder
	name, more := "Infographic", " And %d more sections."
	if d.page.Language == svg.German {
		name, more = "Infografik", " Und %d weitere Abschnitte."
	}
	fmt.Fprintf(&b, "%s: %s.", name, strings.TrimRight(d.page.Title, ".!? "))
	for _, f := range d.figures {
		fmt.Fprintf(&b, " %s %s.", svg.Clip(f.value), svg.Clip(strings.TrimRight(f.label, ".")))
	}
	for i, s := range d.sections {
		if i == 8 {
			fmt.Fprintf(&b, more, len(d.sections)-8)
			break
		}
		line := svg.Clip(strings.TrimRight(s.heading, "."))
		if s.text != "" {
			line += ": " + svg.Clip(strings.TrimRight(s.text, "."))
		}
		if line != "" {
			b.WriteString(" " + line)
			if !strings.ContainsAny(line[len(line)-1:], "?!") {
				b.WriteByte('.')
			}
		}
		if s.chart != nil {
			b.WriteString(" " + s.chart.Alt)
		}
	}
	return b.String()
}
