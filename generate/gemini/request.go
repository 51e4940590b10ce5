package gemini

import (
	"context"
	"maps"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// content is one turn.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is one piece of a turn: text or inline data.
type part struct {
	Text       string      `json:"text,omitempty"`
	InlineData *inlineData `json:"inlineData,omitempty"`
	Thought    bool        `json:"thought,omitempty"`
}

// inlineData is media; the data is a token on both ways.
type inlineData struct {
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

// request is the body of generateContent.
type request struct {
	Contents         []content `json:"contents"`
	GenerationConfig post.Body `json:"generationConfig"`
	SafetySettings   any       `json:"safetySettings,omitempty"`
}

// optionField is where each option of a task goes in generationConfig.
var optionField = map[string]string{
	"temperature": "temperature", "top_p": "topP", "top_k": "topK", "max_output_tokens": "maxOutputTokens",
}

// request writes a task in the endpoint's words: the pictures of an edit, whose bytes the
// transport streams from the store, and the prompt.
func (d *Driver) request(ctx context.Context, t generate.Task) (*request, error) {
	if err := d.client.Reaches(t, post.Reach{N: 1, Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return nil, err
	}
	var parts []part
	for _, in := range t.Inputs {
		parts = append(parts, part{InlineData: &inlineData{MIMEType: in.MIMEType, Data: d.client.Token(ctx, in.Blob)}})
	}
	config, image := post.Body{"responseModalities": []string{"TEXT", "IMAGE"}}, post.Body{}
	image.Set("aspectRatio", t.AspectRatio)
	image.Set("imageSize", t.Tier)
	if len(image) > 0 {
		config["imageConfig"] = image
	}
	if t.Seed != nil && int64(int32(*t.Seed)) != *t.Seed { //nolint:gosec // It is compared with what it was.
		return nil, media.Errorf(media.CodeInvalid, "seed %d does not fit Gemini: use a 32-bit number", *t.Seed)
	}
	config.Set("seed", t.Seed)
	r := &request{Contents: []content{{Role: "user", Parts: append(parts, part{Text: t.Prompt})}}, GenerationConfig: config}
	t.Options = maps.Clone(t.Options)
	if t.Model.Modality == media.ModalityAudio {
		if err := speech(&t, config); err != nil {
			return nil, err
		}
	}
	r.SafetySettings = t.Options["safety_settings"]
	delete(t.Options, "safety_settings")
	return r, config.Options(t, optionField)
}
