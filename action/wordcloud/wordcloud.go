// Package wordcloud is the action Create SVG Word Cloud: words as large as they weigh,
// packed around the middle. The same input gives the same bytes, and no two words
// touch; words in Latin letters have a fixed width, so that holds in every face.
//
// Errors are media.Error values with code media.CodeInvalid whose message names the
// parameter. The package may import media, action and action/internal.
package wordcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/action"
	"atelier/action/internal/svg"
	"atelier/action/internal/value"
)

// Name is what models call the action.
const Name = "Create SVG Word Cloud"

const (
	defaultWidth  = 800
	defaultHeight = 450
	defaultWords  = 100
	maxWords      = 250
	maxEntries    = 200_000
	maxText       = 2 << 20
)

// Actions lists the actions of this family.
func Actions() []action.Action { return []action.Action{WordCloud()} }

// WordCloud is the action Create SVG Word Cloud.
func WordCloud() action.Action {
	params := []action.Param{
		{Name: "Words", ValueType: action.Other, IsArray: true, Type: "any", Description: `Words with weights: [{"text": "solar", "weight": 42}], [["solar", 42]] or {"solar": 42}. JSON text is accepted.`},
		{Name: "Text", Description: "Instead of Words: a text whose words are counted, common ones left out."},
		{Name: "MaxWords", Type: "integer", Default: defaultWords, Description: fmt.Sprintf("How many words at most, 1 to %d; the heaviest are kept.", maxWords)},
	}
	outs := []action.Param{
		{Name: "WordCount", Direction: action.Output, Type: "integer", Description: "How many words were drawn."},
		{Name: "TopWords", Direction: action.Output, IsArray: true, Description: "The heaviest words, in order."},
	}
	return action.Action{
		Name: Name,
		Description: "Draws a word cloud as SVG: what a text or a list of answers is about at a glance. " +
			"Where exact values matter use Create SVG Chart.",
		Tags:   []string{"visual", "media"},
		Params: slices.Concat(params, svg.Params(defaultWidth, defaultHeight), svg.Outputs("WordCloud"), outs),
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
	data := d.render()
	var top []string
	for _, w := range d.words[:min(10, len(d.words))] {
		top = append(top, svg.Clip(w.text))
	}
	return action.Result{
		Message:  "Drew the word cloud “" + d.page.Title + "”.",
		Warnings: d.warnings,
		Outputs: map[string]any{
			"WordCloud": d.page.Item(data, d.alt), "Description": d.alt, "WordCount": len(d.words), "TopWords": top,
		},
	}, nil
}

// word is one entry; size is its type size and at its base line's middle.
type word struct {
	text   string
	weight float64
	size   float64
	box    svg.Box
}

// drawing is a checked request; words run from the heaviest to the lightest.
type drawing struct {
	page     svg.Page
	words    []word
	alt      string
	warnings []string
}

func read(p map[string]any) (*drawing, error) {
	page, err := svg.ReadPage(p, defaultWidth, defaultHeight)
	if err != nil {
		return nil, err
	}
	d := &drawing{page: page}
	limit := float64(defaultWords)
	if p["MaxWords"] != nil {
		v, ok := value.Number(p["MaxWords"])
		if !ok || !(v >= 1 && v <= maxWords) {
			return nil, svg.Invalid("MaxWords is %s: give a number from 1 to %d", svg.Clip(value.Text(p["MaxWords"])), maxWords)
		}
		limit = v
	}
	if d.words, err = words(p["Words"], p["Text"]); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.words, func(a, b word) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	note := ""
	if n := len(d.words); n > int(limit) {
		d.words = d.words[:int(limit)]
		note = fmt.Sprintf("Shows the %d heaviest of %d words.", len(d.words), n)
		d.warnings = append(d.warnings, note)
	}
	d.describe(note)
	return d, nil
}

func (d *drawing) describe(note string) {
	if d.alt = d.page.Alt; d.alt == "" {
		var list []string
		for _, w := range d.words[:min(12, len(d.words))] {
			list = append(list, svg.Clip(w.text)+" "+weight(w.weight))
		}
		d.alt = fmt.Sprintf("Word cloud: %s. The heaviest words: %s.", strings.TrimRight(d.page.Title, ".!? "), strings.Join(list, ", "))
	}
	if note != "" {
		d.alt += " " + note
	}
}
