package table

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, content string
		columns             []string
		rows                int
		query               string
		want                any
		note                string
	}{
		{name: "array", file: "data.json", content: `[{"a":1.5,"b":"x"},{"a":2,"b":null,"c":true}]`, columns: []string{"a", "b", "c"}, rows: 2, query: "SELECT sum(a) FROM data", want: 3.5},
		{name: "nested", file: "data.json", content: `[{"a":{"b":1,"c":{"d":"x"}}},{"a":{"b":3}}]`, columns: []string{"a.b", "a.c.d"}, rows: 2, query: `SELECT sum("a.b") FROM data`, want: 4.0},
		{name: "dots in names", file: "data.json", content: `[{"a.b":1,"a":{"b":10}},{"a":{"b":20},"a.b":2}]`, columns: []string{"a.b", "a.b (2)"}, rows: 2, query: `SELECT sum("a.b") + 100 * sum("a.b (2)") FROM data`, want: 3003.0},
		{name: "many dots", file: "data.json", content: `[{"a.b.c.d.e":{"f":{"g":1}}},{"a.b.c.d.e":{"f":{"g":2}}}]`, columns: []string{"a.b.c.d.e.f.g"}, rows: 2},
		{name: "inside", file: "data.json", content: `{"meta":{"n":2},"data":[{"a":1},{"a":2}]}`, columns: []string{"a"}, rows: 2, note: "the array data"},
		{name: "deeper inside", file: "data.json", content: `{"r":{"x":[{"q":0}],"items":[{"a":1},{"a":2},{"a":3}]}}`, columns: []string{"a"}, rows: 3, note: "r.items"},
		{name: "lists", file: "data.json", content: `[{"a":["x","y"],"b":[{"c":1}]}]`, columns: []string{"a", "b"}, rows: 1, query: "SELECT a || '/' || b FROM data", want: "x, y/[1 values]"},
		{name: "lines", file: "data.jsonl", content: "{\"a\":1}\n\n{\"a\":2,\"b\":3}\n", columns: []string{"a", "b"}, rows: 2},
		{name: "a bad line", file: "data.ndjson", content: "{\"a\":1}\n{\"a\":\n{\"a\":3}\n[1]\n", columns: []string{"a"}, rows: 2, note: "2 lines are not JSON", query: "SELECT sum(a) FROM data", want: 4.0},
		{name: "lines under the name of JSON", file: "data.json", content: "{\"a\":1}\n{\"a\":2}\n", columns: []string{"a"}, rows: 2},
		{name: "lines under the name of CSV", file: "data.csv", content: "{\"a\":1,\"b\":2}\n{\"a\":2,\"b\":3}\n", columns: []string{"a", "b"}, rows: 2},
		{name: "numbers are typed", file: "data.json", content: `[{"a":1.234},{"a":12.5}]`, columns: []string{"a"}, rows: 2, query: "SELECT sum(a) FROM data", want: 13.734},
		{name: "texts with numbers", file: "data.json", content: `[{"a":"1.234,50"},{"a":"2,5"}]`, columns: []string{"a"}, rows: 2, query: "SELECT sum(a) FROM data", want: 1237.0},
		{name: "big ids", file: "data.json", content: `[{"a":12345678901234567890},{"a":12345678901234567891}]`, columns: []string{"a"}, rows: 2, query: "SELECT max(a) FROM data", want: "12345678901234567891"},
		{name: "GeoJSON", file: "data.geojson", content: `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"mag":1.5},"geometry":{"type":"Point","coordinates":[1.5,2.5]}}]}`, columns: []string{"type", "properties.mag", "geometry.type", "geometry.coordinates"}, rows: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tables, v := describeOne(t, c.file, c.content)
			check(t, v, c.columns, c.rows, c.note)
			if c.query != "" {
				if d := cmp.Diff(c.want, tables.value(t, c.query)); d != "" {
					t.Errorf("%s (-want +got):\n%s", c.query, d)
				}
			}
		})
	}
}

