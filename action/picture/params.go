package picture

import (
	"atelier/action"
	"atelier/generate"
)

// params are the parameters of an action: the same for all, and pictures for those
// that start from pictures.
func (k kind) params() []action.Param {
	prompt := action.Param{Name: "Prompt", Required: true, Description: "What the picture shows and how it looks."}
	size := action.Param{Name: "Size", Description: "Pixels such as 1024x1024, 1536x1024 (wide), 1024x1536 (tall), or auto. Size takes precedence over AspectRatio and Quality."}
	images := action.Param{Name: "Images", Direction: action.Output, ValueType: action.Binary, Format: action.FormatMediaOutput, IsArray: true, Description: "The pictures, as refs."}
	var mask []action.Param
	switch k.method {
	case generate.MethodGenerate:
		size.Default = "1024x1024"
	case generate.MethodEdit:
		prompt.Description = "What to change, and what to keep."
		size.Description += " The default is the first picture's size."
		images.Direction, images.Required = action.Both, true
		images.Description = "In: refs of the pictures; the first is edited, the others are references. Out: the edited pictures, as refs."
		mask = []action.Param{{
			Name: "Mask", ValueType: action.Binary,
			Description: "The ref of a picture of the first one's size that marks the area to change: transparent, or white if it has no transparency.",
		}}
	case generate.MethodVariation:
		prompt.Required, prompt.Description = false, "What to vary; omit it for free variations."
		size.Description += " The default is the picture's size."
		images.Direction, images.Required = action.Both, true
		images.Description = "In: ref of the picture. Out: the variations, as refs."
	}
	return append(append([]action.Param{prompt}, mask...), []action.Param{
		{Name: "Model", Description: "The name of the model. The default is the best one available."},
		{Name: "NumberOfImages", Type: "integer", Default: 1, Description: "The number of pictures, 1 to 10."},
		size,
		{Name: "Quality", Default: "standard", Values: []string{"standard", "hd", "low", "medium", "high", "auto"}, Description: "The quality level."},
		{Name: "Style", Default: "natural", Values: []string{"natural", "vivid"}, Description: "Natural or vivid."},
		{Name: "NegativePrompt", Description: "What to avoid in the picture."},
		{Name: "OutputFormat", Default: "png", Values: []string{"png", "jpeg", "webp"}, Description: "File format."},
		{Name: "AspectRatio", Description: "An alternative to Size, such as 16:9."},
		{Name: "Seed", Type: "integer", Description: "The seed, for a repeatable picture, if the model supports one."},
		images,
		{Name: "ImageCount", Direction: action.Output, Type: "integer", Description: "The number of pictures made."},
		{Name: "RevisedPrompt", Direction: action.Output, Description: "The prompt that the provider actually used, if it reports one."},
		{Name: "Model", Direction: action.Output, Description: "The model that made the pictures."},
		{Name: "Origin", Direction: action.Output, Description: "How they were made: AI-generated, partly AI-generated, or drawn by rule, as the caption states."},
		{Name: "Errors", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "index, code and message of each picture that failed."},
	}...)
}
