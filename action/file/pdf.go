package file

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"atelier/action/internal/pdf"
	"atelier/media"
	"atelier/media/wire"
)

const kindPDF = "pdf"

// maxDocument is the largest PDF or Word document that is read, in bytes.
const maxDocument = 64 << 20

// isPDF recognises a PDF by its first bytes, which may have some junk before them.
func isPDF(head []byte) bool { return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")) }

// readPDF returns the text of a PDF, page after page.
func (d document) readPDF(ctx context.Context) (reading, error) {
	if d.size > maxDocument {
		return reading{}, media.Errorf(media.CodeTooLarge, "the PDF has %d bytes, and the limit is %d: split it", d.size, maxDocument)
	}
	file, err := d.open()
	if err != nil {
		return reading{}, err
	}
	defer func() { _ = file.Close() }() // read only
	b, err := io.ReadAll(io.LimitReader(file, maxDocument))
	if err != nil {
		return reading{}, err
	}
	w := d.window()
	doc, err := pdf.Open(b)
	if err != nil {
		return reading{}, err
	}
	text := 0
	for n := range doc.Pages() {
		page, err := doc.Text(ctx, n)
		if err != nil {
			return reading{}, err
		}
		w.begin(n + 1)
		if doc.Pages() > 1 {
			w.write(fmt.Sprintf("%s[page %d]\n", map[bool]string{true: "\n\n"}[n > 0 && d.page == 0], n+1))
		}
		text += len(page)
		w.write(wire.NameMedia(page))
	}
	r := w.reading(d, kindPDF)
	r.Title = short(doc.Title(), 200)
	r.Warnings = append(r.Warnings, doc.Warnings()...)
	if text == 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the PDF has no text on its %d pages: it may be a scan, which this program cannot read", doc.Pages()))
	}
	return r, nil
}
