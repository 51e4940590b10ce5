package geminisim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier/generate/generatetest"
	"atelier/internal/sim"
)

// Speech presents a [Simulator] to the suite as a provider of speech.
type Speech struct{ *Simulator }

var _ generatetest.Simulator = Speech{}

// NewSpeech returns a simulator for tests of speech.
func NewSpeech(c Config) Speech { return Speech{New(c)} }

// Variants returns the number of variants of a fault for speech.
func (s Speech) Variants(f sim.Fault) int {
	switch {
	case s.Absent(f) != "":
		return 0
	case f == sim.FaultLyingType:
		return 2 // another type is declared, or the samples are a whole file
	}
	return s.Simulator.Variants(f)
}

// Absent returns why speech lacks a fault; empty if it has it.
func (s Speech) Absent(f sim.Fault) string {
	switch f {
	case sim.FaultTinyImage, sim.FaultHugeHeader:
		return "a sound has no pixels"
	default:
		return s.Simulator.Absent(f)
	}
}

// speech is speechConfig.
type speech struct {
	Voice    *voice `json:"voiceConfig"`
	Speakers *struct {
		Configs []struct {
			Speaker string `json:"speaker"`
			Voice   voice  `json:"voiceConfig"`
		} `json:"speakerVoiceConfigs"`
	} `json:"multiSpeakerVoiceConfig"`
	Language string `json:"languageCode"`
}

type voice struct {
	Prebuilt struct {
		Name string `json:"voiceName"`
	} `json:"prebuiltVoiceConfig"`
}

// voices are the prebuilt voices.
var voices = strings.Fields(`Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel
	Algieba Despina Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird
	Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat`)

func (v voice) known() bool { return slices.Contains(voices, v.Prebuilt.Name) }

// badSpeech returns the error of a request for speech, or of one to a speech model.
func (q *request) badSpeech(m model) string {
	c := q.Config
	switch {
	case !m.speaks || !slices.Equal(c.Modalities, []string{"AUDIO"}):
		return fmt.Sprintf("The requested combination of response modalities (%s) is not supported by the model.", strings.Join(c.Modalities, ", "))
	case c.Image.Ratio != "" || c.Image.Size != "" || q.pictures() > 0:
		return "Image input or configuration is not supported for this model."
	case c.Candidates > 1:
		return "Multiple candidates is not enabled for this model"
	case !m.modern && q.described():
		return "Unknown name \"speech_metadata\" at 'contents[0].parts[0]': Cannot find field."
	case c.Speech == nil:
		return ""
	case (c.Speech.Voice == nil) == (c.Speech.Speakers == nil):
		return "Exactly one of voice_config and multi_speaker_voice_config must be set."
	case c.Speech.Voice != nil && !c.Speech.Voice.known():
		return fmt.Sprintf("Voice name %s is not supported. Allowed voice names are: %s", c.Speech.Voice.Prebuilt.Name, strings.ToLower(strings.Join(voices, ", ")))
	case c.Speech.Speakers != nil && len(c.Speech.Speakers.Configs) != 2:
		return "multi_speaker_voice_config must have exactly two speakers."
	case c.Speech.Speakers != nil:
		for _, s := range c.Speech.Speakers.Configs {
			if !s.Voice.known() || !q.says(s.Speaker) {
				return "The speakers must be named in the text and have known voices."
			}
		}
	}
	return ""
}

// described reports whether a part has speech metadata: its style or its speaker.
func (q *request) described() bool {
	return slices.ContainsFunc(q.Contents[0].Parts, func(p map[string]any) bool { return p["speech_metadata"] != nil })
}

// says reports whether a speaker is named in the text or in the metadata of a part.
func (q *request) says(speaker string) bool {
	return strings.Contains(q.prompt(), speaker) || slices.ContainsFunc(q.Contents[0].Parts, func(p map[string]any) bool {
		about, _ := p["speech_metadata"].(map[string]any)
		return about["speaker"] == speaker
	})
}

// speak builds the answer of a speech model: raw samples, declared as such, or the whole
// file of a modern one.
func (s *Simulator) speak(m model, q *request, c *sim.Call) *sim.Body {
	milliseconds := utf8.RuneCountInString(q.prompt()) * 1000 / 15
	seed := sim.Seed(q.prompt(), int64(c.Number))
	samples := sim.Samples(milliseconds, seed)
	p, kind := sim.Raw("audio/L16", samples), "audio/L16;codec=pcm;rate=24000"
	whole := sim.Sound("wav", milliseconds, seed) // as a client stores it
	if m.modern {
		p, kind = whole, "audio/wav"
	}
	switch c.Fault.Fault {
	case sim.FaultLyingType:
		p = whole
		if c.Fault.Variant%2 == 0 {
			kind = "audio/mpeg"
		}
	case sim.FaultNotMedia:
		p, kind = sim.NotMedia("text/plain"), "text/plain"
	default:
	}
	s.Record(whole)
	body := &sim.Body{}
	body.Text(`{"candidates":[{"content":{"role":"model","parts":[`)
	tokens := 0
	if c.Fault.Fault != sim.FaultEmpty {
		tokens = 25 * milliseconds / 1000
		body.Text(`{"inlineData":{"mimeType":%q,"data":"`, kind)
		body.Media(p, c.Fault)
		body.Text(`"}}`)
	}
	prompt := max(len(q.prompt())/4, 1)
	body.Text(`]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":%d}],"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":%d}]},"modelVersion":"tts","responseId":"sim-%d"}`,
		prompt, tokens, prompt+tokens, prompt, tokens, c.Number)
	return body
}
