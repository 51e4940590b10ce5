package gemini

import (
	"cmp"
	"maps"
	"slices"

	"atelier/generate"
	"atelier/generate/internal/post"
	"atelier/media"
)

// defaultVoice is used where neither the task nor the model's row names one.
const defaultVoice = "Kore"

// speech says who speaks, one voice or the two speakers of a dialogue.
func speech(t generate.Task, config post.Body) error {
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

func voice(name any) map[string]any {
	return map[string]any{"prebuiltVoiceConfig": map[string]any{"voiceName": name}}
}
