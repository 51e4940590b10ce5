package action

import "slices"

// Description is an action as models see it in a prompt and people in documentation.
type Description struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Params      []ParamDescription `json:"params"`
	// Outputs describe the results. Models see the result itself, so [Registry.Describe] omits them and
	// [Document] includes them.
	Outputs []ParamDescription `json:"outputs,omitempty"`
	Tags    []string           `json:"tags,omitempty"`
}

// ParamDescription is one parameter of a [Description].
type ParamDescription struct {
	Name string `json:"name"`
	// Type is string, integer, number, boolean, object, any or media, with "[]" appended for arrays. A media input
	// takes a ref or a placeholder.
	Type        string   `json:"type"`
	Required    bool     `json:"required,omitempty"`
	Default     any      `json:"default,omitempty"`
	Values      []string `json:"values,omitempty"`
	Description string   `json:"description,omitempty"`
	// Code marks a parameter for Go code only.
	Code bool `json:"code,omitempty"`
}

// Describe returns the descriptions of the named actions for models, in the given order; no names means all, sorted by
// name. It omits parameters for Go code only. An unknown name is [media.CodeNotFound].
func (r *Registry) Describe(names ...string) ([]Description, error) {
	if len(names) == 0 {
		names = r.Names()
	}
	docs := make([]Description, 0, len(names))
	for _, n := range names {
		a, err := r.Lookup(n)
		if err != nil {
			return nil, err
		}
		d := a.Describe()
		d.Outputs, d.Tags = nil, nil
		d.Params = slices.DeleteFunc(d.Params, func(p ParamDescription) bool { return p.Code })
		docs = append(docs, d)
	}
	return docs, nil
}

// Document returns the descriptions of actions for people: it includes outputs, tags and parameters for Go code only.
func Document(actions ...Action) []Description {
	docs := make([]Description, 0, len(actions))
	for _, a := range actions {
		docs = append(docs, a.withDefaults().Describe())
	}
	return docs
}

// Describe returns the action's description with its parameters and outputs.
func (a Action) Describe() Description {
	d := Description{Name: a.Name, Description: a.Description, Params: []ParamDescription{}, Tags: a.Tags}
	for _, p := range a.Params {
		t := p.valueType()
		if p.IsArray {
			t += "[]"
		}
		pd := ParamDescription{
			Name: p.Name, Type: t, Required: p.Required, Default: p.Default, Values: p.Values, Description: p.Description,
			Code: p.Code,
		}
		if p.Direction != Output {
			d.Params = append(d.Params, pd)
		}
		if p.Direction != Input {
			d.Outputs = append(d.Outputs, pd)
		}
	}
	return d
}

// valueType returns the type of one value as in [ParamDescription].
func (p Param) valueType() string {
	switch {
	case p.ValueType == Binary:
		return "media"
	case p.Type != "":
		return p.Type
	case p.ValueType == SimpleObject:
		return "object"
	case p.ValueType == Other:
		return "any"
	}
	return "string"
}
