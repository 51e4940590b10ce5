package report

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html/atom"

	"atelier/agent/resolve"
	"atelier/media"
)

// Conversation is the content of a conversation's page.
type Conversation struct {
	// Title is its title; Begun is its start time.
	Title string
	Begun time.Time
	// Messages are read once, in order; an error in the sequence ends the page.
	Messages iter.Seq2[Message, error]
}

// Message is one message of a [Conversation].
type Message struct {
	// Who is the display name of the author; At is the time of the message.
	Who string
	At  time.Time
	// Text is the text with placeholders: Markdown, or plain text if Verbatim is set, as for a person.
	Text     string
	Verbatim bool
	// Report is the report that came with an answer; nil if none.
	Report *Report
	// Attached are the message's items. Items that the text or the report shows are not repeated.
	Attached []media.Output
	// Failure is the reason why an answer failed; empty if it did not fail.
	Failure string
	// Find looks up an item of the message by ref.
	Find func(media.Ref) (media.Output, bool)
}

// WriteConversation writes one HTML document with all messages, their pictures and reports to w,
// one message at a time. o is as in [Write]; its Find is not used.
func WriteConversation(ctx context.Context, w io.Writer, c Conversation, o resolve.Options) error {
	o.Format = resolve.FormatHTML
	p := &page{ctx: ctx, w: w, o: o, words: english()}
	title := cmp.Or(resolve.WithoutMarks(c.Title), "Conversation")
	p.head(title, p.language)
	p.text("<h1>" + html.EscapeString(title) + "</h1>\n")
	n := 0
	for m, err := range c.Messages {
		if p.err == nil && err != nil {
			p.err = err
		}
		if p.err != nil {
			return p.err
		}
		n++
		p.message(m, n)
	}
	p.text("</main>\n</body>\n</html>\n")
	return p.err
}

// message writes the n-th message.
func (p *page) message(m Message, n int) {
	p.o.Find = m.Find
	class, c := "question", content{body: `<div class="said">` + html.EscapeString(m.Text) + `</div>`, html: true}
	if !m.Verbatim {
		class, c = "answer", content{body: m.Text}
	}
	root, err := c.rendered()
	if err != nil {
		p.err = err
		return
	}
	p.words = wordsFor("", root)
	p.o.Caption = p.caption
	p.text(fmt.Sprintf("<section class=\"message %s\" lang=\"%s\">\n<p class=\"who\"><strong>%s</strong> <time datetime=\"%s\">%s</time></p>\n",
		class, p.language, html.EscapeString(m.Who), m.At.UTC().Format(time.RFC3339), m.At.UTC().Format("2006-01-02 15:04 UTC")))
	describe(root, m.Find, p.words)
	// Links lead to footnotes, headings and queries of the same message.
	name := fmt.Sprintf("%smessage-%d-", reservedPrefix, n)
	own := strings.NewReplacer(`href="#"`, `href="#"`, `href="#`, `href="#`+name, ` id="`, ` id="`+name)
	p.resolve(own.Replace(framed(markup(root), p.drawing, m.Find)))
	if m.Failure != "" {
		p.text("<p class=\"failure\">" + html.EscapeString(m.Failure) + "</p>\n")
	}
	shown := media.Refs(m.Text)
	if m.Report != nil {
		shown = append(shown, p.attached(*m.Report, own)...)
	}
	for _, a := range m.Attached {
		if !slices.Contains(shown, a.Ref) {
			p.resolve(a.Ref.Placeholder() + "\n")
		}
	}
	p.text("</section>\n")
}

// attached writes the report of a message, with the message's own names, and returns the items that it shows.
func (p *page) attached(r Report, own *strings.Replacer) []media.Ref {
	c := r.content()
	root, err := c.rendered()
	if err != nil {
		p.err = err
		return nil
	}
	p.words = wordsFor(r.Language, root)
	if title := resolve.WithoutMarks(c.title); heading(root) == "" && title != "" {
		addHeading(root, atom.H2, title)
	}
	p.text("<article class=\"report\">\n")
	p.report(root, r, own)
	p.text("</article>\n")
	shown := media.Refs(c.body)
	for _, o := range r.AlsoMade {
		shown = append(shown, o.Ref)
	}
	return shown
}
