package table

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"atelier/action/file"
)

const (
	// maxExcel is the maximum size of a workbook, maxUnzipped its maximum unpacked size, in bytes.
	maxExcel    = 64 << 20
	maxUnzipped = 512 << 20
	// maxSheets is the maximum number of sheets imported from a workbook.
	maxSheets = 100
)

// excel imports every visible sheet of a workbook that contains a table.
func (im *importer) excel(ctx context.Context, f file.Source) (err error) {
	if f.Size > maxExcel {
		return refuse("the workbook has more than %d MiB: save the sheets as CSV", maxExcel>>20)
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	book, err := openBook(io.LimitReader(r, maxExcel), im.store.dir)
	if err != nil {
		return err
	}
	defer func() { _ = book.Close() }() // its temporary files are in our folder
	notRead := func(sheet, reason string) {
		im.into.skip(f.Name, fmt.Sprintf("sheet %s: %s", file.Clip(sheet, 60), reason))
	}
	sheets := slices.DeleteFunc(book.GetSheetList(), func(sheet string) bool {
		ok, err := book.GetSheetVisible(sheet)
		if !ok && err == nil {
			notRead(sheet, "it is hidden")
		}
		return !ok && err == nil
	})
	for _, sheet := range sheets[:min(maxSheets, len(sheets))] {
		name := sheet
		if len(sheets) == 1 {
			name = ""
		}
		err := im.sheet(ctx, f.Name, name, sheet, book)
		switch no, refused := errors.AsType[*refusal](err); {
		case refused:
			notRead(sheet, no.reason)
		case err != nil:
			return err
		}
	}
	if len(sheets) == 0 {
		return refuse("the workbook has no visible sheet")
	}
	if len(sheets) > maxSheets {
		return refuse("the workbook has %d sheets; only the first %d are imported", len(sheets), maxSheets)
	}
	return nil
}

// excelBook is an opened workbook with what excelize does not say about its sheets unless it loads them.
type excelBook struct {
	*excelize.File
	marks map[string]marks // by the name of the sheet
}

// openBook opens a workbook. A damaged one returns an error instead of a panic.
func openBook(r io.Reader, dir string) (book *excelBook, err error) {
	defer func() {
		if p := recover(); p != nil {
			book, err = nil, refuse("the workbook is damaged")
		}
	}()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, refuse("the workbook cannot be read: %s", file.Clip(err.Error(), 120))
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, refuse("the workbook is damaged: %s", file.Clip(err.Error(), 100))
	}
	size, parts := uint64(0), map[string]marks{}
	in := bufio.NewReaderSize(nil, maxText)
	for _, f := range z.File { // one that is larger than its declared size fails when it is read
		if size += f.UncompressedSize64; size > maxUnzipped || f.UncompressedSize64 > maxUnzipped {
			return nil, refuse("the workbook unpacks to more than %d MiB", maxUnzipped>>20)
		}
		if strings.HasSuffix(f.Name, ".xml") {
			m, err := readMarks(f, in)
			if errors.Is(err, bufio.ErrBufferFull) {
				return nil, refuse("the workbook has a cell of more than %d MiB", maxText>>20)
			}
			parts[f.Name] = m
		}
	}
	opened, err := excelize.OpenReader(bytes.NewReader(b), excelize.Options{UnzipSizeLimit: maxUnzipped, UnzipXMLSizeLimit: maxXML, TmpDir: dir})
	if err != nil {
		return nil, refuse("the workbook cannot be read: %s", file.Clip(err.Error(), 120))
	}
	return &excelBook{opened, bySheet(z, opened, parts)}, nil
}

// maxXML is the maximum size of a part that is held in memory, in bytes.
const maxXML = 4 << 20

// bySheet returns the marks of the parts of a workbook by the names of its sheets.
func bySheet(z *zip.Reader, book *excelize.File, parts map[string]marks) map[string]marks {
	var links struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if f, err := z.Open("xl/_rels/workbook.xml.rels"); err == nil {
		_ = xml.NewDecoder(io.LimitReader(f, maxXML)).Decode(&links) // excelize has reported errors
		_ = f.Close()                                                // read only
	}
	targets := map[string]string{}
	for _, l := range links.All {
		targets[l.ID] = strings.TrimPrefix(strings.TrimPrefix(l.Target, "/"), "xl/")
	}
	out := map[string]marks{}
	for _, s := range book.WorkBook.Sheets.Sheet {
		out[s.Name] = parts["xl/"+targets[s.ID]]
	}
	return out
}

// maxText is the maximum length of a text between two tags, in bytes; Excel's is 32,767 characters. The XML decoder holds
// a text in memory several times.
const maxText = 1 << 20

// maxMerged is the maximum number of merged cells of a sheet whose values are repeated.
const maxMerged = 10_000

// marks are the merged cells of several rows in a sheet, by the number of their first row from 1, and the number of
// formulas without a stored value.
type marks struct {
	merged   map[int][]merged
	count    int // of merged
	formulas int
}

// merged is a merged cell of several rows: its first column, from 0, and its last row.
type merged struct {
	column, end int
	cell        cell
}

