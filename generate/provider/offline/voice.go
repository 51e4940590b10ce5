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

func (d *Driver) speaker(t driver.Task) (maker, error) {
	if f := strings.ToLower(t.OutputFormat); f != "" && f != "wav" {
		return nil, media.Errorf(media.CodeUnsupported, "output format %q: the offline voice writes wav", f)
	}
	return func(ctx context.Context, seed int64, _ float64) (media.Blob, error) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 0x5bee)) //nolint:gosec // a repeatable sound, not a secret
		pitch := cmp.Or(pitches[strings.ToLower(t.Voice)], pitches["alto"]) * (0.97 + 0.06*rnd.Float64())
		v := &voice{pitch: pitch, speed: cmp.Or(t.Speed, 1), rnd: rnd}
		sounds := v.sounds(t.Prompt)
		return d.storeUncancelled(ctx, io.MultiReader(waveHeader(sounds), &synthesis{voice: v, sounds: sounds}), "audio/wav")
	}, nil
}

// voiceRate is the sample rate; sounds have one channel of 16 bits.
const voiceRate = 16_000

// pitches are the base pitches of the voices, in Hz.
var pitches = map[string]float64{"alto": 196, "tenor": 138, "bass": 92}

// vowels are the first two formants of the sung letters, in Hz, after the averages of Peterson and Barney (1952).
var vowels = map[rune][2]float64{
	'a': {730, 1090}, 'e': {530, 1840}, 'i': {270, 2290}, 'o': {570, 840}, 'u': {300, 870}, 'y': {300, 2100},
	'l': {360, 1300}, 'm': {250, 1000}, 'n': {250, 1400}, 'r': {420, 1250}, 'w': {300, 700}, 'j': {280, 2200},
}

// sound is one letter, or a pause.
type sound struct {
	samples  int
	formants [2]float64 // zero for noise and silence
	noise    float64    // centre of the noise in Hz; 0 for none
	pitch    float64
}

// voice converts letters to sounds.
type voice struct {
	pitch, speed float64
	rnd          *rand.Rand
}

// sounds plans a text. The pitch falls towards the end of each phrase and rises for a question.
func (v *voice) sounds(text string) []sound {
	var out []sound
	add := func(milliseconds float64, s sound) {
		s.samples = int(milliseconds / 1000 * voiceRate / v.speed)
		out = append(out, s)
	}
	bend := 1.1
	for i, r := range text {
		r = unicode.ToLower(r)
		bend = max(0.85, bend-0.004)
		if next := strings.IndexAny(text[i:], ".!?"); next >= 0 && next < 12 && text[i+next] == '?' {
			bend += 0.02
		}
		wobble := 0.98 + 0.04*v.rnd.Float64()
		formants, sung := vowels[r]
		switch {
		case sung:
			add(95*wobble, sound{formants: formants, pitch: v.pitch * bend * wobble})
		case strings.ContainsRune(".!?…", r):
			add(320, sound{})
			bend = 1.1
		case strings.ContainsRune(",;:–—\n", r):
			add(180, sound{})
		case unicode.IsSpace(r):
			add(55, sound{})
		case unicode.IsLetter(r) && r < unicode.MaxLatin1, unicode.IsDigit(r):
			add(60*wobble, sound{noise: 900 + 350*float64(r%11)})
		case unicode.IsLetter(r): // other scripts: a syllable by code point
			f := float64(r % 97)
			add(120*wobble, sound{formants: [2]float64{280 + 5*f, 800 + 15*f}, pitch: v.pitch * bend * wobble})
		}
	}
	return append(out, sound{samples: voiceRate / 2}) // no sound is shorter than half a second
}

// synthesis renders sounds while it is read.
type synthesis struct {
	voice  *voice
	sounds []sound
	buf    []byte
	phase  float64
	a, b   resonator
}

// Read implements io.Reader.
func (s *synthesis) Read(p []byte) (int, error) {
	for len(s.buf) == 0 {
		if len(s.sounds) == 0 {
			return 0, io.EOF
		}
		s.render(s.sounds[0])
		s.sounds = s.sounds[1:]
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	return n, nil
}

// render computes the samples of one sound: pulses or noise through two resonators.
func (s *synthesis) render(n sound) {
	s.buf = s.buf[:0]
	s.a.tune(max(n.formants[0], n.noise), 90)
	s.b.tune(max(n.formants[1], n.noise*1.6), 140)
	for i := range n.samples {
		source := 0.0
		switch {
		case n.noise > 0:
			source = 0.12 * (s.voice.rnd.Float64() - 0.5)
		case n.pitch > 0:
			if s.phase += n.pitch / voiceRate; s.phase >= 1 {
				s.phase--
			}
			source = 0.5 - s.phase // a sawtooth, like that of the vocal folds
		}
		edge := min(1, float64(min(i, n.samples-i))/(0.008*voiceRate))
		v := (s.a.filter(source) + 0.6*s.b.filter(source)) * edge
		s.buf = binary.LittleEndian.AppendUint16(s.buf, uint16(int16(9000*math.Tanh(v)))) //nolint:gosec // the bits are intended
	}
}

// resonator is a filter with one peak.
type resonator struct{ gain, c1, c2, y1, y2 float64 }

func (r *resonator) tune(hz, width float64) {
	if hz == 0 {
		return
	}
	d := math.Exp(-math.Pi * width / voiceRate)
	r.c1, r.c2 = 2*d*math.Cos(2*math.Pi*min(hz, 0.45*voiceRate)/voiceRate), -d*d
	r.gain = 1 - d
}

func (r *resonator) filter(x float64) float64 {
	y := 2.5*r.gain*x + r.c1*r.y1 + r.c2*r.y2
	r.y1, r.y2 = y, r.y1
	return y
}

// waveHeader returns everything before the samples: the format, and a description of the sound.
func waveHeader(sounds []sound) io.Reader {
	n := 0
	for _, s := range sounds {
		n += 2 * s.samples
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
