// Package picture is the action "Generate Image": a prompt becomes one or more
// pictures through the generation gateway.
//
// Errors are media.Error values of the gateway. Pictures that succeeded are given
// back also when others failed. The package imports action, generate and media.
package picture

import (
	"context"
	"fmt"
	"strings"

	"atelier/action"
	"atelier/generate"
	"atelier/media"
)

// Generator makes media; *generate.Gateway is one.
type Generator interface {
	// Generate asks a model. A result with some failed slots is no error.
	Generate(ctx context.Context, r generate.Request) (*generate.Result, error)
}

// maxImages is how many pictures one call may ask for.
const maxImages = 10

// Actions is Generate Image over g.
func Actions(g Generator) []action.Action { return []action.Action{generateImage(g)} }

func generateImage(g Generator) action.Action {
	return action.Action{
		Name: "Generate Image",
		Description: "Makes pictures from a prompt: photos, scenes, metaphors, mock-ups; not charts of data. " +
			"Say subject, style, light, composition and colours.",
		Tags:   []string{"media", "visual"},
		Params: params(),
		Run: func(ctx context.Context, c *action.Call) (action.Result, error) {
			return run(ctx, g, c)
		},
	}
}

func params() []action.Param {
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
	size := in("Size", "Pixels such as 1024x1024, 1536x1024 (wide), 1024x1536 (tall), or auto.")
	size.Default = "1024x1024"
	return []action.Param{
		prompt,
		in("Model", "Model by name; leave it out for the best one available."),
		number("NumberOfImages", 1, "How many pictures, 1 to 10."),
		size,
		choice("Quality", "standard", "How much effort.", "standard", "hd", "low", "medium", "high", "auto"),
		choice("Style", "natural", "Natural or vivid.", "natural", "vivid"),
		in("NegativePrompt", "What must not be in the picture."),
		choice("OutputFormat", "png", "File format.", "png", "jpeg", "webp"),
		in("AspectRatio", "Such as 16:9, instead of Size."),
		number("Seed", nil, "A number that makes the picture repeatable where the model can."),
		{Name: "Images", Direction: action.Output, ValueType: action.Binary, Format: action.FormatMediaOutput, IsArray: true, Description: "The pictures, as refs."},
		{Name: "ImageCount", Direction: action.Output, ValueType: action.Scalar, Type: "integer", Description: "How many pictures were made."},
		{Name: "RevisedPrompt", Direction: action.Output, ValueType: action.Scalar, Description: "The prompt that the provider really used, if it says so."},
		{Name: "Model", Direction: action.Output, ValueType: action.Scalar, Description: "The model that made them."},
		{Name: "Errors", Direction: action.Output, ValueType: action.Other, IsArray: true, Description: "index, code and message of each picture that failed."},
	}
}

// run asks the gateway.
func run(ctx context.Context, g Generator, c *action.Call) (action.Result, error) {
	n := c.Int("NumberOfImages")
	if n < 1 || n > maxImages {
		return action.Result{}, media.Errorf(media.CodeInvalid, "NumberOfImages must be 1 to %d, not %d", maxImages, n)
	}
	res, err := g.Generate(ctx, request(c, n))
	if res == nil {
		if err == nil {
			err = media.Errorf(media.CodeInternal, "the gateway gave no result")
		}
		return action.Result{}, err
	}
	out := result(res)
	if err == nil && out.Code == action.Failure {
		err = whyNone(res)
	}
	// What was made before an error is given back with it.
	return out, err
}

// whyNone is the error of the first slot, when no slot succeeded.
func whyNone(res *generate.Result) error {
	for _, s := range res.Slots {
		if s.Error != nil {
			return &media.Error{Code: s.Error.Code, Message: "No image was made: " + s.Error.Message, Retryable: s.Error.Retryable}
		}
	}
	return media.Errorf(media.CodeInternal, "No image was made")
}

