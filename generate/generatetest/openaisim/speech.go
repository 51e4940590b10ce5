package openaisim

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	case f == sim.FaultNotMedia:
		return 2 // text instead of the sound; JSON without a sound
	case f == sim.FaultEmpty, f == sim.FaultHalfBody:
		return 1
	}
	return s.Simulator.Variants(f)
}

// Absent returns why speech lacks a fault; empty if it has it.
func (s Speech) Absent(f sim.Fault) string {
	switch f {
	case sim.FaultTinyImage, sim.FaultHugeHeader:
		return "a sound has no pixels"
	case sim.FaultPartialN:
		return "a call gives one sound"
	case sim.FaultPartialsThenError:
		return "answers are not streamed"
	case sim.FaultPrivateURL:
		return "the sound is the answer's body, not a link"
	default:
		return s.Simulator.Absent(f)
	}
}

// spoken is the body of /audio/speech.
type spoken struct {
	Model        string   `json:"model"`
	Input        string   `json:"input"`
	Voice        any      `json:"voice"`
	Instructions string   `json:"instructions"`
	Format       string   `json:"response_format"`
	Speed        *float64 `json:"speed"`
	StreamFormat string   `json:"stream_format"`
}

// The values that /audio/speech accepts.
var (
	speechModels  = []string{"tts-1", "tts-1-1106", "tts-1-hd", "tts-1-hd-1106", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-03-20", "gpt-4o-mini-tts-2025-12-15"}
	speechFormats = []string{"mp3", "opus", "aac", "flac", "wav", "pcm"}
	speechVoices  = []string{"alloy", "ash", "ballad", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "verse", "marin", "cedar"}
)

// speech answers one call with the sound itself.
func (s *Simulator) speech(w http.ResponseWriter, c *sim.Call) {
	q, bad := parseSpeech(c.Body)
	if bad != nil {
		bad.Write(w)
		return
	}
	s.speak(w, q, c)
}

// parseSpeech reads and checks the body.
func parseSpeech(body []byte) (*spoken, *sim.Answer) {
	q := &spoken{Format: "mp3", StreamFormat: "audio"}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(q); err != nil {
		return nil, badRequest("", "unknown_parameter", "Unknown or invalid parameter: "+strings.TrimPrefix(err.Error(), "json: "))
	}
	voice, _ := q.Voice.(string)
	switch {
	case !slices.Contains(speechModels, q.Model):
		return nil, noModel(q.Model)
	case q.Input == "":
		return nil, badRequest("input", "missing_required_parameter", "Missing required parameter: 'input'.")
	case utf8.RuneCountInString(q.Input) > 4096:
		return nil, badRequest("input", "string_above_max_length", "Invalid 'input': string too long. Expected a string with maximum length 4096.")
	case !slices.Contains(speechVoices, voice):
		return nil, invalidValue("voice", fmt.Sprint(q.Voice), speechVoices)
	case !slices.Contains(speechFormats, q.Format):
		return nil, invalidValue("response_format", q.Format, speechFormats)
	case q.StreamFormat != "audio":
		return nil, invalidValue("stream_format", q.StreamFormat, []string{"audio"})
	case q.Speed != nil && (*q.Speed < 0.25 || *q.Speed > 4):
		return nil, badRequest("speed", "decimal_out_of_range", "Invalid 'speed': expected a value between 0.25 and 4.")
	case q.Instructions != "" && strings.HasPrefix(q.Model, "tts-1"):
		return nil, badRequest("instructions", "unsupported_parameter", "Unsupported parameter: 'instructions' is not supported with this model.")
	}
	return q, nil
}

// milliseconds returns the length of the speech: 15 characters per second at normal speed.
func (q *spoken) milliseconds() int {
	speed := 1.0
	if q.Speed != nil {
		speed = *q.Speed
	}
	return int(float64(utf8.RuneCountInString(q.Input)) * 1000 / 15 / speed)
}

// speak sends the sound, with the fault in it if there is one.
func (s *Simulator) speak(w http.ResponseWriter, q *spoken, c *sim.Call) {
	seed := sim.Seed(q.Input+fmt.Sprint(q.Voice), int64(c.Number))
	var p sim.Picture
	if q.Format == "pcm" {
		p = sim.Raw("audio/pcm", sim.Samples(q.milliseconds(), seed))
	} else {
		p = sim.Sound(q.Format, q.milliseconds(), seed)
	}
	kind := p.MIMEType
	switch c.Fault.Fault {
	case sim.FaultLyingType:
		other := map[bool]string{true: "mp3", false: "wav"}[q.Format == "wav"]
		p = sim.Sound(other, q.milliseconds(), seed)
	case sim.FaultNotMedia:
		if c.Fault.Variant%2 == 1 {
			sim.Answer{Body: `{"text":"I am sorry, I cannot say this."}`}.Write(w)
			return
		}
		p = sim.NotMedia(kind)
	case sim.FaultEmpty:
		p = sim.Picture{}
	default:
	}
	s.Record(p)
	if c.Fault.Fault == sim.FaultHalfBody {
		sim.Half(w, kind, p.Bytes())
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(p.Bytes())
}
