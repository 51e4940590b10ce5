package gemini

import (
	"math"

	"atelier/generate"
	"atelier/media"
)

// content is one turn.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is one piece of a turn: text or inline data.
type part struct {
	Text       string `json:"text,omitempty"`
	InlineData *struct {
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData,omitempty"`
	Thought bool `json:"thought,omitempty"`
}

// request is the body of generateContent.
type request struct {
	Contents         []content      `json:"contents"`
	GenerationConfig map[string]any `json:"generationConfig"`
	SafetySettings   any            `json:"safetySettings,omitempty"`
}

// optionField is where each option of a task goes in generationConfig.
var optionField = map[string]string{
	"temperature": "temperature", "top_p": "topP", "top_k": "topK", "max_output_tokens": "maxOutputTokens",
}

// requestBody writes a task in the endpoint's words. Settings that the task leaves
// open are left out, so that the provider's defaults hold.
func requestBody(t generate.Task) (*request, error) {
	if t.N > 1 {
		return nil, media.Errorf(media.CodeUnsupported, "Gemini makes one picture a call, not %d: make several calls", t.N)
	}
	config := map[string]any{"responseModalities": []string{"TEXT", "IMAGE"}}
	image := map[string]string{}
	if t.AspectRatio != "" {
		image["aspectRatio"] = t.AspectRatio
	}
	if t.Tier != "" {
		image["imageSize"] = t.Tier
	}
	if len(image) > 0 {
		config["imageConfig"] = image
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
