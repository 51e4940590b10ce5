// Package picture provides the actions "Generate Image", "Edit Image" and "Vary Image", which turn a prompt, or
// pictures and a prompt, into pictures through the generation gateway.
//
// Errors are media.Error values of the gateway. Successful pictures are returned even if others failed. The package
// imports action, media, and generate with its packages gateway and plan.
package picture

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier/action"
	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/plan"
	"atelier/media"
)

// Generator generates media; *gateway.Gateway implements it.
type Generator interface {
	// Generate calls a model. A result with some failed slots is not an error.
	Generate(ctx context.Context, r generate.Request) (*generate.Result, error)
}

// maxImages is the maximum number of pictures of one call.
const maxImages = 10

// Actions returns Generate Image, Edit Image and Vary Image, which use g.
func Actions(g Generator) []action.Action {
	var all []action.Action
	for _, k := range kinds {
		all = append(all, action.Action{
			Name: k.name, Description: k.description, Tags: []string{"media", "visual", action.TagPicture}, Params: k.params(),
			Price: func(ctx context.Context, c *action.Call) (action.Price, error) { return price(ctx, g, c, k) },
			Recoverable: func(ctx context.Context) bool {
				known, ok := g.(*gateway.Gateway)
				key := stepKey(ctx)
				return ok && key != "" && known.HasOperation(ctx, key)
			},
			Run: func(ctx context.Context, c *action.Call) (action.Result, error) {
				return run(ctx, g, c, k)
			},
		})
	}
	return all
}

// kind is one of the actions.
type kind struct {
	method            generate.Method
	name, description string
	// done starts messages, and the label of pictures to which the gateway gives none.
	done string
	// label is the label that the gateway gives the pictures; empty leaves the choice to the gateway.
	label string
}

var kinds = []kind{
	{
		method: generate.MethodGenerate, name: "Generate Image", done: "Generated",
		description: "Makes pictures from a prompt: photos, scenes, metaphors, mock-ups; not charts of data. " +
			"Describe subject, style, light, composition and colours.",
	},
	{
		method: generate.MethodEdit, name: "Edit Image", done: "Edited", label: "Edited image",
		description: "Edits pictures of this run as the prompt describes: makes them bluer, adds or removes things, combines several into one. " +
			"The originals are kept. Describe what to change and what to keep.",
	},
	{
		method: generate.MethodVariation, name: "Vary Image", done: "Varied", label: "Variation",
		description: "Makes variations of a picture of this run: the same subject and style with other details. The original is kept.",
	},
}

// number returns the number of requested pictures.
func number(c *action.Call) (int, error) {
	n := c.Int("NumberOfImages")
	if n < 1 || n > maxImages {
		return 0, media.Errorf(media.CodeInvalid, "NumberOfImages must be 1 to %d, not %d", maxImages, n)
	}
	return n, nil
}

// price returns the gateway's estimate. If the first model cannot take a call, another model still may, so the price is
// unknown.
func price(ctx context.Context, g Generator, c *action.Call, k kind) (action.Price, error) {
	n, err := number(c)
	if err != nil {
		return action.Price{}, err
	}
	p, ok := g.(*gateway.Gateway)
	if !ok {
		return action.Price{Note: "the generator does not know prices"}, nil
	}
	plan, err := p.Plan(ctx, request(ctx, c, n, k))
	switch {
	case media.CodeOf(err) == media.CodeInvalid:
		return action.Price{}, err
	case err != nil:
		return action.Price{Note: "no estimate: " + err.Error()}, nil //nolint:nilerr // the price is unknown
	}
	return action.Price{USD: plan.EstimatedUSD, Note: fmt.Sprintf("%d image(s) by %s", plan.ResultCount, plan.Model.Name)}, nil
}

// stepKey returns the idempotency key of an act of a run, or "" outside of a run.
func stepKey(ctx context.Context) string {
	if step := media.ScopeOf(ctx).Step; step != "" {
		return "step-" + step
	}
	return ""
}

