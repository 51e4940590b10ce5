// Package infographic is the action Create SVG Infographic: one picture that tells a
// subject with a heading, key figures, icons and sections of text, lists, bars and
// charts. Charts come from the chart room. The same input gives the same bytes.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media, action, action/visual and action/internal.
package infographic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/action"
	"atelier/action/internal/svg"
)

// Name is what models call the action.
const Name = "Create SVG Infographic"

const (
	defaultWidth = 800
	maxFigures   = 12
	maxSections  = 24
	maxItems     = 20
)

// Actions lists the actions of this family.
func Actions() []action.Action { return []action.Action{Infographic()} }

// Infographic is the action Create SVG Infographic.
func Infographic() action.Action {
	params := []action.Param{
		{Name: "Figures", ValueType: action.Other, IsArray: true, Type: "any", Description: `Key figures, best two to four: [{"value": "42 %", "label": "of electricity from wind", "icon": "wind"}].`},
		{Name: "Sections", ValueType: action.Other, IsArray: true, Type: "any", Description: `Blocks in reading order: [{"heading": "What changed", "icon": "bolt", "text": "Two sentences.", "items": ["a point", {"label": "Solar", "value": 31}], "chart": {"ChartType": "bar", "Labels": ["2020", "2025"], "Series": [{"name": "TWh", "values": [3, 9]}]}, "wide": false}]. Items with values become bars; chart takes what Create SVG Chart takes.`},
	}
	outs := []action.Param{
		{Name: "SectionCount", Direction: action.Output, Type: "integer", Description: "How many sections were drawn."},
		{Name: "Icons", Direction: action.Output, IsArray: true, Description: "The icons that can be named."},
	}
	return action.Action{
		Name: Name,
		Description: "Composes an infographic as SVG: heading, key figures, icons and sections with text, lists, bars and charts. " +
			"Every number is drawn as given. Icons: " + strings.Join(iconNames(), ", ") + ".",
		Tags:   []string{"visual", "media"},
		Params: slices.Concat(params, svg.Params(defaultWidth, 0), svg.Outputs("Infographic"), outs),
		Run:    run,
	}
}

func run(ctx context.Context, c *action.Call) (action.Result, error) {
	if err := ctx.Err(); err != nil {
		return action.Result{}, err
	}
	d, err := read(c.Params)
	if err != nil {
		return action.Result{}, err
	}
	data, err := d.render()
	if err != nil {
		return action.Result{}, err
	}
	return action.Result{
		Message:  "Drew the infographic “" + d.page.Title + "”.",
		Warnings: d.warnings,
		Outputs: map[string]any{
			"Infographic": d.page.Item(data, d.alt), "Description": d.alt, "SectionCount": len(d.sections), "Icons": iconNames(),
		},
	}, nil
}

// describe tells the content in words.
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
		told := svg.Clip(strings.TrimRight(s.heading, "."))
		if s.text != "" {
			told += ": " + svg.Clip(strings.TrimRight(s.text, "."))
		}
		if told != "" {
			b.WriteString(" " + told)
			if !strings.ContainsAny(told[len(told)-1:], "?!") {
				b.WriteByte('.')
			}
		}
		if s.chart != nil {
			b.WriteString(" " + s.alt)
		}
	}
	return b.String()
}
