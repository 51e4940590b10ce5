package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/action"
	"atelier/action/internal/charset"
	"atelier/media"
	"atelier/media/wire"
)

// Limits of Search Files.
const (
	// maxShown is the maximum number of matches shown with their lines; all are counted.
	maxShown = 100
	// maxContext is the maximum number of lines shown on each side of a match.
	maxContext = 10
	// maxLine is how much of one line is searched, in bytes; lineShown is how much is shown, in characters.
	maxLine   = 64 << 10
	lineShown = 300
	// maxExtracted is the maximum number of characters searched in a PDF or Word document.
	maxExtracted = 2_000_000
	// searchTime limits a search. A search that reaches it returns what it has found.
	searchTime = 30 * time.Second
)

// match is one line that matches.
type match struct {
	Path string `json:"path"`
	// Line counts from 1. For a PDF or Word document, Page gives the location instead.
	Line   int      `json:"line,omitempty"`
	Page   int      `json:"page,omitempty"`
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// fileCount is the number of matching lines in a file.
type fileCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// search runs Search Files.
func (f *Files) search(ctx context.Context, c *action.Call) (action.Result, error) {
	pattern := c.Text("Pattern")
	if strings.TrimSpace(pattern) == "" || len(pattern) > 1000 {
		return action.Result{}, media.Errorf(media.CodeInvalid, "Pattern must have 1 to 1,000 characters")
	}
	if !c.Bool("MatchCase") {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		e := media.Errorf(media.CodeInvalid, "Pattern is not an RE2 regular expression (%s): RE2 has no lookaround and no backreferences", Clip(strings.TrimPrefix(err.Error(), "error parsing regexp: "), 120))
		e.Retryable = true
		return action.Result{}, e
	}
	names := strings.TrimSpace(c.Text("Files"))
	if _, err := path.Match(names, ""); err != nil {
		return action.Result{}, media.Errorf(media.CodeInvalid, "Files %q is malformed: use * and ?, as in *.log", Clip(names, 80))
	}
	s := &search{re: re, context: min(max(0, c.Int("Context")), maxContext), limit: min(max(1, c.Int("MaxMatches")), maxShown)}
	timed, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	l := listing{files: f, pattern: names, each: func(p string, info fs.FileInfo) error { return s.file(timed, f.source(p, info)) }}
	err = l.at(timed, c.Text("Path"))
	s.timedOut = err != nil && ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded)
	if err != nil && !s.timedOut {
		return action.Result{}, err
	}
	return s.result(), nil
}

// search is the state of one search.
type search struct {
	re       *regexp.Regexp
	context  int
	limit    int
	matches  []match
	counts   []fileCount
	total    int
	searched int
	skipped  []Skipped
	timedOut bool
}

// file searches one file.
func (s *search) file(ctx context.Context, src Source) error {
	head, err := src.Head()
	if err != nil {
		s.skip(src.Name, reason(err))
		return ctx.Err()
	}
	kind := kindOfName(src.Name)
	if isPDF(head) || kind == kindDOCX {
		return s.document(ctx, src)
	}
	if r, binary := (document{Source: src, head: head}).unreadable(); binary {
		why := "binary (" + r.MimeType + ")"
		if kind == kindTable {
			why = "a workbook: use Query Tables"
		}
		s.skip(src.Name, why)
		return ctx.Err()
	}
	r, err := src.Open()
	if err != nil {
		s.skip(src.Name, reason(err))
		return ctx.Err()
	}
	defer func() { _ = r.Close() }() // read only
	s.searched++
	return s.lines(ctx, src.Name, charset.NewReader(r))
}

func (s *search) skip(name, reason string) {
	s.skipped = append(s.skipped, Skipped{Path: Clip(name, 200), Reason: Clip(reason, 120)})
}

