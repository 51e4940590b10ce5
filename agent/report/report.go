// Package report converts the payload of a finished run to one self-contained HTML document: the
// sanitised report on a readable and printable page for light and dark mode, with every picture
// embedded or linked, other items of the run, and notes.
//
// The page loads nothing from outside and runs no script. Pictures are streamed into the document;
// memory is O(64 KiB) for each in addition to the report's own text. Errors are media.Error values.
// It may import media, agent and what agent may.
package report

import (
	"cmp"
	"context"
	_ "embed" // the page's style
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"atelier/agent"
	"atelier/agent/evidence"
	"atelier/agent/resolve"
	"atelier/media"
)

//go:embed page.css
var pageStyle string

// Report is the content of a document.
type Report struct {
	// Payload is the run's payload: report_html or report_markdown, and title. Without a report, Message is the text.
	Payload json.RawMessage
	// Message is the run's message.
	Message string
	// Title is used if the payload has no title and the report has no heading.
	Title string
	// AlsoMade are items that the run made but the report does not show.
	AlsoMade []media.Output
	// ByRule names the models that wrote the report by rule, without a language model.
	ByRule []string
	// Notes are notes for the reader, such as warnings.
	Notes []string
	// Language is the page's language tag; empty means the language of the text, German or English.
	Language string
	// Evidence is what the sources contained. The numbers of the report are compared with it; nil
	// disables the comparison.
	Evidence *evidence.Set
}

// FromResult returns the report of a finished run.
func FromResult(r *agent.Result) Report {
	rep := Report{Payload: r.Payload, Message: r.Message, AlsoMade: r.AlsoMade, Notes: r.Warnings, Evidence: r.Evidence}
	for _, m := range r.Models {
		if m.Offline {
			rep.ByRule = append(rep.ByRule, m.Name)
		}
	}
	return rep
}

// content is the title and the text of a report.
type content struct {
	title, body string
	// html reports whether the body is HTML; otherwise it is Markdown.
	html bool
}

func (r Report) content() content {
	var p struct {
		Title    string `json:"title"`
		HTML     string `json:"report_html"`
		Markdown string `json:"report_markdown"`
	}
	// A payload of another form has no report: the message is shown.
	_ = json.Unmarshal(r.Payload, &p)
	c := content{title: p.Title}
	switch {
	case strings.TrimSpace(p.HTML) != "":
		c.body, c.html = p.HTML, true
	case strings.TrimSpace(p.Markdown) != "":
		c.body = p.Markdown
	default:
		c.body = r.Message
	}
	return c
}

// Has reports whether a payload contains a report.
func Has(payload json.RawMessage) bool { return Report{Payload: payload}.content().body != "" }

// Write writes the document to w. o determines how pictures appear: data_uri embeds them, file and
// url link them; its Format is ignored.
func Write(ctx context.Context, w io.Writer, r Report, o resolve.Options) error {
	c := r.content()
	root, err := c.rendered()
	if err != nil {
		return err
	}
	words := wordsFor(r.Language, root)
	first := heading(root)
	title := cmp.Or(resolve.WithoutMarks(c.title), resolve.WithoutMarks(hidden.ReplaceAllString(first, "")), resolve.WithoutMarks(r.Title), words.report)
	if first == "" {
		addHeading(root, atom.H1, title)
	}
	o.Format = resolve.FormatHTML
	page := &page{ctx: ctx, w: w, o: o, words: words}
	page.head(title, cmp.Or(strings.TrimSpace(r.Language), words.language))
	page.report(root, r, strings.NewReplacer())
	page.text("</main>\n</body>\n</html>\n")
	return page.err
}

func addHeading(root *nethtml.Node, kind atom.Atom, text string) {
	h := element(kind)
	h.AppendChild(textNode(text))
	root.InsertBefore(h, root.FirstChild)
}

