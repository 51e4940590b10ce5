package table

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
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
		im.into.notRead = append(im.into.notRead, file.Skipped{Path: f.Name, Reason: fmt.Sprintf("sheet %s: %s", file.Clip(sheet, 60), reason)})
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
		var no *refusal
		switch {
		case errors.As(err, &no):
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

// openBook opens a workbook. A damaged one returns an error instead of a panic.
func openBook(r io.Reader, dir string) (book *excelize.File, err error) {
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
	size := uint64(0)
	for _, f := range z.File { // one that is larger than its declared size fails when it is read
		if size += f.UncompressedSize64; size > maxUnzipped || f.UncompressedSize64 > maxUnzipped {
			return nil, refuse("the workbook unpacks to more than %d MiB", maxUnzipped>>20)
		}
		if strings.HasSuffix(f.Name, ".xml") && f.UncompressedSize64 > maxText && hasLongText(f) {
			return nil, refuse("the workbook has a cell of more than %d MiB", maxText>>20)
		}
	}
	book, err = excelize.OpenReader(bytes.NewReader(b), excelize.Options{UnzipSizeLimit: maxUnzipped, UnzipXMLSizeLimit: 4 << 20, TmpDir: dir})
	if err != nil {
		return nil, refuse("the workbook cannot be read: %s", file.Clip(err.Error(), 120))
	}
	return book, nil
}

// maxText is the maximum length of a text between two tags, in bytes; Excel's is 32,767 characters. The XML decoder holds
// a text in memory several times.
const maxText = 1 << 20

func hasLongText(f *zip.File) bool {
	r, err := f.Open()
	if err != nil {
		return false // excelize reports it
	}
	defer func() { _ = r.Close() }() // read only
	in := bufio.NewReaderSize(r, maxText)
	for err == nil {
		_, err = in.ReadSlice('<')
	}
	return errors.Is(err, bufio.ErrBufferFull)
}

// sheet imports one sheet.
func (im *importer) sheet(ctx context.Context, path, name, sheet string, book *excelize.File) error {
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
	return im.table(ctx, path, name, sheetSource{s, widest})
}

// sheetSource provides the records of a sheet.
type sheetSource struct {
	*spool
	widest int
}

var _ source = sheetSource{}

func (sheetSource) style() style      { return style{loose: true} }
func (s sheetSource) notes() []string { return tooWide(s.widest) }

// readSheet calls fn with the records of a sheet. It reads each cell as stored and as shown, which determines what the
// number means. Formatting dates is slow, so readSheet only formats the first lookRows rows if every column of numbers
// is shown in one way in them.
func readSheet(ctx context.Context, book *excelize.File, sheet string, fn func([]cell) error) (err error) {
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
		if err := fn(record); err != nil {
			return err
		}
	}
	return nil
}