func check(t *testing.T, v tableView, columns []string, rows int, note string) {
	t.Helper()
	var names []string
	for _, col := range v.Columns {
		names = append(names, col.Name)
	}
	if d := cmp.Diff(columns, names); d != "" || v.RowCount != rows {
		t.Errorf("%d rows, want %d; columns (-want +got):\n%s", v.RowCount, rows, d)
	}
	if note != "" && !slices.ContainsFunc(v.Notes, func(s string) bool { return strings.Contains(s, note) }) {
		t.Errorf("notes %q lack %q", v.Notes, note)
	}
}

// TestNoTables covers files that are not tables: each is named with a reason, and the others are read.
// TestJSONHasNoRemarks: a record that ends a file with a long text alone is a row.
func TestJSONHasNoRemarks(t *testing.T) {
	t.Parallel()
	_, v := describeOne(t, "a.json", `[{"title":"Short","n":1,"m":2},{"title":"Other","n":3,"m":1},{"title":"A title that has certainly more than forty characters in it"}]`)
	if v.RowCount != 3 || v.Notes != nil {
		t.Errorf("%d rows, %v", v.RowCount, v.Notes)
	}
}

func TestNoTables(t *testing.T) {
	t.Parallel()
	bomb, liar := packed(t, 1<<30, 1<<30), packed(t, 1<<30, 100)
	tables := folder(t, map[string]string{
		"empty.csv": "", "blank.csv": " \n\n", "binary.csv": "\x00\x01\x02\x03PNG", "page.csv": "<!DOCTYPE html><html><body>Not found</body></html>",
		"broken.json": `[{"a":1},{"a"`, "cut.json": "[\n{\"a\":1},\n{\"a\":2},\n{\"a\":3}\n", "object.json": `{"a":1}`, "numbers.json": `[1,2,3]`, "old.xlsx": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old.xls": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "bomb.xlsx": bomb, "liar.xlsx": liar,
		"zip.csv": "PK\x03\x04", "deep.json": strings.Repeat(`{"a":[`, maxDepth) + strings.Repeat("]}", maxDepth), "good.csv": "a,b\n1,2\n", "notes.md": "# Notes\n",
	})
	d := tables.all(t)
	if d.TotalCount != 1 || d.Tables[0].Name != "good" {
		t.Errorf("tables: %+v", d.Tables)
	}
	want := map[string]string{
		"empty.csv": "empty", "blank.csv": "empty", "binary.csv": "not text", "page.csv": "web page", "broken.json": "invalid", "cut.json": "it ends early", "object.json": "no array of records",
		"numbers.json": "no array of records", "old.xlsx": "a password protects it", "old.xls": "save it as .xlsx", "bomb.xlsx": "unpacks to more", "liar.xlsx": "cannot be read", "zip.csv": "workbook",
		"deep.json": "nested deeper",
	}
	for _, n := range d.NotRead {
		words, known := want[n.Path]
		if !known || !strings.Contains(n.Reason, words) || n.Reason == "" {
			t.Errorf("%s: %s", n.Path, n.Reason)
		}
		delete(want, n.Path)
	}
	if len(want) > 0 {
		t.Errorf("not reported: %v", want)
	}
}

