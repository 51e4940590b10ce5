package wire

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

const (
	// scrubMin is the number of base64 characters from which a run is replaced.
	scrubMin = 48
	// scrubHold bounds what is held back of an undecided run with its escapes.
	scrubHold = 1 << 10
)

// scrub replaces every run of 48 or more base64 characters by "[base64, N characters]", so
// that a provider's error body cannot carry media. It is stricter than media.Scrub, which
// lets checksums and paths of words pass, and works on streams and over folded lines. Escaped slashes and folded lines belong to a run.
// Tokens are runs too. Text without such runs comes back unchanged.
func scrub(s string) string {
	if !mayHoldRun(s) {
		return s
	}
	var out strings.Builder
	sc := scrubber{w: &out}
	sc.feed([]byte(s))
	sc.end()
	return out.String()
}

// scrubError takes base64 out of an error's text: net/http quotes what it cannot
// parse. The cause stays for [errors.Is] and [errors.As].
func scrubError(err error) error {
	text := err.Error()
	clean := scrub(text)
	if clean == text {
		return err
	}
	return &scrubbedError{text: clean, cause: err}
}

type scrubbedError struct {
	text  string
	cause error
}

// Error gives the text without base64.
func (e *scrubbedError) Error() string { return e.text }

// Unwrap gives the cause.
func (e *scrubbedError) Unwrap() error { return e.cause }

// mayHoldRun is a quick no for short and ordinary texts.
func mayHoldRun(s string) bool {
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case classes[c] != 0, c == '=' && n > 0:
			if n++; n >= scrubMin {
				return true
			}
		case c == '\\' || c == '\n' || c == '\r':
		default:
			n = 0
		}
	}
	return false
}

// scrubber does it for a stream. Errors of w are the writer's to remember.
type scrubber struct {
	w     io.Writer
	held  []byte // the run so far as it came, while it is short
	chars int    // base64 characters of the run, padding included
	line  int    // characters since the last line break
	cr    bool   // the last character was the first half of a line break
	esc   []byte // an escape or a line break that is not decided
}

func (s *scrubber) feed(b []byte) {
	from := 0 // of plain bytes not yet written
	for i, c := range b {
		if s.chars == 0 && len(s.esc) == 0 && classes[c] == 0 && c != '\\' {
			continue
		}
		s.write(b[from:i])
		from = i + 1
		s.step(c)
	}
	if from < len(b) {
		s.write(b[from:])
	}
}

func (s *scrubber) write(b []byte) {
	if len(b) > 0 {
		_, _ = s.w.Write(b)
	}
}

// step takes one byte that may belong to a run.
func (s *scrubber) step(c byte) {
	if len(s.esc) > 0 && s.esc[0] == '\\' {
		s.esc = append(s.esc, c)
		s.settle()
		return
	}
	switch {
	case c == '\\':
		s.esc = append(s.esc, c)
	case s.folds(c):
		s.fold(c == '\r', c)
	case classes[c] != 0 || c == '=' && s.chars > 1:
		s.take(c)
	default:
		s.endRun()
		s.write([]byte{c})
	}
}

func (s *scrubber) take(raw ...byte) {
	s.chars++
	s.line++
	s.cr = false
	s.hold(raw)
}

// folds reports whether c is a line break inside a run: after a long line, or the second
// half of one.
func (s *scrubber) folds(c byte) bool {
	return (c == '\n' || c == '\r') && s.line >= shortestFold || c == '\n' && s.cr
}

func (s *scrubber) fold(cr bool, raw ...byte) {
	s.line, s.cr = 0, cr
	s.hold(raw)
}

func (s *scrubber) hold(raw []byte) {
	if s.chars < scrubMin && len(s.held) < scrubHold {
		s.held = append(s.held, raw...)
	}
}

// settle looks at an escape that grew by a byte.
func (s *scrubber) settle() {
	c, n, fold, ok := unescape(s.esc)
	if ok && n == 0 {
		return // more to come
	}
	raw := s.esc
	s.esc = nil
	switch {
	case ok && fold && s.folds(breakOf(raw)):
		s.fold(breakOf(raw) == '\r', raw...)
	case ok && !fold && (c != '=' || s.chars > 0):
		s.take(raw...)
	default:
		s.endRun()
		s.write(raw[:len(raw)-1])
		if last := raw[len(raw)-1]; last == '\\' || ok || isEscape(raw) {
			s.write([]byte{last})
		} else {
			s.step(last)
		}
	}
}

// breakOf gives the line break that an escape means.
func breakOf(raw []byte) byte {
	if last := raw[len(raw)-1]; last == 'r' || last == 'd' || last == 'D' {
		return '\r'
	}
	return '\n'
}

// isEscape tells whether the last byte is the letter of a short escape, and so no text.
func isEscape(raw []byte) bool {
	return len(raw) == 2 && bytes.IndexByte([]byte(`bfnrtu"`), raw[1]) >= 0
}

// endRun writes the run or what stands for it.
func (s *scrubber) endRun() {
	switch {
	case s.chars >= scrubMin:
		s.write([]byte("[base64, " + strconv.Itoa(s.chars) + " characters]"))
	default:
		s.write(s.held)
	}
	s.held, s.chars, s.line, s.cr = s.held[:0], 0, 0, false
}

func (s *scrubber) end() {
	s.endRun()
	s.write(s.esc)
	s.esc = nil
}

// scrubReader scrubs a body while it is read.
type scrubReader struct {
	src  io.ReadCloser
	out  bytes.Buffer
	scr  scrubber
	in   []byte
	done error
}

func newScrubReader(src io.ReadCloser) io.ReadCloser {
	r := &scrubReader{src: src, in: make([]byte, 4<<10)}
	r.scr.w = &r.out
	return r
}

// Read implements io.Reader.
func (r *scrubReader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 {
		if r.done != nil {
			return 0, r.done
		}
		n, err := r.src.Read(r.in)
		r.scr.feed(r.in[:n])
		if err != nil {
			r.scr.end()
			r.done = err
		}
	}
	return r.out.Read(p)
}

// Close implements io.Closer.
func (r *scrubReader) Close() error { return r.src.Close() }
