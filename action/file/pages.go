package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"atelier/action/internal/docx"
	"atelier/action/internal/pdf"
	"atelier/media"
	"atelier/media/probe"
	"atelier/media/wire"
)

// maxDocument is the largest PDF or Word document that is read, in bytes.
const maxDocument = 64 << 20

func isPDF(head []byte) bool { return probe.Head(head).MIMEType == "application/pdf" }

// readPages returns the text of a PDF or Word document, page by page.
func (d document) readPages(ctx context.Context, kind string) (reading, error) {
	name := map[string]string{kindPDF: "PDF", kindDOCX: "document"}[kind]
	if d.Size > maxDocument {
		return reading{}, media.Errorf(media.CodeTooLarge, "the %s has %d bytes, and the limit is %d: split it", name, d.Size, maxDocument)
	}
	file, err := d.Open()
	if err != nil {
		return reading{}, err
	}
	defer func() { _ = file.Close() }() // read only
	b := make([]byte, d.Size)
	n, err := io.ReadFull(file, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return reading{}, err
	}
	b = b[:n]
	w := d.window()
	read := d.pdf
	if kind == kindDOCX {
		read = d.docx
	}
	title, warnings, err := read(ctx, b, w)
	if err != nil {
		return reading{}, err
	}
	r := w.reading(d, kind)
	r.Title = Clip(title, 200)
	r.Warnings = append(r.Warnings, warnings...)
	return r, nil
}

func (d document) pdf(ctx context.Context, b []byte, w *window) (title string, warnings []string, err error) {
	text := 0
	title, warnings, err = pdf.Read(ctx, b, func(n, of int, page string) {
		w.pages = n
		if n > 1 && d.page == 0 {
			w.write("\n\n")
		}
		if of > 1 {
			w.write(fmt.Sprintf("[page %d]\n", n))
		}
		text += len(page)
		w.write(wire.NameMedia(page))
	})
	if text == 0 {
		warnings = append(warnings, fmt.Sprintf("the PDF has no text on its %d pages: it may be a scan, which this program cannot read", w.pages))
	}
	return title, warnings, err
}

func (d document) docx(ctx context.Context, b []byte, w *window) (title string, warnings []string, err error) {
	doc, err := docx.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return "", nil, err
	}
	err = doc.Text(ctx, func(n int) {
		w.pages = n
		if n > 1 {
			w.write(fmt.Sprintf("[page %d]\n", n))
		}
	}, w.write)
	if w.all == 0 {
		warnings = append(warnings, "the document has no text: it may contain only pictures")
	}
	return doc.Title(), warnings, err
}
