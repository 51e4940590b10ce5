package gemini

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// defaultVoice is used where neither the task nor the model's row names one.
const defaultVoice = "Kore"

// speech says who speaks, one voice or the two speakers of a dialogue.
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

// turns are the parts of a text to speak. Models that take a style read it, and who speaks,
// beside each part: one for each turn of a dialogue. The others read all of it in the text.
func turns(t driver.Task) []part {
	speakers, dialogue := t.Options["speakers"].(map[string]any)
	if !slices.Contains(t.Model.Supports, "style") {
		return []part{{Text: t.Prompt}}
	}
	var parts []part
	add := func(text, speaker string) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		about := post.Body{}
		about.Set("style", t.Style)
		about.Set("speaker", speaker)
		parts = append(parts, part{Text: text, Speech: about})
	}
	var starts [][]int
	if dialogue {
		var names []string
		for name := range speakers {
			names = append(names, regexp.QuoteMeta(name))
		}
		slices.Sort(names)
		starts = regexp.MustCompile(`(?:^|\s)(`+strings.Join(names, "|")+`):`).FindAllStringSubmatchIndex(t.Prompt, -1)
	}
	end := len(t.Prompt)
	if len(starts) > 0 {
		end = starts[0][0]
	}
	add(t.Prompt[:end], "")
	for i, at := range starts {
		end := len(t.Prompt)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		add(t.Prompt[at[1]:end], t.Prompt[at[2]:at[3]])
	}
	return parts
}

func voice(name any) map[string]any {
	return map[string]any{"prebuiltVoiceConfig": map[string]any{"voiceName": name}}
}
