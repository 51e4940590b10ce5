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
		head, rest, ok := bytes.Cut(body, []byte(dataMark))
		if !ok || bytes.ContainsAny(head, "\" <>'\n") {
			return textRun{}, false
		}
		typ, body, isURL = string(head[5:]), rest, true
	}
	w := scanRun(body, 0, true)
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
	switch {
	case signed(s):
		return data || s.chars >= signedMin
	case data || quoted:
		return s.chars >= threshold && s.plausible()
	}
	return false
}

// scanRun measures the run at b[at:], over JSON escapes, and over raw line breaks and blanks
// if loose. In prose it goes on after a raw line break only where the lines are long and equal.
func scanRun(b []byte, at int, loose bool) textRun {
	w := textRun{start: at, end: at, state: candidateState{zeros: true}}
	s := &w.state
	for i := at; i < len(b); {
		ch, n, fold := b[i], 1, false
		switch {
		case ch == '\\':
			var ok bool
			if ch, n, fold, ok = unescape(b[i:]); !ok || n == 0 {
				return w
			}
		case ch == '\n' || ch == '\r' || loose && (ch == ' ' || ch == '\t'):
			fold = true
		}
		switch {
		case fold:
			if s.chars == 0 {
				return w
			}
			s.lines.fold()
			i += n
			continue // only what follows makes it part of the run
		case s.lines.over && !loose:
			return w
		case ch == '=' && s.chars > 1:
			s.pads++
		case classes[ch] == 0 || s.pads > 0:
			return w
		default:
			s.take(ch)
		}
		i += n
		w.end = i
	}
	return w
}

// percentData decodes a data: URL without base64, as SVG pictures come.
func percentData(s string) ([]byte, string, bool) {
	t := strings.TrimSpace(s)
	if len(t) < 6 || !strings.EqualFold(t[:5], "data:") {
		return nil, "", false
	}
	head, body, ok := strings.Cut(t[5:], ",")
	if !ok || strings.HasSuffix(head, ";base64") || strings.ContainsAny(head, " \"<>") {
		return nil, "", false
	}
	plain, err := url.PathUnescape(body)
	if err != nil {
		plain = body
	}
	typ, _, _ := strings.Cut(head, ";")
	return []byte(plain), typ, true
}
