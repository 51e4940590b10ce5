package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
)

// pictureFile writes a picture of one colour with a transparent rectangle, which may be empty.
func (p *testEnv) pictureFile(name string, w, h int, hole image.Rectangle) string {
	p.t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(color.NRGBA{R: 180, G: 140, B: 60, A: 255}), image.Point{}, draw.Src)
	draw.Draw(img, hole, image.Transparent, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		p.t.Fatal(err)
	}
	return p.write(name, b.String())
}

func decoded(t *testing.T, path string) image.Image {
	t.Helper()
	img, err := png.Decode(strings.NewReader(mustRead(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestEditOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	in, mask := p.pictureFile("in.png", 120, 80, image.Rectangle{}), p.pictureFile("mask.png", 120, 80, image.Rect(0, 0, 60, 80))
	out := filepath.Join(p.dir, "out.png")
	got := read[generated](p, "generate", "make it much darker", "--edit", in, "--mask", mask, "-o", out, "--json")
	if got.Status != "succeeded" || got.Model != "Atelier Offline" {
		t.Fatalf("%+v", got)
	}
	was, now := decoded(t, in), decoded(t, out)
	if now.Bounds() != was.Bounds() || now.At(90, 40) != was.At(90, 40) || now.At(30, 40) == was.At(30, 40) {
		t.Errorf("%v: outside the mask %v became %v, inside %v became %v", now.Bounds(), was.At(90, 40), now.At(90, 40), was.At(30, 40), now.At(30, 40))
	}
	edited := got.Slots[0].Output.Ref
	shown := p.must("media", "show", string(edited)).stdout
	if !strings.Contains(shown, "as input") || !strings.Contains(shown, "as mask") {
		t.Errorf("lineage is not shown: %s", shown)
	}
	// The edited item is edited again by its ref, and three variations of it are made.
	again := read[generated](p, "generate", "in black and white", "--edit", string(edited), "--json")
	if o := again.Slots[0].Output; o == nil || o.Width != 120 || o.Height != 80 || o.Ref == edited {
		t.Errorf("edit of %s: %+v", edited, again)
	}
	varied := read[generated](p, "generate", "--vary", string(edited), "-n", "3", "-o", filepath.Join(p.dir, "v.png"), "--json")
	seen := map[string]bool{}
	for i, s := range varied.Slots {
		seen[mustRead(t, filepath.Join(p.dir, fmt.Sprintf("v-%d.png", i+1)))] = true
		if s.Output.Label != fmt.Sprintf("Generated image %d", i+1) {
			t.Errorf("label %q", s.Output.Label)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d different variations, want 3", len(seen))
	}
}

func TestDryRunOfAnEdit(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	in := p.pictureFile("in.png", 64, 64, image.Rectangle{})
	said := p.must("generate", "bluer", "--edit", in, "-m", "GPT Image 2", "--dry-run").stdout
	if !strings.Contains(said, "GPT Image 2") || len(s.images.Captured()) != 0 || len(p.mediaList().Items) != 0 {
		t.Errorf("a dry run made %d calls and %d records: %s", len(s.images.Captured()), len(p.mediaList().Items), said)
	}
	said = p.must("generate", "--vary", in, "-m", "GPT Image 2", "--dry-run").stdout
	if !strings.Contains(said, "adapted") || !strings.Contains(said, "variation") {
		t.Errorf("the emulation is not reported: %s", said)
	}
}

func TestEditOverTheWire(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	in, mask := p.pictureFile("in.png", 640, 480, image.Rectangle{}), p.pictureFile("mask.png", 640, 480, image.Rect(9, 9, 99, 99))
	got := read[generated](p, "generate", "add a boat", "--edit", in, "--mask", mask, "-m", "GPT Image 2", "--json")
	if got.Status != "succeeded" || got.Slots[0].Output.Width != 1536 {
		t.Fatalf("%+v", got)
	}
	calls := s.images.Captured()
	if len(calls) != 1 || calls[0].Path != "/v1/images/edits" || !bytes.Contains(calls[0].Body, []byte(mustRead(t, in))) || !bytes.Contains(calls[0].Body, []byte(mustRead(t, mask))) {
		t.Errorf("%d calls; the files did not arrive whole", len(calls))
	}
	read[generated](p, "generate", "--vary", in, "-m", "GPT Image 2", "-n", "2", "--json")
	g, url := serve(t)
	p.withGemini(g, url)
	got = read[generated](p, "generate", "make it bluer", "--edit", in, "--edit", mask, "-m", "Nano Banana Pro", "--json")
	if got.Status != "succeeded" || !bytes.Contains(g.gemini.Captured()[0].Body, []byte(`"inlineData"`)) {
		t.Errorf("%+v", got)
	}
}

func TestBadEditsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	in, small := p.pictureFile("in.png", 64, 64, image.Rectangle{}), p.pictureFile("small.png", 32, 32, image.Rect(0, 0, 9, 9))
	blank := p.pictureFile("blank.png", 64, 64, image.Rectangle{})
	text, svg := p.write("notes.txt", "not a picture"), p.write("chart.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
	half := func(of, name string) string {
		whole := mustRead(t, of)
		return p.write(name, whole[:len(whole)*2/3])
	}
	for name, c := range map[string]struct {
		args []string
		say  string
	}{
		"no prompt":            {[]string{"--edit", in}, "prompt is empty"},
		"no prompt at all":     {nil, "prompt is missing"},
		"both":                 {[]string{"x", "--edit", in, "--vary", in}, "choose one"},
		"mask alone":           {[]string{"x", "--mask", in}, "name the picture to edit with --edit"},
		"mask with vary":       {[]string{"x", "--mask", in, "--vary", in}, "--edit"},
		"no such file":         {[]string{"x", "--edit", "nothing.png"}, "neither a file nor a stored item"},
		"unknown ref":          {[]string{"x", "--edit", "img-00000000"}, "neither a file nor a stored item"},
		"a folder":             {[]string{"x", "--edit", p.dir}, "is a folder"},
		"text":                 {[]string{"x", "--edit", text}, "not a picture"},
		"a drawing":            {[]string{"x", "--edit", svg}, "no pixels"},
		"empty":                {[]string{"x", "--edit", p.write("empty.png", "")}, "empty"},
		"mask of another size": {[]string{"x", "--edit", in, "--mask", small}, "32x32"},
		"mask of nothing":      {[]string{"x", "--edit", in, "--mask", p.write("black.png", mustRead(t, p.blackFile(64)))}, "marks nothing"},
		"model without masks":  {[]string{"x", "--edit", in, "--mask", blank, "-m", "Nano Banana Pro"}, "takes no mask"},
		"half a picture":       {[]string{"x", "--edit", half(in, "half.png")}, "ends early"},
		"half a second one":    {[]string{"x", "--edit", in, "--edit", half(in, "half2.png"), "-m", "GPT Image 2"}, "ends early"},
		"half a webp":          {[]string{"x", "--edit", half("../../media/imaging/testdata/lossy.webp", "half.webp")}, "ends early"},
		"half a jpeg":          {[]string{"--vary", half("../../media/probe/testdata/turned.jpg", "half.jpg"), "-m", "GPT Image 2"}, "ends early"},
		"half a mask":          {[]string{"x", "--edit", in, "--mask", half(in, "mask.png")}, "damaged or cut off"},
		"strict variation":     {[]string{"--vary", in, "-m", "GPT Image 2", "--strict"}, "strict mode refuses"},
	} {
		o := p.atelier(append([]string{"generate"}, c.args...)...)
		if o.code != exitInput || !strings.Contains(o.stderr, c.say) {
			t.Errorf("%s: exit %d: %s; want %d saying %q", name, o.code, o.stderr, exitInput, c.say)
		}
	}
	if n := len(s.images.Captured()); n != 0 {
		t.Errorf("%d calls were paid for bad input", n)
	}
	p.atelier("generate", "x", "--edit", in, "--edit", half(in, "half3.png"), "-m", "GPT Image 2", "-m", "Atelier Offline").checkRefused(t, exitInput, "")
	p.env["ATELIER_BUDGET_OWNER"] = "0.0001"
	p.atelier("generate", "x", "--edit", in, "-m", "GPT Image 2").checkRefused(t, exitBudget, "budget")
	if list := p.mediaList().Items; len(list) != 0 {
		t.Errorf("records of what was refused: %+v", list)
	}
	delete(p.env, "ATELIER_BUDGET_OWNER")
	p.must("generate", "x", "--edit", in, "-m", "GPT Image 2", "-m", "Atelier Offline")
	given := 0
	for _, m := range p.mediaList().Items {
		if shown := p.must("media", "show", m.ID).stdout; strings.Contains(shown, "in.png") && !strings.Contains(shown, "\nfrom ") {
			given++
		}
		if shown := p.must("media", "show", m.ID).stdout; strings.Contains(shown, "same_bytes") {
			t.Errorf("recorded twice: %s", shown)
		}
	}
	if given != 1 {
		t.Errorf("%d records of the input, want 1", given)
	}
}

// blackFile writes a mask that marks nothing.
func (p *testEnv) blackFile(side int) string {
	p.t.Helper()
	img := image.NewGray(image.Rect(0, 0, side, side))
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		p.t.Fatal(err)
	}
	return p.write("all-black.png", b.String())
}

// TestSageEditsWhatItDrew: one run draws a picture and edits it by its ref.
func TestSageEditsWhatItDrew(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"offline", "over the wire"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			if provider != "offline" {
				s, url := serve(t)
				p.withOpenAI(s, url)
			}
			ans := read[answer](p, "run", "sage", "Draw a lighthouse at the sea, then make it bluer.", "--out", filepath.Join(p.dir, "out"), "--json")
			if ans.Status != "succeeded" || len(ans.Outputs) != 1 || len(ans.AlsoMade) != 1 {
				t.Fatalf("%+v", ans)
			}
			edited, original := ans.Outputs[0], ans.AlsoMade[0]
			if edited.Ref == original.Ref || edited.Width == 0 {
				t.Errorf("edited %+v of %+v", edited, original)
			}
			if b, err := os.ReadFile(edited.Path); err != nil || int64(len(b)) != edited.Size {
				t.Errorf("%d bytes, %v", len(b), err)
			}
			shown := p.must("media", "show", string(edited.Ref), "--run", ans.RunID).stdout
			if !strings.Contains(shown, "from "+string(original.Ref)+" as input") {
				t.Errorf("lineage: %s", shown)
			}
		})
	}
}

