package report_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/media"
)

// hostile lists texts that a model may be tricked into writing.
var hostile = []string{
	`<svg/onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`, `<svg><animate onbegin=alert(1) attributeName=x dur=1s>`,
	`<svg><use href="data:image/svg+xml,<svg id=x onload=alert(1)>#x"/></svg>`, `<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>`,
	`<a href="javascript:alert(1)">x</a>`, `<a href=" &#106;avascript:alert(1)">x</a>`, "<a href=\"java\nscript:alert(1)\">x</a>", `<a href="vbscript:x">x</a>`,
	`<a href="data:text/html,<script>alert(1)</script>">x</a>`, `<a href="//evil.example/x">x</a>`, `<a href="file:///etc/passwd">x</a>`,
	`<p style="width:expression(alert(1))">x</p>`, `<p style="background-image:url('//evil.example/x')">x</p>`, `<p style="width:1px;behavior:url(#x)">x</p>`,
	`<p style="position:fixed;top:0">x</p>`, `<p style="font-size:1px;color:url(https://evil.example)">x</p>`, `<p style="width:100%;/*">*/url(//evil.example)</p>`,
	`<style>@import "https://evil.example/x.css";body{background:url(//evil.example)}</style>`, `<link rel="stylesheet" href="https://evil.example">`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example">`, `<base href="https://evil.example/">`, `<form action="https://evil.example"><button formaction="javascript:alert(1)">x</button></form>`,
	`<iframe srcdoc="<script>alert(1)</script>"></iframe>`, `<frameset><frame src="//evil.example"></frameset>`, `<object data="//evil.example"></object>`, `<embed src="//evil.example">`,
	`<video poster="//evil.example/x"><source src="//evil.example/y"></video>`, `<audio src="https://evil.example/z" autoplay></audio>`, `<img srcset="https://evil.example/x 2x">`, `<img src="data:image/png;base64,AAAA">`,
	`<picture><source srcset="//evil.example/x"><img src="//evil.example/x"></picture>`, `<input onfocus=alert(1) autofocus>`, `<details ontoggle=alert(1) open>x</details>`,
	`<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>`, `<!--><script>alert(1)</script>-->`, `<p title='"><script>alert(1)</script>'>x</p>`,
	`<template><script>alert(1)</script></template>`, `<xmp><script>alert(1)</script></xmp>`, `<textarea><script>alert(1)</script></textarea>`, `<plaintext><script>alert(1)`,
	`</main></body></html><script>alert(1)</script>`, `<script>alert(1)`, `<a ping="https://evil.example" href="#x">x</a>`, `<td background="//evil.example">`, `<body background="//evil.example">`,
}

// checkHarmless checks a document for anything that would execute or load.
func checkHarmless(t *testing.T, doc string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "iframe", "object", "embed", "form", "button", "input", "base", "link", "svg", "math", "frame", "frameset", "source", "template", "textarea", "noscript", "plaintext", "xmp":
			t.Errorf("element %s", n.Data)
		case "meta", "style":
			if n.Parent == nil || n.Parent.Data != "head" {
				t.Errorf("%s outside the head", n.Data)
			}
		}
		for _, a := range n.Attr {
			v := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.HasPrefix(a.Key, "on") || a.Key == "srcset" || a.Key == "poster" || a.Key == "ping" || a.Key == "background" || a.Key == "autoplay" ||
				strings.Contains(v, "script:") || a.Key == "style" && (strings.Contains(v, "url(") || strings.Contains(v, "expression") || strings.Contains(v, "position")) ||
				a.Key == "src" && !strings.HasPrefix(v, "/media/") ||
				a.Key == "href" && !strings.HasPrefix(v, "https://") && !strings.HasPrefix(v, "#") && !strings.HasPrefix(v, "/media/") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
}

func TestHostileReports(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	for _, attack := range hostile {
		for _, field := range []string{"report_html", "report_markdown"} {
			doc := s.write(t, report.Report{Payload: payload(t, map[string]string{"title": attack, field: "<h1>" + attack + "</h1>\n\n" + attack}), Notes: []string{attack}}, resolve.ModeURL)
			t.Run(field+" "+attack, func(t *testing.T) {
				t.Parallel()
				checkHarmless(t, doc)
			})
		}
	}
}

