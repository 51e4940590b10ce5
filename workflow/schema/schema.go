// Package schema reads display schemas: JSON Schemas of the data of an interaction. The keyword _ux says how each part
// is displayed, edited, used for generation and selected. The vocabulary is display.schema.json; unknown names are
// rejected when a schema is registered. Errors have code media.CodeInvalid and JSON pointers. The package may import
// media and the packages of workflow that handle JSON: ordered, problem, template, conform.
package schema

import (
	_ "embed" // the vocabulary
	"slices"
	"strconv"
	"strings"
	"sync"

	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/template"
)

//go:embed display.schema.json
var vocabulary []byte

var compiled = sync.OnceValue(func() *conform.Schema { return conform.Vocabulary(vocabulary, "") })

// Render is how a node is displayed.
type Render string

// The values that are not chosen by authors only; display.schema.json lists all.
const (
	RenderGrid     Render = "grid"
	RenderKeyValue Render = "key-value"
	RenderText     Render = "text"
	RenderCode     Render = "code"
)

// Display is how a node takes part in the display: passthrough displays only the children, the zero value the node
// itself.
type Display string

// DisplayHidden displays nothing.
const DisplayHidden Display = "hidden"

// Schema is a registered display schema.
type Schema struct {
	Root *Node
	// Groups are the selection groups, in the order in which the schema names them.
	Groups []*Group
}

// Node is one schema of the document, with its $ref resolved.
type Node struct {
	// Pointer is the JSON pointer of the node in the document.
	Pointer string
	// Types are the permitted types of the data; empty means any type.
	Types []string
	// Title is the plain label.
	Title string
	// Properties are in the order of the author.
	Properties []Property
	// Additional is the schema of all other keys, Items that of the items of a list; nil if there is none.
	Additional, Items *Node
	// Keywords are the keywords of the node itself.
	Keywords *ordered.Object
	UX       UX
}

// Property is a key with its schema.
type Property struct {
	Key  string
	Node *Node
}

// Property returns the schema of a key.
func (n *Node) Property(key string) *Node {
	for _, p := range n.Properties {
		if p.Key == key {
			return p.Node
		}
	}
	return n.Additional
}

// Takes reports whether the schema permits data of a type.
func (n *Node) Takes(t string) bool {
	return len(n.Types) == 0 || slices.Contains(n.Types, t) || t == "integer" && slices.Contains(n.Types, "number")
}

// Parse registers a display schema.
func Parse(v any) (*Schema, error) {
	if err := conform.Shape(v); err != nil {
		return nil, err
	}
	if err := compiled().Validate("", v); err != nil {
		return nil, err
	}
	root, _ := v.(*ordered.Object)
	p := &parser{root: root}
	s := &Schema{Root: p.node("", root)}
	s.Groups = p.groups
	return s, p.Err()
}

// parser converts checked JSON to nodes.
type parser struct {
	root   *ordered.Object
	names  []string // the names that _ux.vars of the ancestor nodes add
	inForm bool     // an ancestor node is edited by a form, which shows its parts as fields
	groups []*Group
	problem.List
}

// follow returns the keywords of a schema, merged over those of its $ref.
func (p *parser) follow(o *ordered.Object) *ordered.Object {
	ref := o.Text("$ref")
	if ref == "" {
		return o
	}
	target, _ := conform.Lookup(p.root, ref)
	base, ok := target.(*ordered.Object)
	if !ok {
		return o
	}
	merged, _ := ordered.Clone(p.follow(base)).(*ordered.Object)
	for k, v := range o.All() {
		if k != "$ref" {
			merged.Set(k, v)
		}
	}
	return merged
}

func (p *parser) node(pointer string, o *ordered.Object) *Node {
	o = p.follow(o)
	n := &Node{Pointer: pointer, Title: o.Text("title"), Keywords: o}
	if t := o.Text("type"); t != "" {
		n.Types = []string{t}
	}
	for _, t := range o.List("type") {
		name, _ := t.(string)
		n.Types = append(n.Types, name)
	}
	names, inForm := p.names, p.inForm
	at := pointer + "/_ux"
	n.UX = p.ux(at, o.Object("_ux"))
	u := n.UX
	switch {
	case u.Group != nil && !n.Takes("array"):
		p.Fail(at+"/selectable", "only the items of a list can be selected: set selectable on the list")
	case inForm && (u.Group != nil || len(u.Actions) > 0):
		p.Fail(at, "this would not be shown: a part above it has a form (input_schema, layout or sub_action), which shows its parts as fields: give the form to smaller parts")
	}
	p.inForm = inForm || u.Input.literal != nil || !u.Input.Given() && (u.Layout.literal != nil || len(u.Actions) > 0)
	for key, v := range o.Object("properties").All() {
		if child, ok := v.(*ordered.Object); ok {
			n.Properties = append(n.Properties, Property{key, p.node(ordered.Join(pointer+"/properties", key), child)})
		}
	}
	if child := o.Object("additionalProperties"); child != nil {
		n.Additional = p.node(pointer+"/additionalProperties", child)
	}
	if child := o.Object("items"); child != nil {
		n.Items = p.node(pointer+"/items", child)
	}
	p.names, p.inForm = names, inForm
	return n
}

func (p *parser) template(pointer, s string) *template.Template {
	t, err := template.Parse(s)
	if !p.Check(pointer, err) {
		return nil
	}
	p.known(pointer, t)
	return t
}

// known checks that a template uses only names that nodes provide.
func (p *parser) known(pointer string, t *template.Template) {
	known := append([]string{"key", "$key", "$provider", "$data", "$param_schemas", "$param_defaults"}, p.names...)
	for _, name := range t.Names() {
		if !slices.Contains(known, name) {
			p.Fail(pointer, "{{ %s }} is out of scope: a display schema can use %s", name, strings.Join(known, ", "))
		}
	}
}

// object reads a value of _ux that is an object or a template for an object. The value may be missing.
func (p *parser) object(pointer string, o *ordered.Object, key string) Value {
	pointer += "/" + key
	v, _ := o.Get(key)
	switch v := v.(type) {
	case string:
		t := p.template(pointer, v)
		if t != nil && t.Literal() {
			p.Fail(pointer, "an object is required, or a template for one such as {{ $param_schemas[$provider] }}")
		}
		return Value{template: t}
	case *ordered.Object:
		return Value{literal: v, templates: p.strings(pointer, v)}
	}
	return Value{}
}

// schema reads a value of _ux that must be a JSON Schema.
func (p *parser) schema(pointer string, o *ordered.Object, key string) Value {
	v := p.object(pointer, o, key)
	if v.literal != nil && !v.templates {
		_, err := conform.Compile(v.literal)
		if key == "param_schema" {
			_, err = conform.CompileParams(v.literal)
		}
		p.Check(pointer+"/"+key, err)
	}
	return v
}

// strings checks the templates in an object and reports whether it contains any.
func (p *parser) strings(pointer string, v any) (found bool) {
	template.Walk(v, func(under, s string) any {
		if t := p.template(pointer+under, s); t != nil && !t.Literal() {
			found = true
		}
		return s
	})
	return found
}

func indexed(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }
