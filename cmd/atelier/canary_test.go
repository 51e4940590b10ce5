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
)

const (
	// textLeak and byteLeak are the lengths from which a slice of a canary's base64 or
	// of its bytes counts as the canary.
	textLeak = 48
	byteLeak = 32
	// mark is the block by which slices are found: every slice of either length holds
	// one that begins at a multiple of mark.
	mark = 16
)

// canary is a picture that no sink may hold.
type canary struct{ raw []byte }

// newCanary draws noise: a canary of side 1 has about 70 bytes, one of side 160
// over 64 KiB.
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
	return canary{b.Bytes()}
}

// base64 is the picture as JSON carries it.
func (c canary) base64() string { return base64.StdEncoding.EncodeToString(c.raw) }

// url is the picture as a data: URL.
func (c canary) url() string { return "data:image/png;base64," + c.base64() }

// form is one spelling of a canary, with what counts as a leak of it.
type form struct {
	name  string
	text  []byte
	least int
	marks map[[mark]byte]int
}

// forms spells a canary in both alphabets, begun at every phase of three bytes, and raw.
func (c canary) forms() []form {
	all := []form{{name: "bytes", text: c.raw, least: byteLeak}}
	for phase := range 3 {
		for name, e := range map[string]*base64.Encoding{"standard": base64.RawStdEncoding, "URL-safe": base64.RawURLEncoding} {
			all = append(all, form{name: name + " base64", text: []byte(e.EncodeToString(c.raw[phase:])), least: textLeak})
		}
	}
	for i := range all {
		f := &all[i]
		f.marks = map[[mark]byte]int{}
		for at := 0; at+mark <= len(f.text); at += mark {
			f.marks[[mark]byte(f.text[at:])] = at
		}
	}
	return all
}

// find gives the longest slice of the form in the sink, if it is long enough to be a leak.
func (f form) find(sink []byte) []byte {
	for at := 0; at+mark <= len(sink); at++ {
		from, hit := f.marks[[mark]byte(sink[at:])]
		if !hit {
			continue
		}
		a, b := at, from
		for a > 0 && b > 0 && sink[a-1] == f.text[b-1] {
			a, b = a-1, b-1
		}
		end := at
		for end < len(sink) && from < len(f.text) && sink[end] == f.text[from] {
			end, from = end+1, from+1
		}
		if end-a >= f.least {
			return sink[a:end]
		}
	}
	return nil
}

// plainJSON undoes what JSON does to base64, so that escapes hide no slice.
func plainJSON(sink []byte) []byte {
	return []byte(strings.NewReplacer(`\/`, "/", `\u002b`, "+", `\u002f`, "/", `\u003d`, "=", `\r`, "", `\n`, "").Replace(string(sink)))
}

// leaks names the canary's spellings that a sink holds.
func (c canary) leaks(sink []byte) []string {
	var found []string
	for _, f := range c.forms() {
		hit := f.find(sink)
		if hit == nil && f.least == textLeak {
			hit = f.find(plainJSON(sink))
		}
		if hit != nil {
			found = append(found, f.name)
		}
	}
	return found
}

// sinks are the places where no canary may be, by name.
type sinks map[string][]byte

// add notes what a command printed.
func (s sinks) add(o outcome) {
	name := strings.Join(o.args, " ")
	name = name[:min(len(name), 60)]
	s["stdout of "+name] = append(s["stdout of "+name], o.stdout...)
	s["stderr of "+name] = append(s["stderr of "+name], o.stderr...)
}

// gather adds every sink of a place: the data folder but for the blob store, and all
// that the listing commands print.
func (s sinks) gather(p *place) {
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
	if len(s["data folder: atelier.db"]) == 0 {
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
		s.add(p.must("runs", "events", r.ID, "--json"))
	}
	for _, m := range p.listed().Items {
		s.add(p.must("media", "show", m.ID, "--json"))
	}
}

// prompts adds what providers received.
func (s sinks) prompts(from *providers) {
	for _, b := range from.received() {
		s["prompts"] = append(append(s["prompts"], b...), '\n')
	}
}

// search fails the test for every canary in a sink.
func (s sinks) search(t *testing.T, canaries ...canary) {
	t.Helper()
	for name, sink := range s {
		for _, c := range canaries {
			if found := c.leaks(sink); found != nil {
				t.Errorf("%s holds a canary of %d bytes as %s", name, len(c.raw), strings.Join(found, ", "))
			}
		}
	}
}

// kept fails the test for every canary that is not in the blob store, whole.
func kept(t *testing.T, p *place, canaries ...canary) {
	t.Helper()
	for _, c := range canaries {
		found := false
		for _, m := range p.listed("--limit", "200").Items {
			o := p.must("media", "get", m.ID, "-o", "-")
			found = found || o.stdout == string(c.raw)
		}
		if !found {
			t.Errorf("the canary of %d bytes was not kept as media", len(c.raw))
		}
	}
}

// TestSearchFindsCanaries proves that the searcher can find what it looks for.
func TestSearchFindsCanaries(t *testing.T) {
	t.Parallel()
	small, big := newCanary(t, 1, 1), newCanary(t, 160, 2)
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