// TestAModelLooksAtAPicture: the chat model is sent the pixels of an earlier picture in one request, and in no later
// one.
func TestAModelLooksAtAPicture(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	var ref string
	s.chat.Answer = func(r chattest.Request) string {
		switch asked := len(s.chat.Requests()); asked {
		case 1:
			return act(t, "Generate Image", map[string]any{"Prompt": "a fox"})
		case 2:
			_, rest, _ := strings.Cut(r.Messages[len(r.Messages)-1].Text, `"refId":"`)
			ref, _, _ = strings.Cut(rest, `"`)
			return act(t, "View Agent Media", map[string]any{"RefId": ref})
		case 3:
			return act(t, "Label Agent Media", map[string]any{"RefId": ref, "Label": "A red fox"})
		}
		return done(t, "A fox: ${media:"+ref+"}")
	}
	ans := read[answer](p, "run", "sage", "Draw a fox and look at it", "--json")
	if ans.Status != "succeeded" || len(ans.Outputs) != 1 || ans.Outputs[0].Label != "A red fox" {
		t.Fatalf("%+v", ans)
	}
	for i, r := range s.chat.Requests() {
		n := 0
		for _, m := range r.Messages {
			n += len(m.Images)
		}
		if want := map[int]int{2: 1}[i]; n != want {
			t.Errorf("request %d shows %d pictures, want %d", i+1, n, want)
		}
	}
	if shown := p.must("media", "show", ref, "--run", ans.RunID).stdout; !strings.Contains(shown, "A red fox") {
		t.Errorf("the record keeps its old label: %s", shown)
	}
}

