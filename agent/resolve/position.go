package resolve

import (
	"bytes"
	"io"
)

// tailWriter tracks the position of the end of an HTML or Markdown text.
type tailWriter struct {
	w    io.Writer
	last [2]byte
	tags tagTracker
	// opaque is set while one long address is written: no tag opens or closes in it.
	opaque bool
}

func (t *tailWriter) Write(b []byte) (int, error) {
	switch n := len(b); {
	case n >= 2:
		t.last = [2]byte{b[n-2], b[n-1]}
	case n == 1:
		t.last = [2]byte{t.last[1], b[0]}
	}
	if !t.opaque {
		t.tags.read(b)
	}
	return t.w.Write(b)
}

// inAddress reports whether the next text is in the position of an address: after =" or =' or = in
// a tag, or after ]( in Markdown.
func (t *tailWriter) inAddress() bool {
	a, b := t.last[0], t.last[1]
	if a == ']' && b == '(' {
		return true
	}
	return t.tags.inside && (b == '=' || a == '=' && (b == '"' || b == '\''))
}

// tagTracker tracks whether the end of the text read so far is inside an HTML tag.
type tagTracker struct {
	inside bool
	// opened is set if the last byte was a <, which opens a tag if a letter follows.
	opened bool
	// quote is the quotation mark of the open attribute value; 0 if none is open.
	quote byte
	// word is the last non-blank byte of the tag.
	word byte
}

func (t *tagTracker) read(b []byte) {
	for len(b) > 0 {
		if !t.inside && !t.opened {
			i := bytes.IndexByte(b, '<')
			if i < 0 {
				return
			}
			t.opened, b = true, b[i+1:]
			continue
		}
		t.next(b[0])
		b = b[1:]
	}
}

// next reads one byte at the beginning of or inside a tag.
func (t *tagTracker) next(c byte) {
	switch {
	case t.opened:
		t.opened = c == '<'
		t.inside = c|0x20 >= 'a' && c|0x20 <= 'z'
	case t.quote != 0:
		if c == t.quote {
			t.quote = 0
		}
	case c == '>':
		t.inside = false
	case (c == '"' || c == '\'') && t.word == '=':
		t.quote = c
	}
	if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
		t.word = c
	}
}
