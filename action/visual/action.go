package visual

import (
	"context"
	"maps"

	"atelier/action"
	"atelier/action/internal/svg"
)

// ChartName is what models call the chart action.
const ChartName = "Create SVG Chart"

// Actions lists the actions of this family.
func Actions() []action.Action { return []action.Action{Chart()} }

// Chart is the action Create SVG Chart. Its inputs allow for what models really
// write: series as an object, an array or JSON text, numbers as text, null for gaps.
func Chart() action.Action {
	return action.Action{
		Name: ChartName,
		Description: "Draws an accurate chart of the given numbers as SVG. Use it for every comparison, trend or share that the text tells of; " +
			"never for pictures. The chart is readable in light and dark and has alt text made from its data.",
		Tags: []string{"visual", "media"},
		Params: []action.Param{
			{Name: "ChartType", Required: true, Values: kindNames(), Description: "bar to compare, line for change over time, area for one volume over time, stacked for parts that add up, pie or donut for shares of a whole (at most 8), scatter for two measures."},
			{Name: "Title", Required: true, Description: "What the chart shows, best as its finding, in one line."},
			{Name: "Subtitle", Description: "What is measured, where and when."},
			{Name: "Labels", IsArray: true, Description: "Category or time of each value: names, years, 2024-03 or 2024-03-31. Not needed with points."},
			{Name: "Series", ValueType: action.Other, IsArray: true, Required: true, Type: "any", Description: `[{"name": "Wind", "values": [1.5, null, 3]}] with one value per label, null for a gap; or [{"name": "Cities", "points": [[x, y], …]}] for scatter. JSON text is accepted.`},
			{Name: "XLabel", Description: "Name of the horizontal axis."},
			{Name: "YLabel", Description: "Name of the vertical axis."},
			{Name: "Unit", Description: "Unit of the values: GWh, %, $."},
			{Name: "Source", Description: "Where the data comes from, as a small caption."},
			svg.LanguageParam(),
			{Name: "Width", Type: "integer", Default: defaultWidth, Description: "Pixels, 240 to 4000."},
			{Name: "Height", Type: "integer", Default: defaultHeight, Description: "Pixels, 160 to 4000."},
			{Name: "Horizontal", Type: "boolean", Description: "Bars from left to right; chosen for long labels if missing. Bar and stacked only."},
			{Name: "AltText", Description: "Text for people who cannot see the chart; made from the data if missing."},
			{Name: "Chart", Direction: action.Output, ValueType: action.Binary, Format: action.FormatMediaOutput, Description: "The chart, image/svg+xml."},
			{Name: "Description", Direction: action.Output, Description: "The chart's alt text."},
			{Name: "SeriesCount", Direction: action.Output, Type: "integer", Description: "How many series were drawn."},
			{Name: "PointCount", Direction: action.Output, Type: "integer", Description: "How many values were given, gaps not counted."},
		},
		Run: runChart,
	}
}

func runChart(ctx context.Context, c *action.Call) (action.Result, error) {
	if err := ctx.Err(); err != nil {
		return action.Result{}, err
	}
	d, err := parse(c.Params)
	if err != nil {
		return action.Result{}, err
	}
	data, alt := render(d)
	item := d.Item(data, alt)
	if d.W >= adapts {
		item["metadata"] = map[string]any{svg.Adaptive: true}
	}
	return action.Result{
		Message:  "Drew the " + string(d.kind) + " chart “" + d.Title + "”.",
		Warnings: d.warnings,
		Outputs: map[string]any{
			"Chart":       item,
			"Description": alt,
			"SeriesCount": len(d.series),
			"PointCount":  d.count(),
		},
	}, nil
}

// Draw draws a chart from the parameters of Create SVG Chart, for rooms that compose
// charts, and gives it with its alt text.
func Draw(params map[string]any) (data []byte, alt string, err error) {
	d, err := parse(params)
	if err != nil {
		return nil, "", err
	}
	data, alt = render(d)
	return data, alt, nil
}

// Inset is a chart without a page of its own, to be placed on another one.
type Inset struct {
	// Body is markup that uses the classes of the shared style.
	Body string
	Alt  string
	// Names is how many series its legend names; 0 if it has none.
	Names int
}

// DrawInset draws a chart from the parameters of Create SVG Chart as part of a page,
// as wide and high as is said there, which may be less than a chart of its own has.
func DrawInset(params map[string]any, w, h float64) (Inset, error) {
	p := maps.Clone(params)
	p["Width"], p["Height"] = max(w, 240), max(h, 160)
	d, err := parse(p)
	if err != nil {
		return Inset{}, err
	}
	d.W, d.H = w, h
	var s svg.Canvas
	d.draw(&s)
	in := Inset{Body: s.String(), Alt: describe(d)}
	if d.legend() {
		in.Names = len(d.series)
	}
	return in, nil
}
