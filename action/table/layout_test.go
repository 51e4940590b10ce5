package table

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestCSVAcrossBuffers has quotation marks at the end of the reader's buffer.
func TestCSVAcrossBuffers(t *testing.T) {
	t.Parallel()
	for before := range 8 {
		r := newCSVReader(strings.NewReader(strings.Repeat("a", before)+"\n"+strings.Repeat("\"x\", \"y\"\n", 20_000)), ',')
		if _, err := r.next(); err != nil {
			t.Fatal(err)
		}
		for cells, err := r.next(); err == nil; cells, err = r.next() {
			if len(cells) == 2 && (string(cells[0]) != "x" || string(cells[1]) != "y") {
				t.Fatalf("%d bytes before: %q", before, cells)
			}
		}
	}
}

// TestStrayMarkAcrossBuffers has a doubled mark across the end of what is buffered, and no partner.
func TestStrayMarkAcrossBuffers(t *testing.T) {
	t.Parallel()
	r := newCSVReader(iotest.OneByteReader(strings.NewReader("1,\"xy\"\"z\n2,y\n")), ',')
	for _, want := range []string{`"xy""z`, "y"} {
		if cells, err := r.next(); err != nil || len(cells) != 2 || string(cells[1]) != want {
			t.Errorf("%q, %v, want %s", cells, err, want)
		}
	}
}

