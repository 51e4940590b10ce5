// Package pdf reads the text of PDF files: cross-reference streams, object streams, the common filters, simple and
// composite fonts with their Unicode maps, form objects. It draws nothing, runs nothing and follows no link.
//
// It does not trust the file: it finds objects by searching for them, so that a damaged cross-reference table does no
// harm, and limits the cost of a file with [maxDecoded], [maxObjects], [maxPages], [maxOperators] and [maxValues].
//
// Errors are media.Error values: [media.CodeCorrupt] for files without readable pages, [media.CodeUnsupported] for
// encrypted files, [media.CodeTooLarge] beyond the limits. It imports media, golang.org/x/image (LZW) and
// golang.org/x/text (character sets).
package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"atelier/media"
)

// Limits of one file.
const (
	// maxDecoded is the maximum decoded size of all streams together, maxStream of one stream, in bytes.
	maxDecoded = 256 << 20
	maxStream  = 64 << 20
	// maxObjects and maxPages are the maximum numbers of objects and pages of a file.
	maxObjects = 1_000_000
	maxPages   = 20_000
	// maxOperators is the maximum number of drawing operators on all pages together.
	maxOperators = 20_000_000
	// maxDepth is the maximum nesting of values, page trees and forms.
	maxDepth = 48
	// maxEntries is the maximum number of codes in the maps of one font.
	maxEntries = 200_000
	// maxValues is the maximum number of values in all objects that are read, or in the operands of one operator. An entry
	// of a font's maps counts as one, and so do 16 bytes that are read and 4 bytes that are the text of one glyph.
	maxValues = 5_000_000
)

// Document is a PDF whose text can be read. It is not safe for concurrent use.
type Document struct {
	data    []byte
	objects map[ref]place
	cache   map[ref]any
	packed  map[ref][]byte // decoded object streams
	trailer dict
	pages   []page
	fonts   map[uintptr]*font // by the addresses of their dictionaries

	loading   map[ref]bool // objects being read: their own parts must not need them
	decoded   int          // bytes so far, at most maxDecoded
	operators int          // so far, at most maxOperators
	left      int          // of maxValues
	unknown   int          // glyphs without a known character
	damaged   int          // pages whose content could not be read
}

// place is the position of an object: in the file, or in a stream of objects.
type place struct {
	offset int
	in     ref // 0 for the file itself
	order  int // position of its container; the last definition of a number is used
}

// page is one page with its inherited resources.
type page struct {
	dict      dict
	resources dict
}

// Open finds objects and pages.
func Open(data []byte) (*Document, error) {
	d := &Document{
		data: data, objects: map[ref]place{}, cache: map[ref]any{}, packed: map[ref][]byte{}, trailer: dict{},
		fonts: map[uintptr]*font{}, loading: map[ref]bool{}, left: maxValues,
	}
	streams, outside, err := d.find()
	if err != nil {
		return nil, err
	}
	_, rest, found := bytes.Cut(outside, []byte("trailer"))
	for ; found; _, rest, found = bytes.Cut(rest, []byte("trailer")) { // later ones take precedence
		if t, ok := d.parse(&lexer{data: rest}).(dict); ok {
			d.mergeTrailer(t)
		}
	}
	if err := d.unpack(streams); err != nil {
		return nil, err
	}
	d.findPages()
	switch {
	case d.trailer["Encrypt"] != nil:
		return nil, media.Errorf(media.CodeUnsupported, "the PDF is encrypted: save a copy without protection")
	case d.left <= 0:
		return nil, tooLarge("has more than %d values", maxValues)
	case len(d.pages) > maxPages:
		return nil, tooLarge("has more than %d pages", maxPages)
	case len(d.pages) == 0:
		return nil, media.Errorf(media.CodeCorrupt, "the PDF has no readable pages: it may be damaged; save it again")
	}
	return d, nil
}

// tooLarge returns the error of a limit.
func tooLarge(format string, limit int) error {
	return media.Errorf(media.CodeTooLarge, "the PDF "+format+", which is over the limit", limit)
}

// Pages returns the number of pages.
func (d *Document) Pages() int { return len(d.pages) }

