package file

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"atelier/action/internal/charset"
	"atelier/media"
	"atelier/media/wire"
)

// window counts the characters written to it and keeps a range of them, of a single page if one is requested.
type window struct {
	offset, limit int
	page          int // the requested one, 0 for all
	pages         int // so far; the last one is the current one
	total         int // characters of the requested pages
	all           int // characters of all pages
	kept          strings.Builder
}

func (d document) window() *window { return &window{offset: d.offset, limit: d.limit, page: d.page} }

// write adds valid UTF-8. A character may continue in the next piece.
func (w *window) write(s string) {
	n := 0
	for i := range len(s) {
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	w.all += n
	if w.page > 0 && w.pages != w.page {
		return
	}
	from, to := w.offset-w.total, w.offset+w.limit-w.total
	w.total += n
	if from >= n || to < 0 {
		return
	}
	at := -1 // the last character of the piece before
	for i := range len(s) {
		if utf8.RuneStart(s[i]) {
			at++
		}
		if at >= from && at < to {
			w.kept.WriteByte(s[i])
		}
	}
}

// reading returns the kept text with its position.
func (w *window) reading(d document, format string) reading {
	text := w.kept.String()
	r := reading{
		Kind: "text", Path: d.Name, Format: format, Text: &text, Offset: w.offset, TotalChars: w.total,
		Truncated: w.total > w.offset+w.limit, Page: w.page, Pages: w.pages,
	}
	switch {
	case w.page > w.pages && w.pages > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("page %d does not exist: the file has %d pages", w.page, w.pages))
	case w.offset >= w.total && w.total > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("Offset %d is past the end: the text has %d characters", w.offset, w.total))
	}
	if d.asked > d.limit && r.Truncated {
		r.Warnings = append(r.Warnings, fmt.Sprintf("Limit was reduced from %d to %d characters", d.asked, d.limit))
	}
	return r
}

// readText reads html, or another format as it is; only the title of markdown is known.
func (d document) readText(ctx context.Context, format string) (reading, error) {
	file, err := d.Open()
	if err != nil {
		return reading{}, err
	}
	defer func() { _ = file.Close() }() // read only
	// A file without pages is divided into parts of limit characters.
	if d.page > 0 {
		d.offset += (d.page - 1) * d.limit
		d.page = 0
	}
	src := charset.NewReader(file)
	w := d.window()
	var title string
	var cut bool
	if format == "html" {
		p := &page{window: w}
		err = p.read(ctx, src)
		title, cut = Clip(strings.Join(strings.Fields(p.title), " "), 200), p.cut
	} else {
		title, err = copyText(ctx, w, wire.NameReader(src)) // the window would cut embedded media
		if format != "markdown" {
			title = ""
		}
	}
	if err != nil {
		return reading{}, err
	}
	r := w.reading(d, format)
	r.Title = title
	if n := src.Repaired(); n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the file is not valid UTF-8: %d bytes were read as Windows-1252", n))
	}
	if cut {
		r.Warnings = append(r.Warnings, fmt.Sprintf("a part of the page is larger than %d MiB; the text after it was not read", maxToken>>20))
	}
	return r, nil
}

// copyText streams all of src through w and returns the first Markdown heading.
func copyText(ctx context.Context, w *window, src io.Reader) (title string, err error) {
	in := bufio.NewReaderSize(src, 64<<10)
	for first := true; ; first = false {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		line, err := in.ReadSlice('\n') // a long line arrives in pieces
		text := string(line)
		if title == "" && (strings.HasPrefix(text, "# ") || first && strings.HasPrefix(text, "title: ")) {
			_, t, _ := strings.Cut(text, " ")
			title = Clip(strings.TrimSpace(strings.TrimRight(t, "#\r\n ")), 200)
		}
		w.write(strings.ReplaceAll(text, "\r\n", "\n"))
		switch {
		case errors.Is(err, io.EOF):
			return title, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// page converts a stream of HTML to readable text.
type page struct {
	window  *window
	title   string
	silent  int  // depth inside script, style and the like
	inTitle bool // inside title
	inCell  bool // inside a cell of a table
	began   bool // something was written
	breaks  int  // pending line breaks before the next word
	space   bool // a space is pending before the next word
	pre     int  // depth inside pre
	cut     bool // a tag or text exceeded maxToken, and reading stopped there
}

// maxToken limits the size of one tag or text, in bytes. Pages embed pictures in tags as data: URLs.
const maxToken = 16 << 20

func (p *page) read(ctx context.Context, src io.Reader) error {
	z := html.NewTokenizer(wire.NameReader(src))
	z.SetMaxBuf(maxToken)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			err := z.Err()
			p.cut = errors.Is(err, html.ErrBufferExceeded)
			if p.cut || isEOF(err) {
				return nil
			}
			return media.Errorf(media.CodeInvalid, "the page cannot be read as HTML (%w): save it again, or as text", err)
		case html.TextToken:
			p.text(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, _ := z.TagName()
			p.tag(kind, string(name))
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// tag handles a tag: it tracks hidden text and adds line breaks and the marks of headings, list items and cells.
func (p *page) tag(kind html.TokenType, name string) {
	open, step := kind != html.EndTagToken, 1
	switch {
	case !open:
		step = -1
	case kind == html.SelfClosingTagToken && name == "svg": // browsers ignore the slash in other tags
		return
	}
	switch atom.Lookup([]byte(name)) { //nolint:exhaustive // the other tags do not affect the text
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Head:
		p.silent = max(0, p.silent+step)
	case atom.Body:
		p.silent = 0 // the head was never closed
	case atom.Title:
		p.inTitle = open && p.title == ""
	case atom.Pre:
		p.pre = max(0, p.pre+step)
		p.breaks = max(p.breaks, 2)
	case atom.Tr:
		p.breaks, p.inCell = max(p.breaks, 1), false
	case atom.Br, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Nav, atom.Main, atom.Aside, atom.Ul, atom.Ol, atom.Dl, atom.Dt, atom.Dd, atom.Figcaption, atom.Option:
		p.breaks = max(p.breaks, 1)
	case atom.P, atom.Table, atom.Blockquote, atom.Figure, atom.Hr:
		p.breaks = max(p.breaks, 2)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.breaks = max(p.breaks, 2)
		if open {
			p.word(strings.Repeat("#", int(name[1]-'0')) + " ")
		}
	case atom.Li:
		p.breaks = max(p.breaks, 1)
		if open {
			p.word("- ")
		}
	case atom.Td, atom.Th:
		if !open || p.inCell { // end tags of cells are optional
			p.word(" | ")
		}
		p.inCell = open
	}
}

// text writes visible text and, outside of pre, collapses its white space.
func (p *page) text(s string) {
	if p.inTitle {
		p.title += s
		return
	}
	if p.silent > 0 {
		return
	}
	if p.pre > 0 {
		p.word(s)
		return
	}
	words := strings.Fields(s)
	if len(words) == 0 {
		p.space = p.space || s != ""
		return
	}
	if first, _ := utf8.DecodeRuneInString(s); unicode.IsSpace(first) {
		p.space = true
	}
	p.word(strings.Join(words, " "))
	last, _ := utf8.DecodeLastRuneInString(s)
	p.space = unicode.IsSpace(last)
}

// word writes s after the pending line breaks or space.
func (p *page) word(s string) {
	if p.silent > 0 {
		return
	}
	switch {
	case !p.began:
	case p.breaks > 0:
		p.window.write("\n\n"[:min(2, p.breaks)])
	case p.space:
		p.window.write(" ")
	}
	p.began, p.breaks, p.space = true, 0, false
	p.window.write(s)
}
