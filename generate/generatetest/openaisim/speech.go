package openaisim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// Speech is a [Simulator] seen by the suite as a provider of speech.
type Speech struct{ *Simulator }

var _ generatetest.Simulator = Speech{}

// NewSpeech makes a simulator for tests of speech.
func NewSpeech(c Config) Speech { return Speech{New(c)} }

// Variants tells how many shapes a fault has for speech.
func (s Speech) Variants(f generatetest.Fault) int {
	switch {
	case s.Absent(f) != "":
		return 0
	case f == generatetest.FaultNotMedia:
		return 2 // words where the sound should be; JSON without a sound
	case f == generatetest.FaultEmpty, f == generatetest.FaultHalfBody:
		return 1
	}
	return s.Simulator.Variants(f)
}

// Absent says which faults speech has none of.
func (s Speech) Absent(f generatetest.Fault) string {
	switch f {
	case generatetest.FaultTinyImage, generatetest.FaultHugeHeader:
		return "a sound has no pixels"
	case generatetest.FaultPartialN:
		return "a call gives one sound"
	case generatetest.FaultPartialsThenError:
		return "answers are not streamed"
	case generatetest.FaultPrivateURL:
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

// The words of /audio/speech.
var (
	speechModels  = []string{"tts-1", "tts-1-1106", "tts-1-hd", "tts-1-hd-1106", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-03-20", "gpt-4o-mini-tts-2025-12-15"}
	speechFormats = []string{"mp3", "opus", "aac", "flac", "wav", "pcm"}
	speechVoices  = []string{"alloy", "ash", "ballad", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "verse", "marin", "cedar"}
)

// speech answers one call with the sound itself.
func (s *Simulator) speech(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	call := s.journal.Capture(r, body)
	w.Header().Set("X-Request-Id", fmt.Sprintf("req_%08d", call))
	if !s.authorized(w, r) {
		return
	}
	fault := s.journal.Next()
	if s.answerFault(w, r, fault) {
		return
	}
	q, bad := parseSpeech(body)
	if bad != nil {
		bad.write(w)
		return
	}
	s.speak(w, q, call, fault)
}

// parseSpeech reads and checks the body.
func parseSpeech(body []byte) (*spoken, *problem) {
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

// milliseconds is how long it takes to say the words: 15 characters a second.
func (q *spoken) milliseconds() int {
	speed := 1.0
	if q.Speed != nil {
		speed = *q.Speed
	}
	return int(float64(utf8.RuneCountInString(q.Input)) * 1000 / 15 / speed)
}

// speak sends the sound, with the fault in it if there is one.
func (s *Simulator) speak(w http.ResponseWriter, q *spoken, call int, fault generatetest.Injection) {
	seed := simulate.Seed(q.Input+fmt.Sprint(q.Voice), int64(call))
	var p simulate.Picture
	if q.Format == "pcm" {
		p = simulate.Raw("audio/pcm", simulate.Samples(q.milliseconds(), seed))
	} else {
		p = simulate.Sound(q.Format, q.milliseconds(), seed)
	}
	kind := p.MIMEType
	switch fault.Fault {
	case generatetest.FaultLyingType:
		other := map[bool]string{true: "mp3", false: "wav"}[q.Format == "wav"]
		p = simulate.Sound(other, q.milliseconds(), seed)
	case generatetest.FaultNotMedia:
		if fault.Variant%2 == 1 {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"text":"I am sorry, I cannot say this."}`)
			return
		}
		p = simulate.NotMedia(kind)
	case generatetest.FaultEmpty:
		p = simulate.Picture{}
	default:
	}
	s.journal.Record(p)
	b := p.Bytes()
	w.Header().Set("Content-Type", kind)
	if fault.Fault == generatetest.FaultHalfBody {
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b[:len(b)/2]) //nolint:gosec // A sound, of the simulator's own making.
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(b) //nolint:gosec // As above.
}
