package wire

import (
	"bytes"
	"slices"

	"atelier/media"
)

// What a scanner is inside of.
type state byte

const (
	outside   state = iota // between strings
	text                   // in a string, not at a place where base64 may begin
	candidate              // looking at what may be base64
	run                    // decoding into the store
	dropping               // in the rest of an item that failed
	cutOff                 // behind a line break in the middle of an item
	cutLine                // in a line behind that break which belongs to the item
)

const (
	// signedMin is the number of characters from which an undeclared string with a media
	// signature is lifted.
	signedMin = 256
	// sigChars decode to sigBytes, which is enough to know a signature.
	sigChars = 24
	sigBytes = 18
	// quickBytes: shorter undeclared strings cannot be media and take a short cut.
	quickBytes = sigChars
)

const dataMark = ";base64,"

// scanner finds base64 media in JSON, NDJSON and server-sent events, at any
// chunking. Everything else passes byte for byte into out. A raw line break always means
// "not in a string", which no JSON contradicts and which keeps comments of event
// streams and broken lines from doing harm.
type scanner struct {
	fields fieldSet
	begin  func(declared string, pcm *PCM) *intake
	emit   func(in *intake, v Variant, field string) string // ends an item, gives its token

	out    []byte
	state  state
	esc    []byte // an escape that the chunk's end cut
	folds  []byte // line breaks after a run that may be its end
	flat   []byte // room for one chunk without escapes
	outer  tracker
	inner  tracker // in JSON that is in a string
	nested bool    // the string holds JSON
	quoted bool    // in a string of that JSON
	txt    textState
	cand   candidateState
	dec    decoder
	pieces []pieced // sounds that come in pieces, in the order of their first
	open   bool     // the run belongs to one of them
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

// outside copies up to the next string that needs a look. Short plain strings are
// passed in one go, for most strings are.
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

// quick finds the end of a short string that cannot hold media and has no escapes.
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

// run decodes what belongs to the run and ends it where something else follows. Most often all of
// b is base64 without escapes: the decoder finds out on its way.
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

// runPart takes one escape, or what stands before the next; more is false at the run's
// end. last says that nothing follows part in its string.
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

// runSlashes takes a part whose first escape is at i, with all escaped slashes that follow, in
// one go.
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
	for ; n > 0; n-- { // the run ended inside: count what it took
		if part[used] == '\\' {
			used++
		}
		used++
	}
	return used
}

// endRun puts the token in the item's place; rest is what follows. A raw line break inside a
// string means that the item was cut off. Line breaks between the item and the string's end
// belong to the item, and so does what follows one that fails for it.
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

// errPart is the error of an item of which only a part can be read.
func errPart() error {
	return media.Errorf(media.CodeBadResponse, "the media item continues with text that is not base64: an incomplete item is not accepted")
}

// partOnly reports whether what follows a run belongs to the same item: anything but the string's
// end where the field is declared to hold media, and a percent sign that is no escape of base64.
func (s *scanner) partOnly(rest []byte) bool {
	return s.dec.broken || s.cand.kind == fieldMedia && !s.ends(rest) || !closes(rest) && rest[0] == '%'
}

// ends reports whether the string of a declared field ends here: a quote that is escaped for the
// string itself is one in it.
func (s *scanner) ends(rest []byte) bool {
	slashes := len(rest) - len(bytes.TrimLeft(rest, `\`))
	return closes(rest) && (s.quoted || slashes%2 == 0)
}

// closes reports whether a string ends here.
func closes(rest []byte) bool {
	quote := bytes.TrimLeft(rest, `\`)
	return len(quote) == 0 || quote[0] == '"'
}

// end is told that the source ended; it reports whether it ended inside media.
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

// abort drops a half item, and the sounds that were not ended.
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
