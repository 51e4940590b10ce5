package knowledge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of passages, in characters: parts of a text are joined up to targetLength, and a single part is cut at
// maxLength.
const (
	targetLength = 900
	maxLength    = 1200
)

// passage is a part of a document that a search finds as a unit.
type passage struct {
	heading string
	start   int // in characters from the beginning of the document
	text    string
}

// passages splits a text at headings, empty lines and, if necessary, between words.
func passages(text string) []passage {
	c := cutting{}
	at := 0
	for line := range strings.Lines(text) {
		n := utf8.RuneCountInString(line)
		t := strings.TrimSpace(line)
		switch h, is := headingOf(t); {
		case is:
			c.flush()
			c.heading = h
		case t == "":
			if c.size >= targetLength {
				c.flush()
			} else if c.size > 0 {
				c.line(line, at)
			}
		default:
			c.line(line, at)
		}
		at += n
	}
	c.flush()
	return c.out
}

// headingOf parses "# Heading" and "[page 3]".
func headingOf(line string) (string, bool) {
	if n := len(line) - len(strings.TrimLeft(line, "#")); n > 0 && n < 7 && strings.HasPrefix(line[n:], " ") {
		return strings.TrimSpace(strings.Trim(line, "# ")), true
	}
	if strings.HasPrefix(line, "[page ") && strings.HasSuffix(line, "]") && len(line) < 20 {
		return strings.Trim(line, "[]"), true
	}
	return "", false
}

// cutting is the state of passages.
type cutting struct {
	out     []passage
	heading string
	b       strings.Builder
	start   int
	size    int
}

// line adds a line, in pieces if it is long.
func (c *cutting) line(line string, at int) {
	for line != "" {
		piece := line
		if utf8.RuneCountInString(line) > maxLength {
			piece = cutAt(line, maxLength)
		}
		n := utf8.RuneCountInString(piece)
		if c.size > 0 && c.size+n > maxLength {
			c.flush()
		}
		if c.size == 0 {
			c.start = at
		}
		c.b.WriteString(piece)
		c.size += n
		at += n
		line = line[len(piece):]
	}
}

// cutAt returns at most the first n characters of s, ending after a sentence or a word if possible.
func cutAt(s string, n int) string {
	end, count := len(s), 0
	for i := range s {
		if count == n {
			end = i
			break
		}
		count++
	}
	for _, mark := range []string{". ", " "} {
		if i := strings.LastIndex(s[:end], mark); i > end/2 {
			return s[:i+len(mark)]
		}
	}
	return s[:end]
}

func (c *cutting) flush() {
	text := c.b.String()
	lead := utf8.RuneCountInString(text) - utf8.RuneCountInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	if t := strings.TrimSpace(text); t != "" {
		c.out = append(c.out, passage{heading: c.heading, start: c.start + lead, text: t})
	}
	c.b.Reset()
	c.size = 0
}

// segment separates the characters of scripts without spaces, so that each is a word.
func segment(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			b.WriteString(" " + string(r) + " ")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
