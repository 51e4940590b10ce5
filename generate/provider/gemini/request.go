package gemini

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text       string      `json:"text,omitempty"`
	Speech     post.Body   `json:"speech_metadata,omitempty"`
	InlineData *inlineData `json:"inlineData,omitempty"`
	Thought    bool        `json:"thought,omitempty"`
}

// inlineData is media; in both directions the data is a token.
type inlineData struct {
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

// optionField maps options to fields of generationConfig with another name.
var optionField = map[string]string{
	"top_p": "topP", "top_k": "topK", "max_output_tokens": "maxOutputTokens",
	"thinking_level": post.HandledByDriver, "safety_settings": post.HandledByDriver, "language_code": post.HandledByDriver, "speakers": post.HandledByDriver,
}

// request encodes a task for the endpoint: the pictures of an edit, whose bytes the transport streams from the store,
// and the prompt.
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

// defaultVoice is used if neither the task nor the model's row names a voice.
const defaultVoice = "Kore"

// speech sets who speaks: one voice, or the two speakers of a dialogue.
func speech(t driver.Task, config post.Body) error {
	say := post.Body{}
	say.Set("languageCode", t.Options["language_code"])
	speakers, dialogue := t.Options["speakers"]
	config["responseModalities"], config["speechConfig"] = []string{"AUDIO"}, say
	if !dialogue {
		say["voiceConfig"] = voice(cmp.Or(t.Voice, t.Model.Voice(), defaultVoice))
		return nil
	}
	names, ok := speakers.(map[string]any)
	if !ok || len(names) != 2 {
		return media.Errorf(media.CodeInvalid, `option gemini.speakers must name two speakers of the text and their voices: {"Ann": "Kore", "Bob": "Puck"}`)
	}
	var list []any
	for _, speaker := range slices.Sorted(maps.Keys(names)) {
		list = append(list, map[string]any{"speaker": speaker, "voiceConfig": voice(names[speaker])})
	}
	say["multiSpeakerVoiceConfig"] = map[string]any{"speakerVoiceConfigs": list}
	return nil
}

// turns returns the parts of a text to speak. Models with a style setting expect style and speaker beside each part,
// one part per turn of a dialogue. Other models read them from the text.
func turns(t driver.Task) []part {
	speakers, dialogue := t.Options["speakers"].(map[string]any)
	if !slices.Contains(t.Model.Supports, "style") {
		return []part{{Text: t.Prompt}}
	}
	starts := [][]int{{0, 0, 0, 0}} // of a turn and of its speaker's name; what precedes the first turn has none
	if dialogue {
		var names []string
		for name := range speakers {
			names = append(names, regexp.QuoteMeta(name))
		}
		slices.Sort(names)
		starts = append(starts, regexp.MustCompile(`(?:^|\s)(`+strings.Join(names, "|")+`):`).FindAllStringSubmatchIndex(t.Prompt, -1)...)
	}
	var parts []part
	for i, at := range starts {
		end := len(t.Prompt)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		text := strings.TrimSpace(t.Prompt[at[1]:end])
		if text == "" {
			continue
		}
		about := post.Body{}
		about.Set("style", t.Style)
		about.Set("speaker", t.Prompt[at[2]:at[3]])
		parts = append(parts, part{Text: text, Speech: about})
	}
	return parts
}

func voice(name any) map[string]any {
	return map[string]any{"prebuiltVoiceConfig": map[string]any{"voiceName": name}}
}
