package infographic

import (
	"cmp"
	"fmt"
	"maps"
	"math"

	"atelier/draw/chart"
	"atelier/draw/internal/value"
	"atelier/draw/svg"
)

// figure is one key figure.
type figure struct{ value, label, icon string }

// item is one line of a list; number is NaN if it has no value.
type item struct {
	text   string
	number float64
	shown  string
}

// line returns an item as people read it.
func (it item) line() string {
	if it.shown == "" || it.text == "" {
		return it.text + it.shown
	}
	return it.text + ": " + it.shown
}

// section is one block.
type section struct {
	heading, text, icon string
	items               []item
	bars                bool
	chart               *chart.Inset
	wide                bool
}

// drawing is a checked request.
type drawing struct {
	page     svg.Page
	figures  []figure
	sections []section
}

// objects reads a list of objects, or a single one; objects beyond the limit are omitted with a warning.
func (d *drawing) objects(name string, v any, most int) ([]any, error) {
	v, err := value.Decode(v)
	if err != nil {
		return nil, svg.Invalid("%s is not valid JSON: %v", name, err)
	}
	switch t := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return []any{t}, nil
	case []any:
		if len(t) > most {
			d.page.Warnings = append(d.page.Warnings, fmt.Sprintf("Shows the first %d of %d %s.", most, len(t), name))
			t = t[:most]
		}
		return t, nil
	}
	return nil, svg.Invalid("%s must be an array of objects", name)
}

func (d *drawing) readFigures(v any) error {
	list, err := d.objects("Figures", v, maxFigures)
	if err != nil {
		return err
	}
	for i, one := range list {
		m, ok := one.(map[string]any)
		if !ok {
			return svg.Invalid("Figures[%d] is not an object with value and label", i)
		}
		f := figure{value: value.Text(value.Field(m, "value", "number", "figure")), label: value.Text(value.Field(m, "label", "text", "description"))}
		if unit := value.Text(value.Field(m, "unit")); unit != "" && f.value != "" {
			f.value += " " + unit
		}
		if f.value == "" {
			return svg.Invalid("Figures[%d] has no value: give value and label", i)
		}
		f.icon = iconFor(value.Text(value.Field(m, "icon")), f.label)
		d.figures = append(d.figures, f)
	}
	return nil
}

func (d *drawing) readSections(v any) error {
	list, err := d.objects("Sections", v, maxSections)
	if err != nil {
		return err
	}
	for i, one := range list {
		m, ok := one.(map[string]any)
		if !ok {
			return svg.Invalid("Sections[%d] is not an object with heading and text, items or chart", i)
		}
		s := section{heading: value.Text(value.Field(m, "heading", "title", "label")), text: value.Text(value.Field(m, "text", "body", "description", "content"))}
		s.wide, _ = value.Flag(value.Field(m, "wide", "full"))
		s.icon = iconFor(value.Text(value.Field(m, "icon")), s.heading)
		if err := d.readItems(&s, value.Field(m, "items", "points", "bullets", "list"), i); err != nil {
			return err
		}
		if err := s.readChart(value.Field(m, "chart"), i, d.page.Language); err != nil {
			return err
		}
		if s.heading == "" && s.text == "" && len(s.items) == 0 && s.chart == nil {
			return svg.Invalid("Sections[%d] is empty: give heading, text, items or chart", i)
		}
		d.sections = append(d.sections, s)
	}
	return nil
}

func (d *drawing) readItems(s *section, v any, i int) error {
	list, err := d.objects(fmt.Sprintf("Sections[%d].items", i), v, maxItems)
	if err != nil {
		return err
	}
	s.bars = len(list) > 0
	for _, one := range list {
		it := item{text: value.Text(one), number: math.NaN()}
		if m, ok := one.(map[string]any); ok {
			it.text = value.Text(value.Field(m, "label", "text", "name"))
			v := value.Field(m, "value", "number")
			it.shown = value.Text(v)
			if n, ok := value.Number(v); ok && v != nil {
				it.number = n
				if _, text := v.(string); !text && !math.IsNaN(n) {
					it.shown = chart.Grouped(n, d.page.Language)
				}
			}
			if unit := value.Text(value.Field(m, "unit")); unit != "" && it.shown != "" {
				it.shown += " " + unit
			}
		}
		if it.text == "" && it.shown == "" {
			continue
		}
		s.bars = s.bars && it.number >= 0
		s.items = append(s.items, it)
	}
	return nil
}

func (s *section) readChart(v any, i int, language string) error {
	if v == nil {
		return nil
	}
	v, err := value.Decode(v)
	if err != nil {
		return svg.Invalid("Sections[%d].chart is not valid JSON: %v", i, err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return svg.Invalid("Sections[%d].chart is not an object with ChartType, Labels and Series", i)
	}
	m = maps.Clone(m)
	if value.Text(m["Title"]) == "" {
		m["Title"], s.heading = cmp.Or(s.heading, "Chart"), ""
	}
	m["Language"] = cmp.Or(value.Text(m["Language"]), language)
	in, err := chart.ReadInset(m)
	if err != nil {
		return svg.Invalid("Sections[%d].chart: %w", i, err)
	}
	s.chart = &in
	return nil
}
