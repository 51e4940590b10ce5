package main

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/media/imaging"
)

// TestSpeech: a named speech model, or the modality alone, makes a sound that is stored, listed and written.
func TestSpeech(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	file := filepath.Join(p.dir, "out.mp3")
	got := read[generated](p, "generate", "The tide turns, and the harbour wakes.", "-m", "GPT-4o mini TTS", "--voice", "Nova", "--speed", "1.25", "-o", file, "--json")
	o := got.Slots[0].Output
	if got.Status != generate.StatusSucceeded || o == nil || o.MIMEType != "audio/mpeg" || o.Modality != "audio" || o.Duration < 1 || !strings.HasPrefix(string(o.Ref), "aud-") || o.Path != file {
		t.Fatalf("generate: %+v, %+v", got, o)
	}
	if info, err := os.Stat(file); err != nil || o.Marking != imaging.MarkingAdded || info.Size() <= o.Size {
		t.Errorf("%s: %v, %v", file, info, err)
	}
	calls := s.images.Captured()
	var body map[string]any
	if err := json.Unmarshal(calls[len(calls)-1].Body, &body); err != nil || body["voice"] != "nova" || body["speed"] != 1.25 || body["response_format"] != "mp3" {
		t.Errorf("body %v, %v", body, err)
	}
	if items := p.mediaList().Items; len(items) != 1 || items[0].Ref != string(o.Ref) {
		t.Errorf("listed %v", items)
	}
	if seen := p.onTerminal("generate", "Hello there.", "--modality", "audio"); !strings.Contains(seen.stderr, "sound 1: succeeded") || !strings.Contains(seen.stdout, " s  ") {
		t.Errorf("on a terminal: %q %q", seen.stdout, seen.stderr)
	}
}

// TestSpeechIsLabelled: an exported sound has the AI label in every format that supports one; for the other format, a
// message says that it has none.
func TestSpeechIsLabelled(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	for ext, want := range map[string]imaging.Marking{
		"mp3": imaging.MarkingAdded, "wav": imaging.MarkingAdded, "flac": imaging.MarkingAdded, "opus": imaging.MarkingAdded, "aac": imaging.MarkingNone,
	} {
		file := p.path("out." + ext)
		o := p.must("generate", "The tide turns.", "-m", "GPT-4o mini TTS", "-o", file, "--json")
		got := decode[generated](t, o).Slots[0].Output
		label, err := imaging.ReadLabel(strings.NewReader(mustRead(t, got.Path)))
		if err != nil || got.Marking != want || (label.SourceType == imaging.SourceGenerated) != (want == imaging.MarkingAdded) {
			t.Errorf("%s: %q, label %+v, %v", ext, got.Marking, label, err)
		}
		said := strings.Contains(p.must("media", "get", "last", "-o", file).stderr, "has no AI label")
		doc := document(t, p.must("media", "get", "last", "-o", file, "--json"))
		if said != (want == imaging.MarkingNone) || string(doc["marking"]) != strconv.Quote(string(want)) {
			t.Errorf("media get of %s: said %v, %s", ext, said, doc["marking"])
		}
	}
}

// TestSpeechOffline: without a key, the offline voice makes a sound by rule.
func TestSpeechOffline(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	got := read[generated](p, "generate", "Who comes?", "--modality", "AUDIO", "-n", "2", "-o", filepath.Join(p.dir, "a.wav"), "--json")
	if got.Model != "Atelier Offline Voice" || len(got.Slots) != 2 || filepath.Base(got.Slots[1].Output.Path) != "a-2.wav" {
		t.Errorf("generate: %+v", got)
	}
}

func TestSpeechBadInput(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for want, args := range map[string][]string{
		"use image or audio":     {"generate", "x", "--modality", "smell"},
		"not audio":              {"generate", "x", "--modality", "audio", "-m", "Atelier Offline"},
		"speed is 9":             {"generate", "x", "--modality", "audio", "--speed", "9"},
		"has 5000 characters":    {"generate", strings.Repeat("x", 5000), "-m", "offline voice"},
		"does not offer edit":    {"generate", "x", "-m", "offline voice", "--edit", p.pictureFile("in.png", 80, 80, image.Rectangle{})},
		"use the extension .png": {"generate", "x", "--modality", "audio", "-o", "x.mid"},
		"strict mode refuses":    {"generate", "x", "-m", "offline voice", "--voice", "Robert", "--strict"},
		"has no voices":          {"generate", "x", "-m", "Atelier Offline", "--voice", "Alto", "--strict"},
		"set OPENAI_API_KEY":     {"generate", "x", "-m", "tts-1"},
		"the text to speak":      {"generate", " ", "--modality", "audio", "--json"},
	} {
		if o := p.atelier(args...); o.code != exitInput || !strings.Contains(o.stdout+o.stderr, want) {
			t.Errorf("%v: exit %d, want %q in\n%s%s", args[1:], o.code, want, o.stdout, o.stderr)
		}
	}
}