// Title returns the title in the file's metadata, or "".
func (d *Document) Title() string {
	info, _ := d.resolve(d.trailer["Info"]).(dict)
	t, _ := d.resolve(info["Title"]).(text)
	title, _, _ := transform.Bytes(unicode.BOMOverride(charmap.ISO8859_1.NewDecoder()), t) // correct for letters; it knows all bytes
	return strings.TrimSpace(strings.ToValidUTF8(string(title), "�"))
}

// Warnings describes what could not be read so far.
func (d *Document) Warnings() []string {
	var out []string
	if d.unknown > 0 {
		out = append(out, fmt.Sprintf("%d characters are omitted, because their fonts do not map them to letters", d.unknown))
	}
	if d.damaged > 0 {
		out = append(out, fmt.Sprintf("%d damaged parts of pages were omitted", d.damaged))
	}
	return out
}

// find records the positions after "N G obj". It returns the numbers of streams that contain objects or a
// cross-reference, in file order, and the bytes of the file outside of streams. It does not look into streams of known
// length, which may contain other PDF files.
func (d *Document) find() (streams []ref, outside []byte, err error) {
	from := 0
	for i := 0; ; {
		found := bytes.Index(d.data[i:], []byte("obj"))
		if found < 0 {
			return streams, append(outside, d.data[from:]...), nil
		}
		at := i + found
		i = at + 3
		m := numberBefore.FindSubmatch(d.data[max(0, at-36):at])
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(string(m[1]))
		num := ref(n)
		if err != nil || n == 0 {
			continue
		}
		d.objects[num] = place{offset: i, order: i}
		if len(d.objects) > maxObjects {
			return nil, nil, tooLarge("has more than %d objects", maxObjects)
		}
		head, _, _ := bytes.Cut(d.data[i:min(len(d.data), i+1024)], []byte("endobj"))
		head, _, isStream := bytes.Cut(head, []byte("stream"))
		if bytes.Contains(head, []byte("/ObjStm")) || bytes.Contains(head, []byte("/XRef")) {
			streams = append(streams, num)
		}
		if m := length.FindSubmatch(head); m != nil && isStream {
			n, _ := strconv.Atoi(string(m[1])) // only digits
			if body := afterBreak(d.data[i+len(head)+len("stream"):]); endsAt(body, n) {
				outside = append(outside, d.data[from:i]...)
				i = len(d.data) - len(body) + n
				from = i
			}
		}
	}
}

// numberBefore matches the N of "N G " before obj, length the direct length in the dictionary of a stream.
var (
	numberBefore = regexp.MustCompile(`(\d{1,10})[\s\x00]{1,8}\d{1,10}[\s\x00]{0,8}$`)
	length       = regexp.MustCompile(`/Length\s+(\d{1,9})\s*[/>]`)
)

func (d *Document) mergeTrailer(t dict) {
	for _, k := range []name{"Root", "Info", "Encrypt"} {
		if v, ok := t[k]; ok && v != nil {
			d.trailer[k] = v
		}
	}
}

// unpack registers the objects in object streams.
func (d *Document) unpack(streams []ref) error {
	for _, num := range streams {
		if _, done := d.packed[num]; done {
			continue
		}
		d.packed[num] = nil
		at := d.objects[num].order
		s, ok := d.resolve(num).(stream)
		if !ok {
			continue
		}
		switch s.dict["Type"] {
		case name("XRef"):
			d.mergeTrailer(s.dict)
		case name("ObjStm"):
			b, err := d.decode(s)
			if err != nil {
				return err
			}
			d.register(num, s.dict, b, at)
		}
		if len(d.objects) > maxObjects {
			return tooLarge("has more than %d objects", maxObjects)
		}
	}
	return nil
}

// register records the objects of one stream.
func (d *Document) register(in ref, s dict, b []byte, order int) {
	begin := d.whole(s["First"], 0)
	l := lexer{data: b, left: len(b)}
	for range min(d.whole(s["N"], 0), len(b)/2+1) {
		num, ok1 := l.next().(float64)
		offset, ok2 := l.next().(float64)
		at := begin + int(offset)
		if !ok1 || !ok2 || at < 0 || at >= len(b) || num < 1 || num > 1<<31 || len(d.objects) > maxObjects {
			continue
		}
		if old, known := d.objects[ref(num)]; !known || old.order < order {
			d.objects[ref(num)] = place{offset: at, in: in, order: order}
			delete(d.cache, ref(num))
		}
	}
	d.packed[in] = b
}

