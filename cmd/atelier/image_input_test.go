package main

import (
	"bytes"
	endian "encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
	"atelier/media"
)

// picture writes a picture of one colour and returns its path.
func (p *testEnv) picture(name string, w, h int, c color.Color) string {
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

// TestPicturesThatAPersonGives: the offline model answers from the pixels; the pictures become items of the run and of
// its conversation, which can edit them.
func TestPicturesThatAPersonGives(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
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
	if events := p.must("runs", "events", ans.RunID, "--jsonl").stdout; strings.Count(events, `"media-stored"`) != 2 || !strings.Contains(events, `"filename":"sea.png"`) && !strings.Contains(events, `"filename": "sea.png"`) {
		t.Errorf("events %s", events)
	}
	shown := p.must("media", "show", string(ans.InputImages[0].Ref), "--json").stdout
	if !strings.Contains(shown, `"direction": "input"`) || !strings.Contains(shown, `"namespace": "input_image"`) {
		t.Errorf("record %s", shown)
	}
	next := p.runInConversation(ans.Conversation, "Make the first picture darker")
	if o := next.onlyOutput(t); o.Ref == ans.InputImages[0].Ref {
		t.Errorf("nothing was changed: %+v", o)
	}
	// A stored picture is given by its ref within its conversation, and by its id elsewhere.
	ref := string(ans.InputImages[0].Ref)
	again := read[answer](p, "run", "sage", "Describe it", "--image", ref, "--conversation", ans.Conversation, "--json")
	if !strings.Contains(again.Message, "blue 100 %") || again.RunID == ans.RunID {
		t.Errorf("answer %s", again.Message)
	}
	o := p.atelier("run", "sage", "Describe it", "--image", ref)
	_, id, named := strings.Cut(strings.TrimSpace(o.stderr), "its media id is ")
	if o.code != exitInput || !named || !strings.Contains(o.stderr, ref) {
		t.Fatalf("a ref of another run: exit %d, %s", o.code, o.stderr)
	}
	if again = read[answer](p, "run", "sage", "Describe it", "--image", id, "--json"); !strings.Contains(again.Message, "blue 100 %") {
		t.Errorf("answer %s", again.Message)
	}
	p.must("media", "verify")
}

func TestBadPicturesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
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
		"text called .png": {[]string{"--image", p.write("words.png", strings.Repeat("no picture ", 40))}, "not a picture"},
		"cut off":          {[]string{"--image", p.write("cut.jpg", whole[:len(whole)/2])}, "damaged or cut off"},
		"SVG":              {[]string{"--image", p.write("drawing.svg", `<svg xmlns="http://www.w3.org/2000/svg"></svg>`)}, "give a PNG"},
		"nothing there":    {[]string{"--image", "nowhere.png"}, "neither a file nor a stored item"},
		"unknown ref":      {[]string{"--image", "img-7k3m9q2x"}, "neither a file nor a stored item"},
		"of somebody else": {[]string{"--image", string(p.recordForOwner("eve").Ref)}, "neither a file nor a stored item"},
		"theirs, by id":    {[]string{"--image", p.recordForOwner("eve").ID}, "neither a file nor a stored item"},
		"forty":            {many, "40 pictures are given, but Atelier Offline (offline) accepts 4"},
		"detail":           {[]string{"--image", good, "--image-detail", "huge"}, "auto"},
		"nothing in it":    {[]string{"--image", p.write("empty.png", "")}, "is empty"},
		"a folder":         {[]string{"--image", p.dir}, "not a file"},
		"a pipe":           {[]string{"--image", p.pipe("pipe.png")}, "not a file"},
		"30,000 × 30,000":  {[]string{"--image", p.write("vast.png", pngHead(30_000, 30_000))}, "30000 × 30000 pixels"},
		"over the limit":   {[]string{"--image", p.sparse("heavy.png", pngHead(9, 9), 65<<20)}, "limit"},
		"HEIC":             {[]string{"--image", p.write("a.heic", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"+strings.Repeat("x", 3000))}, "image/heic, which Atelier Offline (offline) does not accept"},
		"AVIF":             {[]string{"--image", p.write("a.avif", "\x00\x00\x00\x1cftypavif\x00\x00\x00\x00avifmif1miaf"+strings.Repeat("x", 3000))}, "image/avif, which Atelier Offline (offline) does not accept"},
		"second is bad":    {[]string{"--image", good, "--image", "nowhere.png"}, "nowhere.png is neither"},
		"lost images":      {[]string{"--image", good, "--lost-images", "keep"}, "drop"},
	} {
		o := p.atelier(append([]string{"run", "sage", "Describe it", "--conversation", "new"}, c.args...)...)
		if o.code != exitInput || !strings.Contains(o.stderr, c.say) {
			t.Errorf("%s: exit %d: %s", name, o.code, o.stderr)
		}
	}
	for what, list := range map[string][]string{"run": {"runs", "list", "--all"}, "media": {"media", "list"}, "conversation": {"conversations", "list"}} {
		if got := read[ledger.List[json.RawMessage]](p, append(list, "--json")...); len(got.Items) != 0 {
			t.Errorf("a refused request created a %s: %s", what, got.Items)
		}
	}
	ans := read[answer](p, append([]string{"run", "sage", "Describe it", "--lenient-images", "--json"}, many...)...)
	if ans.Status != "succeeded" || len(ans.Warnings) != 36 || len(ans.InputImages) != 40 {
		t.Errorf("%s with %d warnings, %d pictures", ans.Status, len(ans.Warnings), len(ans.InputImages))
	}
}

// pngHead returns the header of a PNG of a size, without any pixels.
func pngHead(w, h uint32) string {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = endian.BigEndian.AppendUint32(endian.BigEndian.AppendUint32(b, w), h)
	b = append(b, 8, 2, 0, 0, 0)
	return string(endian.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:])))
}