// run calls the gateway.
func run(ctx context.Context, g Generator, c *action.Call, k kind) (action.Result, error) {
	n, err := number(c)
	if err != nil {
		return action.Result{}, err
	}
	res, err := g.Generate(ctx, request(ctx, c, n, k))
	if res == nil {
		if err == nil {
			err = media.Errorf(media.CodeInternal, "the gateway returned no result")
		}
		return action.Result{}, err
	}
	out := result(res, k) // what was made before an error is returned with it
	if err != nil {
		return out, err
	}
	if out.Code == action.Failure {
		for _, s := range res.Slots {
			if s.Error != nil {
				return out, &media.Error{Code: s.Error.Code, Message: "No image was made: " + s.Error.Message, Retryable: s.Error.Retryable}
			}
		}
		return out, media.Errorf(media.CodeInternal, "No image was made")
	}
	for _, s := range res.Slots {
		if s.Output != nil || s.Error == nil || s.Error.Code != media.CodeDiskFull {
			continue
		}
		if s.Status != generate.StatusRunning || s.Undecided() {
			return out, media.Errorf(media.CodeDiskFull, "picture %d: %s", s.Index, s.Error.Message)
		}
		// The operation stays open.
		return out, media.Errorf(media.CodeDiskFull, "picture %d was made but could not be stored: %s; "+
			`free space, then fetch it with "atelier generate --wait %s"`, s.Index, s.Error.Message, res.Operation)
	}
	return out, nil
}

// request converts the parameters. An act of a run is one operation, even if the run is replayed in another process. If
// the key of the model that an agent named is missing, the next model is used.
func request(ctx context.Context, c *action.Call, n int, k kind) generate.Request {
	r := generate.Request{
		Method: k.method, Modality: media.ModalityImage,
		Prompt: c.Text("Prompt"), Model: c.Text("Model"), Substitute: true, Prefer: c.Prefer, N: n,
		Quality: c.Text("Quality"), Style: c.Text("Style"),
		NegativePrompt: c.Text("NegativePrompt"), OutputFormat: c.Text("OutputFormat"), AspectRatio: c.Text("AspectRatio"),
		Inputs: c.Items("Images"), Label: k.label,
	}
	if key := stepKey(ctx); key != "" {
		r.IdempotencyKey, r.Adopt = key, true
	}
	if masks := c.Items("Mask"); len(masks) > 0 {
		r.Mask = &masks[0]
	}
	if size := c.Text("Size"); c.Given("Size") {
		r.Size = size
	} else {
		r.DefaultSize = size
	}
	if c.Has("Seed") {
		seed := int64(c.Number("Seed"))
		r.Seed = &seed
	}
	return r
}

// slotError is a failed picture as models see it.
type slotError struct {
	Index     int        `json:"index"`
	Code      media.Code `json:"code"`
	Message   string     `json:"message"`
	Retryable bool       `json:"retryable,omitempty"`
}

