package openai

import (
	"fmt"
	"slices"

	"atelier/generate"
	"atelier/media"
)

// owned are the body's fields that options may not set: the Gateway plans them,
// or the GPT Image models refuse them.
var owned = []string{"model", "prompt", "n", "stream", "response_format"}

// partialFrames is how many previews are asked for where somebody wants them.
const partialFrames = 2

// requestBody writes a task in the endpoint's words. Settings that the task leaves
// open are left out, so that the provider's defaults hold.
func requestBody(t generate.Task) (map[string]any, error) {
	body := map[string]any{"model": t.Model.APIModel, "prompt": t.Prompt, "n": max(t.N, 1)}
	for name, value := range t.Options {
		if slices.Contains(owned, name) {
			return nil, media.Errorf(media.CodeInvalid, "option openai.%s cannot be set: leave it out", name)
		}
		body[name] = value
	}
	set := func(name, value string) {
		if value != "" {
			body[name] = value
		}
	}
	if t.Width > 0 && t.Height > 0 {
		body["size"] = fmt.Sprintf("%dx%d", t.Width, t.Height)
	}
	set("quality", t.Quality)
	set("background", t.Background)
	set("moderation", t.Moderation)
	set("output_format", t.OutputFormat)
	if t.Compression != nil {
		body["output_compression"] = *t.Compression
	}
	delete(body, "partial_images")
	if t.Partial != nil {
		body["stream"], body["partial_images"] = true, partialFrames
	}
	return body, nil
}
