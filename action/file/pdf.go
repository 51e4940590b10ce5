package file

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"atelier/action/internal/pdf"
	"atelier/media"
)

const kindPDF = "pdf"

// maxPDF is the largest PDF that is read, in bytes: the limit of documents.
const maxPDF = 64 << 20

// isPDF tells a PDF by its first bytes, which may have some junk before them.
func isPDF(head []byte) bool { return bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")) }

// readPDF gives the text of a PDF, page after page.
func (d document) readPDF(ctx context.Context) (reading, error) {
	if d.size > maxPDF {
		return reading{}, media.Errorf(media.CodeTooLarge, "the PDF has %d bytes, more than %d are not read: split it", d.size, maxPDF)
	}
	file, err := d.open()
	if err != nil {
		return reading{}, err
	}
	defer func() { _ = file.Close() }() // read only
	b, err := io.ReadAll(io.LimitReader(file, maxPDF))
	if err != nil {
		return reading{}, err
	}
	w := &window{offset: d.offset, limit: d.limit}
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
		if doc.Pages() > 1 {
			w.write(fmt.Sprintf("%s[page %d]\n", map[bool]string{true: "\n\n"}[n > 0], n+1))
		}
		text += len(page)
		w.write(page)
	}
	r := w.reading(d, kindPDF)
	r.Title = short(doc.Title(), 200)
	r.Warnings = append(r.Warnings, doc.Warnings()...)
	if text == 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the PDF has no text on its %d pages: it may be a scan, which this program does not read", doc.Pages()))
	}
	return r, nil
}
