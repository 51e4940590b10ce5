package mermaid

import (
	"strings"

	"atelier/draw/chart"
	"atelier/draw/internal/value"
	"atelier/draw/svg"
	"atelier/internal/pattern"
)

// pie is a pie chart; package chart draws it.
type pie struct {
	remarks
	labels []any
	values []any
}

func (*pie) kind() string { return "pie chart" }

var slice = pattern.Lazy(`^(?:"([^"]*)"|'([^']*)'|([^"':]+?))\s*:\s*([-+0-9.,eE]+)\s*%?$`)

func (p *pie) statement(l line) error {
	if t, ok := strings.CutPrefix(l.text, "title "); ok {
		p.title = plain(t)
		return nil
	}
	if l.text == "showData" {
		return nil
	}
	m := slice().FindStringSubmatch(l.text)
	if m == nil {
		return l.bad(`a slice is written "Name" : 12.5`)
	}
	v, ok := value.Number(m[4])
	if !ok || !(v >= 0) {
		return l.bad("%s is not the size of a slice: give a number of at least 0", svg.Clip(m[4]))
	}
	p.labels, p.values = append(p.labels, plain(m[1]+m[2]+m[3])), append(p.values, v)
	return nil
}

func (p *pie) end() error {
	if len(p.values) == 0 {
		return svg.Invalid(`Code has no slice: write "Name" : 12.5`)
	}
	return nil
}

func (p *pie) draw(page *svg.Page) ([]byte, error) {
	d, err := chart.Draw(map[string]any{
		"ChartType": "pie", "Title": page.Title, "Subtitle": page.Subtitle, "Source": page.Source, "AltText": page.Alt, "Language": page.Language, "Width": page.W,
		"Height": max(320, page.W*0.5), "Labels": p.labels, "Series": []any{map[string]any{"name": page.Title, "values": p.values}},
	})
	page.Alt = d.Alt
	return d.Data, err
}
