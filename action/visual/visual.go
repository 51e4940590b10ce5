// Package visual provides actions that draw data as SVG without a model: charts, diagrams, networks, word clouds,
// sketches, Mermaid and infographics. They differ in their names, inputs and package of draw; one table lists them.
//
// The inputs accept what models write: arrays as JSON text, numbers as text, null for gaps. Errors come from draw:
// media.Error values with code media.CodeInvalid whose message names the parameter. The package may import action and
// draw.
package visual

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/action"
	"atelier/draw/chart"
	"atelier/draw/diagram"
	"atelier/draw/graph"
	"atelier/draw/infographic"
	"atelier/draw/mermaid"
	"atelier/draw/network"
	"atelier/draw/sketch"
	"atelier/draw/svg"
	"atelier/draw/wordcloud"
)

// drawing is one action of the table.
type drawing struct {
	name, description string
	// params are the inputs and outputs. The output named by output holds the file, Description its alt text. The other
	// outputs are facts of the drawing.
	params []action.Param
	output string
	draw   func(params map[string]any) (svg.Drawing, error)
}

// drawings are the actions, in the order in which models see them.
var drawings = []drawing{
	{
		name: "Create SVG Chart",
		description: "Draws an accurate chart of the given numbers as SVG. Use it for every comparison, trend or share in the text; " +
			"never for pictures. The chart is readable in light and dark and has alt text made from its data.",
		params: []action.Param{
			{Name: "ChartType", Required: true, Values: chart.Kinds(), Description: "bar to compare, line for change over time, area for one volume over time, stacked for parts that add up, pie or donut for shares of a whole (at most 8), scatter for two measures."},
			{Name: "Title", Required: true, Description: "What the chart shows in one line, preferably its finding."},
			{Name: "Subtitle", Description: "What is measured, where and when."},
			{Name: "Labels", IsArray: true, Description: "The category or time of each value: names, years, 2024-03 or 2024-03-31. Not required with points."},
			{Name: "Series", ValueType: action.Other, IsArray: true, Required: true, Type: "any", Description: `[{"name": "Wind", "values": [1.5, null, 3]}] with one value per label, null for a gap; or [{"name": "Cities", "points": [[x, y], …]}] for scatter. JSON text is accepted.`},
			{Name: "XLabel", Description: "Name of the horizontal axis."},
			{Name: "YLabel", Description: "Name of the vertical axis."},
			{Name: "Unit", Description: "Unit of the values: GWh, %, $."},
			{Name: "Source", Description: "The source of the data, shown as a small caption."},
			language,
			{Name: "Width", Type: "integer", Default: chart.DefaultWidth, Description: "Pixels, 240 to 4000."},
			{Name: "Height", Type: "integer", Default: chart.DefaultHeight, Description: "Pixels, 160 to 4000."},
			{Name: "Horizontal", Type: "boolean", Description: "Horizontal bars; the default for long labels. Bar and stacked only."},
			{Name: "AltText", Description: "Alternative text; derived from the data if missing."},
			{Name: "Chart", Direction: action.Output, ValueType: action.Binary, Format: action.FormatMediaOutput, Description: "The chart, image/svg+xml."},
			{Name: "Description", Direction: action.Output, Description: "The chart's alt text."},
			{Name: "SeriesCount", Direction: action.Output, Type: "integer", Description: "The number of series drawn."},
			{Name: "PointCount", Direction: action.Output, Type: "integer", Description: "The number of values, without gaps."},
		},
		output: "Chart", draw: chart.Draw,
	},
	{
		name: "Create SVG Diagram",
		description: "Draws boxes and arrows in layers as SVG: a process, a structure, dependencies, a decision. Up to 40 boxes are readable. " +
			"For relations without order use Create SVG Network, for numbers Create SVG Chart.",
		params: slices.Concat([]action.Param{
			{Name: "Edges", ValueType: action.Other, IsArray: true, Type: "any", Description: `Arrows: [{"from": "A", "to": "B", "label": "sends", "dashed": false}], or lines "A -> B: sends". JSON text is accepted.`},
			{Name: "Nodes", ValueType: action.Other, IsArray: true, Type: "any", Description: `Boxes that need more than a name or have no arrow: [{"id": "A", "label": "Web shop", "note": "one line more", "shape": "round", "group": "Front"}]. Shapes: ` + strings.Join(graph.Shapes(), ", ") + "; decision and database are also accepted."},
			{Name: "Direction", Default: "auto", Values: graph.Directions(), Description: "The direction of the arrows: down, right, up, left; auto chooses what fits."},
			{Name: "Arrows", Type: "boolean", Default: true, Description: "Arrowheads on the lines; false for plain lines."},
		}, page(graph.DefaultWidth, 0), file("Diagram"), counts("boxes", "arrows")),
		output: "Diagram", draw: diagram.Draw,
	},
	{
		name: "Create SVG Network",
		description: "Draws a network of relations as SVG: people, organisations, papers, species, services; up to 500 nodes. " +
			"For steps and hierarchies use Create SVG Diagram.",
		params: slices.Concat([]action.Param{
			{Name: "Edges", ValueType: action.Other, IsArray: true, Type: "any", Description: `Relations: [{"from": "Ada", "to": "Ben", "weight": 3, "label": "cites"}], or lines "Ada -> Ben". JSON text is accepted.`},
			{Name: "Nodes", ValueType: action.Other, IsArray: true, Type: "any", Description: `Nodes that need more than a name: [{"id": "Ada", "label": "Ada Lovelace", "group": "Authors", "value": 12}]. Groups are colours; value is the size of the circle and defaults to the number of relations.`},
			{Name: "Directed", Type: "boolean", Default: false, Description: "Arrowheads on the lines."},
		}, page(graph.DefaultWidth, 0), file("Network"), counts("nodes", "relations")),
		output: "Network", draw: network.Draw,
	},
	{
		name: "Create SVG Word Cloud",
		description: "Draws a word cloud as SVG: the topics of a text or of a list of answers at a glance. " +
			"If exact values matter, use Create SVG Chart.",
		params: slices.Concat([]action.Param{
			{Name: "Words", ValueType: action.Other, IsArray: true, Type: "any", Description: `Words with weights: [{"text": "solar", "weight": 42}], [["solar", 42]] or {"solar": 42}. JSON text is accepted.`},
			{Name: "Text", Description: "An alternative to Words: text whose words are counted, except for common ones."},
			{Name: "MaxWords", Type: "integer", Default: wordcloud.DefaultWords, Description: fmt.Sprintf("The maximum number of words, 1 to %d; the heaviest are kept.", wordcloud.MaxWords)},
		}, page(wordcloud.DefaultWidth, wordcloud.DefaultHeight), file("WordCloud"), []action.Param{
			{Name: "WordCount", Direction: action.Output, Type: "integer", Description: "The number of words drawn."},
			{Name: "TopWords", Direction: action.Output, IsArray: true, Description: "The heaviest words, in order."},
		}),
		output: "WordCloud", draw: wordcloud.Draw,
	},
	{
		name: "Create SVG Sketch Diagram",
		description: "Draws boxes and arrows as SVG with a hand-drawn look: concepts, drafts, whiteboard explanations. Up to 25 boxes are readable. " +
			"For exact structures use Create SVG Diagram.",
		params: slices.Concat([]action.Param{
			{Name: "Edges", ValueType: action.Other, IsArray: true, Type: "any", Description: `Arrows: [{"from": "Idea", "to": "Prototype", "label": "try", "dashed": false}], or lines "Idea -> Prototype: try". JSON text is accepted.`},
			{Name: "Nodes", ValueType: action.Other, IsArray: true, Type: "any", Description: `Boxes, where more than a name is to be said: [{"id": "A", "label": "Idea", "note": "one line more", "shape": "ellipse", "group": "Now"}]. Shapes: ` + strings.Join(graph.Shapes(), ", ") + "."},
			{Name: "Direction", Default: "auto", Values: graph.Directions(), Description: "The direction of the arrows: down, right, up, left; auto chooses what fits."},
		}, page(graph.DefaultWidth, 0), file("Sketch"), counts("boxes", "arrows")),
		output: "Sketch", draw: sketch.Draw,
	},
	{
		name: "Create Mermaid Diagram",
		description: "Draws Mermaid source as SVG: flowchart, sequence, pie, class, state, entity-relationship and Gantt diagrams. " +
			"Best for messages between parties over time, states, schemas and schedules.",
		params: slices.Concat([]action.Param{
			{Name: "Code", Required: true, Description: "Mermaid source, starting with flowchart, sequenceDiagram, pie, classDiagram, stateDiagram-v2, erDiagram or gantt; at most 200,000 characters."},
		}, titled(page(mermaid.DefaultWidth, 0)), file("Diagram"), []action.Param{
			{Name: "DiagramType", Direction: action.Output, Description: "The kind of diagram that was drawn."},
		}),
		output: "Diagram", draw: mermaid.Draw,
	},
	{
		name: "Create SVG Infographic",
		description: "Composes an infographic as SVG: heading, key figures, icons and sections with text, lists, bars and charts. " +
			"Every number is drawn as given. Icons: " + strings.Join(infographic.Icons(), ", ") + ".",
		params: slices.Concat([]action.Param{
			{Name: "Figures", ValueType: action.Other, IsArray: true, Type: "any", Description: `Key figures, best two to four: [{"value": "42 %", "label": "of electricity from wind", "icon": "wind"}].`},
			{Name: "Sections", ValueType: action.Other, IsArray: true, Type: "any", Description: `Blocks in reading order: [{"heading": "What changed", "icon": "bolt", "text": "Two sentences.", "items": ["a point", {"label": "Solar", "value": 31}], "chart": {"ChartType": "bar", "Labels": ["2020", "2025"], "Series": [{"name": "TWh", "values": [3, 9]}]}, "wide": false}]. Items with values become bars; chart takes what Create SVG Chart takes.`},
		}, page(infographic.DefaultWidth, 0), file("Infographic"), []action.Param{
			{Name: "SectionCount", Direction: action.Output, Type: "integer", Description: "The number of sections drawn."},
			{Name: "Icons", Direction: action.Output, IsArray: true, Description: "The available icons."},
		}),
		output: "Infographic", draw: infographic.Draw,
	},
}

