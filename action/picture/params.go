package picture

import (
	"atelier/action"
	"atelier/generate"
)

// params are the parameters of an action: the same for all, and pictures for those
// that start from pictures.
func (k kind) params() []action.Param {
	in := func(name, description string) action.Param {
		return action.Param{Name: name, Direction: action.Input, ValueType: action.Scalar, Description: description}
	}
	choice := func(name, def, description string, values ...string) action.Param {
		p := in(name, description)
		p.Values = values
		if def != "" {
			p.Default = def
		}
		return p
	}
	number := func(name string, def any, description string) action.Param {
		p := in(name, description)
		p.Type, p.Default = "integer", def
		return p
	}
	prompt := in("Prompt", "What the picture shows and how it looks.")
	prompt.Required = true
	size := in("Size", "Pixels such as 1024x1024, 1536x1024 (wide), 1024x1536 (tall), or auto. Size takes precedence over AspectRatio and Quality.")
	images := action.Param{Name: "Images", Direction: action.Output, ValueType: action.Binary, Format: action.FormatMediaOutput, IsArray: true, Description: "The pictures, as refs."}
	first := []action.Param{prompt}
	switch k.method {
	case generate.MethodGenerate:
		size.Default = "1024x1024"
	case generate.MethodEdit:
		first[0].Description = "What to change, and what to keep."
		size.Description += " The default is the first picture's size."
		images.Direction, images.Required = action.Both, true
		images.Description = "In: refs of the pictures; the first is edited, the others are references. Out: the edited pictures, as refs."
		first = append(first, action.Param{
			Name: "Mask", Direction: action.Input, ValueType: action.Binary,
			Description: "The ref of a picture of the first one's size that marks the area to change: transparent, or white if it has no transparency.",
		})
	case generate.MethodVariation:
		first[0].Required, first[0].Description = false, "What to vary; omit it for free variations."
		size.Description += " The default is the picture's size."
		images.Direction, images.Required = action.Both, true
		images.Description = "In: ref of the picture. Out: the variations, as refs."
	}
	return append(first, []action.Param{
		in("Model", "The name of the model. The default is the best one available."),
		number("NumberOfImages", 1, "The number of pictures, 1 to 10."),
		size,
		choice("Quality", "standard", "The quality level.", "standard", "hd", "low", "medium", "high", "auto"),
		choice("Style", "natural", "Natural or vivid.", "natural", "vivid"),
		in("NegativePrompt", "What to avoid in the picture."),
		choice("OutputFormat", "png", "File format.", "png", "jpeg", "webp"),
		in("AspectRatio", "An alternative to Size, such as 16:9."),
		number("Seed", nil, "The seed, for a repeatable picture, if the model supports one."),
		images,
		{Name: "ImageCount", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "The number of pictures made."},
		{Name: "RevisedPrompt", Direction: action.Output, ValueType: action.Scalar, Description: "The prompt that the provider actually used, if it reports one."},
		{Name: "Model", Direction: action.Output, ValueType: action.Scalar, Description: "The model that made the pictures."},
		{Name: "Origin", Direction: action.Output, ValueType: action.Scalar, Description: "How they were made: AI-generated, partly AI-generated, or drawn by rule, as the caption states."},
		{Name: "Errors", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "index, code and message of each picture that failed."},
	}...)
}
