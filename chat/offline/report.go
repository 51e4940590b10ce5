package offline

import (
	"cmp"
	"fmt"
	"html"
	"strings"

	"atelier/chat/offline/question/answer"
	"atelier/chat/offline/question/speech"
)

// page builds the HTML of a report.
type page struct {
	b       strings.Builder
	figures int
}

func (d *draft) report() string {
	p := &page{}
	p.tag("h1", headline(d.task))
	several := len(d.found.Answers)+len(d.found.Quotes) > 1
	switch {
	case several:
		for _, a := range d.found.Answers {
			p.tag("p", a.sentence())
		}
		for _, q := range d.found.Quotes {
			p.tag("p", d.quote(q.Quote))
		}
	case len(d.found.Answers) > 0:
		a := d.found.Answers[0]
		p.tag("p", a.sentence())
		for _, s := range a.Sentences[1:] {
			p.tag("p", s)
		}
		d.evidence(p, a)
	case len(d.found.Quotes) > 0:
		p.quote(d.found.Quotes[0])
	default:
		p.tag("p", d.refusal())
	}
	for _, f := range d.figures {
		if f.call.Name == paintAction {
			p.figure(d, f)
		}
	}
	if several {
		for _, a := range d.found.Answers {
			p.tag("h2", speech.Upper(strings.TrimPrefix(a.Heading, "The ")))
			for _, s := range a.Sentences[1:] {
				p.tag("p", s)
			}
			d.evidence(p, a)
		}
		for i, q := range d.found.Quotes {
			if i == 0 || d.found.Quotes[i-1].Part != q.Part {
				p.tag("h2", speech.Upper(q.Part)+"?")
			}
			p.quote(q)
		}
	}
	d.infographic(p)
	d.gap(p)
	d.sources(p)
	return p.b.String()
}

func (d *draft) refusal() string {
	text := refusal(d.task, &d.found)
	if d.w.Language == speech.German {
		text = strings.TrimPrefix(text, refused+". ")
	}
	return text
}

func (d *draft) evidence(p *page, a finding) {
	for _, f := range d.figures {
		if f.part == a.Part && f.call.Name == chartAction {
			p.figure(d, f)
		}
	}
	if len(a.Cells) == 0 || len(a.Cells) == 1 && len(a.Columns) < 3 {
		return
	}
	fmt.Fprintf(&p.b, "<table><caption>%s</caption><thead><tr>", prose(a.Heading))
	for _, c := range a.Columns {
		fmt.Fprintf(&p.b, `<th scope="col">%s</th>`, prose(speech.Upper(c)))
	}
	p.b.WriteString("</tr></thead><tbody>\n")
	for _, row := range a.Cells {
		p.b.WriteString("<tr>")
		for _, c := range row {
			fmt.Fprintf(&p.b, "<td>%s</td>", prose(c))
		}
		p.b.WriteString("</tr>\n")
	}
	p.b.WriteString("</tbody></table>\n")
	if a.Rows > len(a.Cells) {
		least := ""
		if a.Rows >= answer.Fetched {
			least = d.w.Say("at least ", "mindestens ")
		}
		fmt.Fprintf(&p.b, "<p><small>%s</small></p>\n", fmt.Sprintf(d.w.Say("%d of %s%d rows are shown.", "%d von %s%d Zeilen sind gezeigt."), len(a.Cells), least, a.Rows))
	}
}

// gap lists what the report does not answer or show.
func (d *draft) gap(p *page) {
	var items []string
	for _, o := range d.found.UnansweredParts {
		items = append(items, fmt.Sprintf("“%s”: %s.", o.Part, d.w.why(o)))
	}
	items = append(items, d.gaps...)
	if len(items) == 0 {
		return
	}
	p.tag("h2", d.w.Say("Not answered", "Nicht beantwortet"))
	if len(d.found.UnansweredParts) > 0 && len(d.found.Answers)+len(d.found.Quotes) > 0 {
		p.tag("p", d.refusal())
	}
	p.list(items)
}

