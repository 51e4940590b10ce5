package report_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/media/wire/wiretest"

	"golang.org/x/net/html"

	"atelier/agent"
	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/media"
	"atelier/media/wire"
)

type testStore struct {
	codec *wire.Codec
	items []media.Output
}

func newTestStore(t *testing.T) *testStore {
	t.Helper()
	codec := wiretest.NewCodec(t)
	s := &testStore{codec: codec}
	for _, w := range []int{3, 5} {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, 4))); err != nil {
			t.Fatal(err)
		}
		o, err := codec.Store(t.Context(), &b, "")
		if err != nil {
			t.Fatal(err)
		}
		s.items = append(s.items, media.NewOutput(o, media.Meta{Label: "Picture <1>"}))
	}
	return s
}

func (s *testStore) find(r media.Ref) (media.Output, bool) {
	for _, o := range s.items {
		if o.Ref == r {
			return o, true
		}
	}
	return media.Output{}, false
}

func (s *testStore) write(t *testing.T, r report.Report, mode resolve.Mode) string {
	t.Helper()
	var b strings.Builder
	if err := report.Write(t.Context(), &b, r, resolve.Options{Mode: mode, Find: s.find, Codec: s.codec}); err != nil {
		t.Fatal(err)
	}
	if _, err := html.Parse(strings.NewReader(b.String())); err != nil {
		t.Errorf("not HTML: %v", err)
	}
	return b.String()
}

func payload(t *testing.T, m map[string]string) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReportFromHTML(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	mark := s.items[0].Ref.Placeholder()
	body := `<h1>Wind &amp; sun</h1><p style="text-align:center;position:fixed">Text ${media:image_1} $` + mark + `</p>
<figure><img src="` + mark + `" alt="a picture" title="a picture" style="max-width:100%"><figcaption>Figure 1: x</figcaption></figure>
<table><tr><th scope="col">n</th></tr><tr><td>1</td></tr></table><details open><summary>More</summary>y</details><a href="https://example.org/a?b=1">link</a>`
	got := s.write(t, report.Report{
		Payload: payload(t, map[string]string{"title": "Named", "report_html": body}), AlsoMade: s.items[1:], Notes: []string{"offline <model>"},
	}, resolve.ModeDataURI)
	for _, want := range []string{
		"<!DOCTYPE html>", "<title>Named</title>", "<h1>Wind &amp; sun</h1>", `<img src="data:image/png;base64,`, `alt="a picture" title="a picture"`,
		"Figure 1: x", `<div class="table" tabindex="0" role="group" aria-label="Table"><table>`, "<details open", `href="https://example.org/a?b=1"`, "Missing image", mark + "</p>",
		"Also made", "Picture &lt;1&gt;", "<li>offline &lt;model&gt;</li>", "prefers-color-scheme: dark", "@media print",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
	if strings.Count(got, "<h1>") != 1 || strings.Contains(got, "position:fixed") || strings.Contains(got, "x-atelier") || strings.Contains(got, "image_1}") {
		t.Errorf("the document is wrong: %s", got[strings.Index(got, "<body>"):])
	}
}

// TestLinksLeaveTheReport: links to other sites open new tabs, because one in a frame would replace the report; links
// within the report stay in it.
func TestLinksLeaveTheReport(t *testing.T) {
	t.Parallel()
	doc := newTestStore(t).write(t, report.Report{Payload: payload(t, map[string]string{"report_html": `<a href="https://example.org/x">a</a> <a href="#b">b</a>`})}, resolve.ModeURL)
	if !strings.Contains(doc, `<a href="https://example.org/x" rel="noreferrer noopener" target="_blank">a</a> <a href="#b">b</a>`) {
		t.Error(doc)
	}
}

func TestReportRemovesWhatIsDangerous(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	mark := s.items[0].Ref.Placeholder()
	body := `<html><head><title>T</title><style>p{}</style><script>alert(1)</script><link rel=stylesheet href=//evil.example></head><body onload="x()">
<p onclick="x()">ok</p><img src="https://evil.example/t.png"><img src=x onerror=alert(1)><iframe src="https://evil.example"></iframe>
<a href="javascript:alert(1)">j</a><form action="https://evil.example"><input></form><svg onload=alert(1)></svg><object data="x"></object>
<p style="background:url(https://evil.example/x)">s</p><img src="data:image/svg+xml,<svg onload=alert(1)>"><meta http-equiv=refresh content="0;url=//evil.example">
<img src="` + mark + `" alt="${media:img-00000000}" onload="x()"></body></html>`
	got := s.write(t, report.Report{Payload: payload(t, map[string]string{"report_html": body}), Title: "Fallback"}, resolve.ModeURL)
	for _, bad := range []string{"<script", "onclick", "onload", "onerror", "evil.example", "javascript:", "<iframe", "<form", "<input", "<svg", "<object", "alert(", "http-equiv=refresh", "${media"} {
		if strings.Contains(got, bad) {
			t.Errorf("the document contains %q", bad)
		}
	}
	if !strings.Contains(got, `<img src="/media/`+string(s.items[0].Ref)+`"`) || !strings.Contains(got, "<title>Fallback</title>") || !strings.Contains(got, "<p>ok</p>") {
		t.Errorf("too much was removed: %s", got[strings.Index(got, "<body>"):])
	}
}

func TestReportFromMarkdownAndMessage(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	mark := s.items[0].Ref.Placeholder()
	md := "# Title\n\nSome *text* ![alt text](" + mark + " \"alt text\")\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" + mark + "\n\n<script>x</script>"
	got := s.write(t, report.Report{Payload: payload(t, map[string]string{"report_markdown": md})}, resolve.ModeFile)
	file := "media/picture-1-" + string(s.items[0].Ref) + ".png"
	for _, want := range []string{"<title>Title</title>", "<em>text</em>", `<img src="` + file + `" alt="alt text"`, `<td class="atelier-figure">1</td>`, `<figure><img src="` + file + `"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the document lacks %q: %s", want, got[strings.Index(got, "<body>"):])
		}
	}
	if strings.Contains(got, "<script") {
		t.Error("Markdown kept a script")
	}
	if got := s.write(t, report.Report{Message: "Only **this**."}, resolve.ModeURL); !strings.Contains(got, "<strong>this</strong>") || !strings.Contains(got, "<h1>Report</h1>") {
		t.Errorf("got %s", got)
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{"": false, "null": false, `{"x":1}`: false, `{"report_html":" "}`: false, `{"report_html":"<p>"}`: true, `{"report_markdown":"x"}`: true, `{"report_html":5,"report_markdown":"x"}`: true} {
		if got := report.Has(json.RawMessage(in)); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestFromResultTellsOffline(t *testing.T) {
	t.Parallel()
	r := report.FromResult(&agent.Result{Models: []agent.ModelUse{{Name: "Rules", Offline: true}}, Warnings: []string{"w"}})
	if !slices.Equal(r.ByRule, []string{"Rules"}) || !slices.Equal(r.Notes, []string{"w"}) {
		t.Errorf("by rule %q, notes %q", r.ByRule, r.Notes)
	}
}

// TestFilesOfDocuments: a document that an agent wrote shows the pictures beside it and no raw token; one from outside
// remains byte for byte.
func TestFilesOfDocuments(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	text := `<p>Look:</p><img src="${media:` + string(s.items[0].Ref) + `}"><img src="${media:img-00000000}">`
	b, err := s.codec.Store(t.Context(), strings.NewReader(text), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	made := media.NewOutput(b, media.Meta{Label: "Report"})
	for direction, want := range map[string]string{"output": `<img src="` + resolve.FileName(s.items[0]) + `">`, "input": text} {
		made.Origin.Direction = direction
		dir := t.TempDir()
		paths, err := report.Files(t.Context(), dir, append([]media.Output{made}, s.items...), s.codec)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, paths[made.Ref].Path))
		if err != nil || !strings.Contains(string(got), want) || direction == "output" && strings.Contains(string(got), "${media:") {
			t.Errorf("%s: %v, %s", direction, err, got)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	dir := t.TempDir()
	lost := media.Output{Ref: "img-00000000", Blob: media.Blob{Digest: media.DigestOf([]byte("gone"))}}
	paths, err := report.Files(t.Context(), dir, append([]media.Output{lost}, s.items...), s.codec)
	if media.CodeOf(err) != media.CodeNotFound || len(paths) != 2 {
		t.Fatalf("got %v, %v", paths, err)
	}
	for _, o := range s.items {
		b, err := os.ReadFile(filepath.Join(dir, paths[o.Ref].Path))
		if err != nil || media.DigestOf(b) != o.Digest {
			t.Errorf("%s: %v", o.Ref, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "media"))
	if err != nil || len(left) != 2 {
		t.Errorf("the folder contains %v, %v", left, err)
	}
}

// TestTheRenderersOwnWordsAreGerman: notes and names that the renderer adds are in the language of the report.
func TestTheRenderersOwnWordsAreGerman(t *testing.T) {
	t.Parallel()
	r := report.FromResult(&agent.Result{Models: []agent.ModelUse{{Name: "Atelier Offline", Offline: true}}, Payload: json.RawMessage(`{"report_html":"<p>Der Umsatz ist hoch und die Kosten sind es nicht.</p><table><tr><td>a</td></tr></table>"}`)})
	var b strings.Builder
	if err := report.Write(t.Context(), &b, r, resolve.Options{Mode: resolve.ModeFile, Find: func(media.Ref) (media.Output, bool) { return media.Output{}, false }}); err != nil {
		t.Fatal(err)
	}
	if page := b.String(); !strings.Contains(page, "Geschrieben von Atelier Offline") || strings.Contains(page, "Written by") || !strings.Contains(page, `aria-label="Tabelle"`) {
		t.Error(page)
	}
}

// TestConversationHasUniqueNames: footnotes and headings of one message of a page are not those of another.
func TestConversationHasUniqueNames(t *testing.T) {
	t.Parallel()
	s := newTestStore(t)
	note := "A claim[^1].\n\n[^1]: its source\n\nNot an id=\"x\".\n"
	messages := func(yield func(report.Message, error) bool) {
		for range 2 {
			r := report.Report{Payload: payload(t, map[string]string{"report_html": `<h2 id="sales">Sales</h2><p><a href="#sales">see</a></p>`})}
			if !yield(report.Message{Who: "Sage", Text: note, Find: s.find, Report: &r}, nil) {
				return
			}
		}
	}
	var b strings.Builder
	if err := report.WriteConversation(t.Context(), &b, report.Conversation{Messages: messages}, resolve.Options{Mode: resolve.ModeURL, Codec: s.codec}); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]int{}, map[string]int{}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				links[a.Val[1:]]++
			}
		}
	}
	if len(links) != 6 {
		t.Errorf("links %v", links)
	}
	for name, n := range ids {
		if n != 1 || links[name] != 1 {
			t.Errorf("id %s: %d times, %d links", name, n, links[name])
		}
	}
	if strings.Count(b.String(), "Not an id=&#34;x&#34;.") != 2 {
		t.Error("the text was changed")
	}
}
