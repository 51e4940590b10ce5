package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"atelier/generate/money"
	"atelier/ledger"
	"atelier/media"
)

// checkedWriter is standard output. It keeps the first error of a write: commands that print text do not check.
type checkedWriter struct {
	to  io.Writer
	err error
}

// keepErrors replaces the standard output of a command with one that keeps its first error.
func keepErrors(p *world) *checkedWriter {
	c := &checkedWriter{to: p.stdout}
	p.stdout = c
	return c
}

func (c *checkedWriter) Write(text []byte) (int, error) {
	n, err := c.to.Write(text)
	if err != nil {
		err = media.Errorf(media.CodeInternal, "write the answer: %w", err)
		c.err = cmp.Or(c.err, err)
	}
	return n, err
}

// printJSON writes the one JSON document of a command, indented.
func (w *world) printJSON(v any) error {
	w.printed = true
	e := json.NewEncoder(w.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// print writes the answer of a command: as JSON, or as text for people.
func (w *world) print(document any, text func()) error {
	if w.json {
		return w.printJSON(document)
	}
	text()
	return nil
}

// printPage writes a page of a list as JSON or as a table, and says how to get the next page.
func printPage[T any](w *world, list ledger.List[T], head []string, row func(T) []string) error {
	list.Items = orEmpty(list.Items)
	return w.print(list, func() {
		var rows [][]string
		for _, item := range list.Items {
			rows = append(rows, row(item))
		}
		table(w.stdout, head, rows)
		w.noteNext(list.Next)
	})
}

// noteNext says how to get the next page of a list.
func (w *world) noteNext(cursor string) {
	if cursor != "" {
		w.note("more: --after %s", cursor)
	}
}

// printList writes a list that has only one page.
func printList[T any](w *world, items []T, head []string, row func(T) []string) error {
	return printPage(w, ledger.List[T]{Items: items}, head, row)
}

// line writes text for people to standard output, with control characters escaped.
func (w *world) line(format string, args ...any) {
	_, _ = fmt.Fprintln(w.stdout, visible(fmt.Sprintf(format, args...)))
}

// note writes text for people to standard error, as line does.
func (w *world) note(format string, args ...any) {
	_, _ = fmt.Fprintln(w.stderr, visible(fmt.Sprintf(format, args...)))
}

// table writes rows in columns under a header. Each cell is one line, with control characters escaped.
func table(out io.Writer, head []string, rows [][]string) {
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, cells(head))
	for _, r := range rows {
		_, _ = fmt.Fprintln(t, cells(r))
	}
	_ = t.Flush()
}

// cells returns one line of a table.
func cells(row []string) string {
	out := make([]string, len(row))
	for i, c := range row {
		out[i] = cell(c)
	}
	return strings.Join(out, "\t")
}

// size formats a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// dimensions formats the known size or duration of an item.
func dimensions(o media.Output) string {
	switch {
	case o.Width > 0:
		return fmt.Sprintf("%d×%d", o.Width, o.Height)
	case o.DurationSeconds > 0:
		return fmt.Sprintf("%.1f s", o.DurationSeconds)
	}
	return ""
}

// localTime formats a time for people, in local time.
func localTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// duration formats milliseconds.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= 10*time.Second {
		d = d.Round(time.Second)
	}
	return d.String()
}

// amount formats an amount, which may be unknown.
func amount(usd *string) string {
	if usd == nil {
		return "unknown"
	}
	return "$" + *usd
}

// estimateText formats an estimate, which may be unknown. JSON has the exact value.
func estimateText(usd *string) string {
	if usd == nil {
		return amount(nil)
	}
	return money.About(*usd)
}

// short shortens text for one cell.
func short(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

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

// failure returns the text of an error for people: [media.ErrorText], except that paths of the command
// line appear as typed, even if they look like encoded media.
func (w *world) failure(text string) string { return errorTextExceptPaths(text, w.paths()) }

// errorTextExceptPaths applies [media.ErrorText] to the text before, between and after the paths.
func errorTextExceptPaths(text string, paths []string) string {
	for _, p := range paths {
		if before, after, found := strings.Cut(text, p); found {
			return errorTextExceptPaths(before, paths) + p + errorTextExceptPaths(after, paths)
		}
	}
	return media.ErrorText(text)
}

// paths returns the paths of the command line that [media.ErrorText] would take for media, and their
// parent folders, in which files are written, longest first.
func (w *world) paths() (paths []string) {
	for _, arg := range w.args {
		if flag, value, given := strings.Cut(arg, "="); given && strings.HasPrefix(flag, "-") {
			arg = value
		}
		arg = strings.TrimPrefix(arg, "@")
		for _, p := range []string{arg, filepath.Dir(arg)} {
			if media.ErrorText(p) != p && isPath(p) {
				paths = append(paths, p)
			}
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return len(b) - len(a) })
	return paths
}

// isPath reports whether a word leads into an existing folder. No single missing part of it may look like
// media to [media.ErrorText].
func isPath(word string) bool {
	for at := word; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil {
			return at != "." && at != string(filepath.Separator)
		}
		if name := filepath.Base(at); media.ErrorText(name) != name || at == filepath.Dir(at) {
			return false
		}
	}
}
