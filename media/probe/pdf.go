package probe

import (
	"bytes"
	"compress/zlib"
	"io"
	"iter"

	"atelier/media"
)

const (
	// maxObjects limits the bytes read and inflated from one object stream; inflateBudget limits
	// the bytes inflated in total.
	maxObjects    = 1 << 20
	inflateBudget = 16 << 20
	// maxTrees limits how many nodes of page trees are read.
	maxTrees = 10_000
	// maxDictionary is the maximum distance at which the ends of a dictionary are searched for.
	maxDictionary = 4 << 10
)

// readPDF counts pages, best effort: from the linearisation dictionary, else from the largest count of a page tree
// (also inside compressed object streams), else by counting the page objects. ISO 32000-1, §7.7.3 and annex F.
func readPDF(s *source, f *media.Facts) {
	head := s.span(0, 2048)
	if i := bytes.Index(head, []byte("/Linearized")); i >= 0 {
		if f.Frames = numberOf(dictionary(head, i), "/N"); f.Frames > 0 {
			return
		}
	}
	if s.headOnly {
		return
	}
	t := pageTally{inflatable: inflateBudget}
	const step = 56 << 10 // spans overlap by what a dictionary may need before and after a match
	for off := int64(0); off < s.size && !s.spent && t.inflatable > 0; off += step {
		from := max(0, off-maxDictionary)
		b := s.span(from, maxSpan)
		if len(b) == 0 {
			break
		}
		lo := int(off - from)
		t.count(b, lo, lo+step)
		for _, at := range objectStreams(b, lo, lo+step) {
			t.inflate(s, from+int64(at))
		}
	}
	if s.spent || t.inflatable <= 0 {
		return // what was counted is only a part
	}
	if f.Frames = t.tree; f.Frames == 0 {
		f.Frames = t.pages
	}
}

// pageTally holds the counts so far.
type pageTally struct {
	tree       int // largest /Count of a page tree
	trees      int // nodes of page trees
	pages      int // page objects
	inflatable int // bytes that may still be inflated
}

// count counts the page objects and page tree nodes whose /Type begins between lo and hi.
func (t *pageTally) count(b []byte, lo, hi int) {
	for at := range matches(b, "/Type", lo, hi) {
		switch name := pdfName(b[at+len("/Type"):]); {
		case name == "Page":
			t.pages++
		case name == "Pages" && t.trees < maxTrees:
			t.trees++
			t.tree = max(t.tree, numberOf(dictionary(b, at), "/Count"))
		}
	}
}

// pdfName returns the name that follows white space, at most 8 letters of it.
func pdfName(b []byte) string {
	b = bytes.TrimLeft(b[:min(len(b), 32)], " \t\r\n\f\x00")
	if len(b) == 0 || b[0] != '/' {
		return ""
	}
	n := 1
	for n < len(b) && n < 9 && (b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z') {
		n++
	}
	return string(b[1:n])
}

// numberOf returns the first positive number that follows key, or 0 if there is none.
func numberOf(b []byte, key string) int {
	for {
		_, rest, ok := bytes.Cut(b, []byte(key))
		if !ok {
			return 0
		}
		digits := bytes.TrimLeft(rest[:min(len(rest), 16)], " \t\r\n\f\x00")
		n := 0
		for i := 0; i < len(digits) && i < 7 && digits[i] >= '0' && digits[i] <= '9'; i++ {
			n = n*10 + int(digits[i]-'0')
		}
		if n > 0 {
			return n
		}
		b = rest
	}
}

// matches yields the positions of word in b that are between lo and hi.
func matches(b []byte, word string, lo, hi int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := lo; at < min(hi, len(b)); at++ {
			n := bytes.Index(b[at:], []byte(word))
			if at += n; n < 0 || at >= hi || !yield(at) {
				return
			}
		}
	}
}

// objectStreams returns the offsets of the data of the object streams whose type is between lo and hi.
func objectStreams(b []byte, lo, hi int) (all []int) {
	for at := range matches(b, "/ObjStm", lo, hi) {
		near := b[at:min(len(b), at+512)]
		if j := bytes.Index(near, []byte("stream")); j >= 0 {
			data := bytes.TrimLeft(near[j+len("stream"):], "\r\n")
			all = append(all, at+len(near)-len(data))
		}
	}
	return all
}

// inflate counts the pages inside the compressed object stream at off.
func (t *pageTally) inflate(s *source, off int64) {
	if t.inflatable <= 0 {
		return
	}
	t.inflatable -= 1024 // charged even if this is not a stream
	z, err := zlib.NewReader(&sectionReader{s: s, off: off, limit: maxObjects})
	if err != nil {
		return // not compressed by deflate: its pages are not counted
	}
	b, _ := io.ReadAll(io.LimitReader(z, maxObjects)) // a truncated stream is counted as far as it can be read
	t.inflatable -= len(b)
	t.count(b, 0, len(b))
}

// dictionary returns the part of b around i that lies between << and >>.
func dictionary(b []byte, i int) []byte {
	lo, hi := max(0, i-maxDictionary), min(len(b), i+maxDictionary)
	start, depth := lo, 0
	for j := i - 1; j > lo; j-- {
		switch string(b[j-1 : j+1]) {
		case ">>":
			depth++
			j--
		case "<<":
			depth--
			j--
		}
		if depth < 0 {
			start = j
			break
		}
	}
	depth = 0
	for j := i; j+1 < hi; j++ {
		switch string(b[j : j+2]) {
		case "<<":
			depth++
			j++
		case ">>":
			depth--
			j++
		}
		if depth < 0 {
			return b[start:j]
		}
	}
	return b[start:hi]
}