// TestCanaryThroughEdits: no canary leaks that is the picture to edit, the mask, or shown to a model; only the provider
// gets its bytes.
func TestCanaryThroughEdits(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 70)
	p, s := connected(t)
	smallFile, bigFile := p.write("small.png", string(small.raw)), p.write("big.png", string(big.raw))
	found := sinks{}
	for _, model := range []string{"GPT Image 2", "offline"} {
		found.add(p.must("generate", "bluer", "--edit", bigFile, "--edit", smallFile, "-m", model, "--json"))
		found.add(p.must("generate", "--vary", smallFile, "-m", model))
		found.add(p.must("generate", "bluer", "--edit", bigFile, "--mask", bigFile, "-m", model))
	}
	for _, c := range s.images.Captured() {
		if !bytes.Contains(c.Body, small.raw) && !bytes.Contains(c.Body, big.raw) {
			t.Errorf("%s got neither canary", c.Path)
		}
	}
	s.chat.Answer = answersInOrder(
		act(t, "Edit Image", map[string]any{"Prompt": "bluer " + small.url(), "Images": big.url(), "Mask": small.base64()}),
		act(t, "View Agent Media", map[string]any{"RefId": small.base64()}, "Label Agent Media", map[string]any{"RefId": big.url(), "Label": big.base64()}),
		done(t, "done"),
	)
	found.add(p.must("run", "sage", "Edit this", "--json"))
	found.gather(p)
	for _, r := range s.chat.Requests() {
		found["prompts"] = append(found["prompts"], plainPrompt(t, r)...)
	}
	found.search(t, small, big)
	checkStored(t, p, small, big)
}

// plainPrompt returns all text that was sent to a chat model.
func plainPrompt(t *testing.T, r chattest.Request) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