// resolve follows references to a value.
func (d *Document) resolve(v any) any {
	for range maxDepth {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = d.load(r)
	}
	return nil
}

func (d *Document) load(r ref) any {
	if v, ok := d.cache[r]; ok {
		return v
	}
	p, ok := d.objects[r]
	if !ok || d.loading[r] {
		return nil
	}
	d.loading[r] = true
	defer delete(d.loading, r)
	l := lexer{data: d.data, pos: p.offset}
	if p.in != 0 {
		l.data = d.packed[p.in]
	}
	v := d.parse(&l)
	if s, ok := v.(dict); ok && p.in == 0 {
		v = d.body(&l, s)
	}
	if _, damaged := v.(keyword); damaged {
		v = nil
	}
	d.cache[r] = v
	return v
}

// parse reads a value of the file within maxValues.
func (d *Document) parse(l *lexer) any {
	at := l.pos
	l.left = d.left
	v := l.next()
	d.left = l.left - (l.pos-at)/16
	return v
}

// body returns a stream if one follows a dictionary.
func (d *Document) body(l *lexer, s dict) any {
	l.skip()
	rest, ok := bytes.CutPrefix(l.data[l.pos:], []byte("stream"))
	if !ok {
		return s
	}
	rest = afterBreak(rest)
	n := d.whole(s["Length"], -1)
	if endsAt(rest, n) {
		return stream{dict: s, raw: rest[:n]}
	}
	raw, _, _ := bytes.Cut(rest, []byte("endstream"))
	d.left -= len(raw) / 16
	return stream{dict: s, raw: raw}
}

// afterBreak returns b without the line break at its start.
func afterBreak(b []byte) []byte {
	return bytes.TrimPrefix(bytes.TrimPrefix(b, []byte("\r")), []byte("\n"))
}

// endsAt reports whether a stream ends after its first n bytes.
func endsAt(b []byte, n int) bool {
	return n >= 0 && n <= len(b) && bytes.HasPrefix(bytes.TrimLeft(b[n:min(len(b), n+20)], "\r\n \t"), []byte("endstream"))
}

// whole resolves a number, or returns otherwise if v is not one.
func (d *Document) whole(v any, otherwise int) int {
	if f, ok := d.resolve(v).(float64); ok && f > -1e9 && f < 1e9 {
		return int(f)
	}
	return otherwise
}

func (d *Document) dict(v any) dict {
	switch t := d.resolve(v).(type) {
	case dict:
		return t
	case stream:
		return t.dict
	}
	return nil
}

// findPages walks the page tree. If that yields no pages, every page object counts.
func (d *Document) findPages() {
	root := d.dict(d.trailer["Root"])
	objects := func() []ref { return slices.Sorted(maps.Keys(d.objects)) }
	if root == nil || root["Pages"] == nil {
		for _, r := range objects() {
			if root = d.dict(r); root["Type"] == name("Catalog") {
				break
			}
		}
	}
	d.walk(root["Pages"], nil, map[ref]bool{}, 0)
	if len(d.pages) > 0 {
		return
	}
	for _, r := range objects() {
		if p := d.dict(r); p["Type"] == name("Page") && len(d.pages) <= maxPages {
			d.pages = append(d.pages, page{p, d.dict(p["Resources"])})
		}
	}
}

func (d *Document) walk(v any, inherited dict, seen map[ref]bool, depth int) {
	if r, ok := v.(ref); ok {
		if seen[r] {
			return
		}
		seen[r] = true
	}
	node := d.dict(v)
	if node == nil || depth > maxDepth || len(d.pages) > maxPages {
		return
	}
	if r := d.dict(node["Resources"]); r != nil {
		inherited = r
	}
	kids, ok := d.resolve(node["Kids"]).(array)
	if !ok {
		if node["Type"] != name("Pages") {
			d.pages = append(d.pages, page{node, inherited})
		}
		return
	}
	for _, k := range kids {
		d.walk(k, inherited, seen, depth+1)
	}
}
