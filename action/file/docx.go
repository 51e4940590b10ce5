package file

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"atelier/action/internal/docx"
	"atelier/media"
)

const kindDOCX = "docx"

// readDOCX returns the text of a Word document.
func (d document) readDOCX(ctx context.Context) (reading, error) {
	if d.size > maxDocument {
		return reading{}, media.Errorf(media.CodeTooLarge, "the document has %d bytes, and the limit is %d: split it", d.size, maxDocument)
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
	doc, err := docx.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return reading{}, err
	}
	w := d.window()
	err = doc.Text(ctx, func(n int) {
		w.begin(n)
		if n > 1 {
			w.write(fmt.Sprintf("[page %d]\n", n))
		}
	}, w.write)
	if err != nil {
		return reading{}, err
	}
	r := w.reading(d, kindDOCX)
	r.Title = short(doc.Title(), 200)
	if w.all == 0 {
		r.Warnings = append(r.Warnings, "the document has no text: it may contain only pictures")
	}
	return r, nil
}
