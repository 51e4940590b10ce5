package docx

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"atelier/media"
)

// FuzzText reads any input: reading ends with text or with a typed error.
func FuzzText(f *testing.F) {
	f.Add(`<w:document><w:body><w:p><w:r><w:t>x</w:t></w:r></w:p></w:body></w:document>`)
	f.Add(`<a><tbl><tr><tc><p><t>x</t></p></tc></tr></tbl><p><br type="page"/><t>y</t></p></a>`)
	f.Add(`<a></b>`)
	f.Fuzz(func(t *testing.T, body string) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("word/document.xml")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(body))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		d, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		last := 0
		err = d.Text(t.Context(), func(n int) {
			if n != last+1 {
				t.Errorf("page %d follows %d", n, last)
			}
			last = n
		}, func(s string) { text.WriteString(s) })
		if err != nil && media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("error %v", err)
		}
	})
}