func (d *draft) sources(p *page) {
	p.tag("h2", d.w.Say("Sources", "Quellen"))
	if len(d.found.Sources) > 0 {
		fmt.Fprintf(&p.b, `<table><thead><tr><th scope="col">%s</th><th scope="col">%s</th></tr></thead><tbody>`+"\n", d.w.Say("Source", "Quelle"), d.w.Say("Contributed", "Beitrag"))
		for _, s := range d.found.Sources {
			what := d.w.Say("the quoted sentences", "die zitierten Sätze")
			if s.Rows > 0 {
				what = d.w.Say("the figures of the answer", "die Zahlen der Antwort")
			}
			from := linked(s.Path, s.Title)
			if s.Kind == databaseTable {
				from += " (" + html.EscapeString(d.w.say(databaseTable)) + ")"
			}
			fmt.Fprintf(&p.b, "<tr><td>%s</td><td>%s</td></tr>\n", from, html.EscapeString(speech.Upper(what)))
		}
		p.b.WriteString("</tbody></table>\n")
	}
	var not []string
	for _, n := range d.found.NotRead {
		not = append(not, d.w.say(n.Path)+": "+d.w.say(n.Reason))
	}
	if len(not) > 0 {
		p.tag("p", d.w.Say("Not read:", "Nicht gelesen:"))
		p.list(not)
	}
	if len(d.missing) > 0 {
		p.tag("p", d.w.Say("Not available to this research:", "Stand nicht zur Verfügung:")+" "+strings.Join(d.missing, ", ")+".")
	}
	if bad := d.failed(); len(bad) > 0 {
		p.tag("p", d.w.Say("Some figures could not be made:", "Einige Abbildungen ließen sich nicht machen:"))
		p.list(bad)
	}
	fmt.Fprintf(&p.b, "<p><small>%s</small></p>\n", html.EscapeString(d.w.Say(Note, "Nach Regeln geschrieben von Ateliers Offline-Modell, das kein Sprachmodell ist: Zahlen kommen aus Abfragen der Tabellen, Sätze sind wörtlich zitiert.")))
}

// failed lists the figures that could not be made, each with the reason.
func (d *draft) failed() []string {
	var bad []string
	for _, f := range d.figures {
		switch {
		case f.callResult == nil:
			bad = append(bad, f.caption)
		case !f.callResult.Success:
			bad = append(bad, f.caption+": "+f.callResult.Message)
		}
	}
	if d.brief != nil && d.order.infographic && d.composed != nil && (!d.composed.Success || len(d.composed.Media) == 0) {
		bad = append(bad, d.w.infographic()+": "+d.composed.Message)
	}
	return bad
}

// figure embeds a generated picture by its placeholder.
func (p *page) figure(d *draft, f figure) {
	if f.callResult == nil || !f.callResult.Success {
		return
	}
	alt := cmp.Or(describe(f.callResult.Outputs), f.caption)
	for _, i := range images(f.callResult.Outputs) {
		p.embed(d, i.Ref, alt, f.caption)
	}
}

func (p *page) embed(d *draft, ref, alt, caption string) {
	p.figures++
	fmt.Fprintf(&p.b, "<figure><img src=\"${media:%s}\" alt=\"%s\" title=\"%s\"><figcaption>%s %d: %s</figcaption></figure>\n",
		ref, html.EscapeString(alt), html.EscapeString(alt), d.w.Say("Figure", "Abbildung"), p.figures, html.EscapeString(strings.TrimRight(caption, ".")+"."))
}

// quote writes a quotation of whole sentences with its document.
func (p *page) quote(q quoted) {
	fmt.Fprintf(&p.b, "<blockquote><p>%s</p><p><cite>%s</cite></p></blockquote>\n", prose(q.Text), linked(q.Path, q.Title))
}

// prose escapes a sentence. It isolates names of the opposite writing direction, so that
// they do not reverse the sentence.
func prose(text string) string {
	text = html.EscapeString(text)
	if leftToRight().MatchString(text) {
		text = rightToLeft().ReplaceAllString(text, "<bdi>$0</bdi>")
	}
	return text
}

func (p *page) tag(name, text string) { fmt.Fprintf(&p.b, "<%s>%s</%s>\n", name, prose(text), name) }

func (p *page) list(items []string) {
	p.b.WriteString("<ul>\n")
	for _, i := range items {
		p.tag("li", i)
	}
	p.b.WriteString("</ul>\n")
}

// linked returns a path as text, and a web address as a link.
func linked(path, title string) string {
	if !strings.HasPrefix(path, "https://") && !strings.HasPrefix(path, "http://") {
		return html.EscapeString(path)
	}
	if title == "" {
		title = strings.TrimPrefix(strings.TrimPrefix(path, "https://"), "http://")
	}
	return fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(path), html.EscapeString(clip(title, 120)))
}
