package main

import (
	"bytes"
	"encoding/json"
	"image"
	"testing"
)

// TestRepeatedFlagIsRefused: a repeated flag of one value is refused, rather than one value silently lost.
func TestRepeatedFlagIsRefused(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	in := p.pictureFile("in.png", 80, 80, image.Rectangle{})
	for flag, args := range map[string][]string{
		"--vary":  {"generate", "--vary", in, "--vary", in},
		"--mask":  {"generate", "x", "--edit", in, "--mask", in, "--mask", in},
		"--size":  {"generate", "x", "--size", "64x64", "--size=80x80"},
		"--model": {"run", "sage", "x", "--model", "offline", "--model", "offline"},

		"--option offline.delay_ms": {"generate", "x", "--option", "offline.delay_ms=1", "--option", "offline.delay_ms=2"},
	} {
		p.atelier(args...).checkRefused(t, exitInput, flag+" was given more than once")
	}
	if n := len(p.mediaList().Items); n != 0 {
		t.Errorf("%d items were made", n)
	}
}

// TestMistakenValuesAreRefused: a value that cannot be meant is an error that says what to write.
func TestMistakenValuesAreRefused(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	state := p.write("state.json", `{"product":"chair"}`)
	for says, args := range map[string][]string{
		"write @" + state:              {"workflow", "run", "product-variants", "--state", state},
		"unexpected end of JSON input": {"workflow", "run", "product-variants", "--state", `{"product":`},
		"larger than the limit":        {"workflow", "run", "product-variants", "--state", "@/dev/zero"},
		"the limit of 8388608 bytes":   {"workflow", "run", "/dev/zero"},
		`no provider "opena"`:          {"models", "list", "--provider", "opena"},
	} {
		p.atelier(args...).checkRefused(t, exitInput, says)
	}
}

// TestCommasBelongToValues: a comma in a file name or in an option is not a separator.
func TestCommasBelongToValues(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	in := p.pictureFile("a,b.png", 80, 80, image.Rectangle{})
	got := read[generated](p, "generate", "bluer", "--edit", in, "-m", "GPT Image 2", "--json")
	if got.Status != "succeeded" {
		t.Errorf("edit: %+v", got)
	}
	p.must("generate", "Good evening.", "-m", "GPT-4o mini TTS", "--option", "openai.instructions=Speak slowly, warmly")
	calls := s.images.Captured()
	var body map[string]any
	if err := json.Unmarshal(calls[len(calls)-1].Body, &body); err != nil || body["instructions"] != "Speak slowly, warmly" {
		t.Errorf("body %v, %v", body, err)
	}
	if !bytes.Contains(calls[0].Body, []byte("bluer")) {
		t.Errorf("the edit was not sent: %.200s", calls[0].Body)
	}
}

// TestLongNumbersOfOptions: a number that is too long for a float is sent as it was typed.
func TestLongNumbersOfOptions(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	const long = "12345678901234567891"
	p.must("generate", "a fox", "-m", "GPT Image 2", "--option", "openai.user="+long)
	if calls := s.images.Captured(); len(calls) != 1 || !bytes.Contains(calls[0].Body, []byte(`"`+long+`"`)) {
		t.Errorf("%.400s", calls[0].Body)
	}
}
