package wire

import (
	"bytes"
	"slices"

	"atelier/media"
)

// state is the part of the input that a scanner is in.
type state byte

const (
	outside   state = iota // between strings
	text                   // in a string, in text that is not base64
	candidate              // in characters that may be base64
	run                    // in base64 that is decoded into the store
	dropping               // in the rest of a failed item
	cutOff                 // after a line break inside an item
	cutLine                // in a line after that break that belongs to the item
)

const (
	// signedMin is the minimum number of characters at which undeclared base64 with a media signature is lifted.
	signedMin = 256
	// sigChars characters decode to sigBytes bytes, which are enough to recognize a signature.
	sigChars = 24
	sigBytes = 18
	// quickBytes is the length below which undeclared strings cannot be media and are passed without a scan.
	quickBytes = sigChars
)

const dataMark = ";base64,"

// scanner finds base64 media in JSON, NDJSON and server-sent events, however the input is split into chunks. Everything
// else passes byte for byte into out. A raw line feed always ends a string: JSON strings contain none, and a quote in a
// comment of an event stream or in a broken line then affects that line only.
type scanner struct {
	fields fieldSet
	begin  func(declared string, pcm *PCM) *intake
	emit   func(in *intake, v Variant, field string) string // ends an item and returns its token

	out    []byte
	state  state
	esc    []byte // bytes held back until the next chunk, such as a split escape
	folds  []byte // line breaks after a run, which may have ended
	flat   []byte // buffer for one chunk without escapes
	outer  tracker
	inner  tracker // of JSON inside a string
	nested bool    // the string contains JSON
	quoted bool    // the scanner is in a string of that JSON
	txt    textState
	cand   candidateState
	dec    decoder
	pieces []pieced // audio that arrives in pieces, in the order of the first pieces
	open   bool     // the run belongs to one of pieces
}

// feed scans one chunk of at most windowBytes.
func (s *scanner) feed(b []byte) {
	if len(s.esc) > 0 {
		b = append(append(make([]byte, 0, len(s.esc)+len(b)), s.esc...), b...)
		s.esc = s.esc[:0]
	}
	for len(b) > 0 {
		switch s.state {
		case outside:
			b = s.outside(b)
		case text:
			b = s.text(b)
		case candidate:
			b = s.candidate(b)
		case run:
			b = s.run(b)
		case dropping:
			b = s.drop(b)
		case cutOff:
			b = s.cutOff(b)
		case cutLine:
			b = s.cutLine(b)
		}
	}
}

// outside copies the input up to the next string that must be scanned. Most strings are short and plain, and are passed
// directly.
func (s *scanner) outside(b []byte) []byte {
	at := 0
	for {
		j := bytes.IndexByte(b[at:], '"')
		if j < 0 {
			s.outer.between(b[at:])
			s.out = append(s.out, b...)
			return nil
		}
		s.outer.between(b[at : at+j])
		at += j + 1
		s.outer.begin()
		n, ok := quick(b[at:])
		if !ok || n > 0 && s.declared(&s.outer) == fieldMedia {
			break
		}
		s.outer.add(b[at : at+n])
		s.outer.end()
		at += n + 1
	}
	s.out = append(s.out, b[:at]...)
	s.inner.reset()
	s.nested, s.quoted = false, false
	s.txt = textState{}
	s.start(atString)
	return b[at:]
}

func (s *scanner) declared(t *tracker) fieldKind {
	return s.fields.find(t).kind
}

// quick returns the length of a short string that cannot contain media and has no escapes.
func quick(b []byte) (int, bool) {
	for i, c := range b[:min(len(b), quickBytes)] {
		switch c {
		case '"':
			return i, true
		case '\\', '\n', '\r':
			return 0, false
		}
	}
	return 0, false
}

// run decodes the characters of the run and ends the run where something else follows. Usually all of b is base64
// without escapes, which the decoder detects by itself.
func (s *scanner) run(b []byte) []byte {
	if !s.dec.lines.over && bytes.IndexByte(b, '\\') < 0 {
		b = b[s.dec.feed(b):]
	}
	if len(b) == 0 {
		return nil
	}
	seg := b
	if i := bytes.IndexByte(seg, '"'); i >= 0 {
		seg = seg[:i]
	}
	seg = beforeBreak(seg)
	used, done := 0, len(seg) < len(b)
	for used < len(seg) {
		if s.dec.lines.over && !s.dec.padded && !opens(seg[used]) {
			f, known := s.dec.lines.next(b[used:], s.dec.chars, s.dec.classes(), false)
			if !known {
				s.esc = append(s.esc, b[used:]...)
				return nil
			}
			var more bool
			more, s.dec.broken = f.more(s.dec.ended)
			s.dec.lines.over = !more
		}
		n, more := s.runPart(seg[used:], done)
		if used += n; !more {
			done = true
			break
		}
		if len(s.esc) > 0 {
			return nil
		}
	}
	if !done {
		return nil
	}
	s.endRun(b[used:])
	return b[used:]
}

