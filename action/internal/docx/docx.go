// Package docx reads the text of Word documents (.docx): paragraphs, headings, lists and tables in their order, with
// page breaks, then the footnotes and endnotes. The unpacked size of a document is limited, and its text is streamed.
// Errors are media.Error values: [media.CodeCorrupt] for damaged documents, [media.CodeTooLarge] beyond the limits. It
// imports media and the standard library only.
package docx

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"atelier/media"
)

// maxPart is the maximum unpacked size of one part of a document, in bytes. The decoder holds a text of that size about
// three times.
const maxPart = 64 << 20

// Document is an opened document.
type Document struct {
	body   *zip.File
	notes  []*zip.File // footnotes and endnotes
	title  string
	levels map[string]int // of headings, by style id
}

// Open reads the title and the styles, but not the text.
func Open(r io.ReaderAt, size int64) (*Document, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, corrupt(err)
	}
	d := &Document{levels: map[string]int{}}
	for _, f := range z.File {
		switch f.Name {
		case "word/document.xml":
			d.body = f
		case "word/footnotes.xml", "word/endnotes.xml":
			d.notes = append(d.notes, f)
		case "word/styles.xml":
			var styles struct {
				Style []struct {
					ID   string `xml:"styleId,attr"`
					Name struct {
						Val string `xml:"val,attr"`
					} `xml:"name"`
				} `xml:"style"`
			}
			err = decode(f, func(dec *xml.Decoder) error { return dec.Decode(&styles) })
			for _, s := range styles.Style {
				name := strings.ToLower(s.Name.Val) // Word keeps the English name in every language
				if level, ok := strings.CutPrefix(name, "heading "); ok {
					d.levels[s.ID], _ = strconv.Atoi(level) // 0 for other names
				} else if name == "title" {
					d.levels[s.ID] = 1
				}
			}
		case "docProps/core.xml":
			var core struct {
				Title string `xml:"title"`
			}
			err = decode(f, func(dec *xml.Decoder) error { return dec.Decode(&core) })
			d.title = core.Title
		}
		if err != nil {
			return nil, err
		}
	}
	if d.body == nil {
		return nil, media.Errorf(media.CodeCorrupt, "the archive contains no Word document")
	}
	return d, nil
}

// Title returns the title in the document's properties; it may be empty.
func (d *Document) Title() string { return d.title }

// decode reads one part.
func decode(f *zip.File, fn func(*xml.Decoder) error) error {
	if f.UncompressedSize64 > maxPart {
		return media.Errorf(media.CodeTooLarge, "the Word document unpacks to more than %d MiB", maxPart>>20)
	}
	r, err := f.Open()
	if err != nil {
		return corrupt(err)
	}
	defer func() { _ = r.Close() }() // read only
	if err = fn(xml.NewDecoder(r)); errors.Is(err, io.EOF) {
		return nil
	}
	return corrupt(err)
}

func corrupt(err error) error {
	if err == nil || media.CodeOf(err) != media.CodeInternal {
		return err
	}
	return media.Errorf(media.CodeCorrupt, "the Word document is damaged: %w", err)
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// Text calls write with pieces of the text in whole characters, and page with the number of each page that begins,
// starting at 1.
func (d *Document) Text(ctx context.Context, page func(n int), write func(string)) error {
	p := &parser{doc: d, page: page, write: write, numbers: map[string]int{}}
	page(1)
	p.pages = 1
	for _, part := range append([]*zip.File{d.body}, d.notes...) {
		if err := decode(part, func(dec *xml.Decoder) error { return p.read(ctx, dec) }); err != nil {
			return err
		}
	}
	return nil
}

// read reads one part to its end.
func (p *parser) read(ctx context.Context, dec *xml.Decoder) error {
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		t, err := dec.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			p.start(t)
		case xml.EndElement:
			p.end(t.Name.Local)
		case xml.CharData:
			if p.inText {
				p.line.Write(t)
			}
		}
	}
}

// maxParagraph is the size of a paragraph, in bytes, after which its text is dropped.
const maxParagraph = 1 << 20

