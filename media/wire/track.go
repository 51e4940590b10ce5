package wire

import (
	"bytes"
	"strings"
)

// maxDepth bounds what a tracker remembers; deeper places have no name.
const maxDepth = 256

// maxContent is how much of a string is remembered for keys and types.
const maxContent = 96

// Siblings whose value tells what a string beside them is.
const (
	siblingNone = iota
	siblingMIME
	siblingType
	siblingIndex
)

// tracker follows the structure of JSON between strings, as far as it is needed to
// name the place of a string. Text that is not JSON only makes the names wrong.
type tracker struct {
	frames []frame
	names  []byte // the keys of all frames
	beyond int    // frames deeper than maxDepth
	last   byte   // last significant byte between strings; '"' after one
	escape bool   // a backslash ended the last piece
	// content is the beginning of the current string, as it stands there.
	content []byte
}

// frame is an open object or array.
type frame struct {
	array      bool
	start, end int // its current key in names
	mime, typ  string
	index      int // which choice, or output, this is
}

func (t *tracker) reset() {
	t.frames, t.names, t.content = t.frames[:0], t.names[:0], t.content[:0]
	t.beyond, t.last, t.escape = 0, 0, false
}

// between reads what stands between two strings.
func (t *tracker) between(seg []byte) {
	for _, c := range seg {
		switch {
		case t.escape: // a line break in nested JSON
			t.escape = false
			continue
		case c == '\\':
			t.escape = true
			continue
		case c == '{' || c == '[':
			t.push(c == '[')
		case c == '}' || c == ']':
			t.pop()
		case c >= '0' && c <= '9':
			t.number(int(c - '0'))
		case c <= ' ':
			continue
		}
		t.last = c
	}
}

// number reads a digit of a value, if it is the index of the object.
func (t *tracker) number(digit int) {
	if n := len(t.frames); n > 0 && !t.frames[n-1].array && t.beyond == 0 {
		if f := &t.frames[n-1]; siblingOf(t.names[f.start:f.end]) == siblingIndex {
			f.index = f.index*10 + digit
		}
	}
}

func (t *tracker) push(array bool) {
	if len(t.frames) == maxDepth {
		t.beyond++
		return
	}
	t.frames = append(t.frames, frame{array: array, start: len(t.names), end: len(t.names)})
}

func (t *tracker) pop() {
	switch n := len(t.frames); {
	case t.beyond > 0:
		t.beyond--
	case n > 0:
		t.names = t.names[:t.frames[n-1].start]
		t.frames = t.frames[:n-1]
	}
}

// begin starts a string.
func (t *tracker) begin() { t.content = t.content[:0] }

// add remembers the beginning of the current string.
func (t *tracker) add(p []byte) {
	if room := maxContent - len(t.content); room > 0 {
		t.content = append(t.content, p[:min(room, len(p))]...)
	}
}

// atKey reports whether the string that begins or ends here is an object's key.
func (t *tracker) atKey() bool {
	n := len(t.frames)
	return n > 0 && !t.frames[n-1].array && (t.last == '{' || t.last == ',')
}

// end finishes the current string: a key names the place of what follows, a type is
// remembered for its siblings.
func (t *tracker) end() {
	n := len(t.frames)
	if n > 0 && t.beyond == 0 && len(t.content) < maxContent {
		f := &t.frames[n-1]
		switch {
		case t.atKey():
			t.names = append(t.names[:f.start], t.content...)
			f.end = len(t.names)
		case !f.array:
			t.remember(f)
		}
	}
	t.last = '"'
}

func (t *tracker) remember(f *frame) {
	switch siblingOf(t.names[f.start:f.end]) {
	case siblingMIME:
		f.mime = plainText(t.content)
	case siblingType:
		f.typ = plainText(t.content)
	}
}

func siblingOf(key []byte) int {
	switch string(key) {
	case "mimeType", "mime_type", "media_type", "mediaType":
		return siblingMIME
	case "type":
		return siblingType
	case "index", "output_index":
		return siblingIndex
	}
	return siblingNone
}

// plainText drops the backslashes of escaped slashes.
func plainText(b []byte) string { return strings.ReplaceAll(string(b), `\`, "") }

// sibling returns a remembered value of the innermost object.
func (t *tracker) sibling(which int) string {
	if n := len(t.frames); n > 0 {
		if which == siblingMIME {
			return t.frames[n-1].mime
		}
		return t.frames[n-1].typ
	}
	return ""
}

// key is the innermost key, arrays omitted; empty for keys themselves.
func (t *tracker) key() []byte {
	if t.atKey() || t.beyond > 0 {
		return nil
	}
	for i := len(t.frames) - 1; i >= 0; i-- {
		if f := t.frames[i]; !f.array {
			return t.names[f.start:f.end]
		}
	}
	return nil
}

// under reports whether the keys above the innermost one are these, inside out.
func (t *tracker) under(parents []string) bool {
	inner := true
	for i := len(t.frames) - 1; i >= 0 && len(parents) > 0; i-- {
		f := t.frames[i]
		switch {
		case f.array:
		case inner:
			inner = false
		case string(t.names[f.start:f.end]) != parents[0]:
			return false
		default:
			parents = parents[1:]
		}
	}
	return len(parents) == 0
}

// path names the place for people: data.b64_json.
func (t *tracker) path() string {
	var keys [][]byte
	for _, f := range t.frames {
		if !f.array {
			keys = append(keys, t.names[f.start:f.end])
		}
	}
	return string(bytes.Join(keys, []byte(".")))
}
