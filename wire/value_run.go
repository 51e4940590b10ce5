package wire

import (
	"bytes"
	"context"
	"net/url"
	"strings"

	"atelier/probe"
)

// textRun is a run of base64 in a text.
type textRun struct {
	start, end int    // of the text that the item's token replaces
	body       []byte // the run, escapes and folds included
	typ        string
	state      candidateState
}

// storeRun decodes a run into the store.
func (c *Codec) storeRun(ctx context.Context, w textRun, o ValueOptions, n int) Lifted {
	typ := o.MIMEType
	if w.typ != "" {
		typ = w.typ
	}
	buf := c.takeBuffers()
	defer c.giveBuffers(buf)
	d := decoder{in: c.beginNth(ctx, n, typ, pcmOfType(typ)), buf: buf.bytes[:], std: w.state.classes&isStdOnly != 0}
	for body := w.body; len(body) > 0; {
		switch ch := body[0]; ch {
		case '\\':
			e, k, fold, _ := unescape(body)
			if !fold {
				d.feedByte(e)
			}
			body = body[max(k, 1):]
		case '\n', '\r', ' ', '\t':
			body = body[1:]
		default:
			k := bytes.IndexAny(body, "\\\n\r \t")
			if k < 0 {
				k = len(body)
			}
			d.feed(body[:k])
			body = body[k:]
		}
	}
	_, v := d.finish()
	l := c.end(ctx, d.in, o.Scope, n)
	if l.Err == nil {
		l.Variant, l.Token = v, c.Token(o.Scope, l.Blob, v)
	}
	l.report(collectorOf(ctx), nil)
	return l
}

// wholeValue reads a text that is one item: base64 or a base64 data: URL and nothing else.
func (c *Codec) wholeValue(b []byte, o ValueOptions) (textRun, bool) {
	body := bytes.TrimSpace(b)
	typ, isURL := "", false
	if len(body) > 5 && strings.EqualFold(string(body[:5]), "data:") {
		head, rest, _ := bytes.Cut(body, []byte(","))
		if typ, isURL = cutFold(string(head[5:]), ";base64"); !isURL || strings.ContainsAny(typ, "\" <>'\n") {
			return textRun{}, false
		}
		body = rest
	}
	w := scanRun(body, 0, o.Declared)
	w.typ = typ
	threshold := o.Threshold
	if threshold == 0 {
		threshold = c.threshold
	}
	s := &w.state
	switch {
	case w.end != len(body) || s.chars < 2 || s.chars%4 == 1 || s.mixed() || bytes.HasPrefix(body, []byte(familyPrefix)):
		return w, false
	case o.Declared, isURL && signed(s), signed(s) && s.chars >= signedMin:
	case hiddenStart(body) > 0:
		return w, false
	case s.chars >= threshold && s.plausible():
	default:
		return w, false
	}
	w.body, w.start, w.end = body, 0, len(b)
	return w, true
}

// signed tells whether a run begins like a media file.
func signed(s *candidateState) bool {
	var head [sigBytes]byte
	n := min(s.chars, sigChars) &^ 3
	k, err := decodeRaw(head[:], s.first[:n], false)
	return err == nil && probe.Media(head[:k])
}

// nextRun finds the next run at or after from that is an item.
func nextRun(b []byte, from int, o ValueOptions) (textRun, bool) {
	for i := from; i < len(b); {
		start := i
		if c, n, fold, ok := unescapeAt(b[i:]); n > 0 && (!ok || fold || c == '=') {
			i += n
			continue
		} else if n == 0 && classes[b[i]] == 0 {
			i++
			continue
		}
		data := bytes.HasSuffix(b[:start], []byte(dataMark))
		w := scanRun(b, start, false)
		if w.end <= start {
			i++
			continue
		}
		quoted := start > 0 && b[start-1] == '"' && w.end < len(b) && (b[w.end] == '"' || b[w.end] == '\\')
		if k := hiddenStart(b[start:w.end]); k > 0 && !data {
			start += k
			w = scanRun(b, start, false)
		}
		if worthLifting(b, &w, data, quoted, o.Threshold) {
			w.body = b[w.start:w.end]
			if data {
				k := dataURLStart(string(b[max(0, start-256):start]), min(start, 256))
				w.typ = strings.TrimSuffix(strings.TrimPrefix(string(b[max(0, start-256)+k:start]), "data:"), dataMark)
			}
			return w, true
		}
		i = w.end
	}
	return textRun{}, false
}