// result converts the gateway's result.
func result(res *generate.Result, k kind) action.Result {
	images, failures, revised := splitSlots(res, k)
	out := action.Result{
		Code: action.Success,
		Outputs: map[string]any{
			"Images": images, "ImageCount": len(images), "Model": res.Model,
		},
	}
	if revised != "" {
		out.Outputs["RevisedPrompt"] = revised
	}
	if made := origin(images); made != "" {
		out.Outputs["Origin"] = made
	}
	if len(failures) > 0 {
		out.Outputs["Errors"] = failures
		out.Code = action.Partial
	}
	out.Message = fmt.Sprintf("%s %d image(s)", k.done, len(images))
	switch {
	case len(images) == 0 && len(failures) == 0:
		out.Code = action.Success
		out.Message = fmt.Sprintf("No image yet: operation %s is %s; it continues, and its images will be kept", res.Operation, res.Status)
	case len(images) == 0:
		out.Code, out.Message = action.Failure, ""
	case res.Status == generate.StatusRunning:
		out.Message += fmt.Sprintf("; operation %s continues, and its remaining images will be kept", res.Operation)
	case len(failures) > 0:
		out.Message += fmt.Sprintf("; %d failed: %s", len(failures), failures[0].Message)
	}
	for _, d := range res.Dispositions {
		if d.Setting == "model" && d.Outcome == generate.OutcomeSubstituted {
			out.Substituted = &action.Substitution{Asked: d.Asked, Applied: d.Applied, Reason: d.Reason}
		}
	}
	standIn := plan.OfflineWarning(res.Model)
	stoodIn := slices.Contains(res.Warnings, standIn)
	for _, note := range changes(res.Dispositions, stoodIn) {
		if out.Message != "" {
			out.Message += ". " + note
		}
		out.Warnings = append(out.Warnings, k.name+": "+note)
	}
	for _, warning := range res.Warnings {
		if out.Message != "" {
			out.Message += ". " + strings.TrimSuffix(warning, ".")
		}
		if warning != standIn { // the same for every action
			warning = k.name + ": " + warning
		}
		out.Warnings = append(out.Warnings, warning)
	}
	return out
}

// splitSlots splits the slots into pictures and failures, and labels the pictures by slot.
func splitSlots(res *generate.Result, k kind) (images []media.Output, failures []slotError, revised string) {
	images = []media.Output{}
	for _, s := range res.Slots {
		if revised == "" {
			revised = s.RevisedPrompt
		}
		switch {
		case s.Output != nil:
			o := *s.Output
			if o.Label == "" {
				o.Label = fmt.Sprintf("%s image %d", k.done, s.Index)
			}
			if o.Origin.Operation == "" {
				o.Origin.Operation = res.Operation
			}
			images = append(images, o)
		case s.Error != nil && s.Status != generate.StatusRunning:
			failures = append(failures, slotError{Index: s.Index, Code: s.Error.Code, Message: s.Error.Message, Retryable: s.Error.Retryable})
		}
	}
	return images, failures, revised
}

// origin returns how the pictures of one call were made, for their captions.
func origin(images []media.Output) string {
	for _, o := range images {
		term, _ := o.Metadata["digital_source_type"].(string)
		switch term[strings.LastIndexByte(term, '/')+1:] {
		case "trainedAlgorithmicMedia":
			return "AI-generated"
		case "compositeWithTrainedAlgorithmicMedia":
			return "partly AI-generated"
		case "algorithmicMedia":
			return "drawn by rule"
		}
	}
	return ""
}

// defaults are the values of settings that a model did not set. If a provider does not know such a setting, it is not
// reported.
var defaults = map[string]string{"quality": "standard", "style": "natural", "output_format": "png"}

// outcomes describe what became of a setting.
var outcomes = map[generate.Outcome]string{
	generate.OutcomeSubstituted: "%s %s was replaced by ", generate.OutcomeAdapted: "%s %s was changed to ",
	generate.OutcomeDropped: "%s %s was not used", generate.OutcomeRefused: "%s %s was refused",
}

// changes describes the settings that were not applied as requested, most importantly a substitute model. The
// substitution of the offline model for all providers has its own warning and is omitted.
func changes(dispositions []generate.Disposition, stoodIn bool) []string {
	var notes []string
	for _, d := range dispositions {
		if d.Outcome == generate.OutcomeApplied || stoodIn && d.Setting == "model" {
			continue
		}
		note := fmt.Sprintf(outcomes[d.Outcome], d.Setting, d.Asked)
		if d.Outcome == generate.OutcomeSubstituted || d.Outcome == generate.OutcomeAdapted {
			note += d.Applied
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

// params returns the parameters of an action: the common ones, and pictures for those that start from pictures.
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
