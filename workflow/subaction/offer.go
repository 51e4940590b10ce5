package subaction

import (
	"encoding/json"
	"slices"
	"strconv"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/workflow/conform"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
)

// Offer derives the schema of the parameters from the model's catalogue row.
func (p provided) Offer(key string) (Offer, error) {
	m, err := p.model(key, "")
	if err != nil {
		return Offer{Provider: p.provider}, err
	}
	fields := &ordered.Object{}
	if _, named := p.named(key, false); !named && len(p.models) > 1 {
		fields.Set("model", ordered.New("type", "string", "enum", p.names(), "default", m.Name))
	}
	if p.operation != "txt2img" {
		images := ordered.New("type", "array", "items", ordered.New("type", "string", "format", "media"), "minItems", ordered.Int(1))
		fields.Set("images", images.With("maxItems", ordered.Int(max(m.MaxInputs, 1))))
	}
	if p.method() == generate.MethodEdit && p.operation == "edit" && m.Mask != "none" && m.Mask != "" {
		fields.Set("mask", ordered.New("type", "string", "format", "media"))
	}
	if p.operation != "upscale" {
		settings(fields, m)
	}
	for _, name := range m.Options {
		fields.Set(name, option(m.OptionRules[name]))
	}
	for _, name := range fields.Keys() {
		if !p.takes(m, name) {
			fields.Delete(name)
		}
	}
	return Offer{Provider: p.provider, Params: ordered.New("type", "object", "properties", fields, "additionalProperties", false)}, nil
}

// takes reports whether a model accepts a parameter for the operation. If the model has acts, one that matches the
// operation must accept the parameter. The act itself is not a parameter.
func (p provided) takes(m *catalog.Model, name string) bool {
	switch name {
	case "model", "images", "mask", "n", "output_format", "size", "width", "height":
		return true
	case "action":
		return false
	}
	lacks := m.EditLacks
	if p.operation == "txt2img" {
		lacks = m.GenerateLacks
	}
	if slices.Contains(lacks, name) {
		return false
	}
	meant := func(a catalog.Act) bool {
		if p.operation == "upscale" {
			return a.Name == p.operation
		}
		return slices.Contains(a.For, p.method())
	}
	return len(m.Acts) == 0 || slices.ContainsFunc(m.Acts, func(a catalog.Act) bool { return meant(a) && slices.Contains(a.Takes, name) })
}

func (p provided) names() (names []any) {
	for _, m := range p.models {
		if m.Alive(p.now()) {
			names = append(names, m.Name)
		}
	}
	return names
}

// settings adds the request's own fields that a model accepts.
func settings(fields *ordered.Object, m *catalog.Model) {
	sizes(fields, m.Size)
	if m.Grid == 0 {
		fields.Set("n", ordered.New("type", "integer", "title", "Number of pictures", "minimum", ordered.Int(1), "maximum", ordered.Int(max(m.MaxN, 1)), "default", ordered.Int(1)))
	}
	words(fields, "quality", m.Qualities)
	add := func(name string, schema *ordered.Object) {
		if slices.Contains(m.Supports, name) {
			fields.Set(name, schema)
		}
	}
	add("style", enum(m.Styles))
	words(fields, "output_format", m.Formats)
	add("negative_prompt", enum(nil))
	add("background", enum([]string{"auto", "opaque", "transparent"}))
	add("moderation", enum([]string{"auto", "low"}))
	add("compression", ordered.New("type", "integer", "minimum", ordered.Int(0), "maximum", ordered.Int(100)))
	seed := ordered.New("type", "integer", "minimum", ordered.Int(0))
	if m.MaxSeed > 0 {
		seed.Set("maximum", json.Number(strconv.FormatInt(m.MaxSeed, 10)))
	}
	add("seed", seed)
}

func sizes(fields *ordered.Object, s catalog.SizeRule) {
	switch s.Mode {
	case "enum":
		words(fields, "size", s.Values)
	case "free":
		for _, side := range []string{"width", "height"} {
			o := ordered.New("type", "integer", "minimum", ordered.Int(max(s.MinSide, 1)))
			if s.MaxSide > 0 {
				o.Set("maximum", ordered.Int(s.MaxSide))
			}
			if s.Step > 1 {
				o.Set("multipleOf", ordered.Int(s.Step))
			}
			fields.Set(side, o)
		}
	case "tier":
		words(fields, "aspect_ratio", s.Ratios)
	}
	if s.Mode == "free" || s.Mode == "ratio" {
		fields.Set("aspect_ratio", ordered.New("type", "string", "pattern", `^[0-9]+(\.[0-9]+)?:[0-9]+(\.[0-9]+)?$`, "examples", []any{"1:1", "3:2", "16:9", "2:3", "9:16"}))
	}
}

// words adds a field with the given values, if there are any.
func words(fields *ordered.Object, name string, values []string) {
	if len(values) > 0 {
		fields.Set(name, enum(values))
	}
}

// enum returns the schema of the given values, or of any text if there are none.
func enum(values []string) *ordered.Object {
	if len(values) == 0 {
		return ordered.New("type", "string")
	}
	return ordered.New("type", "string", "enum", ordered.List(values))
}

// option returns the schema of the values that a rule accepts.
func option(r catalog.OptionRule) *ordered.Object {
	o := &ordered.Object{}
	if r.Hint != "" {
		o.Set("description", r.Hint)
	}
	switch {
	case r.List, r.Any, r.Fields != nil: // the Gateway checks the value
	case r.Switch:
		o.Set("type", "boolean")
	case r.Max > r.Min && len(r.Words) == 0:
		o.Set("type", "number")
		if r.Whole {
			o.Set("type", "integer")
		}
		o.Set("minimum", decimal(r.Min))
		o.Set("maximum", decimal(r.Max))
	case r.Max > r.Min:
		o.Set("type", []any{"number", "string"})
	case len(r.Words) > 0:
		return enum(r.Words)
	default:
		o.Set("type", []any{"string", "number"})
	}
	return o
}

func decimal(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

// Merge combines parameters. Later layers take precedence; null removes a parameter.
func Merge(layers ...*ordered.Object) *ordered.Object {
	out := &ordered.Object{}
	for _, layer := range layers {
		for k, v := range layer.All() {
			if v == nil {
				out.Delete(k)
			} else {
				out.Set(k, v)
			}
		}
	}
	return out
}

// Check checks parameters against a schema. It rejects names that the schema does not list, even if the schema permits
// them. Pointers begin with /params.
func Check(schema, params *ordered.Object) error {
	s, err := conform.CompileParams(schema)
	if err != nil {
		return problem.Join(problem.Under("/param_schema", err)...)
	}
	return s.Validate("/params", params)
}
