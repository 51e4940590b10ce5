package file

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/media"
)

// wordDocument creates a Word document with the usual elements of a text document.
func wordDocument(tb testing.TB) string {
	tb.Helper()
	w := func(s string) string { return `<w:r><w:t xml:space="preserve">` + s + `</w:t></w:r>` }
	cell := func(s string) string { return `<w:tc><w:p>` + w(s) + `</w:p></w:tc>` }
	body := `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>` + w("Annual ") + w("report") + `</w:p>` +
		`<w:p>` + w("Sales rose &amp; costs fell.") + `<w:del><w:r><w:t>gone</w:t><w:delText>gone</w:delText></w:r></w:del></w:p><w:p/>` +
		`<w:p><w:pPr><w:numPr/></w:pPr>` + w("one") + `</w:p><w:p><w:pPr><w:numPr/></w:pPr>` + w("two") + `</w:p>` +
		`<w:tbl><w:tr>` + cell("Region") + cell("Sales") + `</w:tr><w:tr>` + cell("Nord") + cell("1.234,50 €") + `</w:tr></w:tbl>` +
		`<w:p><w:r><w:br w:type="page"/></w:r>` + w("On the second page") + `</w:p>`
	return archive(tb, map[string]string{
		"word/document.xml": `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml":   `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
		"docProps/core.xml": `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>The title</dc:title><dc:creator>me</dc:creator></cp:coreProperties>`,
	})
}

func archive(tb testing.TB, files map[string]string) string {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := z.Create(name)
		if err != nil {
			tb.Fatal(err)
		}
		_, _ = f.Write([]byte(files[name]))
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestReadWord(t *testing.T) {
	t.Parallel()
	r := readOne(t, "a.docx", wordDocument(t))
	want := "# Annual report\n\nSales rose & costs fell.\n- one\n- two\nRegion | Sales\nNord | 1.234,50 €\n\n[page 2]\nOn the second page"
	if d := cmp.Diff(want, *r.Text); d != "" || r.Title != "The title" || r.Format != "docx" || r.Pages != 2 {
		t.Errorf("reading %+v (-want +got):\n%s", r, d)
	}
	f, _ := folder(t, map[string]string{"a.docx": wordDocument(t), "b.txt": strings.Repeat("one ", 25) + strings.Repeat("two ", 25)})
	res, err := f.call(t, map[string]any{"Path": "a.docx", "Page": 2.0})
	if r := decoded(t, res); err != nil || r.Page != 2 || !strings.HasSuffix(*r.Text, "On the second page") || strings.Contains(*r.Text, "Annual") {
		t.Errorf("page 2: %v %q", err, *r.Text)
	}
	res, err = f.call(t, map[string]any{"Path": "a.docx", "Page": 7.0})
	if r := decoded(t, res); err != nil || *r.Text != "" || !r.warned("page 7 does not exist") {
		t.Errorf("page 7: %v %+v", err, r)
	}
	res, err = f.call(t, map[string]any{"Path": "b.txt", "Page": 2.0, "Limit": 100.0})
	if r := decoded(t, res); err != nil || *r.Text != strings.Repeat("two ", 25) {
		t.Errorf("second part of a text: %v %+v", err, r)
	}
}

// TestReadWordOnce has a text box, which Word writes twice, and a paragraph with tab stops.
func TestReadWordOnce(t *testing.T) {
	t.Parallel()
	box := `<w:txbxContent><w:p><w:r><w:t>In the box</w:t></w:r></w:p></w:txbxContent>`
	body := `<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/><w:tab w:val="right" w:pos="9000"/></w:tabs></w:pPr><w:r><w:t>Sales</w:t><w:tab/><w:t>12</w:t></w:r></w:p>` +
		`<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps">` + box + `</mc:Choice><mc:Fallback><w:pict>` + box + `</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`
	r := readOne(t, "a.docx", archive(t, map[string]string{"word/document.xml": `<w:document xmlns:w="w" xmlns:mc="mc"><w:body>` + body + `</w:body></w:document>`}))
	if want := "Sales\t12\n\nIn the box"; *r.Text != want {
		t.Errorf("%q, want %q", *r.Text, want)
	}
}

// TestReadOnInAPage reads a page that is longer than the limit.
// TestReadWordNotes has notes whose ids are not their numbers, a deleted reference and a hyphen that is an element.
func TestReadWordNotes(t *testing.T) {
	t.Parallel()
	w := func(s string) string { return `<w:r><w:t xml:space="preserve">` + s + `</w:t></w:r>` }
	mark := func(kind, id string) string { return `<w:r><w:` + kind + `Reference w:id="` + id + `"/></w:r>` }
	part := func(name, content string) string {
		return `<w:` + name + ` xmlns:w="w">` + content + `</w:` + name + `>`
	}
	r := readOne(t, "a.docx", archive(t, map[string]string{
		"word/document.xml": part("document", `<w:body><w:p>`+w("Call 555")+`<w:r><w:noBreakHyphen/></w:r>`+w("1234")+mark("footnote", "7")+w(" or write")+
			`<w:del>`+mark("footnote", "2")+`</w:del>`+mark("endnote", "7")+w(".")+`</w:p><w:p>`+w("Bye")+mark("footnote", "3")+`</w:p></w:body>`),
		"word/footnotes.xml": part("footnotes", `<w:footnote w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:id="3"><w:p>`+w("Until May.")+`</w:p></w:footnote>`+
			`<w:footnote w:id="7"><w:p>`+w("At night.")+`</w:p><w:p>`+w("Ask for Ada.")+`</w:p></w:footnote>`),
		"word/endnotes.xml": part("endnotes", `<w:endnote w:id="7"><w:p>`+w("By post.")+`</w:p></w:endnote>`),
	}))
	want := "Call 555-1234 [footnote 1] or write [endnote 1].\n\nBye [footnote 2]\n\n[endnote 1] By post.\n\n[footnote 2] Until May.\n\n[footnote 1] At night.\n\nAsk for Ada."
	if d := cmp.Diff(want, *r.Text); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
}

func TestReadOnInAPage(t *testing.T) {
	t.Parallel()
	f, _ := folder(t, map[string]string{"a.docx": wordDocument(t)})
	res, err := f.call(t, map[string]any{"Path": "a.docx", "Page": 1.0, "Limit": 8.0})
	if err != nil || !strings.HasSuffix(res.Message, "page 1 of 2; continue with Offset=8") {
		t.Errorf("%v %q", err, res.Message)
	}
}

func TestReadDamagedWord(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"no archive": "PK\x03\x04\x14\x00", "nothing in it": archive(t, map[string]string{"a.txt": "x"}),
		"cut": archive(t, map[string]string{"word/document.xml": "<w:document><w:body><w:p>"}),
	} {
		f, _ := folder(t, map[string]string{"a.docx": content})
		if _, err := f.call(t, map[string]any{"Path": "a.docx"}); media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, _ := folder(t, map[string]string{"a.docx": archive(t, map[string]string{"word/document.xml": strings.Repeat("x", 65<<20)})})
	if _, err := f.call(t, map[string]any{"Path": "a.docx"}); media.CodeOf(err) != media.CodeTooLarge {
		t.Errorf("a document that unpacks to 65 MiB: %v", err)
	}
	if r := readOne(t, "a.docx", "only text"); r.Kind != "text" || *r.Text != "only text" {
		t.Errorf("text under the name of a document: %+v", r)
	}
}