// runPart reads one escape, or the characters before the next escape. more is false at the end of the run. last means
// that part is the end of its string.
func (s *scanner) runPart(part []byte, last bool) (used int, more bool) {
	if !opens(part[0]) {
		if s.dec.lines.over {
			return 0, false
		}
		if i := bytes.IndexByte(part, '\\'); i >= 0 {
			used = s.runSlashes(part, i)
		} else {
			used = s.dec.feed(part)
		}
		return used, used == len(part) || used > 0 && opens(part[used])
	}
	c, n, fold, ok := unescape(part)
	switch {
	case ok && n == 0 && !last:
		s.esc = append(s.esc, part...)
		return len(part), true
	case !ok || n == 0:
		return 0, false
	case fold:
		s.folds = append(s.folds, part[:n]...)
		if s.dec.fold(c); !s.dec.lines.over {
			s.folds = s.folds[:0]
		}
		return n, true
	case s.dec.lines.over || !s.dec.feedByte(c):
		return 0, false
	}
	return n, true
}

// runSlashes decodes a part at once: its first escape is at i, and escaped slashes that follow are included.
func (s *scanner) runSlashes(part []byte, i int) (used int) {
	flat := append(slices.Grow(s.flat[:0], len(part)), part[:i]...)
	s.flat = flat
	for i+1 < len(part) && part[i] == '\\' && part[i+1] == '/' {
		next := bytes.IndexByte(part[i+1:], '\\')
		if next < 0 {
			next = len(part) - i - 1
		}
		flat = append(flat, part[i+1:i+1+next]...)
		i += 1 + next
	}
	n := s.dec.feed(flat)
	if n == len(flat) {
		return i
	}
	for ; n > 0; n-- { // the run ended inside the part: count the bytes that belong to it
		if part[used] == '\\' {
			used++
		}
		used++
	}
	return used
}

// endRun replaces the item by its token; rest is the input after the run. A raw line break inside a string means that
// the item was cut off. Line breaks between the item and the end of the string belong to the item. If the item fails
// because other text follows in its string, that text belongs to it too.
func (s *scanner) endRun(rest []byte) {
	left, v := s.dec.finish()
	after := text
	switch {
	case len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r'):
		after = cutOff
		s.dec.in.fail(media.Errorf(media.CodeBadResponse, "the media item was cut off by a line break"))
	case s.partOnly(rest):
		after = dropping
		s.dec.in.fail(errPart())
	}
	token := ""
	if !s.open {
		token = s.emit(s.dec.in, v, s.tracker().path())
	}
	s.dec.in = nil
	s.state = after
	s.txt = textState{}
	s.out = append(s.out, token...)
	if after == text {
		s.out = append(s.out, left...)
		if !closes(rest) {
			s.pass(s.folds)
		}
	}
	s.folds = s.folds[:0]
}

// errPart returns the error of an item of which only a part can be read.
func errPart() error {
	return media.Errorf(media.CodeBadResponse, "the media item continues with text that is not base64: an incomplete item is not accepted")
}

// partOnly reports whether the text after a run belongs to the same item: anything but the end of the string in a field
// that is declared to hold media, or a percent sign that is not an escape of a base64 character.
func (s *scanner) partOnly(rest []byte) bool {
	return s.dec.broken || s.cand.kind == fieldMedia && !s.ends(rest) || !closes(rest) && rest[0] == '%'
}

// ends reports whether the string of a declared field ends here. An escaped quote is part of the string.
func (s *scanner) ends(rest []byte) bool {
	slashes := len(rest) - len(bytes.TrimLeft(rest, `\`))
	return closes(rest) && (s.quoted || slashes%2 == 0)
}

// closes reports whether a string ends here.
func closes(rest []byte) bool {
	quote := bytes.TrimLeft(rest, `\`)
	return len(quote) == 0 || quote[0] == '"'
}

// end handles the end of the source. It reports whether the source ended inside media.
func (s *scanner) end() (truncated bool) {
	switch {
	case s.state == run:
		return true
	case s.state == candidate && s.cand.media:
		s.cand.raw = s.cand.raw[:0]
		return true
	case s.state == candidate:
		s.flush(false)
	}
	s.out = append(s.out, s.esc...)
	s.esc = s.esc[:0]
	return false
}

// abort discards an incomplete item, and audio whose pieces are not complete.
func (s *scanner) abort() {
	if s.dec.in != nil {
		s.dec.in.abort()
		s.dec.in = nil
	}
	for _, p := range s.pieces {
		p.in.abort()
	}
	s.pieces = nil
	s.state = outside
}
