package wire

import (
	"bytes"
	"strings"
)

// place is the position at which a candidate begins.
type place byte

const (
	atString place = iota // at the start of a string
	atNested              // after an escaped quote, as at the start of a string in nested JSON
	atData                // after ;base64,
	atWord                // anywhere in a text
)

// candidateState describes a candidate and holds its characters back.
type candidateState struct {
	place   place
	raw     []byte // the candidate as received
	chars   int    // base64 characters in raw, without padding
	lines   lines
	pads    int
	first   [sigChars]byte // in the standard alphabet
	last    [32]byte       // the last characters, also in the standard alphabet: character n is at index n modulo 32
	classes byte           // of all characters
	media   bool           // judged to be media: declared, typed or with a signature
	piece   int            // number of characters since the last blank
	longest int            // number of characters in the longest piece without a blank
	spaced  bool           // there are blanks among the characters
	broken  bool           // it is unknown whether the item continues
	found
}

// start begins a candidate at the next byte.
func (s *scanner) start(p place) {
	c := &s.cand
	*c = candidateState{place: p, raw: c.raw[:0]}
	switch {
	case p == atNested || p == atData && s.quoted:
		c.found = s.fields.find(&s.inner)
	case p != atWord:
		c.found = s.fields.find(&s.outer)
	}
	c.lines.loose = c.kind == fieldMedia
	s.state = candidate
}

// tracker returns the tracker of the JSON that contains the candidate.
func (s *scanner) tracker() *tracker {
	if s.quoted {
		return &s.inner
	}
	return &s.outer
}

// candidate reads characters until it is known whether they are media, and returns the unread rest.
func (s *scanner) candidate(b []byte) []byte {
	c := &s.cand
	for i := 0; i < len(b); {
		ch, n, fold := b[i], 1, false
		if opens(ch) {
			var ok bool
			ch, n, fold, ok = unescape(b[i:])
			if ok && n == 0 {
				s.esc = append(s.esc, b[i:]...)
				return nil
			}
			if !ok {
				return s.endCandidate(b[i:])
			}
		}
		switch {
		case fold || !c.lines.over || c.pads > 0:
		case c.media:
			f, known := c.lines.next(b[i:], c.chars, c.classes, false)
			if !known {
				s.esc = append(s.esc, b[i:]...)
				return nil
			}
			more, _ := f.more(c.ended)
			c.lines.over = !more
		case c.kind == fieldMedia && c.lines.blank: // judge distinguishes a sentence from base64 with blanks
			c.lines.over, c.spaced, c.piece = false, true, 0
		}
		if !c.add(ch, fold) {
			return s.endCandidate(b[i:])
		}
		c.raw = append(c.raw, b[i:i+n]...)
		i += n
		undecided := c.spaced && c.chars < signedMin
		if c.chars >= sigChars && !c.media && !s.judge() && !undecided || c.chars >= signedMin && c.mixed() {
			s.spoil()
			s.flush(true)
			return b[i:]
		}
		if c.chars >= signedMin {
			return s.startRun(b[i:])
		}
	}
	return nil
}

// add counts one character or fold (a line break or a blank). It returns false if this ends the candidate.
func (c *candidateState) add(ch byte, fold bool) bool {
	switch {
	case fold:
		if c.chars == 0 {
			return c.kind == fieldMedia
		}
		if c.place == atWord && !c.media {
			return false
		}
		c.lines.fold(ch)
		c.lines.over = c.lines.over || c.pads > 0
	case c.lines.over:
		return false
	case ch == '=' && c.chars > 1:
		c.pads++
	case classes[ch] == 0 || c.pads > 0:
		return false
	default:
		c.take(ch)
	}
	return true
}

// take records one base64 character.
func (c *candidateState) take(ch byte) {
	c.classes |= classes[ch]
	switch ch {
	case '-':
		ch = '+'
	case '_':
		ch = '/'
	}
	if c.chars < sigChars {
		c.first[c.chars] = ch
	}
	c.last[c.chars%len(c.last)] = ch
	c.chars++
	c.piece++
	c.longest = max(c.longest, c.piece)
	c.lines.now++
}