var language = action.Param{Name: "Language", Description: "The language tag of words and numbers that the drawing adds: en or de; others get English."}

// page returns the inputs of a page. If h is 0, it omits the height, which depends on the content.
func page(w, h int) []action.Param {
	list := []action.Param{
		{Name: "Title", Required: true, Description: "What it shows in one line, preferably its finding."},
		{Name: "Subtitle", Description: "What, where and when, in one line."},
		{Name: "Source", Description: "The source of the content, shown as a small caption."},
		{Name: "AltText", Description: "Alternative text; derived from the content if missing."},
		language,
		{Name: "Width", Type: "integer", Default: w, Description: "Pixels, 240 to 4000."},
	}
	if h > 0 {
		list = append(list, action.Param{Name: "Height", Type: "integer", Default: h, Description: "Pixels, 160 to 4000."})
	}
	return list
}

// titled makes the title of a page optional, for content that can have its own.
func titled(page []action.Param) []action.Param {
	page[0].Required = false
	page[0].Description = "What it shows, in one line; derived from the source if missing."
	return page
}

// file returns the outputs of every drawing.
func file(name string) []action.Param {
	return []action.Param{
		{Name: name, Direction: action.Output, ValueType: action.Binary, Format: action.FormatMediaOutput, Description: "The drawing, image/svg+xml."},
		{Name: "Description", Direction: action.Output, Description: "Its alt text."},
	}
}

