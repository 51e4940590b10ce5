package openai

import (
	"context"
	"net/http"
	"strings"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// defaultVoice is used where neither the task nor the model's row names one: the
// endpoint wants one.
const defaultVoice = "alloy"

// speech writes a task in the words of /audio/speech.
func (d *Driver) speech(t generate.Task) (map[string]any, error) {
	switch {
	case t.Method != "" && t.Method != generate.MethodGenerate:
		return nil, media.Errorf(media.CodeUnsupported, "%s has no %s of sound: ask it to generate", d.endpoint.Name, t.Method)
	case t.N > 1:
		return nil, media.Errorf(media.CodeUnsupported, "%s speaks once a call, not %d times: make several calls", d.endpoint.Name, t.N)
	}
	body := map[string]any{"model": t.Model.APIModel, "input": t.Prompt}
	for name, value := range t.Options {
		if err := d.mayNotSet(name); err != nil {
			return nil, err
		}
		body[name] = value
	}
	body["voice"] = defaultVoice
	if len(t.Model.Voices) > 0 {
		body["voice"] = t.Model.Voices[0]
	}
	if t.Voice != "" {
		body["voice"] = t.Voice
	}
	if t.OutputFormat != "" {
		body["response_format"] = t.OutputFormat
	}
	if t.Speed != 0 {
		body["speed"] = t.Speed
	}
	return body, nil
}

// spoke reads a 200 of /audio/speech: the body is the sound, so the transport has
// stored it and left its token. The answer tells no usage.
func (d *Driver) spoke(ctx context.Context, a *post.Answer) (generate.Update, error) {
	switch {
	case media.CodeOf(a.Broken) == media.CodeInvalid: // the store takes nothing that is empty
		return generate.Update{}, media.Errorf(media.CodeBadResponse, "%s answered without a sound; the call may have been billed: try other words, or another model", d.endpoint.Name)
	case a.Cut():
		return generate.Update{Done: true, Progress: -1, Usage: generate.Usage{Calls: 1}}, d.client.Lost(ctx, a.Broken, 0)
	case !strings.HasPrefix(a.Header.Get("Content-Type"), "audio/"):
		return generate.Update{}, d.client.NotJSON(a)
	}
	u := generate.Update{Done: true, Progress: 1, Usage: generate.Usage{Calls: 1}}
	it := generate.Item{DeclaredMIME: declared(a.Header)}
	it.Blob, it.Err = d.client.Take(a.Media, string(a.Body))
	u.Items = []generate.Item{it}
	return u, nil
}

// declared is the type of a sound in the name that it is sniffed by: OpenAI calls Ogg
// by its codec, and raw samples get a WAV header on their way in.
func declared(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "audio/opus":
		return "audio/ogg"
	case "audio/mp3":
		return "audio/mpeg"
	case "audio/x-wav", "audio/wave", "audio/pcm", "audio/l16", "audio/L16":
		return "audio/wav"
	case "audio/x-flac":
		return "audio/flac"
	}
	return kind
}
