package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/ledger"
)

const (
	// textLeak and byteLeak are the lengths from which a slice of a canary's base64 or of its bytes counts as a leak.
	textLeak = 48
	byteLeak = 32
	// mark is the length of the blocks that locate slices.
	mark = 16
)

// canary is a picture that no sink may contain.
type canary struct {
	raw         []byte
	text, bytes sliceFinder
}

// newCanary returns a picture of noise: a canary of side 1 has about 70 bytes, one of side 130 over 64 KiB.
func newCanary(t *testing.T, side int, seed byte) canary {
	t.Helper()
	rnd := rand.NewChaCha8([32]byte{seed})
	img := image.NewNRGBA(image.Rect(0, 0, max(side, 2), side)) // 1 × 1 is refused as no picture
	if _, err := rnd.Read(img.Pix); err != nil {
		t.Fatal(err)
	}
	img.SetNRGBA(0, 0, color.NRGBA{R: seed, G: 201, B: 37, A: 200})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	c := canary{raw: b.Bytes()}
	c.bytes = newSliceFinder(byteLeak, c.raw)
	c.text = newSliceFinder(textLeak)
	for phase := range 3 { // base64 that begins at another offset looks different
		c.text.add([]byte(base64.RawURLEncoding.EncodeToString(c.raw[phase:])))
	}
	return c
}

// base64 returns the picture as JSON carries it.
func (c canary) base64() string { return base64.StdEncoding.EncodeToString(c.raw) }

// url returns the picture as a data: URL.
func (c canary) url() string { return "data:image/png;base64," + c.base64() }

// blockAt is the position of a block: a text and an offset in it.
type blockAt struct{ text, offset int }

// sliceFinder finds slices of texts: every slice of the least length in a sink contains a block of the sink that begins
// at a multiple of mark.
type sliceFinder struct {
	least int
	texts [][]byte
	marks map[[mark]byte]blockAt
}

func newSliceFinder(least int, texts ...[]byte) sliceFinder {
	s := sliceFinder{least: least, marks: map[[mark]byte]blockAt{}}
	for _, text := range texts {
		s.add(text)
	}
	return s
}

func (s *sliceFinder) add(text []byte) {
	for at := 0; at+mark <= len(text); at++ {
		s.marks[[mark]byte(text[at:])] = blockAt{len(s.texts), at}
	}
	s.texts = append(s.texts, text)
}

// in reports whether the sink contains a slice that is long enough to be a leak.
func (s sliceFinder) in(sink []byte) bool {
	for at := 0; at+mark <= len(sink); at += mark {
		found, hit := s.marks[[mark]byte(sink[at:])]
		if !hit {
			continue
		}
		text, from, to := s.texts[found.text], 0, mark
		for from < min(at, found.offset) && sink[at-from-1] == text[found.offset-from-1] {
			from++
		}
		for at+to < len(sink) && found.offset+to < len(text) && sink[at+to] == text[found.offset+to] {
			to++
		}
		if from+to >= s.least {
			return true
		}
	}
	return false
}

// plainText undoes JSON's escapes in base64 and maps all alphabets to one, so that no slice is hidden.
func plainText(sink []byte) []byte {
	return []byte(strings.NewReplacer(`\/`, "_", `\u002b`, "-", `\u002f`, "_", `\u003d`, "=", `\r`, "", `\n`, "", "+", "-", "/", "_").Replace(string(sink)))
}

// leaks returns the spellings of the canary that a sink contains.
func (c canary) leaks(sink []byte) []string {
	var found []string
	if c.bytes.in(sink) {
		found = append(found, "bytes")
	}
	if c.text.in(plainText(sink)) {
		found = append(found, "base64")
	}
	return found
}

// sinks maps names to the contents of places where no canary may be.
type sinks map[string][]byte

// add records what a command printed.
func (s sinks) add(o outcome) {
	name := strings.Join(o.args, " ")
	name = name[:min(len(name), 60)]
	s["stdout of "+name] = append(s["stdout of "+name], o.stdout...)
	s["stderr of "+name] = append(s["stderr of "+name], o.stderr...)
}

