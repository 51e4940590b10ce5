package wire

import (
	"bytes"

	"atelier/media/probe"
)

// decoder turns the characters of one run into bytes, at any chunking, and remembers
// their variant.
type decoder struct {
	in     *intake
	buf    []byte
	quad   [4]byte
	n      int // characters in quad
	one    [1]byte
	chars  int // of the whole run, padding too
	lines  lines
	std    bool // + or / was seen at the start
	url    bool // - or _ was seen
	padded bool
	broken bool            // it continues, and cannot be read on
	tail   [tailBytes]byte // the last bytes of whole groups
}

// feed takes characters up to the first that does not belong to the run, and says
// how many. After that, or after padding, the run has ended.
func (d *decoder) feed(s []byte) int {
	took := 0
	for took < len(s) && !d.padded {
		n := d.groups(s[took:])
		took += n
		if n == 0 {
			break
		}
	}
	for took < len(s) && s[took] == '=' {
		d.padded = true
		took++
	}
	d.lines.now += took
	d.chars += took
	return took
}

// fold takes a line break, or a blank.
func (d *decoder) fold(c byte) {
	d.lines.fold(c)
	d.lines.over = d.lines.over || d.padded
}

// lines tells folded base64 from base64 with a text in the next line: all lines are of one
// usual length, save the last. Behind any other break, and behind a blank, goesOn decides.
type lines struct {
	now, first int  // characters in this line and in the first
	folds      int  // line breaks behind lines of the first one's length
	over       bool // no more characters may follow
	blank      bool // the last break was a blank
	loose      bool // the field is declared to hold media: lines have any length, but no blanks
	spaced     bool // blanks are known to stand in it
}

const (
	shortestFold = 16
	longestFold  = 128
)

func (l *lines) fold(c byte) {
	switch {
	case l.now == 0: // the second half of a line break, or blanks before a line
		return
	case c == ' ' && l.spaced:
		return
	case c == ' ':
		l.over, l.blank = true, true
		return
	case l.loose:
	case l.first == 0:
		l.first, l.folds = l.now, 1
		l.over = l.now < shortestFold || l.now > longestFold
	case l.now == l.first:
		l.folds++
		l.over = false
	default:
		l.over = true
	}
	l.now, l.blank = 0, false
}

// feedByte is feed for one character that was escaped.
func (d *decoder) feedByte(c byte) bool {
	d.one[0] = c
	return d.feed(d.one[:]) == 1
}

// groups takes whole groups of four, or as much as one group needs.
func (d *decoder) groups(s []byte) int {
	if d.n == 0 && len(s) >= 4 {
		m := min(len(s), len(d.buf)/3*4) &^ 3
		n, err := decodeRaw(d.buf, s[:m], d.url)
		if err != nil || n != m/4*3 { // it skips line breaks
			m = len(beforeBreak(s[:m])) &^ 3
			n, err = decodeRaw(d.buf, s[:m], d.url)
		}
		if err != nil {
			n, m = n/3*3, n/3*4
		}
		d.write(d.buf[:n])
		if m > 0 {
			return m
		}
	}
	took := 0
	for took < len(s) && d.n < 4 && d.fits(s[took]) {
		d.quad[d.n] = s[took]
		d.n++
		took++
	}
	if d.n == 4 {
		n, err := decodeRaw(d.buf, d.quad[:], d.url)
		if err != nil {
			n = 0
		}
		d.write(d.buf[:n])
		d.n = 0
	}
	return took
}

// write stores bytes and remembers the last of them.
func (d *decoder) write(b []byte) {
	d.in.write(b)
	if n := len(d.tail) - len(b); n > 0 {
		copy(d.tail[:n], d.tail[len(b):])
		copy(d.tail[n:], b)
		return
	}
	copy(d.tail[:], b[len(b)-len(d.tail):])
}

