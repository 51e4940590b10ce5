package leonardo

import (
	"context"
	"math"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// usualContrast is sent where the model takes a contrast and nobody named one: the
// models that take one refuse to work without.
const usualContrast = 3.5

// optionField is where each option of a task goes; the catalogue says which model
// takes which.
var optionField = map[string]string{
	"contrast": "contrast", "guidance_scale": "guidance_scale", "num_inference_steps": "num_inference_steps",
	"scheduler": "scheduler", "init_strength": "init_strength", "style_uuid": "styleUUID",
	"transparency": "transparency", "tiling": "tiling", "enhance_prompt": "enhancePrompt",
}

// request uploads the picture of a task and writes the task in the endpoint's words.
// Settings that the task leaves open are left out, so that the provider's defaults
// hold, but for those whose defaults make more pictures or other work than asked.
func (d *Driver) request(ctx context.Context, t generate.Task) (map[string]any, error) {
	body := map[string]any{"prompt": t.Prompt, "modelId": t.Model.APIModel, "num_images": max(t.N, 1), "public": false}
	set := func(name, value string) {
		if value != "" {
			body[name] = value
		}
	}
	set("negative_prompt", t.NegativePrompt)
	set("presetStyle", strings.ToUpper(t.Style))
	if t.Width > 0 && t.Height > 0 {
		body["width"], body["height"] = t.Width, t.Height
	}
	if t.Seed != nil {
		body["seed"] = *t.Seed
	}
	if slices.Contains(t.Model.Options, "contrast") {
		body["contrast"] = usualContrast
	}
	addQuality(t, body)
	for name, value := range t.Options {
		f := optionField[name]
		if f == "" {
			return nil, media.Errorf(media.CodeInvalid, "option leonardo.%s is unknown: leave it out", name)
		}
		body[f] = value
	}
	return body, d.addPicture(ctx, t, body)
}

// addQuality says how much work a picture is, where the model has a choice: low is
// the fast way, high the ultra one. The provider's default is the middle one, alchemy;
// it is named, because defaults change.
func addQuality(t generate.Task, body map[string]any) {
	switch {
	case len(t.Model.Qualities) == 0:
	case t.Quality == "high":
		body["alchemy"], body["ultra"] = false, true
	default:
		body["alchemy"] = t.Quality != "low"
	}
}

// addPicture uploads the picture that an edit starts from.
func (d *Driver) addPicture(ctx context.Context, t generate.Task, body map[string]any) error {
	switch {
	case t.Method == "" || t.Method == generate.MethodGenerate:
		if body["init_strength"] != nil {
			return media.Errorf(media.CodeInvalid, "option leonardo.init_strength is for edits: leave it out, or name an input picture")
		}
		return nil
	case t.Method != generate.MethodEdit:
		return media.Errorf(media.CodeUnsupported, "Leonardo's models have no %s: ask for an edit", t.Method)
	case len(t.Inputs) != 1:
		return media.Errorf(media.CodeInvalid, "an edit with %s takes one input picture, not %d", t.Model.Name, len(t.Inputs))
	case t.Mask != nil:
		return media.Errorf(media.CodeUnsupported, "%s takes no mask here: say in the prompt what to change, or use another model", t.Model.Name)
	}
	id, err := d.upload(ctx, t.Inputs[0])
	if err != nil {
		return err
	}
	body["init_image_id"] = id
	if w, h := like(t.Inputs[0]); body["width"] == nil && w > 0 {
		body["width"], body["height"] = w, h
	}
	return nil
}

// like is the size that an edit of a picture has where none is asked: the picture's
// own within the API's limits, because the default of the API would squeeze it.
func like(o media.Output) (w, h int) {
	const step, least, most = 8, 32, 1536
	if o.Width <= 0 || o.Height <= 0 {
		return 0, 0
	}
	scale := min(1, float64(most)/float64(max(o.Width, o.Height)))
	side := func(v int) int { return max(least, int(math.Round(float64(v)*scale/step))*step) }
	return side(o.Width), side(o.Height)
}
