package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/media"
)

// picture writes a picture of one colour and gives its path.
func (p *place) picture(name string, w, h int, c color.Color) string {
	p.t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	encode := png.Encode(&b, img)
	if strings.HasSuffix(name, ".jpg") {
		b.Reset()
		encode = jpeg.Encode(&b, img, nil)
	}
	if encode != nil {
		p.t.Fatal(encode)
	}
	return p.write(name, b.String())
}

// TestPicturesThatAPersonGives: the offline model answers from pixels; the pictures are
// items of the run, and of the conversation, which goes on from them.
func TestPicturesThatAPersonGives(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	blue, red := p.picture("sea.png", 60, 40, color.NRGBA{B: 200, A: 255}), p.picture("red.jpg", 40, 60, color.NRGBA{R: 200, A: 255})
	ans := read[answer](p, "run", "sage", "Which colours have these pictures, and are they alike?", "--image", blue, "--image", red, "--image-detail", "low", "--conversation", "new", "--json")
	for _, want := range []string{"(sea.png) is 60 × 40 pixels, wide", "blue 100 % (#0000c8)", "(red.jpg) is 40 × 60 pixels, upright", "red 100 %", "are different", "offline model"} {
		if !strings.Contains(ans.Message, want) {
			t.Errorf("the answer lacks %q: %s", want, ans.Message)
		}
	}
	if in := ans.InputImages; len(in) != 2 || in[0].FileName != "sea.png" || in[0].MIMEType != "image/png" || in[1].MIMEType != "image/jpeg" || in[1].Detail != "low" {
		t.Fatalf("input images %+v", in)
	}
	if events := p.must("runs", "events", ans.RunID, "--json").stdout; strings.Count(events, `"media-stored"`) != 2 || !strings.Contains(events, `"filename":"sea.png"`) && !strings.Contains(events, `"filename": "sea.png"`) {
		t.Errorf("events %s", events)
	}
	shown := p.must("media", "show", string(ans.InputImages[0].Ref), "--json").stdout
	if !strings.Contains(shown, `"direction": "input"`) || !strings.Contains(shown, `"namespace": "input_image"`) {
		t.Errorf("record %s", shown)
	}
	next := p.say(ans.Conversation, "Make the first picture darker")
	if o := next.only(t); o.Ref == ans.InputImages[0].Ref {
		t.Errorf("nothing was changed: %+v", o)
	}
	// A picture that is stored already is given by its ref.
	again := read[answer](p, "run", "sage", "Describe it", "--image", string(ans.InputImages[0].Ref), "--json")
	if !strings.Contains(again.Message, "blue 100 %") || again.RunID == ans.RunID {
		t.Errorf("answer %s", again.Message)
	}
	p.must("media", "verify")
}

func TestBadPicturesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	good := p.picture("good.jpg", 300, 200, color.NRGBA{G: 90, A: 255})
	whole := mustRead(t, good)
	var many []string
	for i := range 40 {
		many = append(many, "--image", p.picture(fmt.Sprintf("n%02d.png", i), 9, 9, color.NRGBA{R: uint8(i), A: 255}))
	}
	for name, c := range map[string]struct {
		args []string
		say  string
	}{
		"text called .png": {[]string{"--image", p.write("words.png", strings.Repeat("no picture ", 40))}, "no picture"},
		"cut off":          {[]string{"--image", p.write("cut.jpg", whole[:len(whole)/2])}, "damaged or cut off"},
		"SVG":              {[]string{"--image", p.write("drawing.svg", `<svg xmlns="http://www.w3.org/2000/svg"></svg>`)}, "give a PNG"},
		"nothing there":    {[]string{"--image", "nowhere.png"}, "neither a file nor a stored item"},
		"unknown ref":      {[]string{"--image", "img-7k3m9q2x"}, "neither a file nor a stored item"},
		"forty":            {many, "40 pictures are given and Atelier Offline (offline) takes 4"},
		"detail":           {[]string{"--image", good, "--image-detail", "huge"}, "auto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := p.atelier(append([]string{"run", "sage", "Describe it"}, c.args...)...)
			if o.code != exitInput || !strings.Contains(o.stderr, c.say) {
				t.Errorf("exit %d: %s", o.code, o.stderr)
			}
		})
	}
	ans := read[answer](p, append([]string{"run", "sage", "Describe it", "--lenient-images", "--json"}, many...)...)
	if ans.Status != "succeeded" || len(ans.Warnings) != 36 || len(ans.InputImages) != 40 {
		t.Errorf("%s with %d warnings, %d pictures", ans.Status, len(ans.Warnings), len(ans.InputImages))
	}
}

