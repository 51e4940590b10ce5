// Package mermaid is the action Create Mermaid Diagram: it reads the text language
// Mermaid and draws it as SVG without a browser. Flowcharts, sequence, pie, class,
// state, entity-relationship and Gantt diagrams are drawn; other kinds are refused by
// name. Styling statements are read over, with a warning. The same input gives the
// same bytes.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// line. The package may import media, action, action/visual and action/internal.
package mermaid

import (
	"context"
	"slices"
	"strings"

	"atelier/action"
	"atelier/action/internal/svg"
	"atelier/action/internal/value"
)

// Name is what models call the action.
const Name = "Create Mermaid Diagram"

const defaultWidth = 800

// MaxCode is how many bytes of Mermaid are read. Mermaid itself reads 50,000.
const MaxCode = 200_000

// Actions lists the actions of this family.
func Actions() []action.Action { return []action.Action{Diagram()} }

// Diagram is the action Create Mermaid Diagram.
func Diagram() action.Action {
	params := []action.Param{
		{Name: "Code", Required: true, Description: "Mermaid source, starting with flowchart, sequenceDiagram, pie, classDiagram, stateDiagram-v2, erDiagram or gantt; at most 200,000 characters."},
	}
	page := svg.Params(defaultWidth, 0)
	page[0].Required = false
	page[0].Description = "What it shows, in one line; taken from the source if missing."
	outs := []action.Param{{Name: "DiagramType", Direction: action.Output, Description: "Which kind of diagram was drawn."}}
	return action.Action{
		Name: Name,
		Description: "Draws Mermaid source as SVG: flowchart, sequence, pie, class, state, entity-relationship and Gantt diagrams. " +
			"Best for messages between parties over time, states, schemas and schedules.",
		Tags:   []string{"visual", "media"},
		Params: slices.Concat(params, page, svg.Outputs("Diagram"), outs),
		Run:    run,
	}
}

func run(ctx context.Context, c *action.Call) (action.Result, error) {
	if err := ctx.Err(); err != nil {
		return action.Result{}, err
	}
	code, _ := c.Params["Code"].(string)
	d, err := parse(code)
	if err != nil {
		return action.Result{}, err
	}
	page, err := pageOf(c.Params, d)
	if err != nil {
		return action.Result{}, err
	}
	data, alt, err := d.draw(page)
	if err != nil {
		return action.Result{}, err
	}
	return action.Result{
		Message:  "Drew the " + d.kind() + " “" + page.Title + "”.",
		Warnings: d.notes().list,
		Outputs:  map[string]any{"Diagram": page.Item(data, alt), "Description": alt, "DiagramType": d.kind()},
	}, nil
}

// pageOf reads the page; without a Title the source's own title or its kind is one.
func pageOf(p map[string]any, d diagram) (svg.Page, error) {
	q := map[string]any{}
	for k, v := range p {
		q[k] = v
	}
	if value.Text(q["Title"]) == "" {
		q["Title"] = d.notes().title
		if value.Text(q["Title"]) == "" {
			q["Title"] = upper(d.kind())
		}
	}
	return svg.ReadPage(q, defaultWidth, 0)
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// diagram is parsed source.
type diagram interface {
	// kind names the diagram for people.
	kind() string
	notes() *remarks
	// draw gives the file and its alt text.
	draw(page svg.Page) (data []byte, alt string, err error)
}

// remarks is what every diagram has besides its content.
type remarks struct {
	title string
	list  []string
}

func (n *remarks) notes() *remarks { return n }

// warn notes something once.
func (n *remarks) warn(s string) {
	if !slices.Contains(n.list, s) {
		n.list = append(n.list, s)
	}
}

const styled = "Colours and styles in the source are not drawn: the picture has its own, for light and dark."
