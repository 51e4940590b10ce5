package main

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible is text as it may come onto a terminal. Characters that would steer the terminal or change
// the order in which a line is read are written as escapes: control characters, those of direction,
// separators of lines and bytes that are no UTF-8. Ends of lines and tabs stay.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case !isControl(r):
			b.WriteRune(r)
		case r == utf8.RuneError:
			if _, width := utf8.DecodeRuneInString(text[i:]); width > 1 {
				b.WriteRune(r)
				break
			}
			_, _ = fmt.Fprintf(&b, `\x%02x`, text[i])
		case r < utf8.RuneSelf:
			_, _ = fmt.Fprintf(&b, `\x%02x`, r)
		default:
			_, _ = fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isControl reports whether visible may have to escape a character.
func isControl(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case utf8.RuneError, '\u2028', '\u2029':
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)
}

// cell is visible for text of one line: a name, a label. In it ends of lines and tabs are escapes too, so that
// it cannot pass for lines or columns of its own.
func cell(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(visible(text))
}

// screen writes what it is given so that all of it can be seen.
type screen struct{ out io.Writer }

func (s screen) Write(text []byte) (int, error) {
	if _, err := io.WriteString(s.out, visible(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// logTo sends the lines of the process's logger, that of slog and of libraries, to people.
func logTo(out io.Writer) { log.SetOutput(screen{out}) }

// logJSONTo sends them for programs, those of the level debug as well: one JSON object a line.
func logJSONTo(out io.Writer) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(screen{out}, &slog.HandlerOptions{Level: slog.LevelDebug})))
}