// TestCanaryThroughImageInput: a picture that a person gives reaches the provider as an
// image part and nothing else at all.
func TestCanaryThroughImageInput(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	small, big := newCanary(t, 1, 61), newCanary(t, 130, 62)
	a, b := p.write("a.png", string(small.raw)), p.write("b.png", string(big.raw))
	s.chat.Answer = inTurn(act(t, "List Agent Media", map[string]any{}), done(t, "I saw them."))
	printed := sinks{}
	printed.add(p.must("run", "sage", "What do you see?", "--image", a, "--image", b, "--conversation", "new"))
	s.chat.Fail(chattest.FaultEcho)
	printed.add(p.atelier("run", "sage", "What do you see?", "--image", b, "--json"))
	printed.add(p.must("run", "sage", "What do you see?", "--image", a, "--model", "offline"))
	var texts []string
	for _, r := range s.chat.Requests() {
		last := r.Messages[1]
		for i, c := range []canary{small, big}[2-len(last.Images):] {
			if last.Images[i].SHA256 != media.DigestOf(c.raw).Hex() {
				t.Errorf("picture %d arrived as %+v", i+1, last.Images[i])
			}
		}
		for _, m := range r.Messages {
			texts = append(texts, m.Text)
		}
	}
	if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "totalCount") }) {
		t.Error("the second turn is missing")
	}
	printed["texts of prompts"] = []byte(strings.Join(texts, "\n"))
	printed.gather(p)
	printed.search(t, small, big)
	kept(t, p, small, big)
}

func TestBlockedTermsOfTheOperator(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env["ATELIER_BLOCKED_TERMS"] = "red button, geheim"
	if o := p.atelier("run", "sage", "Press the Red  Button"); o.code == 0 || !strings.Contains(o.stderr, "stopped before a model saw it") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	p.env["ATELIER_BLOCKED_TERMS_DO"] = "redact"
	ans := read[answer](p, "run", "sage", "Hello geheim", "--json")
	if ans.Status != "succeeded" || !strings.Contains(strings.Join(ans.Warnings, " "), "changed before a model saw it") {
		t.Errorf("%+v", ans)
	}
	if shown := p.must("runs", "show", ans.RunID, "--json").stdout; strings.Contains(shown, "geheim") {
		t.Errorf("the run keeps what was removed: %s", shown)
	}
	p.env["ATELIER_BLOCKED_TERMS_DO"] = "shout"
	if o := p.atelier("run", "sage", "Hello"); o.code != exitInput || !strings.Contains(o.stderr, "ATELIER_BLOCKED_TERMS_DO") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

func TestChatProfilesOfTheOperator(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.env["ATELIER_CHAT_PROFILES"] = p.write("own.yaml", "models:\n  - {provider: openai, id: house-eye, name: House Eye, supports_vision: true, max_images: 1}\n  - {provider: openai, id: house-mole, name: House Mole}\n")
	s.chat.Answer = inTurn(done(t, "seen"))
	in := p.picture("in.png", 8, 8, color.White)
	p.must("run", "sage", "Look", "--image", in, "--model", "House Eye")
	o := p.atelier("run", "sage", "Look", "--image", in, "--model", "House Mole")
	if o.code != exitInput || !strings.Contains(o.stderr, "House Mole (openai) takes no pictures: use openai/gpt-5.4") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if n := len(s.chat.Requests()); n != 1 {
		t.Errorf("%d calls", n)
	}
	p.env["ATELIER_CHAT_PROFILES"] = filepath.Join(p.dir, "missing.yaml")
	if o := p.atelier("run", "sage", "Look"); o.code != exitInput || !strings.Contains(o.stderr, "ATELIER_CHAT_PROFILES") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if _, err := os.Stat(in); err != nil {
		t.Error(err)
	}
}