// TestNoRawMarkAnywhere: a reader never sees a token, and only src and href attributes become URLs.
func TestNoRawMarkAnywhere(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	ref := string(s.items[0].Ref)
	mark := s.items[0].Ref.Placeholder()
	hidden := "x-atelier-media:" + ref
	s.items[1].Label = "like " + mark
	body := `<h1>Wind ` + mark + ` &#36;{media:` + ref + `} and ${media:oops}</h1><p title="see &#36;{media:` + ref + `}" lang="` + mark + `" role="` + hidden + `" dir="&#36;{media:` + ref + `}">text</p>` +
		`<img src="` + mark + `" alt="alt &#36;{media:` + ref + `}"><p>x-atelier-x-atelier-media:media:` + ref + `</p>`
	doc := s.write(t, report.Report{
		Payload: payload(t, map[string]string{"title": "About " + mark + " and ${media:oops", "report_html": body}), Notes: []string{"note " + mark}, AlsoMade: s.items[1:],
	}, resolve.ModeDataURI)
	if i := strings.Index(doc, "${media:"); i >= 0 {
		t.Errorf("a raw mark: %s", doc[max(0, i-100):i+60])
	}
	if strings.Contains(doc, "atelier-media") {
		t.Error("a hidden mark remains")
	}
	root, err := html.Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Data == "title" && n.FirstChild != nil && strings.TrimSpace(n.FirstChild.Data) != "About and" {
			t.Errorf("title %q", n.FirstChild.Data)
		}
		for _, a := range n.Attr {
			if strings.Contains(a.Val, "base64,") && a.Key != "src" {
				t.Errorf("<%s %s=%.60q>", n.Data, a.Key, a.Val)
			}
		}
	}
}

// TestUnbalancedReportStaysInItsPlace: a report with unmatched closing or opening tags does not affect the page around
// it.
func TestUnbalancedReportStaysInItsPlace(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	for _, body := range []string{`<p>a</main></div></table>b`, `<table><tr><td>x`, `<div><div><details><summary>y`, `<p>x<!-- never closed`, `<p title="never closed`} {
		doc := s.write(t, report.Report{Payload: payload(t, map[string]string{"report_html": body}), Notes: []string{"the note"}}, resolve.ModeURL)
		root, err := html.Parse(strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		var footer *html.Node
		for n := range root.Descendants() {
			if n.Data == "footer" {
				footer = n
			}
		}
		if footer == nil || footer.Parent.Data != "main" {
			t.Errorf("%q: the notes are not in the page's main: %s", body, doc[strings.Index(doc, "<body>"):])
		}
	}
}

// TestDeepReport: extremely deep nesting leaves the words.
func TestDeepReport(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	body := strings.Repeat("<div>", 5000) + "the &lt;words&gt; <img onerror=x src=" + s.items[0].Ref.Placeholder() + ">"
	doc := s.write(t, report.Report{Payload: payload(t, map[string]string{"report_html": body}), Notes: []string{"n"}}, resolve.ModeURL)
	if !strings.Contains(doc, "the &lt;words&gt;") || strings.Contains(doc, "onerror") {
		t.Error(doc[strings.Index(doc, "<body>"):])
	}
}

// TestHugeReport: a large report keeps every picture.
func TestHugeReport(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	var b bytes.Buffer
	for range 3_000 {
		b.WriteString(`<figure><img src="` + s.items[0].Ref.Placeholder() + `" alt="x"></figure><p>${media:bad}</p>`)
	}
	doc := s.write(t, report.Report{Payload: payload(t, map[string]string{"report_html": b.String()})}, resolve.ModeURL)
	if n := strings.Count(doc, "<figure>"); n < 3_000 {
		t.Errorf("%d figures", n)
	}
	if media.Refs(doc) != nil {
		t.Error("a raw mark remains")
	}
}