// counts returns the outputs of a graph, with the common words for its nodes and edges.
func counts(nodes, edges string) []action.Param {
	return []action.Param{
		{Name: "NodeCount", Direction: action.Output, Type: "integer", Description: "The number of " + nodes + " drawn."},
		{Name: "EdgeCount", Direction: action.Output, Type: "integer", Description: "The number of " + edges + " drawn."},
	}
}

// Actions returns the actions of this package.
func Actions() []action.Action {
	var out []action.Action
	for _, d := range drawings {
		out = append(out, action.Action{Name: d.name, Description: d.description, Tags: []string{"visual", "media"}, Params: slices.Clone(d.params), Run: d.run})
	}
	return out
}

func (d drawing) run(ctx context.Context, c *action.Call) (action.Result, error) {
	if err := ctx.Err(); err != nil {
		return action.Result{}, err
	}
	made, err := d.draw(c.Params)
	if err != nil {
		return action.Result{}, err
	}
	item := map[string]any{"data": made.Data, "mimeType": svg.MIME, "label": svg.Clip(made.Title), "description": made.Alt, "fileName": svg.FileName(made.Title)}
	if made.Adaptive {
		item["metadata"] = map[string]any{"adaptive": true} // it contains a second layout for narrow pages
	}
	outputs := maps.Clone(made.Facts)
	outputs[d.output], outputs["Description"] = item, made.Alt
	return action.Result{Message: "Drew the " + made.Kind + " “" + made.Title + "”.", Warnings: made.Warnings, Outputs: outputs}, nil
}