// sparse writes a file whose rest up to size is a hole.
func (p *testEnv) sparse(name, head string, size int64) string {
	p.t.Helper()
	path := p.write(name, head)
	if err := os.Truncate(path, size); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// pipe creates a pipe without a writer.
func (p *testEnv) pipe(name string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// TestPicturesThatAreConverted: a PNG of 50 MB and an animated GIF reach the provider in a form that it accepts; a
// picture whose bytes are missing is refused before any call.
func TestPicturesThatAreConverted(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = func(chattest.Request) string { return done(t, "I saw it.") }
	var heavy, moving bytes.Buffer
	plain := png.Encoder{CompressionLevel: png.NoCompression}
	if err := plain.Encode(&heavy, image.NewNRGBA(image.Rect(0, 0, 4200, 3000))); err != nil {
		t.Fatal(err)
	}
	film := &gif.GIF{}
	for i := range 3 {
		frame := image.NewPaletted(image.Rect(0, 0, 8, 6), color.Palette{color.Black, color.White})
		frame.Pix[i] = 1
		film.Image, film.Delay = append(film.Image, frame), append(film.Delay, 5)
	}
	if err := gif.EncodeAll(&moving, film); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, reason string }{
		{p.write("heavy.png", heavy.String()), "takes 15700000 bytes"},
		{p.write("moving.gif", moving.String()), "takes one frame, not 3"},
	} {
		ans := read[answer](p, "run", "sage", "What is it?", "--image", c.path, "--json")
		if len(ans.Dispositions) == 0 || !strings.Contains(ans.Dispositions[len(ans.Dispositions)-1].Reason, c.reason) {
			t.Errorf("dispositions %+v, want %q", ans.Dispositions, c.reason)
		}
		all := s.chat.Requests()
		if got := all[len(all)-1].Messages[1].Images; len(got) != 1 || got[0].MIMEType != "image/png" || got[0].Size > 20_000_000 {
			t.Errorf("arrived: %+v", got)
		}
	}
	// The record exists, but its bytes do not.
	given := p.picture("lost.png", 31, 17, color.White)
	p.must("run", "sage", "What is it?", "--image", given)
	id := p.mediaList().Items[0].ID
	if err := os.Remove(p.blobPath(t, media.DigestOf([]byte(mustRead(t, given))))); err != nil {
		t.Fatal(err)
	}
	before := len(s.chat.Requests())
	if o := p.atelier("run", "sage", "What is it?", "--image", id); o.code != exitInput || !strings.Contains(o.stderr, "image 1") || !strings.Contains(o.stderr, "give the file again") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if n := len(s.chat.Requests()); n != before {
		t.Errorf("%d calls were paid for", n-before)
	}
}

// TestCanaryThroughImageInput: a picture that a person gives reaches the provider as an image part, and nothing else
// contains it.
func TestCanaryThroughImageInput(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	small, big := newCanary(t, 1, 61), newCanary(t, 130, 62)
	a, b := p.write("a.png", string(small.raw)), p.write("b.png", string(big.raw))
	s.chat.Answer = answersInOrder(act(t, "List Agent Media", map[string]any{}), done(t, "I saw them."))
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
	checkStored(t, p, small, big)
}

func TestBlockedTermsOfTheOperator(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
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
	s.chat.Answer = answersInOrder(done(t, "seen"))
	in := p.picture("in.png", 8, 8, color.White)
	p.must("run", "sage", "Look", "--image", in, "--model", "House Eye")
	o := p.atelier("run", "sage", "Look", "--image", in, "--model", "House Mole")
	if o.code != exitInput || !strings.Contains(o.stderr, "House Mole (openai) does not accept pictures: use openai/gpt-5.4") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if n := len(s.chat.Requests()); n != 1 {
		t.Errorf("%d calls", n)
	}
	if run := p.onlyRun(); run.Status != "succeeded" || len(p.mediaList().Items) != 1 {
		t.Errorf("a refused request created something: %+v, %+v", run, p.mediaList())
	}
	p.env["ATELIER_CHAT_PROFILES"] = filepath.Join(p.dir, "missing.yaml")
	if o := p.atelier("run", "sage", "Look"); o.code != exitInput || !strings.Contains(o.stderr, "ATELIER_CHAT_PROFILES") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if _, err := os.Stat(in); err != nil {
		t.Error(err)
	}
}