// unescapeAt is unescape for whole texts: an escape that base64 may not contain has its length
// too, and n is 0 only where there is no escape.
func unescapeAt(b []byte) (c byte, n int, fold, ok bool) {
	if b[0] != '\\' {
		return 0, 0, false, false
	}
	if c, n, fold, ok = unescape(b); ok && n > 0 {
		return c, n, fold, true
	}
	n = len(b) - len(bytes.TrimLeft(b, `\`)) + 1
	if n <= len(b) && b[n-1] == 'u' {
		n += 4
	}
	return 0, min(n, len(b)), false, false
}

// worthLifting decides on a run inside a text.
func worthLifting(b []byte, w *textRun, data, quoted bool, threshold int) bool {
	s := &w.state
	if s.mixed() || bytes.HasPrefix(b[w.start:], []byte(familyPrefix)) {
		return false
	}
	if signed(s) {
		return data || s.chars >= signedMin
	}
	return s.chars >= threshold && s.plausible() && (data || quoted || varied(b[w.start:w.end]))
}

// varied tells base64 of data from a long sequence of few letters (a genome) or of words
// drawn together: upper case, lower case and digits are all frequent in it.
func varied(run []byte) bool {
	var upper, lower, digit int
	run = run[:min(len(run), 4096)]
	for _, c := range run {
		switch {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			digit++
		}
	}
	const least = 20 // one in
	return upper*least >= len(run) && lower*least >= len(run) && digit*least >= len(run)
}

// hiddenStart finds media that a path or a name stands before, as in
// https://host/data/iVBORw0KGgo…, since '/' and '-' are base64 too. It gives where in the run
// the media begins, or 0.
func hiddenStart(run []byte) int {
	const longest = 512
	if len(run) < signedMin || probablySigned(run) {
		return 0
	}
	for i, c := range run[:min(longest, len(run)-signedMin)] {
		if (c == '/' || c == '-' || c == '_') && probablySigned(run[i+1:]) {
			return i + 1
		}
	}
	return 0
}

// scanRun measures the run at b[at:], over JSON escapes, line breaks and the blanks behind
// them, and over all blanks if loose. Else it goes on after a line break only where the lines
// are long and equal, and not into a line that begins with a word.
func scanRun(b []byte, at int, loose bool) textRun {
	w := textRun{start: at, end: at, state: candidateState{zeros: true}}
	before := w // up to the last line break
	s := &w.state
	for i := at; i < len(b); {
		ch, n, fold := b[i], 1, false
		switch {
		case ch == '\\':
			var ok bool
			if ch, n, fold, ok = unescape(b[i:]); !ok || n == 0 {
				return w
			}
		case ch == '\n' || ch == '\r', (ch == ' ' || ch == '\t') && (loose || s.lines.now == 0):
			fold = true
		}
		switch {
		case fold:
			if s.chars == 0 {
				return w
			}
			if s.lines.now > 0 {
				before = w
			}
			s.lines.fold()
			i += n
			continue // only what follows makes it part of the run
		case s.lines.over && !loose:
			return w
		case ch == '=' && s.chars > 1:
			s.pads++
		case classes[ch] == 0 || s.pads > 0:
			return w.orBefore(b, before, loose)
		default:
			s.take(ch)
		}
		i += n
		w.end = i
	}
	return w.orBefore(b, before, loose)
}

// orBefore gives back a last line that is a word, unless the run is loose.
func (w textRun) orBefore(b []byte, before textRun, loose bool) textRun {
	if loose || before.end == w.start || w.end == before.end || !isWord(b[w.end-w.state.lines.now:w.end]) {
		return w
	}
	return before
}

// isWord tells a word of prose from the short last line of folded base64.
func isWord(line []byte) bool {
	if len(line) == 0 || len(line) >= shortestFold {
		return false
	}
	for i, c := range line {
		if (c < 'a' || c > 'z') && (i > 0 || c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// percentData decodes a data: URL without base64, as SVG pictures come.
func percentData(s string) ([]byte, string, bool) {
	t := strings.TrimSpace(s)
	if len(t) < 6 || !strings.EqualFold(t[:5], "data:") {
		return nil, "", false
	}
	head, body, ok := strings.Cut(t[5:], ",")
	if _, isBase64 := cutFold(head, ";base64"); !ok || isBase64 || strings.ContainsAny(head, " \"<>") {
		return nil, "", false
	}
	plain, err := url.PathUnescape(body)
	if err != nil {
		plain = body
	}
	typ, _, _ := strings.Cut(head, ";")
	return []byte(plain), typ, true
}

// cutFold is strings.CutSuffix without regard to case.
func cutFold(s, suffix string) (before string, found bool) {
	k := len(s) - len(suffix)
	if k < 0 || !strings.EqualFold(s[k:], suffix) {
		return s, false
	}
	return s[:k], true
}