// TestLayouts imports files with other content around the table.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		columns       []string
		rows          int
		query         string // of the table "data"
		want          any
		notes         []string
	}{
		{name: "semicolons", content: "Region;Umsatz\nNord;1,5\nSüd;2,5\n", columns: []string{"Region", "Umsatz"}, rows: 2, query: `SELECT sum("Umsatz")`, want: 4.0},
		{name: "tabs", content: "a\tb\n1\t2\n", columns: []string{"a", "b"}, rows: 1},
		{name: "bars", content: "a|b\n1|2\n3|4\n", columns: []string{"a", "b"}, rows: 2},
		{name: "sep line", content: "sep=;\na;b\n1;2\n", columns: []string{"a", "b"}, rows: 1},
		{name: "sep line of a tab", content: "sep=\t\r\na\tb\r\n1\t2\r\n", columns: []string{"a", "b"}, rows: 1},
		{name: "line breaks in quotes", content: "a,b\n\"x\ny\",1\n\"say \"\"hi\"\"\",2\n", columns: []string{"a", "b"}, rows: 2, query: "SELECT a FROM data WHERE b = 2 --", want: `say "hi"`},
		{name: "spaces before quotes", content: "name, \"city\", n\n\"Smith, Al\", \"Paris, France\", 3\n\"Roe, Jane\", \"Rome, Italy\", 4\n", columns: []string{"name", "city", "n"}, rows: 2, query: "SELECT city FROM data WHERE n = 3 --", want: "Paris, France"},
		{name: "a quote that is never closed", content: "a,b\n1,\"x\n2,y\n3,z\n", columns: []string{"a", "b"}, rows: 3, query: "SELECT b FROM data WHERE a = 1 --", want: `"x`, notes: []string{"without their partner, read as text: 1"}},
		{name: "a quote that a later row would close", content: "a,b\n1,\"5 inch\n2,y\n3,\"y, z\"\n4,\"\"\"q\"\"\"\n5,z\n", columns: []string{"a", "b"}, rows: 5, query: "SELECT sum(a) FROM data WHERE b <> 'y, z' --", want: 12.0, notes: []string{"read as text: 1"}},
		{name: "a quote far from its end", content: "a,b\n1,\"x\n" + strings.Repeat("2,y\n", 100_000) + "3,z\"\n", columns: []string{"a", "b"}, rows: 100_002, notes: []string{"read as text: 1"}},
		{name: "a quoted cell with line breaks at the end", content: "a,b\n1,\"x\r\n\"\"y\"\"\n\" ", columns: []string{"a", "b"}, rows: 1},
		{name: "byte order mark", content: "\xef\xbb\xbfa,b\n1,2\n", columns: []string{"a", "b"}, rows: 1},
		{name: "Windows-1252", content: "Stra\xdfe,Preis \x80\nM\xfcller,3\n", columns: []string{"Straße", "Preis €"}, rows: 1, notes: []string{"Windows-1252"}},
		{name: "UTF-16", content: "\xff\xfea\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00", columns: []string{"a", "b"}, rows: 1},
		{name: "UTF-16 without a mark", content: "a\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00", columns: []string{"a", "b"}, rows: 1},
		{
			name: "titles", content: "Sales report 2023;;\nExported;2024-01-01;\n;;\nRegion;Q1;Q2\nNorth;1;2\nSouth;3;4\n",
			columns: []string{"Region", "Q1", "Q2"}, rows: 2, notes: []string{"3 lines before the header"}, query: `SELECT sum("Q1")`, want: 4.0,
		},
		{name: "a title above two columns", content: "Sales report 2023;\n;\nMonth;Sales\nJan;1\nFeb;2\n", columns: []string{"Month", "Sales"}, rows: 2, notes: []string{"before the header"}, query: `SELECT sum("Sales")`, want: 3.0},
		{name: "a column without a name", content: "name,\nAnna,5\nBert,6\n", columns: []string{"name", "column_2"}, rows: 2},
		{name: "a column without a name above words", content: "name,\nAnna,x\nBert,y\n", columns: []string{"name", "column_2"}, rows: 2},
		{name: "a fact above two columns", content: "Exported,2024-01-01\nMonth,Sales\nJan,1\nFeb,2\n", columns: []string{"Month", "Sales"}, rows: 2, notes: []string{"1 line before"}},
		{name: "a fact in a short line", content: "Exported,2024-01-01\n\nRegion,Q1,Q2\nx,1,2\n", columns: []string{"Region", "Q1", "Q2"}, rows: 1, notes: []string{"1 line before"}},
		{name: "no name for the first column", content: ",a,b\nx,1,2\ny,3,4\n", columns: []string{"column_1", "a", "b"}, rows: 2},
		{name: "a header without the name of the row", content: "mpg,cyl\nMazda,21.5,6\nFiat,30.5,4\n", columns: []string{"column_1", "mpg", "cyl"}, rows: 2},
		{
			name: "two rows of names", content: ",2022,,2023,\nRegion,Sales,Cost,Sales,Cost\nN,1,2,3,4\nS,5,6,7,8\n", columns: []string{"Region", "2022 Sales", "2022 Cost", "2023 Sales", "2023 Cost"}, rows: 2,
		},
		{name: "comments", content: "# made by hand\n# twice\na,b\n1,2\n", columns: []string{"a", "b"}, rows: 1, notes: []string{"2 lines before"}},
		{
			name: "units row", content: "city,temp,rain\n,°C,mm\nParis,12.5,3\nRome,15,0\n", columns: []string{"city", "temp", "rain"}, rows: 2,
			notes: []string{"row of units"}, query: "SELECT avg(temp)", want: 13.75,
		},
		{name: "units in brackets", content: "city,mass\n,[kg]\nParis,12.5\n", columns: []string{"city", "mass"}, rows: 1, notes: []string{"row of units"}},
		{
			name: "total row", content: "region,sales\nNorth,10\nSouth,20\nTotal,30\n", columns: []string{"region", "sales"}, rows: 2,
			notes: []string{"1 total row"}, query: "SELECT sum(sales)", want: 30.0,
		},
		{
			name: "German total row", content: "Region;Umsatz;Stück\nNord;1.000,50;2\nSüd;2.000,25;3\nSumme;3.000,75;5\n", columns: []string{"Region", "Umsatz", "Stück"}, rows: 2,
			notes: []string{"1 total row"}, query: `SELECT sum("Umsatz")`, want: 3000.75,
		},
		{
			name: "subtotals", content: "region,item,sales\nNorth,a,1\nNorth,b,2\nNorth Total,,3\nSouth,a,4\nSouth,b,5\nSouth Total,,9\nGrand Total,,12\n",
			columns: []string{"region", "item", "sales"}, rows: 4, notes: []string{"3 total rows"}, query: "SELECT sum(sales)", want: 12.0,
		},
		{name: "averages", content: "name,score\na,1\nb,2\nAverage,1.5\n", columns: []string{"name", "score"}, rows: 2, notes: []string{"1 total row"}},
		{
			name: "a total that is none", content: "company,barrels\nTotal,10\nShell,20\nBP,40\n", columns: []string{"company", "barrels"}, rows: 3,
			query: "SELECT sum(barrels)", want: 70.0,
		},
		{name: "a company at the end", content: "company,country,barrels\nShell,GB,20\nBP,GB,40\nTotal,FR,10\n", columns: []string{"company", "country", "barrels"}, rows: 3},
		{name: "total with rounding", content: "a,b,c\nx,y,1.25\nx,z,1.25\nTotal,,2.51\n", columns: []string{"a", "b", "c"}, rows: 2, notes: []string{"1 total row"}},
		{
			name: "remarks below", content: "a,b,c\n1,2,3\n4,5,6\nSource: the office\n* preliminary,,\n", columns: []string{"a", "b", "c"}, rows: 2,
			notes: []string{"2 remarks below"},
		},
		{name: "total, then remarks", content: "a,b,c\nx,2,3\ny,5,6\nTotal,7,9\n\nSource: the office,,\n", columns: []string{"a", "b", "c"}, rows: 2, notes: []string{"1 total row", "1 remark below"}},
		{name: "header again", content: "a,b\n1,2\na,b\n3,4\n", columns: []string{"a", "b"}, rows: 2, notes: []string{"1 repeated header"}, query: "SELECT sum(a)", want: 4.0},
		{name: "same names", content: "a,A,b\n1,2,3\n", columns: []string{"a", "A (2)", "b"}, rows: 1},
		{name: "no name", content: "a,,c\n1,2,3\n", columns: []string{"a", "column_2", "c"}, rows: 1},
		{name: "empty ends", content: "a,b,,\n1,2,,\n,,,\n3,4,,\n,,,\n", columns: []string{"a", "b"}, rows: 2},
		{name: "ragged", content: "a,b,c\n1,2\n3,4,5,6\n7,8,9\n", columns: []string{"a", "b", "c"}, rows: 3, notes: []string{"2 rows have more or fewer"}},
		{name: "no header", content: "1,2.5\n2,3.5\n", columns: []string{"column_1", "column_2"}, rows: 2, notes: []string{"no header row"}},
		{name: "years as names", content: "country,2019,2020\nDE,83.1,83.2\nFR,67.1,67.4\n", columns: []string{"country", "2019", "2020"}, rows: 2, query: `SELECT sum("2020")`, want: 150.6},
		{name: "months by number as names", content: "item,1,2,3\nx,8,9,7\ny,6,7,8\n", columns: []string{"item", "1", "2", "3"}, rows: 2},
		{name: "years as names of numbers like years", content: "item,2023\nx,1500\ny,2100\nz,1700\n", columns: []string{"item", "2023"}, rows: 3},
		{name: "years above numbers like years", content: "item,2021,2022\nx,1500,1600\ny,2000,2100\n", columns: []string{"item", "2021", "2022"}, rows: 2},
		{name: "a company at the end of two columns", content: "company,barrels\nShell,20\nBP,40\nTotal,10\n", columns: []string{"company", "barrels"}, rows: 3},
		{name: "a total that does not add up", content: "group,n\na,20\nb,40\nTotal,75\n", columns: []string{"group", "n"}, rows: 2, notes: []string{"1 total row"}},
		{name: "dates as names", content: "item,2024-01,2024-02\nx,8,9\ny,6,7\n", columns: []string{"item", "2024-01", "2024-02"}, rows: 2},
		{name: "all text", content: "name,city\nAnn,Rome\nBob,Paris\nCid,Rome\n", columns: []string{"name", "city"}, rows: 3},
		{name: "header only", content: "a,b,c\n", columns: []string{"a", "b", "c"}, rows: 0},
		{name: "one column", content: "value\n1\n2\n", columns: []string{"value"}, rows: 2},
		{name: "header with line breaks", content: "\"Net\nsales\",b\n1,2\n", columns: []string{"Net sales", "b"}, rows: 1},
		{name: "carriage returns", content: "a,b\r1,2\r3,4\r", columns: []string{"a", "b"}, rows: 2},
		{name: "a cell of a long line", content: "a,b\n1,\"" + strings.Repeat("x, y; ", 50_000) + "\"\n2,z\n", columns: []string{"a", "b"}, rows: 2, query: "SELECT b FROM data WHERE a = 2 --", want: "z", notes: []string{"1 cells are longer than 64 KiB"}},
		{name: "a cell across the end of the sample", content: "id,text\n" + strings.Repeat("1,\""+strings.Repeat("| x | y |\n", 3000)+"\"\n", 4), columns: []string{"id", "text"}, rows: 4},
		{name: "quote inside a cell", content: "a,b\n5\" pipe,1\n6\" pipe,2\n", columns: []string{"a", "b"}, rows: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tables, v := describeOne(t, "data.csv", c.content)
			var names []string
			for _, col := range v.Columns {
				names = append(names, col.Name)
			}
			if d := cmp.Diff(c.columns, names); d != "" || v.RowCount != c.rows {
				t.Errorf("%d rows, want %d; columns (-want +got):\n%s", v.RowCount, c.rows, d)
			}
			for _, n := range c.notes {
				if !slices.ContainsFunc(v.Notes, func(s string) bool { return strings.Contains(s, n) }) {
					t.Errorf("notes %q lack %q", v.Notes, n)
				}
			}
			if c.query == "" {
				return
			}
			if !strings.Contains(c.query, "FROM") {
				c.query += " FROM data"
			}
			if d := cmp.Diff(c.want, tables.value(t, c.query)); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.query, d)
			}
		})
	}
}

// TestControlCharactersInNames: SQL has no quoted form of them.
func TestControlCharactersInNames(t *testing.T) {
	t.Parallel()
	tb := folder(t, map[string]string{"a.json": `[{"net\u0000price": 1}, {"net\u0000price": 2}]`})
	if got := tb.value(t, `SELECT sum("net price") FROM a`); got != 3.0 {
		t.Errorf("%v, not 3", got)
	}
}
