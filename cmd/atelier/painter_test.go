package main

import (
	"image/color"
	"strings"
	"testing"

	offlinechat "atelier/chat/offline"
	offlineimage "atelier/generate/provider/offline"
)

// TestSageOfflineSaysWhatItCannotDraw: Sage names unknown words and makes no picture; a change that it cannot make
// leaves the picture unchanged; it lists its pictures from the record.
func TestSageOfflineSaysWhatItCannotDraw(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ans := p.runInConversation("new", "Draw three cats on a sofa")
	if len(ans.Outputs) != 0 || !strings.Contains(ans.Message, "I cannot draw cats and sofa") || !strings.Contains(ans.Message, "lighthouses") {
		t.Fatalf("%+v", ans)
	}
	id := ans.Conversation
	if ans := p.runInConversation(id, "Was hast du gemacht?"); !strings.Contains(ans.Message, "Noch nichts") {
		t.Errorf("an empty record: %s", ans.Message)
	}
	drawn := p.runInConversation(id, "Draw a lighthouse in a storm, 128x128")
	if len(drawn.Outputs) != 1 || !strings.Contains(drawn.Message, "made by Atelier Offline") {
		t.Fatalf("%+v", drawn)
	}
	for _, change := range []string{"remove the person", "add a dragon", "make it look like Van Gogh", "Entferne das Boot"} {
		if ans := p.runInConversation(id, change); len(ans.Outputs) != 0 || ans.Usage.Images != 0 || strings.Contains(ans.Message, "${media") {
			t.Errorf("%s: %+v", change, ans)
		}
	}
	if ans := p.runInConversation(id, "Mach es blauer"); len(ans.Outputs) != 1 || !strings.Contains(ans.Message, "das Original bleibt") {
		t.Errorf("bluer: %+v", ans)
	}
	list := p.runInConversation(id, "List my pictures")
	if !strings.Contains(list.Message, "There are 2 pictures") || !strings.Contains(list.Message, string(drawn.Outputs[0].Ref)+", a lighthouse in a storm (128 × 128)") {
		t.Errorf("the record: %s", list.Message)
	}
}

// TestUnknownWordsAreWarnedOf: the painter always paints, and warns of words that its picture does not show.
func TestUnknownWordsAreWarnedOf(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	const want = "does not show them: cat, sofa"
	o := p.must("generate", "a cat and a sofa in a lighthouse", "-m", "offline", "--size", "64x64")
	if !strings.Contains(o.stderr, want) {
		t.Errorf("people read %s", o.stderr)
	}
	if got := read[generated](p, "generate", "a cat and a sofa in a lighthouse", "-m", "offline", "--size", "64x64", "--json"); len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], want) {
		t.Errorf("programs read %q", got.Warnings)
	}
}

// TestPixelsAreDescribedInGerman: a German question is answered in German from the pixels.
func TestPixelsAreDescribedInGerman(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ans := read[answer](p, "run", "sage", "Welche Farben hat dieses Bild?", "--image", p.picture("meer.png", 60, 40, color.NRGBA{B: 200, A: 255}), "--json")
	for _, want := range []string{"(meer.png) hat 60 × 40 Pixel, ist breit", "Seine Farben: Blau 100 %", "nur Pixel"} {
		if !strings.Contains(ans.Message, want) {
			t.Errorf("the answer lacks %q: %s", want, ans.Message)
		}
	}
}

// TestThePainterKnowsWhatSageOffers: the painter can draw everything that Sage offers.
func TestThePainterKnowsWhatSageOffers(t *testing.T) {
	t.Parallel()
	for verb, offer := range map[string]string{"draw ": offlinechat.DrawsEnglish, "zeichne ": offlinechat.DrawsGerman} {
		for _, thing := range strings.Split(offer, ", ") {
			if unknown := (offlineimage.Painter{}).UnknownWords(verb + thing); len(unknown) > 0 {
				t.Errorf("%q is offered, and %q is unknown", thing, unknown)
			}
		}
	}
}
