package offline

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"

	"atelier/generate/driver"
	"atelier/media"
)

// SpeechNote is the statement of origin in the metadata of every sound, and in the file itself.
const SpeechNote = "tones shaped like speech by rule, not by an AI model; no words can be understood"

// voiceRate is the sample rate; sounds have one channel of 16 bits.
const voiceRate = 16_000

// pitches are the base pitches of the voices, in Hz.
var pitches = map[string]float64{"alto": 196, "tenor": 138, "bass": 92}

// vowels are the first two formants of some letters, in Hz, after the averages of Peterson and Barney (1952).
var vowels = map[rune][2]float64{'a': {730, 1090}, 'e': {530, 1840}, 'i': {270, 2290}, 'o': {570, 840}, 'u': {300, 870}, 'y': {300, 2100}}

// tone is one letter, or a pause without a pitch.
type tone struct {
	samples  int
	formants [2]float64
	pitch    float64
}

// speaker reads a task for sounds.
func speaker(t *driver.Task) (job, error) {
	j := job{note: SpeechNote, mime: "audio/wav", make: func(_ context.Context, seed int64, _ float64) (io.Reader, error) { return speak(t, seed), nil }}
	if f := strings.ToLower(t.OutputFormat); f != "" && f != "wav" {
		return j, media.Errorf(media.CodeUnsupported, "output format %q: the offline voice writes wav", f)
	}
	return j, nil
}

// speak plans a text letter by letter, and returns its sound as a WAV file that is rendered while it is read. The pitch
// falls towards the end of each sentence.
func speak(t *driver.Task, seed int64) io.Reader {
	rnd := rand.New(rand.NewPCG(uint64(seed), 0x5bee)) //nolint:gosec // a repeatable sound, not a secret
	pitch, bend := cmp.Or(pitches[strings.ToLower(t.Voice)], pitches["alto"])*(0.97+0.06*rnd.Float64()), 1.1
	var all []tone
	add := func(milliseconds float64, n tone) {
		n.samples = int(milliseconds / 1000 * voiceRate / cmp.Or(t.Speed, 1))
		all = append(all, n)
	}
	for _, r := range t.Prompt {
		r, bend = unicode.ToLower(r), max(0.85, bend-0.004)
		wobble := 0.98 + 0.04*rnd.Float64()
		formants, sung := vowels[r]
		switch {
		case sung:
			add(95*wobble, tone{formants: formants, pitch: pitch * bend * wobble})
		case strings.ContainsRune(".!?…。", r):
			add(320, tone{})
			bend = 1.1
		case strings.ContainsRune(",;:–—\n", r):
			add(180, tone{})
		case unicode.IsSpace(r):
			add(55, tone{})
		case unicode.IsLetter(r), unicode.IsDigit(r): // hummed, by code point
			f := float64(r * 37 % 97)
			add(65*wobble, tone{formants: [2]float64{240 + 2*f, 800 + 15*f}, pitch: pitch * bend * wobble})
		}
	}
	all = append(all, tone{samples: voiceRate / 2}) // no sound is shorter than half a second
	return io.MultiReader(waveHeader(all), &synthesis{tones: all})
}

// synthesis renders tones while it is read: each pulse of the pitch excites two damped formants.
type synthesis struct {
	tones []tone
	buf   []byte
	phase float64
}

// Read implements io.Reader.
func (s *synthesis) Read(p []byte) (int, error) {
	for len(s.buf) == 0 {
		if len(s.tones) == 0 {
			return 0, io.EOF
		}
		n := s.tones[0]
		s.tones = s.tones[1:]
		for i := range n.samples {
			v := 0.0
			if n.pitch > 0 {
				s.phase = math.Mod(s.phase+n.pitch/voiceRate, 1)
				t := s.phase / n.pitch // since the pulse
				edge := min(1, float64(min(i, n.samples-i))/(0.008*voiceRate), t/0.0004)
				v = edge * math.Exp(-280*t) * (math.Sin(2*math.Pi*n.formants[0]*t) + 0.6*math.Sin(2*math.Pi*n.formants[1]*t))
			}
			s.buf = binary.LittleEndian.AppendUint16(s.buf, uint16(int16(9000*math.Tanh(v)))) //nolint:gosec // the bits are intended
		}
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	return n, nil
}

// waveHeader returns everything before the samples: the format, and a description of the sound.
func waveHeader(all []tone) io.Reader {
	n := 0
	for _, t := range all {
		n += 2 * t.samples
	}
	info := "INFO" + chunk("ISFT", "atelier-offline\x00") + chunk("ICMT", "Sound: "+SpeechNote+".\x00")
	head := "WAVE" + chunk("fmt ", "\x01\x00\x01\x00"+number32(voiceRate)+number32(2*voiceRate)+"\x02\x00\x10\x00") + chunk("LIST", info) + "data" + number32(n)
	return strings.NewReader("RIFF" + number32(len(head)+n) + head)
}

// chunk returns a chunk of a RIFF file, padded to an even length.
func chunk(name, data string) string { return name + number32(len(data)) + data + "\x00"[:len(data)%2] }

func number32(n int) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) //nolint:gosec // the prompt is bounded
}
