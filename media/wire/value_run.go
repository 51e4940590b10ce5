package wire

import (
	"bytes"
	"context"
	"net/url"
	"strings"
)

// textRun is a run of base64 in a text.
type textRun struct {
	start, end int    // of the text that the token of the item replaces
	body       []byte // the run, with escapes and folds
	typ        string // of the data: URL
	url        bool   // the run is the content of a data: URL
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
	d := decoder{in: c.beginNth(ctx, n, typ, nil), buf: buf.bytes[:], std: w.state.classes&isStdOnly != 0}
	for body := w.body; len(body) > 0; {
		switch ch := body[0]; ch {
		case '\\', '%':
			e, k, fold, _ := unescape(body)
			if !fold {
				d.feedByte(e)
			}
			body = body[max(k, 1):]
		case '\n', '\r', ' ', '\t':
			body = body[1:]
		default:
			k := bytes.IndexAny(body, "\\%\n\r \t")
			if k < 0 {
				k = len(body)
			}
			d.feed(body[:k])
			body = body[k:]
		}
	}
	_, v := d.finish()
	if w.state.broken {
		d.in.fail(errPart())
	}
	l := c.end(ctx, d.in, o.Scope, n)
	if l.Err == nil {
		l.Variant, l.Token = v, c.Token(o.Scope, l.Blob, v)
	}
	l.report(collectorOf(ctx), nil)
	return l
}

// wholeValue parses a text that is one item: base64 or a base64 data: URL, between optional white space.
func wholeValue(b []byte, o ValueOptions) (textRun, bool) {
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
	w.typ, w.url = typ, isURL
	switch {
	case w.end != len(body) || !w.state.complete() || bytes.HasPrefix(body, []byte(familyPrefix)):
		return w, false
	case o.Declared:
		if words(body) {
			return w, false
		}
	case !w.state.signed() && hiddenStart(body) > 0 || !w.isItem(body, o.Threshold):
		return w, false
	}
	w.body, w.start, w.end = body, 0, len(b)
	return w, true
}

// words reports whether a text is a sentence. In folded or indented base64, the first line has at least shortestFold
// characters, and all lines except the last have the same length.
func words(body []byte) bool {
	parts := bytes.Fields(body)
	last := len(parts) - 1
	for i, part := range parts {
		if last > 0 && (len(parts[0]) < shortestFold || i < last && len(part) != len(parts[0])) {
			return true
		}
	}
	return false
}

// nextRun finds the first run at or after from that is an item.
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
		head := urlHead(b[from:start])
		w := scanRun(b, start, false)
		if w.end <= start {
			i++
			continue
		}
		if k := hiddenStart(b[start:w.end]); k > 0 && head == nil {
			w = scanRun(b, start+k, false)
		}
		if head != nil {
			w.url, w.typ = true, strings.ReplaceAll(string(head[len("data:"):len(head)-len(dataMark)]), `\`, "")
		}
		if w.isItem(b, o.Threshold) || o.tokens && bytes.HasPrefix(b[w.start:], []byte(familyPrefix)) {
			w.body = b[w.start:w.end]
			w.start -= len(head)
			return w, true
		}
		i = w.end
	}
	return textRun{}, false
}

// urlHead returns the head of a data: URL at the end of a text, such as data:image/png;base64, or nil.
func urlHead(text []byte) []byte {
	const longest = 200
	head := text[max(0, len(text)-longest):]
	if n := len(head) - len(dataMark); n < 0 || !strings.EqualFold(string(head[n:]), dataMark) {
		return nil
	}
	i := len(head) - len("data:")
	for i >= 0 && !strings.EqualFold(string(head[i:i+len("data:")]), "data:") {
		i--
	}
	if i < 0 || bytes.ContainsAny(head[i:len(head)-1], " \n\t\"'<>(),") {
		return nil
	}
	return head[i:]
}

// unescapeAt is unescape for backslash escapes in a complete text. It also returns the length of an escape that base64
// cannot contain; n is 0 only if b begins with no backslash.
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

// hiddenStart finds media that follows a path or a name in the same run, as in https://host/data/iVBORw0KGgo…, because
// '/', '-' and '_' are base64 characters too. It returns the offset of the media in the run, or 0.
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

// scanRun finds the end of the run at b[at:]. A run includes JSON escapes, line breaks and the blanks after them; a
// loose run includes all blanks and breaks. Other runs continue after a line break only if the lines are of one usual
// length or [candidateState.more] says so. A last line that is a word does not belong to them.
func scanRun(b []byte, at int, loose bool) textRun {
	w := textRun{start: at, end: at}
	before := w // w up to the last line break
	s := &w.state
	for i := at; i < len(b); {
		ch, n, fold := b[i], 1, false
		switch {
		case opens(ch):
			var ok bool
			if ch, n, fold, ok = unescape(b[i:]); !ok || n == 0 {
				return w.orBefore(b, before, loose)
			}
		case ch == '\n' || ch == '\r':
			fold = true
		case ch == '\t':
			ch, fold = ' ', true
		}
		switch {
		case fold:
			if s.chars == 0 {
				return w
			}
			if s.lines.now > 0 && ch != ' ' {
				before = w
			}
			s.lines.fold(ch)
			i += n
			continue // a fold belongs to the run only if a character follows it
		case s.lines.over && !loose && !s.more(b[i:]):
			return w.orBefore(b, before, loose)
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

// orBefore returns before, which is the run without its last line, if this line is a word. It returns w if the run is
// loose or if before is known to lack the end of its file.
func (w textRun) orBefore(b []byte, before textRun, loose bool) textRun {
	if loose || before.end == w.start || w.end == before.end || !isWord(b[w.end-w.state.lines.now:w.end]) {
		return w
	}
	if ended, known := before.state.ended(); known && !ended && lineEnds(b[w.end:]) {
		return w
	}
	return before
}

// isWord reports whether a line is a word of prose, as opposed to the short last line of folded base64.
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

// percentData decodes a data: URL of media that is not base64, as is usual for SVG pictures.
func percentData(s string) ([]byte, string, bool) {
	t := strings.TrimSpace(s)
	if len(t) < 6 || !strings.EqualFold(t[:5], "data:") {
		return nil, "", false
	}
	head, body, ok := strings.Cut(t[5:], ",")
	if _, isBase64 := cutFold(head, ";base64"); !ok || isBase64 || strings.ContainsAny(head, " \"<>") {
		return nil, "", false
	}
	if !isMedia(head) || strings.ContainsAny(body, " \n") && !strings.HasPrefix(strings.TrimSpace(body), "<svg") {
		return nil, "", false // prose
	}
	plain, err := url.PathUnescape(body)
	if err != nil {
		plain = body
	}
	typ, _, _ := strings.Cut(head, ";")
	return []byte(plain), typ, true
}

// cutFold is strings.CutSuffix that ignores case.
func cutFold(s, suffix string) (before string, found bool) {
	k := len(s) - len(suffix)
	if k < 0 || !strings.EqualFold(s[k:], suffix) {
		return s, false
	}
	return s[:k], true
}

// more reports whether the run continues after a break that usual folding does not produce.
func (c *candidateState) more(b []byte) bool {
	f, _ := c.lines.next(b, c.chars, c.classes, true)
	more, broken := f.more(c.ended)
	c.broken = broken && c.signed()
	c.lines.over = !more || c.pads > 0
	return !c.lines.over
}
