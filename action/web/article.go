package web

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTags is the maximum number of tags, texts and comments read from one page.
const maxTags = 1_000_000

// articles returns parts of a page as HTML, the most readable first: the main element or the articles without their
// surroundings, the body without its surroundings, the whole page. Each includes the page's head for the title.
func articles(b []byte) [][]byte {
	var c cutter
	z := html.NewTokenizer(bytes.NewReader(b))
	z.SetMaxBuf(DefaultMaxBytes) // as large as a page
	for range maxTags {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := bytes.Clone(z.Raw())
		switch kind {
		case html.StartTagToken, html.EndTagToken:
			name, hasAttr := z.TagName()
			c.tag(atom.Lookup(name), kind == html.StartTagToken, hasAttr && hidden(z), raw)
		case html.CommentToken, html.DoctypeToken, html.ErrorToken:
		case html.TextToken, html.SelfClosingTagToken:
			c.write(raw)
		}
	}
	if !c.found {
		c.main.Reset()
	}
	return slices.DeleteFunc([][]byte{c.main.Bytes(), c.body.Bytes(), b}, func(part []byte) bool { return len(part) == 0 })
}

// hidden reports whether attributes hide an element or mark it as navigation, search, banner or footer.
func hidden(z *html.Tokenizer) bool {
	for more := true; more; {
		var key, val []byte
		key, val, more = z.TagAttr()
		switch string(key) {
		case "hidden":
			return true
		case "aria-hidden":
			return string(val) == "true"
		case "style":
			s := strings.ReplaceAll(string(val), " ", "")
			if strings.Contains(s, "display:none") || strings.Contains(s, "visibility:hidden") {
				return true
			}
		case "role":
			if r := string(val); r == "navigation" || r == "search" || r == "banner" || r == "contentinfo" {
				return true
			}
		}
	}
	return false
}

var (
	// around are the elements that surround an article.
	around = []atom.Atom{
		atom.Nav, atom.Footer, atom.Aside, atom.Form, atom.Button, atom.Select, atom.Dialog, atom.Iframe, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Menu,
	}
	// unclosed are elements without an end tag, or that end with the page.
	unclosed = []atom.Atom{
		atom.Br, atom.Hr, atom.Img, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col, atom.Embed, atom.Source, atom.Track, atom.Wbr, atom.Html,
	}
)

// cutter copies a page without navigation, forms and similar elements.
type cutter struct {
	main, body bytes.Buffer
	found      bool        // main has an element
	inside     int         // depth of main and article
	head       bool        // inside head
	away       []atom.Atom // open elements that are omitted, the outermost first
}

func (c *cutter) write(raw []byte) {
	if len(c.away) > 0 {
		return
	}
	c.body.Write(raw)
	if c.inside > 0 || c.head {
		c.main.Write(raw)
	}
}

func (c *cutter) tag(a atom.Atom, open, unseen bool, raw []byte) {
	if n := len(c.away); n > 0 {
		switch {
		case open && a == c.away[n-1]:
			c.away = append(c.away, a)
		case !open && a == c.away[n-1]:
			c.away = c.away[:n-1]
		case a == atom.Body || a == atom.Html || (a == atom.Main || a == atom.Article) && open && !unseen:
			c.away = nil // the tag was never closed
			c.tag(a, open, unseen, raw)
		}
		return
	}
	switch {
	case a == atom.Head:
		c.head = true
		c.write(raw)
		c.head = open
		return
	case a == atom.Body:
		c.head = false
	case open && (slices.Contains(around, a) || unseen && !slices.Contains(unclosed, a)):
		c.away = append(c.away, a)
		return
	case (a == atom.Main || a == atom.Article) && open:
		c.inside++
		c.found = true
	case a == atom.Main || a == atom.Article:
		c.write(raw)
		c.inside = max(0, c.inside-1)
		return
	}
	c.write(raw)
}
