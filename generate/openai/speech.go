package openai

import (
	"cmp"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
)

// defaultVoice is used where neither the task nor the model's row names one: the
// endpoint wants one.
const defaultVoice = "alloy"

// speech writes a task in the words of /audio/speech.
func (d *Driver) speech(t driver.Task) (post.Body, error) {
	if err := d.client.Reaches(t, post.Reach{N: 1}); err != nil {
		return nil, err
	}
	body := post.Body{"model": t.Model.APIModel, "input": t.Prompt}
	if err := body.AnyOption(t, d.planned()); err != nil {
		return nil, err
	}
	body["voice"] = cmp.Or(t.Voice, t.Model.Voice(), defaultVoice)
	body.Set("response_format", t.OutputFormat)
	body.Set("speed", t.Speed)
	return body, nil
}
