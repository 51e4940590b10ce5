// Package infographic draws one picture about a subject: a heading, key figures, icons and sections of text, lists,
// bars and charts. Charts come from package chart. The same input returns the same bytes.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the parameter. The package may import
// media and the other packages of draw.
package infographic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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
	// Draw the content first, because it determines the height of the page.
	var body svg.Canvas
	p := pen{&body, d}
	pad := math.Round(min(34, d.page.W*0.035))
	room := d.page.W - 2*pad
	title := svg.Wrap(d.page.Title, 27*svg.Bold, room, 3) // title and subtitle are on a band
	sub := svg.Wrap(d.page.Subtitle, 15, room, 2)
	high := pad*1.6 + 34*float64(len(title)) + 21*float64(len(sub))
	body.Rect(svg.Box{W: d.page.W, H: high}, "band", 8)
	y := pad*0.8 + 26
	body.Block(pad, room, y, 34, "hd onband", title)
	y += 34*float64(len(title)) - 4
	body.Block(pad, room, y, 21, "sub onband", sub)
	y = p.figures(svg.Box{X: pad, Y: high + gutter, W: room})
	y = p.sections(svg.Box{X: pad, Y: y, W: room})
	if d.page.Source != "" {
		body.Text(pad, y+14, "c m", "start", svg.Fit(d.page.SourceLine(), 11, room))
		y += 24
	}
	d.page.H = math.Ceil(y + pad*0.6)
	var s svg.Canvas
	d.page.Begin(&s, svg.CSS()+svg.ShapeCSS()+css)
	_, _ = s.Write(body.Bytes()) // a buffer does not fail
	data := d.page.End(&s)
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
		var items []string
		for _, it := range s.items {
			items = append(items, svg.Clip(it.line()))
		}
		parts := []string{svg.Clip(s.heading), svg.Clip(s.text), strings.Join(items, "; ")}
		for k := range parts {
			parts[k] = strings.TrimRight(parts[k], ".")
		}
		if line := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ": "); line != "" {
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
