package workflow

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/template"
)

// Read reads a definition and checks everything that can be known before it runs. The format is JSON if the file name
// ends in .json, and YAML otherwise. If there are problems, the definition is nil and the problems are in the order of
// the text.
func Read(modules *Modules, file string, text []byte) (*Definition, []Problem) {
	read := ordered.ReadYAML
	if strings.HasSuffix(strings.ToLower(file), ".json") {
		read = ordered.ReadJSON
	}
	doc, err := read(text)
	if err != nil {
		at := ordered.Position{Line: 1, Column: 1}
		var bad *ordered.TextError
		if errors.As(err, &bad) {
			at = bad.At
		}
		return nil, []Problem{{File: file, Line: at.Line, Column: at.Column, Problem: problem.At("", "%s", err)}}
	}
	d, found := Check(modules, doc.Value)
	problems := make([]Problem, len(found))
	for i, p := range found {
		at := doc.Position(p.Pointer)
		problems[i] = Problem{File: file, Line: at.Line, Column: at.Column, Problem: p}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	if len(problems) > 0 {
		return nil, problems
	}
	return d, nil
}

// Check reads a definition from its JSON value. Pointers are relative to the value. The definition is nil if it does
// not match the JSON Schema of definitions.
func Check(modules *Modules, v any) (*Definition, []problem.Problem) {
	if found := vocabulary().Check(v); len(found) > 0 {
		return nil, found
	}
	o, _ := v.(*ordered.Object)
	c := &checker{modules: modules, d: definition(o), results: map[string][]string{}}
	if c.d.StateSchema != nil {
		_, err := conform.Compile(c.d.StateSchema)
		c.Check("/state_schema", err)
	}
	for i, s := range c.d.Steps {
		c.step(i, s)
	}
	return c.d, c.List
}

type checker struct {
	modules *Modules
	d       *Definition
	results map[string][]string // the keys of the results of earlier steps, if they are known
	problem.List
}

func (c *checker) step(i int, s Step) {
	at := "/steps/" + strconv.Itoa(i)
	for _, earlier := range c.d.Steps[:i] {
		if earlier.ID == s.ID {
			c.Fail(at+"/id", "step %s occurs twice: give each step its own id", s.ID)
		}
	}
	module, err := c.modules.Find(s.ModuleID)
	if !c.Check(at+"/module_id", err) {
		return
	}
	in := &inputs{checker: c, step: s, index: i, at: at, from: map[string]string{}}
	values := in.known()
	in.checkSchema(module.InputSchema(), values)
	if m, ok := module.(Checker); ok && len(in.List) == 0 {
		in.List = m.Check(values)
	}
	for _, p := range in.List {
		c.List = append(c.List, problem.Problem{Pointer: in.place(p.Pointer), Message: p.Message})
	}
	if m, ok := module.(Described); ok && len(in.List) == 0 {
		c.results[s.ID] = m.ResultKeys(values)
	}
	template.Walk(s.Output, func(under, path string) any {
		if slices.Contains(strings.Split(path, "."), ordered.Forbidden) {
			c.Fail(at+"/output"+under, "%s is not allowed as a key", ordered.Forbidden)
		}
		return path
	})
	output, _ := s.Output.(*ordered.Object)
	for key := range output.All() {
		c.result(ordered.Join(at+"/output", key), s.ID, key)
	}
}

// result checks that the result of a step has a key.
func (c *checker) result(pointer, step, key string) {
	if keys := c.results[step]; keys != nil && !slices.Contains(keys, key) {
		c.Fail(pointer, "the result of step %s has no %s: it has %s", step, key, strings.Join(keys, ", "))
	}
}

// inputs collects the problems of a step's inputs, with pointers into these.
type inputs struct {
	checker *checker
	step    Step
	index   int
	at      string            // the pointer of the step
	from    map[string]string // where values that come from config are in the definition
	problem.List
}

// known returns the inputs with the values from config inserted. Other templates stay.
func (c *inputs) known() *ordered.Object {
	out := &ordered.Object{}
	for key, v := range c.step.Inputs.All() {
		if _, inline := v.(*ordered.Object); !inline || key != displaySchema {
			at := ordered.Join("", key)
			v = template.Walk(v, func(under, s string) any { return c.text(at+under, s) })
		}
		out.Set(key, v)
	}
	return out
}

func (c *inputs) text(pointer, s string) any {
	t, err := template.Parse(s)
	if !c.Check(pointer, err) {
		return s
	}
	for _, name := range t.Names() {
		if name != "state" && name != "step" && name != "steps" {
			c.Fail(pointer, "{{ %s }} is out of scope: inputs can use state, step (this step's config) and steps (results of earlier steps)", name)
		}
	}
	for _, path := range t.Paths() {
		switch {
		case path[0] == "steps" && len(path) > 1 && !slices.ContainsFunc(c.checker.d.Steps[:c.index], func(s Step) bool { return s.ID == path[1] }):
			c.Fail(pointer, "steps.%s is not an earlier step", path[1])
		case path[0] == "steps" && len(path) > 2:
			c.checker.result(c.at+"/inputs"+pointer, path[1], path[2])
		case path[0] == "step":
			if _, ok := ordered.Get(c.step.Config, path[1:]...); !ok {
				c.Fail(pointer, "%s is not in the step's config", strings.Join(path, "."))
			}
		}
	}
	if path := t.Whole(); len(path) > 0 && path[0] == "step" {
		if v, ok := ordered.Get(c.step.Config, path[1:]...); ok {
			c.from[pointer] = c.at + "/config" + ordered.Pointer(path[1:]...)
			return v
		}
	}
	return s
}

// place returns where in the definition the value at a pointer into the inputs is written.
func (c *inputs) place(pointer string) string {
	for input, config := range c.from {
		if ordered.Covers(input, pointer) {
			return config + strings.TrimPrefix(pointer, input)
		}
	}
	return c.at + "/inputs" + pointer
}

// checkSchema checks names and literal values against the module's schema. Values that only a run provides are checked
// when it runs.
func (c *inputs) checkSchema(schema, values *ordered.Object) {
	properties := schema.Object("properties")
	for _, v := range schema.List("required") {
		if name, _ := v.(string); !values.Has(name) {
			c.Fail("", "%s needs %s", c.step.ModuleID, name)
		}
	}
	for name, v := range values.All() {
		at := ordered.Join("", name)
		one := properties.Object(name)
		if one == nil {
			c.Fail(at, "%s is not an input of %s: use %s", name, c.step.ModuleID, strings.Join(properties.Keys(), ", "))
			continue
		}
		if name == displaySchema || hasTemplate(v) {
			continue
		}
		c.Check("", conform.Validate(one, at, v))
	}
}

// hasTemplate reports whether a value contains a template.
func hasTemplate(v any) (found bool) {
	template.Walk(v, func(_, s string) any {
		if t, err := template.Parse(s); err != nil || !t.Literal() {
			found = true
		}
		return s
	})
	return found
}

// CheckInputs checks resolved inputs against a module's schema. Pointers begin with /inputs.
func CheckInputs(m Module, in *ordered.Object) error {
	s, err := conform.CompileParams(m.InputSchema())
	if err != nil {
		return err
	}
	found := s.Check(in)
	if c, ok := m.(Checker); ok && len(found) == 0 {
		found = c.Check(in)
	}
	return problem.Join(problem.Under("/inputs", problem.Join(found...))...)
}