// ended is [probe.HasEnd] of the bytes so far.
func (d *decoder) ended() (ended, known bool) {
	if d.in.w == nil {
		return false, false
	}
	var group [3]byte
	n := 0
	if d.n > 1 {
		n, _ = decodeRaw(group[:], d.quad[:d.n], d.url)
	}
	return probe.HasEnd(d.in.w.Head(), append(d.tail[:], group[:n]...), d.in.size+int64(n))
}

// beforeBreak is s up to its first line break.
func beforeBreak(s []byte) []byte {
	for _, stop := range []byte{'\n', '\r'} {
		if i := bytes.IndexByte(s, stop); i >= 0 {
			s = s[:i]
		}
	}
	return s
}

// fits reports whether c continues the run, and settles the alphabet.
func (d *decoder) fits(c byte) bool {
	switch class := classes[c]; {
	case class == 0:
		return false
	case class&isURLOnly != 0:
		if d.std {
			return false
		}
		d.url = true
	case class&isStdOnly != 0:
		if d.url {
			return false
		}
		d.std = true
	}
	return true
}

// finish decodes the last group and gives a character that is left over, if any.
func (d *decoder) finish() (left []byte, v Variant) {
	if d.n > 1 {
		if n, err := decodeRaw(d.buf, d.quad[:d.n], d.url); err == nil {
			d.write(d.buf[:n])
		}
	} else if d.n == 1 {
		left = bytes.Clone(d.quad[:1])
	}
	return left, variantOf(d.url, d.padded || d.in.size%3 == 0)
}

// opens reports whether c may begin what [unescape] reads.
func opens(c byte) bool { return c == '\\' || c == '%' || c == ' ' }

// unescape decodes one JSON escape, in nested JSON with more backslashes, one of a URL, or a
// blank, where b[0] [opens] one.
//
//	n == 0, ok: more bytes are needed; !ok: it is none that base64 may contain.
//	fold: a line break or a blank (then c is ' '), which base64 skips.
func unescape(b []byte) (c byte, n int, fold, ok bool) {
	switch b[0] {
	case ' ':
		return ' ', 1, true, true
	case '%':
		return unescapePercent(b)
	}
	i := 1
	for i < len(b) && b[i] == '\\' {
		i++
	}
	if i == len(b) {
		return 0, 0, false, i < 8
	}
	switch b[i] {
	case '/':
		return '/', i + 1, false, true
	case 'n', 'r':
		return 0, i + 1, true, true
	case 't':
		return ' ', i + 1, true, true
	case 'u':
		return unescapeUnicode(b[i:], i)
	}
	return 0, 0, false, false
}

// unescapeUnicode decodes uXXXX after i backslashes.
func unescapeUnicode(b []byte, i int) (c byte, n int, fold, ok bool) {
	if len(b) < 5 {
		return 0, 0, false, bytes.HasPrefix([]byte("u00"), b[:min(len(b), 3)])
	}
	switch string(bytes.ToLower(b[1:5])) {
	case "002b":
		return '+', i + 5, false, true
	case "002d":
		return '-', i + 5, false, true
	case "002f":
		return '/', i + 5, false, true
	case "003d":
		return '=', i + 5, false, true
	case "005f":
		return '_', i + 5, false, true
	case "000a", "000d":
		return 0, i + 5, true, true
	}
	return 0, 0, false, false
}

// unescapePercent decodes %XX.
func unescapePercent(b []byte) (c byte, n int, fold, ok bool) {
	if len(b) < 3 {
		return 0, 0, false, len(b) == 1 || b[1] == '2' || b[1] == '3' || b[1] == '0'
	}
	switch string(bytes.ToUpper(b[1:3])) {
	case "2B":
		return '+', 3, false, true
	case "2F":
		return '/', 3, false, true
	case "3D":
		return '=', 3, false, true
	case "0A", "0D":
		return 0, 3, true, true
	case "20":
		return ' ', 3, true, true
	}
	return 0, 0, false, false
}

// classes tells what is known of the run's alphabet.
func (d *decoder) classes() (c byte) {
	if d.std {
		c |= isStdOnly
	}
	if d.url {
		c |= isURLOnly
	}
	return c
}
