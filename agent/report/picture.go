package report

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"atelier/agent/resolve"
	"atelier/media"
)

// Phrases by which a model's caption says how a picture was made. They are wrong if a different
// model than expected made it.
var (
	saysModel = regexp.MustCompile(`(?i)\b(?:(?:AI|KI)[- ](?:generated|made|created|generierte?|erzeugte?|erstellte?)|(?:generated|made|created) (?:by|with) (?:an )?AI|(?:von|mit) KI (?:generiert|erzeugt|erstellt))`)
	saysRule  = regexp.MustCompile(`(?i)\b(?:drawn by rules?|nach Regeln gezeichnet)`)
)

// describe completes the pictures of a report. Each picture gets alt text, taken from its label if
// the report has none, which is also shown on hover. The caption of a generated picture says how it
// was made, regardless of what the model wrote.
func describe(root *html.Node, find func(media.Ref) (media.Output, bool), w words) {
	var images []*html.Node
	for n := range root.Descendants() {
		if n.DataAtom == atom.Img {
			images = append(images, n)
		}
	}
	type captioned struct {
		figure *html.Node
		made   string
	}
	done := map[captioned]bool{}
	for _, img := range images {
		var o media.Output
		ref, known := strings.CutPrefix(attribute(img, "src"), hiddenScheme)
		if known = known && find != nil; known {
			o, known = find(media.Ref(ref))
		}
		alt := strings.TrimSpace(attribute(img, "alt"))
		if alt == "" {
			alt = cmp.Or(resolve.WithoutMarks(o.Label), string(media.ModalityImage))
			setAttribute(img, "alt", alt)
		}
		title := cmp.Or(strings.TrimSpace(attribute(img, "title")), alt)
		if made := w.made(o); known && made != "" {
			if figure := around(img, atom.Figure); figure != nil {
				if c := (captioned{figure, made}); !done[c] { // a figure may have any number of pictures
					caption(figure, made, o, w)
					done[c] = true
				}
			} else if !strings.Contains(title, made) {
				title += " (" + made + ")"
			}
		}
		setAttribute(img, "title", title)
	}
}

// around returns the nearest enclosing element of a kind; nil if there is none.
func around(n *html.Node, kind atom.Atom) *html.Node {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == kind {
			return p
		}
	}
	return nil
}

// caption makes the caption of a figure say how its picture was made.
func caption(figure *html.Node, made string, o media.Output, w words) {
	nodes := slices.Collect(figure.Descendants())
	i := slices.IndexFunc(nodes, func(n *html.Node) bool { return n.DataAtom == atom.Figcaption })
	if i < 0 {
		c := element(atom.Figcaption)
		c.AppendChild(textNode(w.caption(o)))
		figure.AppendChild(c)
		return
	}
	c := nodes[i]
	wrong, short := saysRule, made
	if made == w.byRule {
		_, short, _ = strings.Cut(made, ", ")
		wrong = saysModel
	}
	pictures := 0
	for _, n := range nodes {
		if n.DataAtom == atom.Img {
			pictures++
		}
	}
	before := ""
	for n := range c.Descendants() {
		if n.Type == html.TextNode && pictures == 1 {
			sentence := n.Data
			n.Data = replaced(before, sentence, wrong, short)
			before += sentence
		}
	}
	sentence := strings.TrimSpace(wordsOf(c))
	if strings.Contains(strings.ToLower(sentence), strings.ToLower(short)) || made == w.madeByModel && saysModel.MatchString(sentence) {
		return
	}
	if strings.Contains(sentence, "Illustration") {
		made = capital(short)
	}
	if sentence != "" && !strings.ContainsAny(sentence[len(sentence)-1:], ".!?") {
		c.AppendChild(textNode("."))
	}
	c.AppendChild(textNode(" " + made + "."))
}

// replaced replaces matches of wrong with words, capitalized at the beginning of a sentence.
func replaced(before, text string, wrong *regexp.Regexp, words string) string {
	var b strings.Builder
	from := 0
	for _, m := range wrong.FindAllStringIndex(text, -1) {
		b.WriteString(text[from:m[0]])
		from = m[1]
		sentence := strings.TrimRight(before+text[:m[0]], " ")
		if sentence == "" || strings.ContainsAny(sentence[len(sentence)-1:], ".!?:") {
			b.WriteString(capital(words))
			continue
		}
		b.WriteString(words)
	}
	return b.String() + text[from:]
}

func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }
