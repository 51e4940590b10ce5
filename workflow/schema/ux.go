package schema

import (
	"cmp"
	"encoding/json"
	"slices"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/template"
)

// UX is the content of a node's _ux.
type UX struct {
	// Label is the label of the node; nil if there is none.
	Label  *template.Template
	Render Render
	// Display is empty for a node that is displayed.
	Display Display
	// Vars defines additional names for the templates of the node and its descendants, without $.
	Vars []Var
	// Group is the selection group of a list whose items can be selected; nil for other nodes.
	Group *Group
	// Input is the schema of the form, and Layout its layout; zero if there is none.
	Input   Value
	Layout  Value
	Actions []SubAction
}

// Var is a named value for templates.
type Var struct {
	Name  string
	Value *template.Template
}

// Mode says how many items can be selected.
type Mode string

// The values of [Mode].
const (
	ModeSingle   Mode = "single"
	ModeMultiple Mode = "multiple"
)

// DefaultGroup is the selection group of lists that name no group.
const DefaultGroup = "default"

// Group says how many items can be selected from the lists that share the group.
type Group struct {
	Name string `json:"group"`
	Mode Mode   `json:"mode"`
	// Min and Max bound the number of selected items; Max 0 means no maximum.
	Min int `json:"min"`
	Max int `json:"max,omitempty"`
}

// SubAction is a sub-action that a person can start from a node.
type SubAction struct {
	// Pointer is the JSON pointer of the sub-action in the document.
	Pointer string
	ID      string
	Label   *template.Template
	Type    template.Target
	Prompt  *template.Template
	Schema  Value
	Params  Value
	Target  template.Target
	Loading *template.Template
	// Confirm requires a confirmation before the call. Question is its text; nil means the default text.
	Confirm  bool
	Question *template.Template
	// When is the condition for enabling it, see [Holds]; nil means always enabled.
	When *ordered.Object
}

// Value is an object of _ux or a template for an object. The zero value means that there is none.
type Value struct {
	literal   *ordered.Object
	templates bool
	template  *template.Template
}

// Given reports whether the value is set.
func (v Value) Given() bool { return v.literal != nil || v.template != nil }

// Resolve returns the object; nil if the value is not set or resolves to null. The error for an unknown path is a
// [template.UnknownError].
func (v Value) Resolve(scope template.Scope) (*ordered.Object, error) {
	var value any = v.literal
	var err error
	switch {
	case v.template != nil:
		value, err = v.template.Value(scope)
	case v.templates:
		value, err = template.Resolve(v.literal, scope)
	}
	if err != nil || value == nil {
		return nil, err
	}
	o, ok := value.(*ordered.Object)
	if !ok {
		return nil, media.Errorf(media.CodeInvalid, "%s does not resolve to an object", v.template.Source())
	}
	return o, nil
}

func (p *parser) ux(pointer string, o *ordered.Object) UX {
	u := UX{Render: Render(o.Text("render_as")), Display: Display(o.Text("display"))}
	for name, v := range o.Object("vars").All() {
		s, _ := template.Scalar(v)
		if t := p.template(ordered.Join(pointer+"/vars", name), s); t != nil {
			u.Vars = append(u.Vars, Var{name, t})
		}
	}
	p.names = slices.Clone(p.names)
	for _, v := range u.Vars {
		p.names = append(p.names, "$"+v.Name)
	}
	u.Label = p.optional(pointer, o, "display_label")
	u.Group = p.selection(pointer, o)
	u.Input = p.schema(pointer, o, "input_schema")
	u.Layout = p.object(pointer, o, "layout")
	var fields []string
	if form := u.Input; form.literal != nil && !form.templates && !u.Layout.templates { // otherwise the fields are known later
		fields = append([]string{}, form.literal.Object("properties").Keys()...)
	}
	_, err := Arrange(u.Layout.literal, fields)
	p.Check(pointer+"/layout", err)
	at := pointer + "/sub_action"
	if one := o.Object("sub_action"); one != nil {
		u.Actions = append(u.Actions, p.action(at, one))
	}
	for i, v := range o.List("sub_action") {
		if one, ok := v.(*ordered.Object); ok {
			a := p.action(indexed(at, i), one)
			if slices.ContainsFunc(u.Actions, func(other SubAction) bool { return other.ID == a.ID }) {
				p.Fail(indexed(at, i)+"/id", "sub_action %s occurs twice: give each its own id", a.ID)
			}
			u.Actions = append(u.Actions, a)
		}
	}
	return u
}

func (p *parser) optional(pointer string, o *ordered.Object, key string) *template.Template {
	if !o.Has(key) {
		return nil
	}
	return p.template(pointer+"/"+key, o.Text(key))
}

func (p *parser) selection(pointer string, o *ordered.Object) *Group {
	if on, _ := o.Get("selectable"); on != true {
		return nil
	}
	g := Group{Name: cmp.Or(o.Text("selection_group"), DefaultGroup), Mode: cmp.Or(Mode(o.Text("selection_mode")), ModeSingle), Min: 1, Max: number(o, "selection_max")}
	if o.Has("selection_min") {
		g.Min = number(o, "selection_min")
	}
	if optional, _ := o.Get("selection_optional"); optional == true {
		g.Min = 0
	}
	if g.Mode == ModeSingle && (o.Has("selection_max") || g.Min > 1) {
		p.Fail(pointer, "selection_mode single allows one choice: omit selection_min and selection_max, or use multiple")
	}
	if g.Mode == ModeSingle {
		g.Max = 1
	}
	if g.Max > 0 && g.Min > g.Max {
		p.Fail(pointer, "selection_min %d is more than selection_max %d", g.Min, g.Max)
	}
	if g.Name == ordered.Forbidden {
		p.Fail(pointer+"/selection_group", "%s is not allowed as the name of a group", g.Name)
	}
	i := slices.IndexFunc(p.groups, func(other *Group) bool { return other.Name == g.Name })
	if i < 0 {
		i, p.groups = len(p.groups), append(p.groups, &g)
	} else if *p.groups[i] != g {
		p.Fail(pointer, "the lists of selection group %s differ in mode, minimum or maximum: make them equal", g.Name)
	}
	return p.groups[i]
}

func number(o *ordered.Object, key string) int {
	v, _ := o.Get(key)
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return int(f)
}

func (p *parser) action(pointer string, o *ordered.Object) SubAction {
	a := SubAction{
		Pointer: pointer, ID: o.Text("id"), Label: p.optional(pointer, o, "label"), Prompt: p.optional(pointer, o, "prompt"),
		Type: p.target(pointer, o, "action_type"), Target: p.target(pointer, o, "result_target"), Loading: p.optional(pointer, o, "loading_label"),
		When: o.Object("enabled_when"),
	}
	if len(a.Target) < 2 || a.Target[0].Source() != "generations" {
		p.Fail(pointer+"/result_target", "results must be stored under generations: write generations.{{ $provider }}.{{ $key }}")
	}
	a.Schema, a.Params = p.schema(pointer, o, "param_schema"), p.object(pointer, o, "param_defaults")
	switch confirm, _ := o.Get("confirm"); confirm := confirm.(type) {
	case bool:
		a.Confirm = confirm
	case string:
		a.Confirm, a.Question = true, p.template(pointer+"/confirm", confirm)
	}
	return a
}

func (p *parser) target(pointer string, o *ordered.Object, key string) template.Target {
	t, err := template.ParseTarget(o.Text(key))
	if !p.Check(pointer+"/"+key, err) {
		return nil
	}
	for _, segment := range t {
		p.known(pointer+"/"+key, segment)
	}
	return t
}
