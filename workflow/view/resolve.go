package view

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strconv"
	"strings"

	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
	"atelier/workflow/subaction"
	"atelier/workflow/template"
)

// Input is the input of [Resolve], which does not modify it.
type Input struct {
	Schema *schema.Schema
	// Data is display_data.
	Data *ordered.Object
	// InputSchemas and Layouts are those of the request, by JSON pointer into the data. _ux takes precedence over them.
	InputSchemas, Layouts *ordered.Object
	// ParamSchemas and ParamDefaults are keyed by provider.
	ParamSchemas, ParamDefaults *ordered.Object
	// Actions returns what an action accepts for a key, or an error that says why the action cannot be started.
	Actions *subaction.Registry
}

// Resolve builds the tree.
func Resolve(in Input) (*Node, error) {
	r := &resolver{Input: in, used: map[string]bool{}}
	root := r.node(in.Schema.Root, nil, in.Data, template.Scope{})
	unused := func(name string, by *ordered.Object) {
		for pointer := range by.All() {
			if !r.used[pointer] {
				r.request.Fail(ordered.Pointer(name, pointer), "%s does not name anything that is shown", pointer)
			}
		}
	}
	unused("input_schema", in.InputSchemas)
	unused("layout", in.Layouts)
	return root, problem.Join(append(problem.Under("/display_schema", r.Err()), r.request...)...)
}

type resolver struct {
	Input
	used         map[string]bool // pointers of InputSchemas and Layouts that match a node
	problem.List                 // of the schema
	request      problem.List    // of InputSchemas and Layouts
}

// place is a node with what is needed to resolve it.
type place struct {
	schema *schema.Node
	node   *Node
	data   any
	scope  template.Scope
	ux     string // the pointer of _ux
}

// node resolves one schema with its data. vars are the variables of the ancestors.
func (r *resolver) node(s *schema.Node, path []string, data any, vars template.Scope) *Node {
	n := &Node{Pointer: ordered.Pointer(path...), Type: typeOf(data), Schema: s.Pointer, Display: s.UX.Display, RenderAs: s.UX.Render}
	scope := maps.Clone(vars)
	if len(path) > 0 {
		n.Key = path[len(path)-1]
		scope["key"], scope["$key"] = n.Key, n.Key
	}
	if _, set := vars["$provider"]; !set && len(path) > 1 {
		scope["$provider"] = path[len(path)-2]
	}
	scope["$data"], scope["$param_schemas"], scope["$param_defaults"] = data, r.ParamSchemas, r.ParamDefaults
	p := place{schema: s, node: n, data: data, scope: scope, ux: s.Pointer + "/_ux"}
	below := r.vars(p, vars)
	if n.Label = cmp.Or(s.Title, n.Key); s.UX.Label != nil {
		var err error
		n.Label, err = s.UX.Label.Text(scope, true)
		r.Check(p.ux+"/display_label", err)
	}
	switch {
	case !s.Takes(n.Type):
		n.RenderAs = schema.RenderCode
		return n
	case n.RenderAs == "" && !describes(s, data):
		n.RenderAs = schema.RenderCode
	case n.RenderAs == "":
		n.RenderAs = cmp.Or(map[string]schema.Render{"object": schema.RenderKeyValue, "array": schema.RenderGrid}[n.Type], schema.RenderText)
	}
	if n.Display == schema.DisplayHidden {
		return n
	}
	n.Selection = s.UX.Group
	r.form(p)
	for _, a := range s.UX.Actions {
		n.SubActions = append(n.SubActions, r.action(p, a))
	}
	if n.Form == nil {
		r.children(p, path, below)
	}
	return n
}

// describes reports whether a schema covers the contents of an object or a list. Other data has no contents.
func describes(s *schema.Node, data any) bool {
	switch data := data.(type) {
	case *ordered.Object:
		return data.Len() == 0 || len(s.Properties) > 0 || s.Additional != nil
	case []any:
		return len(data) == 0 || s.Items != nil
	}
	return true
}

// vars adds the node's variables to its scope and returns the variables for its descendants.
func (r *resolver) vars(p place, above template.Scope) template.Scope {
	if len(p.schema.UX.Vars) == 0 {
		return above
	}
	below, own := maps.Clone(above), template.Scope{}
	for _, v := range p.schema.UX.Vars {
		value, err := v.Value.Value(p.scope)
		if r.Check(ordered.Join(p.ux+"/vars", v.Name), err) {
			own["$"+v.Name] = value
		}
	}
	maps.Copy(below, own)
	maps.Copy(p.scope, own)
	return below
}

func (r *resolver) children(p place, path []string, vars template.Scope) {
	add := func(s *schema.Node, key string, data any) {
		if s != nil {
			p.node.Children = append(p.node.Children, r.node(s, append(path[:len(path):len(path)], key), data, vars))
		}
	}
	switch data := p.data.(type) {
	case *ordered.Object:
		for _, property := range p.schema.Properties {
			if v, ok := data.Get(property.Key); ok {
				add(property.Node, property.Key, v)
			}
		}
		for key, v := range data.All() {
			if p.schema.Property(key) == p.schema.Additional {
				add(p.schema.Additional, key, v)
			}
		}
	case []any:
		for i, v := range data {
			add(p.schema.Items, strconv.Itoa(i), v)
		}
	}
}

