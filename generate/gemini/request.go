package gemini

import (
	"context"

	"atelier/generate"
	"atelier/generate/driver"
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
	Speech     post.Body   `json:"speech_metadata,omitempty"`
	InlineData *inlineData `json:"inlineData,omitempty"`
	Thought    bool        `json:"thought,omitempty"`
}

// inlineData is media; the data is a token on both ways.
type inlineData struct {
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

// optionField is where each option of a task goes in generationConfig.
var optionField = map[string]string{
	"temperature": "temperature", "top_p": "topP", "top_k": "topK", "max_output_tokens": "maxOutputTokens",
	"thinking_level": post.Elsewhere, "safety_settings": post.Elsewhere, "language_code": post.Elsewhere, "speakers": post.Elsewhere,
}

// request writes a task in the endpoint's words: the pictures of an edit, whose bytes the
// transport streams from the store, and the prompt.
func (d *Driver) request(ctx context.Context, t driver.Task) (post.Body, error) {
	if err := d.client.Reaches(t, post.Reach{N: 1, Methods: []generate.Method{generate.MethodEdit}}); err != nil {
		return nil, err
	}
	var parts []part
	for _, in := range t.Inputs {
		parts = append(parts, part{InlineData: &inlineData{MIMEType: in.MIMEType, Data: d.client.Token(ctx, in.Blob)}})
	}
	config, image := post.Body{"responseModalities": []string{"TEXT", "IMAGE"}}, post.Body{}
	image.Settings(t, post.Names{AspectRatio: "aspectRatio", Tier: "imageSize"})
	config.Set("imageConfig", image)
	config.Set("seed", t.Seed)
	if level := t.Option("thinking_level"); level != "" {
		config["thinkingConfig"] = map[string]any{"thinkingLevel": level}
	}
	parts = append(parts, part{Text: t.Prompt})
	if t.Model.Modality == media.ModalityAudio {
		if err := speech(t, config); err != nil {
			return nil, err
		}
		parts = turns(t)
	}
	body := post.Body{"contents": []content{{Role: "user", Parts: parts}}, "generationConfig": config}
	body.Set("safetySettings", t.Options["safety_settings"])
	return body, config.Options(t, optionField)
}