// request translates the parameters. Size gives way to a ratio that was asked for,
// because Size has a default and the ratio has none.
func request(c *action.Call, n int) generate.Request {
	r := generate.Request{
		Method: generate.MethodGenerate, Modality: media.ModalityImage,
		Prompt: c.Text("Prompt"), Model: c.Text("Model"), Prefer: c.Prefer, N: n,
		Size: c.Text("Size"), Quality: c.Text("Quality"), Style: c.Text("Style"),
		NegativePrompt: c.Text("NegativePrompt"), OutputFormat: c.Text("OutputFormat"), AspectRatio: c.Text("AspectRatio"),
	}
	if r.AspectRatio != "" && r.Size == "1024x1024" {
		r.Size = ""
	}
	if c.Has("Seed") {
		seed := int64(c.Number("Seed"))
		r.Seed = &seed
	}
	return r
}

// slotError is one picture that failed, as models see it.
type slotError struct {
	Index     int        `json:"index"`
	Code      media.Code `json:"code"`
	Message   string     `json:"message"`
	Retryable bool       `json:"retryable,omitempty"`
}

// result translates what the gateway gave.
func result(res *generate.Result) action.Result {
	images, failures, revised := sort(res)
	out := action.Result{
		Code: action.Success,
		Outputs: map[string]any{
			"Images": images, "ImageCount": len(images), "Model": res.Model,
		},
	}
	if revised != "" {
		out.Outputs["RevisedPrompt"] = revised
	}
	if len(failures) > 0 {
		out.Outputs["Errors"] = failures
		out.Code = action.Partial
	}
	out.Message = fmt.Sprintf("Generated %d image(s)", len(images))
	switch {
	case len(images) == 0 && len(failures) == 0:
		out.Code = action.Success
		out.Message = fmt.Sprintf("No image yet: operation %s is %s; it goes on and its images are kept", res.Operation, res.Status)
	case len(images) == 0:
		out.Code, out.Message = action.Failure, ""
	case len(failures) > 0:
		out.Message += fmt.Sprintf("; %d failed: %s", len(failures), failures[0].Message)
	}
	for _, note := range changes(res.Dispositions) {
		if out.Message != "" {
			out.Message += ". " + note
		}
		out.Warnings = append(out.Warnings, "Generate Image: "+note)
	}
	return out
}

// sort parts the slots into pictures and failures; pictures are labelled by slot.
func sort(res *generate.Result) (images []media.Output, failures []slotError, revised string) {
	images = []media.Output{}
	for _, s := range res.Slots {
		if revised == "" {
			revised = s.RevisedPrompt
		}
		switch {
		case s.Output != nil:
			o := *s.Output
			if o.Label == "" {
				o.Label = fmt.Sprintf("Generated image %d", s.Index)
			}
			if o.Origin.Operation == "" {
				o.Origin.Operation = res.Operation
			}
			images = append(images, o)
		case s.Error != nil:
			failures = append(failures, slotError{Index: s.Index, Code: s.Error.Code, Message: s.Error.Message, Retryable: s.Error.Retryable})
		}
	}
	return images, failures, revised
}

// defaults are what this action asks when a model did not: that a provider knows
// no such setting is no news.
var defaults = map[string]string{"quality": "standard", "style": "natural", "output_format": "png", "size": "1024x1024"}

// changes says in words which settings were not applied as asked (and, above all,
// which model stood in for another).
func changes(dispositions []generate.Disposition) []string {
	var notes []string
	for _, d := range dispositions {
		var note string
		switch d.Outcome {
		case generate.OutcomeApplied:
			continue
		case generate.OutcomeSubstituted:
			note = fmt.Sprintf("%s %s was replaced by %s", d.Setting, d.Asked, d.Applied)
		case generate.OutcomeAdapted:
			note = fmt.Sprintf("%s %s became %s", d.Setting, d.Asked, d.Applied)
		case generate.OutcomeDropped:
			note = fmt.Sprintf("%s %s was not used", d.Setting, d.Asked)
		case generate.OutcomeRefused:
			note = fmt.Sprintf("%s %s was refused", d.Setting, d.Asked)
		}
		if defaults[d.Setting] == d.Asked {
			continue
		}
		if d.Reason != "" {
			note += " (" + strings.TrimSuffix(d.Reason, ".") + ")"
		}
		notes = append(notes, note)
	}
	return notes
}
