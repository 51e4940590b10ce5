package gemini

import (
	"maps"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// defaultVoice is used where neither the task nor the model's row names one.
const defaultVoice = "Kore"

// speechOptions are the options that go into speechConfig.
var speechOptions = []string{"speakers", "language_code"}

// noun is what the task makes, in an error.
func noun(t generate.Task) string {
	if t.Model.Modality == media.ModalityAudio {
		return "sound"
	}
	return "picture"
}

// speechConfig says who speaks: one voice, or the two speakers of a dialogue.
func speechConfig(t generate.Task) (map[string]any, error) {
	config := map[string]any{}
	if code, ok := t.Options["language_code"]; ok {
		config["languageCode"] = code
	}
	speakers, dialogue := t.Options["speakers"]
	if !dialogue {
		name := defaultVoice
		if len(t.Model.Voices) > 0 {
			name = t.Model.Voices[0]
		}
		if t.Voice != "" {
			name = t.Voice
		}
		config["voiceConfig"] = voice(name)
		return config, nil
	}
	names, ok := speakers.(map[string]any)
	if !ok || len(names) != 2 {
		return nil, media.Errorf(media.CodeInvalid, `option gemini.speakers must name two speakers of the text and their voices: {"Ann": "Kore", "Bob": "Puck"}`)
	}
	var list []any
	for _, speaker := range slices.Sorted(maps.Keys(names)) {
		list = append(list, map[string]any{"speaker": speaker, "voiceConfig": voice(names[speaker])})
	}
	config["multiSpeakerVoiceConfig"] = map[string]any{"speakerVoiceConfigs": list}
	return config, nil
}

func voice(name any) map[string]any {
	return map[string]any{"prebuiltVoiceConfig": map[string]any{"voiceName": name}}
}

// stored is the type of media as it is stored: raw samples get a WAV header.
func stored(declared string) string {
	kind, _, _ := strings.Cut(strings.ToLower(declared), ";")
	if kind = strings.TrimSpace(kind); kind == "audio/l16" || kind == "audio/pcm" {
		return "audio/wav"
	}
	return declared
}
