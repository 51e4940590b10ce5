package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"atelier/agent/resolve"
	"atelier/media"
)

// hiddenScheme replaces placeholders while a report is sanitised, because sanitisers know addresses
// but not placeholders. Nothing else may use it.
const hiddenScheme = "x-atelier-media:"

var (
	mark       = regexp.MustCompile(`(\$?)\$\{media:([^}"'<>\s]*)\}`)
	hidden     = regexp.MustCompile(hiddenScheme + `((?:img|aud|vid|doc)-[0-9a-z]{8})`)
	hiddenOnly = regexp.MustCompile(`^` + hiddenScheme + `(?:img|aud|vid|doc)-[0-9a-z]{8}$`)
	linkTarget = regexp.MustCompile(`^(?:https?://[^\s"'<>]+|mailto:[^\s"'<>]+|#[^\s"'<>]*|` + hiddenScheme + `[a-z0-9-]+)$`)
)

// noSuchRef has the form of a ref but names nothing: it is rendered as missing.
const noSuchRef = "img-00000000"

// hideMarks replaces placeholders with addresses. Escaped placeholders stay.
func hideMarks(s string) string {
	s = strings.ReplaceAll(s, hiddenScheme, "")
	return mark.ReplaceAllStringFunc(s, func(m string) string {
		part := mark.FindStringSubmatch(m)
		if part[1] != "" {
			return m
		}
		ref, err := media.ParseRef(part[2])
		if err != nil {
			ref = noSuchRef
		}
		return hiddenScheme + string(ref)
	})
}

// sanitise takes HTML with hidden marks and returns it as the children of a node. It keeps text, headings, lists,
// tables, figures, details and a few harmless styles, and only the run's own pictures. It removes scripts, handlers,
// forms, frames and anything that loads from outside, and closes every element.
func sanitise(body string) *html.Node {
	root := element(atom.Main)
	nodes, err := html.ParseFragment(strings.NewReader(policy().Sanitize(body)), root)
	if err != nil { // nested too deeply: keep only the text
		nodes = []*html.Node{textNode(html.UnescapeString(bluemonday.StrictPolicy().Sanitize(body)))}
	}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	for _, table := range tables(root) {
		// A wide table scrolls in its own frame, also by keyboard, instead of the page.
		frame := element(atom.Div, html.Attribute{Key: "class", Val: "table"}, html.Attribute{Key: "tabindex", Val: "0"},
			html.Attribute{Key: "role", Val: "group"}, html.Attribute{Key: "aria-label", Val: "Table"})
		table.Parent.InsertBefore(frame, table)
		table.Parent.RemoveChild(table)
		frame.AppendChild(table)
	}
	tidy(root)
	return root
}

// markup renders the children of a node, with placeholders.
func markup(root *html.Node) string {
	var b strings.Builder
	for n := range root.ChildNodes() {
		if err := html.Render(&b, n); err != nil {
			return "" // cannot happen: a strings.Builder returns no errors
		}
	}
	return hidden.ReplaceAllStringFunc(b.String(), func(m string) string {
		return media.Ref(strings.TrimPrefix(m, hiddenScheme)).Placeholder()
	})
}

func element(name atom.Atom, attr ...html.Attribute) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: name.String(), DataAtom: name, Attr: attr}
}

func textNode(text string) *html.Node { return &html.Node{Type: html.TextNode, Data: text} }

// attribute returns the value of an attribute, or "".
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// setAttribute sets an attribute in place, or appends it.
func setAttribute(n *html.Node, key, value string) {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
	if i < 0 {
		n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
		return
	}
	n.Attr[i].Val = value
}

// wordsOf returns the text of a node.
func wordsOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func tables(root *html.Node) (found []*html.Node) {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Table {
			found = append(found, n)
		}
	}
	return found
}

// reservedPrefix is the prefix of the names that the renderer gives to its own elements.
const reservedPrefix = "atelier-"

// tidy removes marks from attributes that cannot contain items, and names reserved for the
// renderer: a report must not claim a source for its own numbers.
func tidy(n *html.Node) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "class" && strings.Contains(a.Val, reservedPrefix) || (a.Key == "id" || a.Key == "href") && strings.HasPrefix(strings.TrimPrefix(a.Val, "#"), reservedPrefix)
	})
	for i := range n.Attr {
		a := &n.Attr[i]
		if a.Key != "src" && a.Key != "href" {
			a.Val = hidden.ReplaceAllString(a.Val, "")
			if strings.Contains(a.Val, "${media:") {
				a.Val = resolve.WithoutMarks(a.Val)
			}
		}
	}
	for c := range n.ChildNodes() {
		tidy(c)
	}
}

func policy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowURLSchemes("http", "https", "mailto", strings.TrimSuffix(hiddenScheme, ":"))
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.AllowElements(
		"h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "div", "span", "section", "article", "header", "footer",
		"main", "aside", "nav", "blockquote", "pre", "code", "kbd", "samp", "var", "em", "strong", "b", "i", "u", "s", "del", "ins",
		"mark", "small", "bdi", "sub", "sup", "abbr", "cite", "q", "dfn", "time", "ul", "ol", "li", "dl", "dt", "dd",
		"figure", "figcaption", "picture", "details", "summary",
		"table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td", "audio", "video", "img", "a",
	)
	p.AllowAttrs("id", "class", "title", "lang", "dir", "role", "aria-label", "aria-hidden").Globally()
	p.AllowAttrs("href").Matching(linkTarget).OnElements("a")
	p.AllowAttrs("src").Matching(hiddenOnly).OnElements("img", "audio", "video")
	p.AllowAttrs("controls").OnElements("audio", "video")
	number := regexp.MustCompile(`^[0-9]{1,4}%?$`)
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("width", "height", "colspan", "rowspan", "span", "start", "value").Matching(number).Globally()
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^(?:row|col|rowgroup|colgroup)$`)).OnElements("th")
	p.AllowAttrs("open").OnElements("details")
	p.AllowAttrs("datetime").OnElements("time")
	size := regexp.MustCompile(`^(?:auto|0|[0-9.]{1,6}(?:px|em|rem|%|ch))(?: (?:auto|0|[0-9.]{1,6}(?:px|em|rem|%|ch))){0,3}$`)
	p.AllowStyles("text-align", "vertical-align", "font-weight", "font-style", "float", "clear").
		Matching(regexp.MustCompile(`^[a-z0-9-]{1,20}$`)).Globally()
	p.AllowStyles("width", "max-width", "height", "margin", "margin-top", "margin-bottom", "margin-left", "margin-right", "padding", "border-radius", "font-size").
		Matching(size).Globally()
	p.RequireNoFollowOnLinks(false)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true) // a frame of the report must not be replaced by the linked page
	return p
}

// heading returns the text of the first h1, or "".
func heading(root *html.Node) string {
	for n := range root.Descendants() {
		if n.DataAtom == atom.H1 {
			return strings.TrimSpace(wordsOf(n))
		}
	}
	return ""
}