// document searches the text of a PDF or Word document.
func (s *search) document(ctx context.Context, src Source) error {
	doc, err := Extract(ctx, src, maxExtracted)
	if err != nil {
		s.skip(src.Name, err.Error())
		return ctx.Err()
	}
	s.searched++
	if doc.Truncated {
		s.skip(src.Name, fmt.Sprintf("only its first %d characters were searched", maxExtracted))
	}
	from := len(s.matches)
	if err := s.lines(ctx, src.Name, strings.NewReader(doc.Text)); err != nil {
		return err
	}
	pages := []int{1} // the line at which each page begins
	for i, line := range strings.Split(doc.Text, "\n") {
		if n, ok := strings.CutPrefix(line, "[page "); ok && strings.TrimSuffix(n, "]") == strconv.Itoa(len(pages)+1) {
			pages = append(pages, i+1)
		}
	}
	for i := from; i < len(s.matches); i++ {
		m := &s.matches[i]
		for page, line := range pages {
			if m.Line >= line {
				m.Page = page + 1
			}
		}
		m.Line = 0
	}
	return nil
}

// lines searches text line by line in constant memory. It first replaces media with its name, so that no part of a
// picture is shown. Line numbers after folded base64 are therefore too low.
func (s *search) lines(ctx context.Context, name string, r io.Reader) error {
	in := bufio.NewReaderSize(wire.NameReader(r), maxLine)
	var before []string // the last lines
	open := 0           // the first match that still needs lines after it
	count, from, long := 0, len(s.matches), 0
	for n := 1; n%4096 != 0 || ctx.Err() == nil; n++ {
		line, cut, err := readLine(in)
		if cut {
			long++
		}
		if err != nil && !errors.Is(err, io.EOF) {
			s.skip(name, fmt.Sprintf("only its first %d lines were searched: %s", n-1, reason(err)))
		}
		if err != nil && len(line) == 0 {
			break
		}
		for i := max(open, from); i < len(s.matches); i++ {
			if m := &s.matches[i]; n > m.Line+s.context {
				open = i + 1
			} else {
				m.After = append(m.After, shownLine(line))
			}
		}
		if s.re.Match(line) {
			if count++; len(s.matches) < s.limit {
				s.matches = append(s.matches, match{Path: name, Line: n, Text: shownLine(line), Before: slices.Clone(before)})
			}
		}
		if s.context > 0 {
			if before = append(before, shownLine(line)); len(before) > s.context {
				before = before[1:]
			}
		}
	}
	if long > 0 {
		s.skip(name, fmt.Sprintf("of lines longer than %[2]d KiB, only the beginning was searched: %[1]d", long, maxLine>>10))
	}
	if count > 0 {
		s.total += count
		s.counts = append(s.counts, fileCount{Path: name, Count: count})
	}
	return ctx.Err()
}

// readLine reads a line without its line ending. A line longer than maxLine is cut.
func readLine(in *bufio.Reader) (line []byte, cut bool, err error) {
	line, err = in.ReadSlice('\n')
	if cut = errors.Is(err, bufio.ErrBufferFull); cut {
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
	}
	return bytes.TrimRight(line, "\r\n"), cut, err
}

func shownLine(line []byte) string {
	s := string(line[:min(len(line), 4*lineShown)])
	if utf8.RuneCountInString(s) > lineShown {
		s = string([]rune(s)[:lineShown]) + "…"
	}
	return strings.ToValidUTF8(s, "�")
}

// result formats the matches within the size limit of a prompt.
func (s *search) result() action.Result {
	size, fit := 0, 0
	for _, m := range s.matches {
		size += len([]rune(m.Text)) + len([]rune(m.Path)) + 60
		for _, l := range slices.Concat(m.Before, m.After) {
			size += len([]rune(l)) + 4
		}
		if size > maxOutcome*3/4 && fit > 0 {
			break
		}
		fit++
	}
	matches := append([]match{}, s.matches[:fit]...)
	res := action.Result{Outputs: map[string]any{
		"matches": matches, "matchCount": s.total, "files": append([]fileCount{}, s.counts[:min(50, len(s.counts))]...), "searched": s.searched, "truncated": s.total > fit,
	}}
	res.Message = fmt.Sprintf("%d matching lines in %d of %d files", s.total, len(s.counts), s.searched)
	if n := len(s.skipped); n > 0 {
		res.Outputs["skipped"] = s.skipped[:min(20, n)]
		res.Message += fmt.Sprintf("; files not searched, or only in part: %d", n)
	}
	if s.total > fit {
		res.Message += fmt.Sprintf("; the first %d are shown: narrow Pattern, Path or Files", fit)
	}
	if s.timedOut {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the search stopped after %s: the counts cover only the part that was searched", searchTime))
		res.Message += " (the search stopped early)"
	}
	return res
}
