package gemini

import (
	"context"
	"math"
	"slices"

	"atelier/generate"
	"atelier/media"
	"atelier/wire"
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
	Contents         []content      `json:"contents"`
	GenerationConfig map[string]any `json:"generationConfig"`
	SafetySettings   any            `json:"safetySettings,omitempty"`
}

// addPictures puts the pictures of an edit before the words; the transport streams
// their bytes from the store.
func (d *Driver) addPictures(ctx context.Context, t generate.Task, r *request) error {
	switch {
	case t.Method == "" || t.Method == generate.MethodGenerate:
		return nil
	case t.Method != generate.MethodEdit:
		return media.Errorf(media.CodeUnsupported, "Gemini has no %s: ask for an edit", t.Method)
	case len(t.Inputs) == 0:
		return media.Errorf(media.CodeInvalid, "an edit needs an input picture: name one")
	case t.Mask != nil:
		return media.Errorf(media.CodeUnsupported, "Gemini takes no mask: say in the prompt what to change")
	}
	scope := media.ScopeOf(ctx).Tree
	parts := make([]part, 0, len(t.Inputs)+1)
	for _, in := range t.Inputs {
		parts = append(parts, part{InlineData: &inlineData{MIMEType: in.MIMEType, Data: d.codec.Token(scope, in.Blob, wire.VariantStd)}})
	}
	r.Contents[0].Parts = append(parts, r.Contents[0].Parts...)
	return nil
}

// optionField is where each option of a task goes in generationConfig.
var optionField = map[string]string{
	"temperature": "temperature", "top_p": "topP", "top_k": "topK", "max_output_tokens": "maxOutputTokens",
}

// imageConfig is the shape of a picture.
func imageConfig(t generate.Task) map[string]string {
	image := map[string]string{}
	if t.AspectRatio != "" {
		image["aspectRatio"] = t.AspectRatio
	}
	if t.Tier != "" {
		image["imageSize"] = t.Tier
	}
	return image
}

// requestBody writes a task in the endpoint's words. Settings that the task leaves
// open are left out, so that the provider's defaults hold.
func requestBody(t generate.Task) (*request, error) {
	if t.N > 1 {
		return nil, media.Errorf(media.CodeUnsupported, "Gemini makes one %s a call, not %d: make several calls", noun(t), t.N)
	}
	config := map[string]any{"responseModalities": []string{"TEXT", "IMAGE"}}
	if image := imageConfig(t); len(image) > 0 {
		config["imageConfig"] = image
	}
	if t.Model.Modality == media.ModalityAudio {
		speech, err := speechConfig(t)
		if err != nil {
			return nil, err
		}
		config["responseModalities"], config["speechConfig"] = []string{"AUDIO"}, speech
	}
	if t.Seed != nil {
		if *t.Seed < math.MinInt32 || *t.Seed > math.MaxInt32 {
			return nil, media.Errorf(media.CodeInvalid, "seed %d does not fit Gemini: use a 32-bit number", *t.Seed)
		}
		config["seed"] = *t.Seed
	}
	r := &request{Contents: []content{{Role: "user", Parts: []part{{Text: t.Prompt}}}}, GenerationConfig: config}
	for name, value := range t.Options {
		switch field := optionField[name]; {
		case t.Model.Modality == media.ModalityAudio && slices.Contains(speechOptions, name): // in speechConfig
		case name == "safety_settings":
			r.SafetySettings = value
		case field != "":
			config[field] = value
		default:
			return nil, media.Errorf(media.CodeInvalid, "option gemini.%s is unknown: leave it out", name)
		}
	}
	return r, nil
}
