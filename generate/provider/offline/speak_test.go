package offline_test

import (
	"bytes"
	"io"
	"math"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/provider/offline"
	"atelier/media"
)

// spoken makes one sound from a text.
func spoken(t *testing.T, change func(*driver.Task)) (media.Blob, []byte) {
	t.Helper()
	codec := wiretest.NewCodec(t)
	d, err := offline.New(offline.Config{Store: codec})
	if err != nil {
		t.Fatal(err)
	}
	task := driver.Task{Method: generate.MethodGenerate, Prompt: "The tide turns, and the harbour wakes. Who comes?", N: 1, Model: catalog.Model{Modality: media.ModalityAudio}}
	change(&task)
	u, err := d.Start(t.Context(), task)
	if err != nil || len(u.Items) != 1 || u.Items[0].Blob == nil || u.Metadata["note"] != offline.SpeechNote {
		t.Fatalf("Start: %+v, %v", u, err)
	}
	r, err := codec.Open(t.Context(), u.Items[0].Blob.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return *u.Items[0].Blob, b
}

// TestSpeech: a sound is a WAV file of a plausible length that says how it was made, and equal requests give equal
// bytes.
func TestSpeech(t *testing.T) {
	t.Parallel()
	usual, b := spoken(t, func(*driver.Task) {})
	if usual.MIMEType != "audio/wav" || usual.DurationSeconds < 2 || usual.DurationSeconds > 8 {
		t.Errorf("sound %+v", usual)
	}
	if !bytes.Contains(b, []byte("not by an AI model")) || !bytes.Contains(b, []byte("atelier-offline")) {
		t.Error("the file does not say what it is")
	}
	if size := int(uint32(b[4]) | uint32(b[5])<<8 | uint32(b[6])<<16 | uint32(b[7])<<24); size != len(b)-8 {
		t.Errorf("RIFF has a length of %d bytes of %d", size, len(b)-8)
	}
	loud := 0
	for _, v := range b[300:] {
		if v > 8 && v < 248 {
			loud++
		}
	}
	if loud < len(b)/8 {
		t.Error("the sound is silence")
	}
	again, _ := spoken(t, func(*driver.Task) {})
	if again.Digest != usual.Digest {
		t.Error("equal requests give different sounds")
	}
}

func TestSpeechFollowsItsSettings(t *testing.T) {
	t.Parallel()
	usual, _ := spoken(t, func(*driver.Task) {})
	fast, _ := spoken(t, func(q *driver.Task) { q.Speed = 2 })
	if r := (usual.DurationSeconds - 0.5) / (fast.DurationSeconds - 0.5); math.Abs(r-2) > 0.1 {
		t.Errorf("twice the speed is %g times as fast", r)
	}
	for name, change := range map[string]func(*driver.Task){
		"voice": func(q *driver.Task) { q.Voice = "Bass" }, "text": func(q *driver.Task) { q.Prompt += " Nobody." },
		"seed": func(q *driver.Task) { seed := int64(4); q.Seed = &seed }, "script": func(q *driver.Task) { q.Prompt = "Ночь. 夜が来る。" },
	} {
		if b, _ := spoken(t, change); b.Digest == usual.Digest || b.DurationSeconds < 0.5 {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// TestSpeechFaults: an unsupported format is an error, and scripted faults apply to sounds too.
func TestSpeechFaults(t *testing.T) {
	t.Parallel()
	d, err := offline.New(offline.Config{Store: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	task := driver.Task{Prompt: "hello", N: 3, Model: catalog.Model{Modality: media.ModalityAudio}, Options: map[string]any{"moderate_slots": []int{2}}}
	u, err := d.Start(t.Context(), task)
	if err != nil || len(u.Items) != 3 || u.Items[1].Safety == nil || u.Items[2].Blob == nil || u.Usage.Images != 2 {
		t.Errorf("Start: %+v, %v", u, err)
	}
	task.OutputFormat = "mp3"
	if _, err := d.Start(t.Context(), task); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("mp3: %v", err)
	}
}
