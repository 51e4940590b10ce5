package wire

import "atelier/media/probe"

// This file decides what follows a line break or a blank that usual folding of base64 does not produce: more of the
// item, or text.

// follows is what comes after a break.
type follows byte

const (
	textFollows  follows = iota
	wordFollows          // a line that may be a word or more of the item
	shortFollows         // a short line of base64: the last line of the item, or a size or a name
	innerFollows         // a short line of base64 with a long line after it
	moreFollows
)

// tailBytes is the number of bytes at the end of a file that are enough to recognize its end mark.
const tailBytes = 16

// next classifies b, which follows a break in an item of had characters with these classes. It is more of the item if
// it begins with sigChars characters of base64 that do not begin another item (after a blank, with a capital letter
// among them), or if it is a last line that completes the item and is not a word. A last line after a blank or after a
// single line must also be padded, because it may be a name or a size. known is false if more bytes are needed; last
// means that b is all there is.
func (l lines) next(b []byte, had int, classes byte, last bool) (f follows, known bool) {
	c, n, known := readLine(b, last)
	if !known {
		return textFollows, false
	}
	c.classes |= classes
	switch {
	case c.chars == sigChars && (c.mixed() || c.signed() || l.blank && !c.upper()):
		return textFollows, true
	case c.chars == sigChars:
		return moreFollows, true
	case c.chars == 0 || !lineEnds(b[n:]):
		return textFollows, true
	}
	whole, word := (had+c.chars+c.pads)%4 == 0, isWord(b[:n])
	switch {
	case whole && !word && (c.pads > 0 || !l.blank && l.folds > 1):
		return moreFollows, true
	case l.blank || c.pads > 0 || c.mixed():
		return textFollows, true
	case word:
		return wordFollows, true
	}
	skip, known := skipFolds(b[n:], last)
	if !known {
		return textFollows, false
	}
	behind, _, known := readLine(b[n+skip:], last)
	if behind.classes |= c.classes; skip > 0 && behind.chars == sigChars && !behind.mixed() && !behind.signed() {
		return innerFollows, known
	}
	return shortFollows, known
}

// more decides whether the item continues. If the kind of the line leaves this open, it continues unless the file so
// far has its end. If the end cannot be determined, it continues only before a long line, and broken means that a short
// line may or may not belong to it.
func (f follows) more(end func() (ended, known bool)) (more, broken bool) {
	if f == textFollows || f == moreFollows {
		return f == moreFollows, false
	}
	if ended, known := end(); known {
		return !ended, false
	}
	return f == innerFollows, f == shortFollows
}

// readLine reads up to sigChars characters of base64. n is the position after them.
func readLine(b []byte, last bool) (c candidateState, n int, known bool) {
	for n < len(b) && b[n] != '"' && c.chars < sigChars {
		ch, k := b[n], 1
		if opens(ch) {
			var fold, ok bool
			if ch, k, fold, ok = unescape(b[n:]); ok && k == 0 && !last {
				return c, n, false
			} else if !ok || k == 0 || fold {
				return c, n, true
			}
		}
		if !c.add(ch, false) {
			return c, n, true
		}
		n += k
	}
	return c, n, last || n < len(b) || c.chars == sigChars
}

// lineEnds reports whether a line, or the whole text, ends before b.
func lineEnds(b []byte) bool {
	return len(b) == 0 || b[0] == '"' || b[0] == '\\' || b[0] == '\n' || b[0] == '\r'
}

// skipFolds returns the number of bytes of line breaks and blanks at the start of b.
func skipFolds(b []byte, last bool) (n int, known bool) {
	for n < len(b) {
		k := 1
		switch ch := b[n]; {
		case opens(ch):
			_, used, fold, ok := unescape(b[n:])
			if ok && used == 0 && !last {
				return n, false
			}
			if !ok || !fold {
				return n, true
			}
			k = used
		case ch != '\n' && ch != '\r' && ch != '\t':
			return n, true
		}
		n += k
	}
	return n, last
}

// upper reports whether there is a capital letter among the first characters.
func (c *candidateState) upper() bool {
	for _, ch := range c.first[:min(c.chars, sigChars)] {
		if ch >= 'A' && ch <= 'Z' {
			return true
		}
	}
	return false
}

// ended returns [probe.HasEnd] for the characters so far.
func (c *candidateState) ended() (ended, known bool) {
	var head [sigBytes]byte
	h, _ := decodeRaw(head[:], c.first[:min(c.chars, sigChars)&^3], false)
	n := c.chars
	if n%4 == 1 {
		n--
	}
	var flat [tailBytes/3*4 + 4]byte
	from := max(0, n&^3-tailBytes/3*4)
	for i := from; i < n; i++ {
		flat[i-from] = c.last[i%len(c.last)]
	}
	var tail [len(flat)]byte
	t, _ := decodeRaw(tail[:], flat[:n-from], false)
	return probe.HasEnd(head[:h], tail[:t], int64(n)*3/4)
}