// mixed reports whether the characters belong to two alphabets, which never occurs in base64.
func (c *candidateState) mixed() bool {
	return c.classes&isStdOnly != 0 && c.classes&isURLOnly != 0
}

// judge decides whether the candidate can be media. It needs sigChars characters, enough to recognize a signature.
func (s *scanner) judge() bool {
	c := &s.cand
	c.media = c.kind != fieldNever && !bytes.HasPrefix(c.first[:], []byte(familyPrefix)) && (c.declared() || s.typed() || c.signed())
	return c.media
}

// declared reports whether the field is declared to hold media and the candidate is not a sentence.
func (c *candidateState) declared() bool {
	return c.kind == fieldMedia && (!c.spaced || c.longest >= smallestFile || c.signed())
}

// typed reports whether a MIME type makes the candidate media without a signature: a media type in the data: URL before
// it, or a raw PCM type there or beside the field.
func (s *scanner) typed() bool {
	t := strings.ToLower(s.declaredType())
	return s.cand.place == atData && isMedia(t) || pcmOfType(t) != nil
}

// endCandidate ends a candidate that is shorter than signedMin. It is lifted if it is the whole string of a declared
// field, follows ";base64," in a data: URL of media, or is a complete media file.
func (s *scanner) endCandidate(rest []byte) []byte {
	c := &s.cand
	whole := c.place == atData || rest[0] == '"' || rest[0] == '\\' && c.place == atNested
	dataURL := c.place == atData && c.kind != fieldNever && (c.media || s.typed())
	if whole && c.complete() && (c.declared() || dataURL) || c.complete() && c.media && wholeFile(c.raw) {
		return s.startRun(rest)
	}
	if c.kind == fieldMedia && c.signed() && !s.ends(rest) || dataURL && rest[0] == '%' {
		return s.breakCandidate(rest)
	}
	if c.chars > 0 || !closes(rest) {
		s.spoil()
	}
	s.flush(classes[rest[0]] != 0 && !c.lines.over)
	return rest
}

// breakCandidate fails an item that begins as media and does not continue as base64.
func (s *scanner) breakCandidate(rest []byte) []byte {
	rest = s.startRun(rest)
	if s.state == run {
		s.dec.broken = true
		s.endRun(rest)
	}
	return rest
}

// flush passes the held characters to the output. inRun means that the rejected run continues.
func (s *scanner) flush(inRun bool) {
	s.state = text
	s.pass(s.cand.raw)
	s.txt.inRun = inRun
	s.cand.raw = s.cand.raw[:0]
}

// declaredType returns the declared MIME type of the candidate: that of the data: URL with which its string begins, or
// that of a field beside it.
func (s *scanner) declaredType() string {
	if s.cand.place == atData {
		u, ok := bytes.CutPrefix(s.tracker().content, []byte("data:"))
		if t, _, found := bytes.Cut(u, []byte(dataMark)); ok && found {
			return plainText(t)
		}
		return ""
	}
	return s.tracker().sibling(siblingMIME)
}

// startRun starts decoding with the held characters, and returns what remains to be scanned.
func (s *scanner) startRun(rest []byte) []byte {
	c := &s.cand
	declared := s.declaredType()
	pcm := pcmOfType(declared)
	if pcm == nil {
		pcm = c.pcm
	}
	in := s.piece(declared, pcm)
	if in == nil {
		in = s.begin(declared, pcm)
	}
	s.dec = decoder{in: in, buf: s.dec.buf, std: c.classes&isStdOnly != 0, lines: lines{loose: c.lines.loose, spaced: c.spaced}}
	s.state = run
	left := s.run(c.raw)
	if left = append(bytes.Clone(left), s.esc...); len(left) > 0 {
		rest = append(left, rest...)
	}
	s.esc = s.esc[:0]
	c.raw = c.raw[:0]
	return rest
}
