package schema

import (
	"slices"
	"strings"
	"sync"

	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Columns is the width of a row. Below 460 pixels, each field takes all columns.
const Columns = 12

// Block is a part of a form with a layout. Kind is row, section, group or tabs. A row contains Fields; sections and
// groups contain Blocks; tabs contain one Block of kind tab for each tab.
type Block struct {
	Kind        string          `json:"kind"`
	Title       string          `json:"title,omitempty"`
	Folded      bool            `json:"folded,omitempty"`
	VisibleWhen *ordered.Object `json:"visible_when,omitempty"`
	Fields      []Field         `json:"fields,omitempty"`
	Blocks      []Block         `json:"blocks,omitempty"`
}

// Field is an input in a row.
type Field struct {
	Field string `json:"field"`
	// Span is the number of [Columns] that the field takes.
	Span        int             `json:"span"`
	Widget      string          `json:"widget,omitempty"`
	Help        string          `json:"help,omitempty"`
	VisibleWhen *ordered.Object `json:"visible_when,omitempty"`
}

var compiledLayout = sync.OnceValue(func() *conform.Schema { return conform.Vocabulary(vocabulary, "#/$defs/layout") })

// CheckLayout checks a standalone layout against the vocabulary. Duplicate fields and rows wider than [Columns] are
// problems, too.
func CheckLayout(o *ordered.Object) error {
	if err := compiledLayout().Validate("", o); err != nil {
		return err
	}
	_, err := Arrange(o, nil)
	return err
}

// Arrange returns the blocks of a form in the order of the author of the layout, which matches the vocabulary. Fields of
// the form that the layout does not name follow at the end, each in its own row. Names of unknown fields are problems,
// because a layout belongs to one form; nil fields mean that the form is not known. A nil layout names no fields.
func Arrange(layout *ordered.Object, fields []string) ([]Block, error) {
	a := arranger{fields: fields}
	blocks := a.blocks("", layout)
	for _, f := range fields {
		if !slices.Contains(a.named, f) {
			blocks = append(blocks, single(f))
		}
	}
	return blocks, a.Err()
}

func single(field string) Block {
	return Block{Kind: "row", Fields: []Field{{Field: field, Span: Columns}}}
}

// arranger converts one layout to blocks.
type arranger struct {
	fields []string // nil if they are not known
	named  []string
	problem.List
}

func (a *arranger) blocks(pointer string, o *ordered.Object) (out []Block) {
	for key, v := range o.All() {
		at := ordered.Join(pointer, key)
		list, _ := v.([]any)
		switch key {
		case "rows":
			for i, row := range list {
				out = append(out, a.row(indexed(at, i), row))
			}
		case "order":
			for i, f := range list {
				name, _ := f.(string)
				a.name(indexed(at, i), name)
				out = append(out, single(name))
			}
		case "sections":
			out = append(out, a.parts(at, "section", list)...)
		case "groups":
			out = append(out, a.parts(at, "group", list)...)
		case "tabs":
			out = append(out, Block{Kind: "tabs", Blocks: a.parts(at, "tab", list)})
		}
	}
	return out
}

func (a *arranger) parts(pointer, kind string, list []any) (out []Block) {
	for i, v := range list {
		o, _ := v.(*ordered.Object)
		folded, _ := o.Get("folded")
		out = append(out, Block{Kind: kind, Title: o.Text("title"), Folded: folded == true, VisibleWhen: o.Object("visible_when"), Blocks: a.blocks(indexed(pointer, i), o)})
	}
	return out
}

func (a *arranger) row(pointer string, v any) Block {
	b := Block{Kind: "row"}
	list, _ := v.([]any)
	wide, open := 0, 0
	for i, e := range list {
		f := Field{}
		if f.Field, _ = e.(string); f.Field == "" {
			o, _ := e.(*ordered.Object)
			f = Field{Field: o.Text("field"), Span: number(o, "span"), Widget: o.Text("widget"), Help: o.Text("help"), VisibleWhen: o.Object("visible_when")}
		}
		a.name(indexed(pointer, i), f.Field)
		wide += f.Span
		if f.Span == 0 {
			open++
		}
		b.Fields = append(b.Fields, f)
	}
	if wide+open > Columns {
		a.Fail(pointer, "the fields of this row are wider than %d: make spans smaller", Columns)
	}
	for i := range b.Fields {
		if b.Fields[i].Span == 0 {
			b.Fields[i].Span = max((Columns-wide)/open, 1)
		}
	}
	return b
}

func (a *arranger) name(pointer, field string) {
	if slices.Contains(a.named, field) {
		a.Fail(pointer, "field %s occurs twice", field)
	}
	if a.fields != nil && !slices.Contains(a.fields, field) {
		a.Fail(pointer, "field %s is unknown: the form has %s", field, strings.Join(a.fields, ", "))
	}
	a.named = append(a.named, field)
}