// parser is the state of reading the body of a document.
type parser struct {
	doc   *Document
	page  func(int)
	write func(string)

	line    strings.Builder // the current paragraph
	inText  bool
	prefix  string         // of the paragraph: #, - of a list, or the mark of a note
	note    string         // the mark of the note that begins with the next paragraph
	numbers map[string]int // of notes, by kind and id, and the last one of each kind
	tables  int            // depth
	pages   int
	breaks  int  // page breaks pending before the next paragraph
	deleted int  // depth in deleted or moved text, or in the copy of a text box for old programs
	began   bool // something was written
}

func (p *parser) start(e xml.StartElement) {
	switch e.Name.Local {
	case "p":
		p.prefix, p.note = p.note, ""
	case "pStyle":
		if level := p.doc.levels[attr(e, "val")]; level > 0 {
			p.prefix = strings.Repeat("#", min(level, 6)) + " "
		}
	case "numPr":
		if p.prefix == "" {
			p.prefix = "- "
		}
	case "t":
		p.inText = p.deleted == 0 && p.line.Len() < maxParagraph
	case "tab":
		if attr(e, "pos") == "" { // not a tab stop of the paragraph
			p.line.WriteByte('\t')
		}
	case "br", "cr":
		if attr(e, "type") == "page" {
			p.breaks++
		} else {
			p.line.WriteByte('\n')
		}
	case "lastRenderedPageBreak":
		p.breaks = max(p.breaks, 1)
	case "noBreakHyphen":
		p.line.WriteByte('-')
	case "footnoteReference", "endnoteReference":
		if p.deleted == 0 {
			p.line.WriteString(" " + p.mark(strings.TrimSuffix(e.Name.Local, "Reference"), attr(e, "id")))
		}
	case "footnote", "endnote":
		p.note = p.mark(e.Name.Local, attr(e, "id")) + " "
	case "del", "moveFrom", "Fallback":
		p.deleted++
	case "tbl":
		p.tables++
	}
}

// mark returns the mark of a note. Notes are numbered in the order of their references, as Word shows them.
func (p *parser) mark(kind, id string) string {
	if p.numbers[kind+id] == 0 {
		p.numbers[kind]++
		p.numbers[kind+id] = p.numbers[kind]
	}
	return fmt.Sprintf("[%s %d]", kind, p.numbers[kind+id])
}

func (p *parser) end(name string) {
	switch name {
	case "t":
		p.inText = false
	case "p":
		p.paragraph()
	case "tc":
		if p.tables > 0 {
			s := strings.TrimRight(p.line.String(), " ")
			p.line.Reset()
			p.line.WriteString(s + " | ")
		}
	case "tr":
		p.flush(strings.TrimSuffix(p.line.String(), " | "), "\n")
	case "tbl":
		p.tables = max(0, p.tables-1)
	case "del", "moveFrom", "Fallback":
		p.deleted = max(0, p.deleted-1)
	}
}

// paragraph ends a paragraph. The paragraphs of a table row share one line.
func (p *parser) paragraph() {
	if p.tables > 0 {
		if s := p.line.String(); s != "" && !strings.HasSuffix(s, " | ") && !strings.HasSuffix(s, " ") {
			p.line.WriteByte(' ')
		}
		return
	}
	text := p.line.String()
	if strings.TrimSpace(text) == "" {
		p.line.Reset()
		return
	}
	gap := "\n\n"
	if p.prefix == "- " {
		gap = "\n"
	}
	p.flush(p.prefix+text, gap)
}

// flush writes a line after the pending page breaks.
func (p *parser) flush(text, gap string) {
	p.line.Reset()
	text = strings.TrimRight(text, " ")
	if strings.Trim(text, " |") == "" {
		return
	}
	if p.began {
		p.write(gap)
	}
	for ; p.breaks > 0 && p.began; p.breaks-- {
		p.pages++
		p.page(p.pages)
	}
	p.breaks, p.began = 0, true
	p.write(text)
}