// form finds the schema for editing a node: that of _ux, that of the request or, if the node has sub-actions or a
// layout, a schema derived from the data.
func (r *resolver) form(p place) {
	n := p.node
	own, byRequest := p.schema.UX.Input, r.InputSchemas.Object(n.Pointer)
	layout, err := p.schema.UX.Layout.Resolve(p.scope)
	r.Check(p.ux+"/layout", err)
	if byRequest != nil {
		r.used[n.Pointer] = true
	}
	found, at := &r.List, p.ux+"/layout"
	if l := r.Layouts.Object(n.Pointer); l != nil {
		r.used[n.Pointer] = true
		if layout == nil {
			layout, found, at = l, &r.request, ordered.Pointer("layout", n.Pointer)
		}
	}
	var form *ordered.Object
	switch {
	case own.Given():
		form, err = own.Resolve(p.scope)
		if err == nil && form != nil {
			err = conform.Shape(form)
		}
		if !r.Check(p.ux+"/input_schema", err) || form == nil {
			return
		}
	case byRequest != nil:
		form = byRequest
	case len(p.schema.UX.Actions) > 0 || layout != nil:
		form = Derive(p.schema, p.data)
	default:
		return
	}
	n.Form = &Form{Schema: form}
	if fields := form.Object("properties").Keys(); len(fields) > 0 || layout != nil {
		n.Form.Layout, err = schema.Arrange(layout, append([]string{}, fields...))
		found.Check(at, err)
	}
}

func (r *resolver) action(p place, a schema.SubAction) SubAction {
	out := SubAction{ID: a.ID, LoadingLabel: "Loading...", Confirm: a.Confirm, Enabled: true, Params: &ordered.Object{}}
	out.Label = r.text(p, a.Pointer+"/label", a.Label)
	if a.Loading != nil {
		out.LoadingLabel = r.text(p, a.Pointer+"/loading_label", a.Loading)
	}
	if a.Question != nil {
		out.Question = r.text(p, a.Pointer+"/confirm", a.Question)
	}
	var err error
	if out.ResultTarget, err = a.Target.Path(p.scope); !r.Check(a.Pointer+"/result_target", err) {
		return out
	}
	segments, err := a.Type.Path(p.scope)
	if !r.Check(a.Pointer+"/action_type", err) {
		return out
	}
	out.ActionType = strings.Join(segments, ".")
	r.params(p, a, &out)
	prompt, err := Prompt(a.Prompt, p.data, p.scope, out.ParamSchema)
	r.Check(a.Pointer+"/prompt", err)
	out.PromptAsSent = prompt
	if out.Reason == "" && !schema.Holds(a.When, p.data) {
		out.Enabled = false
	}
	return out
}

// text resolves a template whose paths must all be known.
func (r *resolver) text(p place, pointer string, t *template.Template) string {
	s, err := t.Text(p.scope, false)
	r.Check(pointer, err)
	return s
}

// params finds the schema of the parameters and their initial values. The data takes precedence over defaults.
func (r *resolver) params(p place, a schema.SubAction, out *SubAction) {
	offer, reason := r.Actions.Offer(out.ActionType, p.node.Key)
	if reason != nil {
		out.Enabled, out.Reason = false, reason.Error()
	}
	named, _ := p.scope["$provider"].(string)
	out.Provider = cmp.Or(offer.Provider, named)
	out.ParamSchema = r.value(p, a.Pointer+"/param_schema", a.Schema, r.ParamSchemas.Object(out.Provider))
	if out.ParamSchema == nil {
		out.ParamSchema = offer.Params
	} else {
		r.Check(a.Pointer+"/param_schema", conform.Shape(out.ParamSchema))
	}
	defaults := r.value(p, a.Pointer+"/param_defaults", a.Params, r.ParamDefaults.Object(out.Provider))
	out.Params = subaction.Merge(defaults, own(p.data, out.ParamSchema))
}

// value resolves an object of a sub-action. It returns other if v is not set, and nil for unknown parameters.
func (r *resolver) value(p place, pointer string, v schema.Value, other *ordered.Object) *ordered.Object {
	if !v.Given() {
		return other
	}
	o, err := v.Resolve(p.scope)
	var unknown *template.UnknownError
	if errors.As(err, &unknown) && strings.HasPrefix(unknown.Path, "$param_") {
		return nil
	}
	r.Check(pointer, err)
	return o
}

// own returns the keys of a prompt object that are parameters.
func own(data any, params *ordered.Object) *ordered.Object {
	out := &ordered.Object{}
	o, _ := data.(*ordered.Object)
	for k, v := range o.All() {
		if params.Object("properties").Has(k) {
			out.Set(k, v)
		}
	}
	return out
}

func typeOf(v any) string {
	switch v := v.(type) {
	case *ordered.Object:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) { // 1.0 is an integer in JSON Schema
			return "integer"
		}
		return "number"
	}
	return "null"
}