// report writes a report, its numbers and what follows it. own replaces names in its HTML.
func (p *page) report(root *nethtml.Node, r Report, own *strings.Replacer) {
	p.o.Caption = p.caption
	for _, table := range tables(root) { // table frames need a name in the report's language
		setAttribute(table.Parent, "aria-label", p.table)
	}
	describe(root, p.o.Find, p.words)
	alignNumbers(root)
	numbers := trace(root, r.Evidence, p.words).section()
	p.resolve(own.Replace(framed(markup(root), p.drawing, p.o.Find)))
	p.text(own.Replace(numbers))
	p.appendix(r)
}

// appendix writes what follows a report: unused items of the run, and the notes.
func (p *page) appendix(r Report) {
	if len(r.AlsoMade) > 0 {
		p.text("\n<section class=\"also-made\">\n<h2>" + p.alsoMade + "</h2>\n<p>" + p.unused + "</p>\n<div class=\"gallery\">\n")
		for _, o := range r.AlsoMade {
			p.resolve(o.Ref.Placeholder())
			p.text("\n")
		}
		p.text("</div>\n</section>\n")
	}
	if len(r.ByRule)+len(r.Notes) == 0 {
		return
	}
	p.text("\n<footer class=\"notes\">\n<h2>" + p.notesTitle + "</h2>\n<ul>\n")
	var notes []string
	for _, name := range r.ByRule {
		notes = append(notes, fmt.Sprintf(p.writtenByRule, name))
	}
	for _, n := range append(notes, r.Notes...) {
		p.text(fmt.Sprintf("<li>%s</li>\n", html.EscapeString(resolve.WithoutMarks(n))))
	}
	p.text("</ul>\n</footer>\n")
}

var pictureTag = regexp.MustCompile(`<img [^>]*src="\$\{media:([a-z0-9-]+)\}"[^>]*>`)

// smallDrawing is the width in pixels below which a drawing fits the screen of a phone.
const smallDrawing = 480

// framed wraps drawings in scrollable frames, because their small letters would be unreadable on a narrow page.
func framed(body, name string, find func(media.Ref) (media.Output, bool)) string {
	if find == nil {
		return body
	}
	return pictureTag.ReplaceAllStringFunc(body, func(tag string) string {
		o, ok := find(media.Ref(pictureTag.FindStringSubmatch(tag)[1]))
		adaptive, _ := o.Metadata["adaptive"].(bool) // it contains a separate layout for narrow pages
		if !ok || o.MIMEType != "image/svg+xml" || adaptive || o.Width > 0 && o.Width < smallDrawing {
			return tag
		}
		return `<span class="drawing" tabindex="0" role="group" aria-label="` + html.EscapeString(name) + `">` + tag + `</span>`
	})
}

// rendered returns the sanitised body with hidden marks, see [sanitise].
func (c content) rendered() (*nethtml.Node, error) {
	if c.html {
		return sanitise(hideMarks(c.body)), nil
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	var b strings.Builder
	if err := md.Convert([]byte(hideMarks(c.body)), &b); err != nil {
		return nil, media.Errorf(media.CodeInternal, "render Markdown: %w", err)
	}
	return sanitise(b.String()), nil
}

// page writes the parts of a document and keeps the first error. It lives for one call.
type page struct {
	ctx context.Context //nolint:containedctx // lives for one call.
	w   io.Writer
	o   resolve.Options
	words
	err error
}

func (p *page) text(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

func (p *page) resolve(s string) {
	if p.err == nil {
		p.err = resolve.Text(p.ctx, p.w, s, p.o)
	}
}

func (p *page) head(title, language string) {
	policy := "" // a self-contained page may load nothing else
	if p.o.Mode == resolve.ModeDataURI {
		policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">` + "\n"
	}
	p.text(`<!DOCTYPE html>
<html lang="` + html.EscapeString(language) + `">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Atelier">
` + policy + `<title>` + html.EscapeString(title) + `</title>
<style>
` + pageStyle + `</style>
</head>
<body>
<main>
`)
}