// readMarks reads a part of a workbook through in, whose size is maxText. It returns [bufio.ErrBufferFull] for a text longer than maxText.
func readMarks(f *zip.File, in *bufio.Reader) (m marks, err error) {
	r, err := f.Open()
	if err != nil {
		return m, err // excelize reports it
	}
	defer func() { _ = r.Close() }() // read only
	in.Reset(r)
	m.merged = map[int][]merged{}
	for formula, written := false, false; err == nil; {
		var tag []byte // and the text after it
		tag, err = in.ReadSlice('<')
		word, _, _ := bytes.Cut(tag[:min(len(tag), 20)], []byte(" "))
		word, text, _ := bytes.Cut(word, []byte(">"))
		switch string(word) {
		case "c":
			formula, written = false, bytes.Contains(tag, []byte(` t="str"`)) // an empty text is a value too
		case "f", "f/":
			formula = true
		case "v", "v/":
			formula = formula && !written && (len(text) == 0 || text[0] == '<')
		case "/c":
			if formula {
				m.formulas++
			}
		case "mergeCell":
			_, ref, _ := bytes.Cut(tag, []byte(`ref="`))
			ref, _, _ = bytes.Cut(ref, []byte(`"`))
			from, to, _ := strings.Cut(string(ref), ":")
			column, top, err1 := excelize.CellNameToCoordinates(from)
			_, end, err2 := excelize.CellNameToCoordinates(to)
			if err1 == nil && err2 == nil && end > top && m.count < maxMerged {
				m.merged[top] = append(m.merged[top], merged{column: column - 1, end: end})
				m.count++
			}
		}
	}
	return m, err
}

// fill repeats the texts and dates of merged cells in a row that has other values too. Numbers are not repeated, because
// their sum would be too large, and no text is repeated in a total, whose label it would hide. open are the merged cells
// that reach the row, by column.
func (m marks) fill(row int, record []cell, open map[int]merged) []cell {
	_, _, total := totalLabel(record)
	keep := total || blank(record)
	for column, o := range open {
		if o.end < row {
			delete(open, column)
			continue
		}
		if keep {
			continue
		}
		for len(record) <= column {
			record = append(record, cell{})
		}
		if len(record[column].text) == 0 {
			record[column] = o.cell
		}
	}
	for _, o := range m.merged[row] {
		if o.column < len(record) && !record[o.column].exact {
			o.cell = cell{text: bytes.Clone(record[o.column].text)}
			open[o.column] = o
		}
	}
	return record
}

// notes describes what the marks mean for the table.
func (m marks) notes() (notes []string) {
	if m.count > 0 {
		notes = append(notes, counted(m.count, "cell is merged over several rows", "cells are merged over several rows")+": each of the rows has its text or date; a number is in the first one only")
	}
	if m.formulas > 0 {
		notes = append(notes, counted(m.formulas, "formula has", "formulas have")+" no stored value and are missing: open the workbook in a spreadsheet program and save it")
	}
	return notes
}

// sheet imports one sheet.
func (im *importer) sheet(ctx context.Context, path, name, sheet string, book *excelBook) error {
	filled, widest := 0, 0
	s, err := newSpool(im.store.dir, func(add func([]cell) error) error {
		return readSheet(ctx, book, sheet, func(record []cell) error {
			if blank(record) {
				return nil
			}
			filled++
			kept := min(len(record), maxCells)
			if !blank(record[kept:]) {
				widest = max(widest, len(record))
			}
			return add(record[:kept])
		})
	})
	if err != nil {
		return err
	}
	defer s.remove()
	if filled == 0 {
		return refuse("it is empty")
	}
	return im.table(ctx, path, name, sheetSource{s, append(tooWide(widest), book.marks[sheet].notes()...)})
}

// sheetSource provides the records of a sheet.
type sheetSource struct {
	*spool
	remarks []string
}

var _ source = sheetSource{}

func (sheetSource) style() style      { return style{loose: true} }
func (s sheetSource) notes() []string { return s.remarks }

// readSheet calls fn with the records of a sheet. It reads each cell as stored and as shown, which determines what the
// number means. Formatting dates is slow, so readSheet only formats the first lookRows rows if every column of numbers
// is shown in one way in them.
func readSheet(ctx context.Context, book *excelBook, sheet string, fn func([]cell) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = refuse("the sheet is damaged")
		}
	}()
	stored, err := book.Rows(sheet)
	if err != nil {
		return refuse("it contains no table: %s", file.Clip(err.Error(), 100))
	}
	defer func() { _ = stored.Close() }() // read only
	shown, err := book.Rows(sheet)
	if err != nil {
		return refuse("it contains no table: %s", file.Clip(err.Error(), 100))
	}
	defer func() { _ = shown.Close() }() // read only
	formats := sheetFormats{columns: map[int]format{}}
	if p, err := book.GetWorkbookProps(); err == nil && p.Date1904 != nil {
		formats.epoch1904 = *p.Date1904
	}
	var record []cell
	open := map[int]merged{}
	marks := book.marks[sheet]
	for n := 0; stored.Next(); n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		raw, err := stored.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return refuse("row %d cannot be read: %s", n+1, file.Clip(err.Error(), 100))
		}
		var seen []string
		if looks := n < lookRows || formats.mixed; looks && shown.Next() {
			if seen, err = shown.Columns(); err != nil {
				return refuse("row %d cannot be read: %s", n+1, file.Clip(err.Error(), 100))
			}
		}
		record = record[:0]
		for i, v := range raw {
			as := ""
			if i < len(seen) {
				as = seen[i]
			}
			record = append(record, formats.cell(i, v, as))
		}
		record = marks.fill(n+1, record, open)
		if err := fn(record); err != nil {
			return err
		}
	}
	return nil
}
