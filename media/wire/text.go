package wire

import "bytes"

// maxSlashes limits how many backslashes at the end of a chunk of text are held back: fewer than this number.
const maxSlashes = 8

// textState is the state of a text that a scanner keeps between chunks.
type textState struct {
	tail    [len(dataMark) - 1]byte // the last bytes, to find a mark that is split between chunks
	tailLen int
	slashes int  // number of backslashes directly before the next byte
	inRun   bool // the last byte belongs to a run that was rejected
	skip    int  // number of letters of an escape that the next chunk begins with
}

// pass copies bytes of the current string to the output. It records the beginning of the string and its last bytes.
func (s *scanner) pass(p []byte) {
	if len(p) == 0 {
		return
	}
	s.out = append(s.out, p...)
	if len(s.outer.content) == 0 {
		s.nested = p[0] == '{' || p[0] == '['
	}
	s.outer.add(p)
	if s.quoted {
		s.inner.add(p)
	} else if s.nested {
		s.inner.between(p)
	}
	t := &s.txt
	k := len(p)
	for k > 0 && p[k-1] == '\\' {
		k--
	}
	if k > 0 {
		t.slashes = 0
	}
	t.slashes += len(p) - k
	if len(p) >= len(t.tail) {
		t.tailLen = copy(t.tail[:], p[len(p)-len(t.tail):])
		return
	}
	keep := min(t.tailLen, len(t.tail)-len(p))
	copy(t.tail[:], t.tail[t.tailLen-keep:t.tailLen])
	t.tailLen = keep + copy(t.tail[keep:], p)
}

// text passes bytes up to the end of the string or to the next candidate.
func (s *scanner) text(b []byte) []byte {
	if n := s.markEnd(b); n > 0 { // ;base64, is split between chunks
		s.pass(b[:n])
		s.start(atData)
		return b[n:]
	}
	seg, whole := b, false
	for _, stop := range []byte{'"', '\n'} {
		if i := bytes.IndexByte(seg, stop); i >= 0 {
			seg, whole = seg[:i], true
		}
	}
	if k := bytes.Index(seg, []byte(dataMark)); k >= 0 {
		if at := s.word(seg[:k], true); at >= 0 {
			return s.startWord(b, at)
		}
		s.pass(seg[:k+len(dataMark)])
		s.start(atData)
		return b[k+len(dataMark):]
	}
	if !whole { // an escape may be split at the end of the chunk
		if t := len(bytes.TrimRight(seg, `\`)); len(seg)-t < maxSlashes {
			s.esc = append(s.esc, seg[t:]...)
			seg = seg[:t]
		}
	}
	if at := s.word(seg, whole); at >= 0 {
		s.esc = s.esc[:0]
		return s.startWord(b, at)
	}
	s.pass(seg)
	if !whole {
		return nil
	}
	return s.endText(b[len(seg):])
}

// markEnd returns the end in b of a data mark that begins in the previous bytes, or 0.
func (s *scanner) markEnd(b []byte) int {
	if s.txt.tailLen == 0 {
		return 0
	}
	var joined [2 * len(dataMark)]byte
	n := copy(joined[:], s.txt.tail[:s.txt.tailLen])
	m := n + copy(joined[n:n+len(dataMark)-1], b)
	if k := bytes.Index(joined[:m], []byte(dataMark)); k >= 0 {
		return k + len(dataMark) - n
	}
	return 0
}

func (s *scanner) startWord(b []byte, at int) []byte {
	s.pass(b[:at])
	s.start(atWord)
	return b[at:]
}

// word returns the start of a run in a piece of text that may be media: a run with a signature, or one that continues
// after the piece. It returns -1 if there is none. whole means that the piece ends with the text or at a byte that is
// not base64.
func (s *scanner) word(seg []byte, whole bool) int {
	from := s.skipped(seg)
	for i := from + sigChars - 1; i < len(seg); i += sigChars {
		if classes[seg[i]] == 0 {
			continue
		}
		at := s.runStart(seg, from, i)
		k := runEnd(seg, max(at, i))
		if k-at >= sigChars && probablySigned(seg[at:]) {
			return at
		}
		i = max(i, k-1)
	}
	if whole || len(seg) == 0 || classes[seg[len(seg)-1]] == 0 || from == len(seg) {
		return -1
	}
	at := s.runStart(seg, from, len(seg)-1)
	if at >= len(seg) || len(seg)-at > 2*sigChars && !probablySigned(seg[at:]) {
		return -1
	}
	return at
}

// probablySigned checks the first characters of a run for a signature. If there are escapes among them, it returns
// true.
func probablySigned(run []byte) bool {
	var c candidateState
	for _, ch := range run[:min(len(run), sigChars)] {
		if classes[ch] == 0 {
			return true
		}
		c.take(ch)
	}
	return c.signed()
}

// skipped returns the position at which words may begin. It skips what continues from the previous chunk: a rejected
// run or the letters of an escape.
func (s *scanner) skipped(seg []byte) int {
	t := &s.txt
	from := min(t.skip, len(seg))
	t.skip -= from
	if t.inRun {
		from = max(from, runEnd(seg, 0))
		t.inRun = from == len(seg)
	}
	return from
}

// runStart goes back from i to the start of its run, over escaped slashes. If another escape precedes the run, the run
// begins after the letters of the escape.
func (s *scanner) runStart(seg []byte, from, i int) int {
	at := i
	for {
		for at > from && classes[seg[at-1]] != 0 {
			at--
		}
		slashes := at
		for slashes > from && seg[slashes-1] == '\\' {
			slashes--
		}
		if slashes == at {
			return at
		}
		if c, n, fold, ok := unescape(seg[slashes:]); !ok || n == 0 || fold || c == '=' {
			break
		}
		if at = slashes; at == from || classes[seg[at-1]] == 0 {
			return at
		}
	}
	letters := 1
	if seg[at] == 'u' {
		letters = 5
	}
	s.txt.skip = max(0, at+letters-len(seg))
	return min(at+letters, len(seg))
}

func runEnd(seg []byte, at int) int {
	for at < len(seg) && classes[seg[at]] != 0 {
		at++
	}
	return at
}

// endText handles the quote or line break at b[0].
func (s *scanner) endText(b []byte) []byte {
	c := b[0]
	s.out = append(s.out, c)
	if c == '\n' {
		s.outer.last = 0
		s.state = outside
		return b[1:]
	}
	slashes := s.txt.slashes
	s.txt = textState{}
	if slashes%2 == 0 {
		s.outer.end()
		s.state = outside
		return b[1:]
	}
	if s.nested && slashes == 1 {
		s.quote()
	}
	if s.quoted || !s.nested {
		s.start(atNested)
	}
	return b[1:]
}

// quote begins or ends a string of nested JSON.
func (s *scanner) quote() {
	s.quoted = !s.quoted
	s.inner.escape = false
	if s.quoted {
		s.inner.begin()
		return
	}
	if n := len(s.inner.content); n > 0 && s.inner.content[n-1] == '\\' && n < maxContent {
		s.inner.content = s.inner.content[:n-1] // the backslash before the quote
	}
	s.inner.end()
}
