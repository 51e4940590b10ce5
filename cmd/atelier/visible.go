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

// visible returns text that is safe to print to a terminal. It escapes characters that would control the
// terminal or change the order of reading: control characters, bidirectional controls, line separators and
// bytes that are not UTF-8. Newlines and tabs are kept.
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

// cell is visible for text of one line, such as a name or a label. It also escapes newlines and tabs, so that the
// text cannot pass for further lines or columns.
func cell(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(visible(text))
}

// screen escapes what is written to it, as visible does, and keeps JSON valid.
type screen struct{ out io.Writer }

func (s screen) Write(text []byte) (int, error) {
	if _, err := io.WriteString(s.out, visible(strings.ReplaceAll(string(text), "\x7f", `\u007f`))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// logTo sends the process's log, of slog and of libraries, to people.
func logTo(out io.Writer) { log.SetOutput(screen{out}) }

// logJSONTo sends the log of slog to programs, including the debug level: one JSON object per line.
func logJSONTo(out io.Writer) {
	slog.SetDefault(slog.New(slog.NewJSONHandler(screen{out}, &slog.HandlerOptions{Level: slog.LevelDebug})))
}
