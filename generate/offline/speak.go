package offline

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"atelier/generate"
	"atelier/media"
)

// SpeechNote is what the metadata of every sound, and the file itself, says about its
// origin.
const SpeechNote = "tones shaped like speech by rule, not by an AI model; no words can be understood"

// speak makes Task.N sounds, each with a seed of its own.
func (d *Driver) speak(ctx context.Context, t generate.Task, up generate.Update) (generate.Update, error) {
	up.Metadata["note"] = SpeechNote
	if f := strings.ToLower(t.OutputFormat); f != "" && f != "wav" {
		return up, media.Errorf(media.CodeUnsupported, "output format %q: the offline voice writes wav", f)
	}
	script, err := parseScript(t.Options)
	if err != nil {
		return up, err
	}
	if err := script.call(ctx); err != nil {
		return up, err
	}
	first := promptSeed(t.Prompt)
	if t.Seed != nil {
		first = *t.Seed
	}
	for i := range max(1, t.N) {
		if err := ctx.Err(); err != nil {
			return up, err
		}
		seed := first + int64(i)
		item := generate.Item{Seed: &seed}
		if fault := script.slot(i + 1); fault != nil {
			item = refused(fault)
		} else if item.Blob, err = d.say(ctx, t, seed); err != nil {
			return up, err
		} else {
			up.Usage.Images++
		}
		up.Items = append(up.Items, item)
	}
	up.Usage.Calls = 1
	return up, nil
}

// say synthesises and stores one sound as it goes. Storing outlives a cancelled call.
func (d *Driver) say(ctx context.Context, t generate.Task, seed int64) (*media.Blob, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	v := newVoice(t.Voice, t.Speed, seed)
	sounds := v.sounds(t.Prompt)
	b, err := d.store.Store(ctx, io.MultiReader(waveHeader(sounds), &synthesis{voice: v, sounds: sounds}), "audio/wav")
	if err != nil {
		return nil, fmt.Errorf("store sound: %w", err)
	}
	return &b, nil
}

// refused is the item of a scripted fault.
func refused(fault *media.Error) generate.Item {
	item := generate.Item{Err: fault}
	if fault.Code == media.CodeModerated {
		item.Safety = &generate.Safety{Blocked: true, Stage: "output", Categories: []string{"scripted"}}
	}
	return item
}
