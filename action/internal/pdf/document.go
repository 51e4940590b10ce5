// Package pdf reads the text of PDF files: cross-reference streams, object streams, the common filters, simple and
// composite fonts with their Unicode maps, form objects. It draws nothing, runs nothing and follows no link.
//
// It does not trust the file: it finds objects by searching for them, so that a damaged cross-reference table does no
// harm, and limits the cost of a file with [maxDecoded], [maxObjects], [maxPages] and [maxOperators].
//
// Errors are media.Error values: [media.CodeCorrupt] for files without readable pages, [media.CodeUnsupported] for
// encrypted files, [media.CodeTooLarge] beyond the limits. It imports media, golang.org/x/image (LZW) and
// golang.org/x/text (character sets).
package pdf

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

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
)

// Document is a PDF whose text can be read. It is not safe for concurrent use.
type Document struct {
	data    []byte
	objects map[ref]place
	cache   map[ref]any
	packed  map[ref][]byte // decoded object streams
	trailer dict
	pages   []page
	fonts   map[ref]*font

	loading   map[ref]bool // objects being read: their own parts must not need them
	decoded   int          // bytes so far, at most maxDecoded
	operators int          // so far, at most maxOperators
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
		fonts: map[ref]*font{}, loading: map[ref]bool{},
	}
	streams, err := d.find()
	if err != nil {
		return nil, err
	}
	_, rest, found := bytes.Cut(data, []byte("trailer"))
	for ; found; _, rest, found = bytes.Cut(rest, []byte("trailer")) { // later ones take precedence
		l := lexer{data: rest}
		if t, ok := l.next().(dict); ok {
			d.mergeTrailer(t)
		}
	}
	if err := d.unpack(streams); err != nil {
		return nil, err
	}
	if d.trailer["Encrypt"] != nil {
		return nil, media.Errorf(media.CodeUnsupported, "the PDF is encrypted: save a copy without protection")
	}
	d.findPages()
	if len(d.pages) == 0 {
		return nil, media.Errorf(media.CodeCorrupt, "the PDF has no readable pages: it may be damaged; save it again")
	}
	return d, nil
}

// Pages returns the number of pages.
func (d *Document) Pages() int { return len(d.pages) }

// Title returns the title in the file's metadata, or "".
func (d *Document) Title() string {
	info, _ := d.resolve(d.trailer["Info"]).(dict)
	t, _ := d.resolve(info["Title"]).(text)
	switch {
	case bytes.HasPrefix(t, []byte("\xfe\xff")):
		return strings.TrimSpace(utf16Text(t[2:]))
	case bytes.HasPrefix(t, []byte("\xef\xbb\xbf")):
		return strings.TrimSpace(strings.ToValidUTF8(string(t[3:]), "�"))
	}
	var latin1 strings.Builder // which is correct for letters
	for _, c := range t {
		latin1.WriteRune(charmap.ISO8859_1.DecodeByte(c))
	}
	return strings.TrimSpace(latin1.String())
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

// find records the positions after "N G obj" and returns the numbers of streams that contain objects or a
// cross-reference, in file order.
func (d *Document) find() ([]ref, error) {
	var streams []ref
	for i := 0; ; {
		found := bytes.Index(d.data[i:], []byte("obj"))
		if found < 0 {
			return streams, nil
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
			return nil, media.Errorf(media.CodeTooLarge, "the PDF has more than %d objects, which is over the limit", maxObjects)
		}
		head := d.data[i:min(len(d.data), i+1024)]
		if end := bytes.Index(head, []byte("stream")); end >= 0 {
			head = head[:end]
		}
		if bytes.Contains(head, []byte("/ObjStm")) || bytes.Contains(head, []byte("/XRef")) {
			streams = append(streams, num)
		}
	}
}

// numberBefore matches the N of "N G " before obj.
var numberBefore = regexp.MustCompile(`(\d{1,10})[\s\x00]{1,8}\d{1,10}[\s\x00]{0,8}$`)

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
			return media.Errorf(media.CodeTooLarge, "the PDF has more than %d objects, which is over the limit", maxObjects)
		}
	}
	return nil
}

// register records the objects of one stream.
func (d *Document) register(in ref, s dict, b []byte, order int) {
	begin := d.whole(s["First"], 0)
	l := lexer{data: b}
	for range min(d.whole(s["N"], 0), len(b)/2+1) {
		num, ok1 := l.next().(float64)
		offset, ok2 := l.next().(float64)
		at := begin + int(offset)
		if !ok1 || !ok2 || at < 0 || at >= len(b) || num < 1 || num > 1<<31 {
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
		l = lexer{data: d.packed[p.in], pos: p.offset}
	}
	v := l.next()
	if s, ok := v.(dict); ok && p.in == 0 {
		v = d.body(&l, s)
	}
	if _, damaged := v.(keyword); damaged {
		v = nil
	}
	d.cache[r] = v
	return v
}

// body returns a stream if one follows a dictionary.
func (d *Document) body(l *lexer, s dict) any {
	l.skip()
	if !bytes.HasPrefix(l.data[l.pos:], []byte("stream")) {
		return s
	}
	from := l.pos + len("stream")
	if from < len(l.data) && l.data[from] == '\r' {
		from++
	}
	if from < len(l.data) && l.data[from] == '\n' {
		from++
	}
	rest := l.data[min(from, len(l.data)):]
	n := d.whole(s["Length"], -1)
	if n >= 0 && n <= len(rest) && bytes.HasPrefix(bytes.TrimLeft(rest[n:min(len(rest), n+20)], "\r\n \t"), []byte("endstream")) {
		return stream{dict: s, raw: rest[:n]}
	}
	if n = bytes.Index(rest, []byte("endstream")); n < 0 {
		n = len(rest)
	}
	return stream{dict: s, raw: rest[:n]}
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
	objects := func() []ref {
		return slices.SortedFunc(maps.Keys(d.objects), func(a, b ref) int { return cmp.Compare(a, b) })
	}
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
		if p := d.dict(r); p["Type"] == name("Page") && len(d.pages) < maxPages {
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
	if node == nil || depth > maxDepth || len(d.pages) >= maxPages {
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