// gather adds every sink of an environment: the data folder without the blob store, and the output of all listing
// commands.
func (s sinks) gather(p *testEnv) {
	p.t.Helper()
	err := filepath.WalkDir(p.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "blobs" {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		s["data folder: "+d.Name()] = b
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if s["ledger"] = p.ledgerDump(); !bytes.Contains(s["ledger"], []byte("goose_db_version")) && len(s["ledger"]) < 1000 {
		p.t.Fatal("the ledger was not searched")
	}
	s.add(p.must("runs", "list", "--all", "--json"))
	s.add(p.must("media", "list", "--json"))
	runs := read[struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}](p, "runs", "list", "--json")
	for _, r := range runs.Items {
		s.add(p.must("runs", "show", r.ID, "--json"))
		s.add(p.must("runs", "events", r.ID, "--jsonl"))
	}
	for _, m := range p.mediaList().Items {
		s.add(p.must("media", "show", m.ID, "--json"))
	}
	s.add(p.must("conversations", "list", "--json"))
	for _, c := range read[ledger.List[ledger.Conversation]](p, "conversations", "list", "--json").Items {
		s.add(p.must("conversations", "show", c.ID, "--json"))
	}
}

// prompts adds what providers received.
func (s sinks) prompts(from *providers) {
	for _, b := range from.received() {
		s["prompts"] = append(append(s["prompts"], b...), '\n')
	}
}

// search fails the test for every canary that a sink contains.
func (s sinks) search(t *testing.T, canaries ...canary) {
	t.Helper()
	for name, sink := range s {
		for _, c := range canaries {
			if found := c.leaks(sink); found != nil {
				t.Errorf("%s contains a canary of %d bytes as %s", name, len(c.raw), strings.Join(found, ", "))
			}
		}
	}
}

// checkStored fails the test for every canary that is not stored whole in the blob store.
func checkStored(t *testing.T, p *testEnv, canaries ...canary) {
	t.Helper()
	for _, c := range canaries {
		found := false
		for _, m := range p.mediaList("--limit", "200").Items {
			o := p.must("media", "get", m.ID, "--original", "-o", "-")
			found = found || o.stdout == string(c.raw)
		}
		if !found {
			t.Errorf("the canary of %d bytes was not kept as media", len(c.raw))
		}
	}
}

// TestSearchFindsCanaries proves that the searcher finds what it looks for.
func TestSearchFindsCanaries(t *testing.T) {
	t.Parallel()
	small, big := newCanary(t, 1, 1), newCanary(t, 130, 2)
	if len(big.raw) < 64<<10 || len(small.raw) > 80 {
		t.Fatalf("the canaries have %d and %d bytes", len(small.raw), len(big.raw))
	}
	around := func(slice string) []byte { return []byte("{\"a\":\"x " + slice + " y\"}") }
	for name, c := range map[string]canary{"small": small, "big": big} {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString(c.raw)
			for _, at := range []int{0, 1, 7, 17, len(text) - textLeak - 2} {
				if c.leaks(around(text[at:at+textLeak])) == nil {
					t.Errorf("%s: a slice of %d characters at %d is not found", name, textLeak, at)
				}
				if found := c.leaks(around(text[at : at+textLeak-1])); found != nil {
					t.Errorf("%s: a slice of %d characters counts as %v", name, textLeak-1, found)
				}
			}
			escaped := strings.ReplaceAll(text, "/", `\/`)
			if c.leaks(around(escaped)) == nil {
				t.Errorf("%s: escaped slashes hide it", name)
			}
		}
		for _, at := range []int{0, 5, 23, len(c.raw) - byteLeak} {
			if c.leaks(append([]byte("abc"), c.raw[at:at+byteLeak]...)) == nil {
				t.Errorf("%s: %d bytes at %d are not found", name, byteLeak, at)
			}
		}
		if found := c.leaks([]byte(strings.Repeat("nothing to see here ", 1000))); found != nil {
			t.Errorf("%s: found in innocent text: %v", name, found)
		}
	}
}
