package wire

import (
	"bytes"

	"atelier/media/probe"
)

// decoder decodes the characters of one run, in chunks of any size, and records their variant.
type decoder struct {
	in     *intake
	buf    []byte
	quad   [4]byte
	n      int // number of characters in quad
	one    [1]byte
	chars  int // number of characters of the whole run, padding included
	lines  lines
	std    bool // + or / occurred in the candidate or in a group that was read character by character
	url    bool // - or _ occurred
	padded bool
	broken bool            // the item continues, but cannot be read further
	tail   [tailBytes]byte // the last bytes that were decoded from complete groups
}

// feed decodes characters up to the first that does not belong to the run, and returns their number. That character, or
// padding, ends the run.
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

// fold records a line break or a blank.
func (d *decoder) fold(c byte) {
	d.lines.fold(c)
	d.lines.over = d.lines.over || d.padded
}

// lines distinguishes folded base64 from base64 with text in the next line: all lines except the last have the same
// usual length. After any other line break and after a blank, next decides.
type lines struct {
	now, first int  // characters in this line and in the first
	folds      int  // number of line breaks after lines as long as the first
	over       bool // no characters may follow unless next allows it
	blank      bool // the last break was a blank
	loose      bool // the field is declared to hold media: lines may have any length, but contain no blanks
	spaced     bool // the item is known to contain blanks
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

// groups decodes complete groups of four characters, or completes one group.
func (d *decoder) groups(s []byte) int {
	if d.n == 0 && len(s) >= 4 {
		m := min(len(s), len(d.buf)/3*4) &^ 3
		n, err := decodeRaw(d.buf, s[:m], d.url)
		if err != nil || n != m/4*3 { // the decoder skips line breaks
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

// write stores bytes and records the last of them.
func (d *decoder) write(b []byte) {
	d.in.write(b)
	if n := len(d.tail) - len(b); n > 0 {
		copy(d.tail[:n], d.tail[len(b):])
		copy(d.tail[n:], b)
		return
	}
	copy(d.tail[:], b[len(b)-len(d.tail):])
}

// ended returns [probe.HasEnd] for the bytes so far.
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

// beforeBreak returns s up to its first line break.
func beforeBreak(s []byte) []byte {
	for _, stop := range []byte{'\n', '\r'} {
		if i := bytes.IndexByte(s, stop); i >= 0 {
			s = s[:i]
		}
	}
	return s
}

// fits reports whether c continues the run, and records its alphabet.
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

// finish decodes the last group. It returns a single character that is left over, if any.
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

// opens reports whether c may begin what unescape reads.
func opens(c byte) bool { return c == '\\' || c == '%' || c == ' ' }

// unescape decodes a JSON escape (with more backslashes in nested JSON), a percent escape or a blank. b[0] must satisfy
// opens.
//
//	n == 0 and ok: more bytes are needed
//	!ok:           not an escape that base64 can contain
//	fold:          a line break or a blank, which base64 skips; c is ' ' for a blank and a tab
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

// classes returns what is known about the alphabet of the run.
func (d *decoder) classes() (c byte) {
	if d.std {
		c |= isStdOnly
	}
	if d.url {
		c |= isURLOnly
	}
	return c
}