// packed writes an archive of size zeros that claims to unpack to claimed bytes.
func packed(t *testing.T, size int, claimed uint64) string {
	t.Helper()
	var block, data bytes.Buffer
	w, err := flate.NewWriter(&block, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(make([]byte, 1<<20))
	if err := w.Flush(); err != nil { // what precedes the end can be repeated
		t.Fatal(err)
	}
	for range size >> 20 {
		data.Write(block.Bytes())
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	e, err := z.CreateRaw(&zip.FileHeader{Name: "xl/workbook.xml", Method: zip.Deflate, CompressedSize64: uint64(data.Len()), UncompressedSize64: claimed})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = e.Write(data.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// workbook writes an Excel file.
func workbook(t *testing.T, dir, name string, fill func(*excelize.File)) {
	t.Helper()
	f := excelize.NewFile()
	fill(f)
	if err := f.SaveAs(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func set(t *testing.T, f *excelize.File, sheet string, rows ...[]any) {
	t.Helper()
	for i, row := range rows {
		at, err := excelize.CoordinatesToCellName(1, i+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetSheetRow(sheet, at, &row); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExcel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	march := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	workbook(t, dir, "Budget 2024.xlsx", func(f *excelize.File) {
		set(t, f, "Sheet1",
			[]any{"Budget of the year"}, []any{},
			[]any{"Item", "Day", "Share", "Amount", "ZIP", "Ratio", "Month"},
			[]any{"Rent", march, 0.125, 1234.5, 1067, 1.234, march},
			[]any{"Food", march.AddDate(0, 1, 2), 0.07, 20.25, 80331, 0.1 + 0.2, march.AddDate(0, 1, 0)},
			[]any{"Total", nil, nil, 1254.75, nil, nil, nil},
		)
		style := func(cells, format string) {
			id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
			if err != nil {
				t.Fatal(err)
			}
			from, to, _ := strings.Cut(cells, ":")
			if err := f.SetCellStyle("Sheet1", from, to, id); err != nil {
				t.Fatal(err)
			}
		}
		style("B4:B5", "dd/mm/yyyy")
		style("C4:C5", "0.0%")
		style("D4:D6", `#,##0.00\ "€"`)
		style("E4:E5", "00000")
		style("G4:G5", "mmm-yy")
		if err := f.SetCellFormula("Sheet1", "F5", "1+2"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.NewSheet("Staff"); err != nil {
			t.Fatal(err)
		}
		set(t, f, "Staff", []any{"name", "active", "hired"}, []any{"Ann", true, "12.05.2020"}, []any{"Bob", false, "01.12.2021"})
		if _, err := f.NewSheet("Empty"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.NewSheet("Hidden"); err != nil {
			t.Fatal(err)
		}
		set(t, f, "Hidden", []any{"a"}, []any{1})
		if err := f.SetSheetVisible("Hidden", false); err != nil {
			t.Fatal(err)
		}
	})
	tables := openTables(t, dir)
	d := tables.all(t)
	if d.TotalCount != 2 || len(d.NotRead) != 2 || d.NotRead[0].Reason != "sheet Hidden: it is hidden" {
		t.Fatalf("%d tables, not read: %v", d.TotalCount, d.NotRead)
	}
	v := d.Tables[0]
	check(t, v, []string{"Item", "Day", "Share", "Amount", "ZIP", "Ratio", "Month"}, 2, "1 total row")
	if v.Name != "Budget_2024_Sheet1" || v.Sheet != "Sheet1" || v.column(t, "Share").Unit != "%" || v.column(t, "Amount").Unit != "€" || v.column(t, "ZIP").Type != Text {
		t.Errorf("%+v", v)
	}
	want := [][]any{{"Rent", "2024-03-01", 12.5, 1234.5, "01067", 1.234, "2024-03-01"}, {"Food", "2024-04-03", 7.0, 20.25, "80331", 0.3, "2024-04-01"}}
	if d := cmp.Diff(want, tables.ask(t, "SELECT * FROM Budget_2024_Sheet1").Rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if d := cmp.Diff([][]any{{"Ann", 1.0, "2020-05-12"}, {"Bob", 0.0, "2021-12-01"}}, tables.ask(t, "SELECT * FROM Budget_2024_Staff").Rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// TestExcelKeepsRowsThatAreOnlyNamed has rows at its end without a value in the second of two columns.
func TestExcelKeepsRowsThatAreOnlyNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "tasks.xlsx", func(f *excelize.File) {
		set(t, f, "Sheet1", []any{"Task", "Done by"}, []any{"Plan", "Ada"}, []any{"Build", "Ben"}, []any{"Test"}, []any{"Ship"}, []any{"Source: the team"})
	})
	v := openTables(t, dir).all(t).Tables[0]
	if v.RowCount != 4 || v.column(t, "Done by").Missing != 2 || !slices.Contains(v.Notes, "1 remark below the table is omitted") {
		t.Errorf("%+v", v)
	}
}

// TestExcelMergedCells: only the first cell of a merged one has the value.
func TestExcelMergedCells(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "sales.xlsx", func(f *excelize.File) {
		set(t, f, "Sheet1", []any{"Region", "Budget", "Month", "Sales"}, []any{"North", 100, "Jan", 1}, []any{nil, nil, "Feb", 2}, []any{nil, nil, "Mar", 3}, []any{}, []any{"South", 50, "Jan", 4})
		for _, m := range [][2]string{{"A2", "A5"}, {"B2", "B4"}} {
			if err := f.MergeCell("Sheet1", m[0], m[1]); err != nil {
				t.Fatal(err)
			}
		}
	})
	tables := openTables(t, dir)
	want := [][]any{{"North", 6.0, 100.0}, {"South", 4.0, 50.0}}
	if d := cmp.Diff(want, tables.ask(t, "SELECT Region, sum(Sales), sum(Budget) FROM sales GROUP BY 1").Rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if v := tables.all(t).Tables[0]; !slices.Contains(v.Notes, "2 cells are merged over several rows: each of the rows has its text or date; a number is in the first one only") {
		t.Errorf("notes %q", v.Notes)
	}
}

// TestExcelTotalsBesideMergedCells: a total of each group is not counted twice, also if the group's name is merged.
func TestExcelTotalsBesideMergedCells(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "sales.xlsx", func(f *excelize.File) {
		set(t, f, "Sheet1", []any{"Region", "Month", "Sales"}, []any{"North", "Jan", 1}, []any{nil, "Feb", 2}, []any{nil, "Total", 3}, []any{"South", "Jan", 3}, []any{nil, "Feb", 4}, []any{nil, "Total", 7})
		for _, m := range [][2]string{{"A2", "A4"}, {"A5", "A7"}} {
			if err := f.MergeCell("Sheet1", m[0], m[1]); err != nil {
				t.Fatal(err)
			}
		}
	})
	want := [][]any{{"North", 3.0}, {"South", 7.0}}
	if d := cmp.Diff(want, openTables(t, dir).ask(t, "SELECT Region, sum(Sales) FROM sales GROUP BY 1").Rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// TestExcelFormulasWithoutAValue: programs that write workbooks leave the values to Excel.
func TestExcelFormulasWithoutAValue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "sums.xlsx", func(f *excelize.File) {
		set(t, f, "Sheet1", []any{"a", "b", "double"}, []any{1, "x"}, []any{2, "y"})
		for _, at := range []string{"C2", "C3"} {
			if err := f.SetCellFormula("Sheet1", at, "A2*2"); err != nil {
				t.Fatal(err)
			}
		}
	})
	if v := openTables(t, dir).all(t).Tables[0]; !slices.ContainsFunc(v.Notes, func(n string) bool { return strings.HasPrefix(n, "2 formulas have no stored value and are missing") }) {
		t.Errorf("notes %q", v.Notes)
	}
}

func TestExcelUnderAWrongName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "a.xlsx", func(f *excelize.File) { set(t, f, "Sheet1", []any{"a", "b"}, []any{1, 2}, []any{3, 4}) })
	if err := os.Rename(filepath.Join(dir, "a.xlsx"), filepath.Join(dir, "a.csv")); err != nil {
		t.Fatal(err)
	}
	d := openTables(t, dir).all(t)
	if len(d.Tables) != 1 || d.Tables[0].Name != "a" || d.Tables[0].RowCount != 2 {
		t.Errorf("%+v", d)
	}
}

// TestExcelDurations has times of more than a day, which Excel shows as hours.
func TestExcelDurations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "hours.xlsx", func(f *excelize.File) {
		set(t, f, "Sheet1", []any{"Name", "Worked"}, []any{"Ada", 0.25}, []any{"Ben", 1.5}, []any{"Cem", 30.020833333333332})
		format := "[h]:mm"
		id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
		if err == nil {
			err = f.SetCellStyle("Sheet1", "B2", "B4", id)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	want := [][]any{{"06:00:00"}, {"36:00:00"}, {"720:30:00"}}
	if d := cmp.Diff(want, openTables(t, dir).ask(t, "SELECT Worked FROM hours").Rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// TestExcelGiantCell has a cell of two mebibytes, which could as well have 500.
func TestExcelGiantCell(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "good.xlsx", func(f *excelize.File) { set(t, f, "Sheet1", []any{"a"}, []any{1}) })
	good, err := zip.OpenReader(filepath.Join(dir, "good.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = good.Close() }()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range good.File {
		if f.Name != "xl/worksheets/sheet1.xml" {
			if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		part, err := w.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(part, `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>%s</t></is></c></row></sheetData></worksheet>`, strings.Repeat("x", 2<<20))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.xlsx"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openTables(t, dir).all(t)
	if len(d.Tables) != 1 || len(d.NotRead) != 1 || d.NotRead[0].Reason != "the workbook has a cell of more than 1 MiB" {
		t.Errorf("%+v, not read %v", d.Tables, d.NotRead)
	}
}

// TestExcelNumbersStoredAsText: some programs store German numbers as text, where 1.234 looks like a number.
func TestExcelNumbersStoredAsText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	workbook(t, dir, "sap.xlsx", func(f *excelize.File) {
		set(t, f, "Sheet1", []any{"Konto", "Betrag", "Faktor"}, []any{"a", "1.234", 1.234}, []any{"b", "2.000", 12.5}, []any{"c", "950", 2}, []any{"d", "1.234.567,50", "3,5"}, []any{"e", "3,25", 7.125})
	})
	got := openTables(t, dir).ask(t, "SELECT sum(Betrag), sum(Faktor) FROM sap").Rows[0]
	if d := cmp.Diff([]any{1238754.75, 26.359}, got); d != "" {
		t.Errorf("sums (-want +got):\n%s", d)
	}
}

// TestExcelTooWide has more columns than a table can have, and more cells without a value.
func TestExcelTooWide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, last := range map[string]any{"wide.xlsx": 1, "padded.xlsx": nil} {
		workbook(t, dir, name, func(f *excelize.File) {
			row := make([]any, maxCells+2)
			row[0], row[1], row[maxCells+1] = 1, 2, last
			set(t, f, "Sheet1", row, row)
		})
	}
	for _, v := range openTables(t, dir).all(t).Tables {
		if got := slices.Contains(v.Notes, "rows have up to 1902 cells; only the first 1900 are imported"); got != (v.Name == "wide") {
			t.Errorf("%s: %v", v.Name, v.Notes)
		}
	}
}

// TestExcelFormatsOfLongSheets has more rows than are inspected.
func TestExcelFormatsOfLongSheets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const rows = lookRows + 500
	for _, mixed := range []bool{false, true} {
		workbook(t, dir, fmt.Sprintf("mixed %v.xlsx", mixed), func(f *excelize.File) {
			w, err := f.NewStreamWriter("Sheet1")
			if err != nil {
				t.Fatal(err)
			}
			percent, err := f.NewStyle(&excelize.Style{NumFmt: 10})
			if err != nil {
				t.Fatal(err)
			}
			_ = w.SetRow("A1", []any{"day", "share"})
			for i := range rows {
				at, err := excelize.CoordinatesToCellName(1, i+2)
				if err != nil {
					t.Fatal(err)
				}
				share := any(excelize.Cell{StyleID: percent, Value: 0.25})
				if mixed && i == 10 {
					share = 25
				}
				if err := w.SetRow(at, []any{time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC), share}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		})
	}
	tables := openTables(t, dir)
	last := time.Date(2024, 1, rows, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	for _, name := range []string{"mixed_false", "mixed_true"} {
		got := tables.ask(t, "SELECT max(day), sum(share) FROM "+name).Rows[0]
		if d := cmp.Diff([]any{last, 25.0 * rows}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestArraysInsideRecordsAreTables(t *testing.T) {
	t.Parallel()
	tb := folder(t, map[string]string{
		"street.json":  `{"year": 2023, "households": [{"name": "Elm 1", "people": 2, "readings": [{"month": "2023-01", "kwh": 10}, {"month": "2023-02", "kwh": 20}]}, {"name": "Oak 2", "people": 3, "readings": [{"month": "2023-01", "kwh": 5}]}], "staff": [{"who": "Ann"}, {"who": "Bob"}]}`,
		"orders.jsonl": `{"items": [{"sku": "pen", "qty": 2}, {"sku": "ink", "qty": 1}], "order": "O1"}` + "\n" + `{"order": "O2", "items": []}` + "\n" + `{"order": "O3", "items": [{"sku": "pen", "qty": 5}]}` + "\n",
	})
	for sql, want := range map[string]any{
		`SELECT sum(kwh) FROM street_readings WHERE "households.name" = 'Elm 1'`:       30.0,
		`SELECT sum(people) FROM street`:                                               5.0,
		`SELECT count(*) FROM street_staff`:                                            2.0,
		`SELECT group_concat("order") FROM orders_items WHERE sku = 'pen' AND qty > 1`: "O1,O3",
		`SELECT count(*) FROM orders`:                                                  3.0,
	} {
		if got := tb.value(t, sql); got != want {
			t.Errorf("%s is %v, not %v", sql, got, want)
		}
	}
	if d := tb.all(t); len(d.Tables) != 5 {
		t.Errorf("%d tables, not 5", len(d.Tables))
	}
	many := `[{"of": "x", "rows": [` + strings.Repeat(`{"a": 1},`, maxInner) + `{"a": 1}]}, {"of": "y", "rows": []}]`
	if d := folder(t, map[string]string{"big.json": many}).all(t); len(d.Tables) != 1 || len(d.NotRead) != 1 {
		t.Errorf("%d tables, not read: %v", len(d.Tables), d.NotRead)
	}
}

// TestRowsInsideRecordsHaveTheirIDs: ids that are numbers relate the rows to the records around them, as texts do.
func TestRowsInsideRecordsHaveTheirIDs(t *testing.T) {
	t.Parallel()
	tb := folder(t, map[string]string{
		"deliveries.json": `[{"delivery_id": 7, "weight": 12, "parts": [{"part": "bolt", "n": 2}, {"part": "nut", "n": 4}]}, {"delivery_id": 8, "weight": 3, "parts": [{"part": "nut", "n": 1}]}]`,
	})
	if got := tb.value(t, `SELECT sum(p.n) FROM deliveries_parts p JOIN deliveries d ON d.delivery_id = p.delivery_id WHERE d.weight > 5`); got != 6.0 {
		t.Errorf("%v, not 6", got)
	}
}

// TestRecordsWithoutValuesAreRows: a record of JSON counts, whatever is in it; an empty line of CSV does not.
func TestRecordsWithoutValuesAreRows(t *testing.T) {
	t.Parallel()
	tb := folder(t, map[string]string{"a.json": `[{"a": 1}, {"a": null}, {}, {"a": 2}]`, "b.csv": "a,b\n1,2\n,\n3,4\n"})
	for sql, want := range map[string]any{"SELECT count(*) FROM a": 4.0, "SELECT count(a) FROM a": 2.0, "SELECT count(*) FROM b": 2.0} {
		if got := tb.value(t, sql); got != want {
			t.Errorf("%s is %v, not %v", sql, got, want)
		}
	}
}
