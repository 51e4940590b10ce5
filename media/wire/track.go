package wire

import (
	"bytes"
	"strings"
)

// maxDepth is the number of nested objects and arrays that a tracker records. Deeper fields have no name.
const maxDepth = 256

// maxContent is the number of bytes of a string that are kept for keys and types.
const maxContent = 96

// These are the kinds of fields whose value describes the fields beside them.
const (
	siblingNone = iota
	siblingMIME
	siblingType
	siblingIndex
)

// tracker follows the structure of JSON as far as needed to name the position of a string. In text that is not JSON,
// only the names are wrong.
type tracker struct {
	frames []frame
	names  []byte // the keys of all frames
	beyond int    // number of open frames beyond maxDepth
	last   byte   // last significant byte between strings; '"' after a string
	escape bool   // the last piece ended with a backslash
	// content is the beginning of the current string, with its escapes.
	content []byte
}

// frame is an open object or array.
type frame struct {
	array      bool
	start, end int // of its current key in names
	mime, typ  string
	index      int // value of the field index or output_index
}

func (t *tracker) reset() {
	t.frames, t.names, t.content = t.frames[:0], t.names[:0], t.content[:0]
	t.beyond, t.last, t.escape = 0, 0, false
}

// between reads the text between two strings.
func (t *tracker) between(seg []byte) {
	for _, c := range seg {
		switch {
		case t.escape: // an escaped line break or tab in nested JSON
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

// number adds a digit to the index of the innermost object, if the digit belongs to that field.
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

// add records the beginning of the current string.
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

// end ends the current string. A key names the values that follow; a type is kept for the fields beside it.
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

// plainText removes the backslashes of escaped slashes.
func plainText(b []byte) string { return strings.ReplaceAll(string(b), `\`, "") }

// sibling returns the type or MIME type that was read in the innermost object or array.
func (t *tracker) sibling(which int) string {
	if n := len(t.frames); n > 0 {
		if which == siblingMIME {
			return t.frames[n-1].mime
		}
		return t.frames[n-1].typ
	}
	return ""
}

// key returns the innermost key, ignoring arrays. It returns nil at a key itself.
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

// under reports whether the keys above the innermost one begin with parents, innermost first.
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

// path returns the position as text, such as data.b64_json.
func (t *tracker) path() string {
	var keys [][]byte
	for _, f := range t.frames {
		if !f.array {
			keys = append(keys, t.names[f.start:f.end])
		}
	}
	return string(bytes.Join(keys, []byte(".")))
}
