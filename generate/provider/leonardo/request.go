package leonardo

import (
	"context"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// usualContrast is sent if the model takes a contrast and the task sets none: models that take a contrast require it.
const usualContrast = 3.5

// optionField maps options to fields of another name.
var optionField = map[string]string{"style_uuid": "styleUUID", "enhance_prompt": "enhancePrompt"}

var names = post.Names{NegativePrompt: "negative_prompt", Style: "presetStyle", Width: "width", Height: "height", Seed: "seed"}

// request uploads the picture of a task and encodes the task for the endpoint. Settings that the task leaves open are
// omitted, so that the provider's defaults apply, except those whose defaults make more pictures or other work than
// requested.
func (d *Driver) request(ctx context.Context, t driver.Task) (post.Body, error) {
	if err := d.client.Reaches(t, post.Reach{Inputs: 1, Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return nil, err
	}
	body := post.Body{"prompt": t.Prompt, "modelId": t.Model.APIModel, "num_images": max(t.N, 1), "public": false}
	t.Style = strings.ToUpper(t.Style)
	body.Settings(t, names)
	if slices.Contains(t.Model.Options, "contrast") && t.Options["contrast"] == nil {
		body["contrast"] = usualContrast
	}
	switch { // low is the fast mode, high is ultra
	case len(t.Model.Qualities) == 0:
	case t.Quality == "high":
		body["alchemy"], body["ultra"] = false, true
	default: // alchemy, the provider's default, is sent explicitly because defaults change
		body["alchemy"] = t.Quality != "low"
	}
	if err := body.Options(t, optionField); err != nil {
		return nil, err
	}
	if t.Method != generate.MethodEdit {
		if body["init_strength"] != nil {
			return nil, media.Errorf(media.CodeInvalid, "option leonardo.init_strength is for edits: leave it out, or name an input picture")
		}
		return body, nil
	}
	var got struct {
		Leave post.UploadGrant `json:"uploadInitImage"`
	}
	_, ending, _ := strings.Cut(t.Inputs[0].MIMEType, "/")
	ask := post.Call{Path: apiPath + "/init-image", Body: map[string]string{"extension": ending}, Of: "the upload of a picture", Into: &got}
	id, err := d.client.Upload(ctx, t.Inputs[0].Blob, ask, &got.Leave)
	body["init_image_id"] = id
	// Without a size the API would squeeze the picture into a square.
	if w, h := t.Model.Size.Near(t.Inputs[0].Width, t.Inputs[0].Height); body["width"] == nil && w > 0 {
		body["width"], body["height"] = w, h
	}
	return body, err
}
