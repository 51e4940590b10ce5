package file

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableProfile(t *testing.T) {
	t.Parallel()
	var csv strings.Builder
	csv.WriteString("year,source,net_generation\n")
	for y := 2001; y <= 2004; y++ {
		fmt.Fprintf(&csv, "%d-01-01,Fossil Fuels,%d\n%d-01-01,\"Wind, sun\",%d\n", y, 36000-y, y, (y-2000)*1000)
	}
	r := readOne(t, "a.csv", csv.String())
	got := *r.Table
	if got.RowCount != 8 || got.X != "year" || got.GroupBy != "source" || got.Measure != "net_generation" || got.Aggregation != "none" {
		t.Errorf("table: %+v", got)
	}
	wantSeries := []series{
		{Name: "Fossil Fuels", Measure: "net_generation", Points: [][2]any{{"2001", 33999.0}, {"2002", 33998.0}, {"2003", 33997.0}, {"2004", 33996.0}}},
		{Name: "Wind, sun", Measure: "net_generation", Points: [][2]any{{"2001", 1000.0}, {"2002", 2000.0}, {"2003", 3000.0}, {"2004", 4000.0}}},
	}
	if diff := cmp.Diff(wantSeries, got.Series); diff != "" {
		t.Error(diff)
	}
	share := func(f float64) *float64 { return &f }
	wantTotals := []total{
		{Group: "Fossil Fuels", Measure: "net_generation", Value: 135990, Share: share(0.9315)},
		{Group: "Wind, sun", Measure: "net_generation", Value: 10000, Share: share(0.0685)},
	}
	if diff := cmp.Diff(wantTotals, got.Totals); diff != "" {
		t.Error(diff)
	}
	n := got.column("net_generation")
	if n.Type != typeNumber || n.Min != 1000.0 || n.Max != 33999.0 || n.MinAt != "2001 (Wind, sun)" || n.MaxAt != "2001 (Fossil Fuels)" || *n.Sum != 145990 || *n.Mean != 18248.8 || n.Distinct != 8 {
		t.Errorf("measure: %+v", n)
	}
	if y := got.column("year"); y.Type != typeDate || y.Min != "2001-01-01" || y.Max != "2004-01-01" || y.Distinct != 4 {
		t.Errorf("year: %+v", y)
	}
	if s := got.column("source"); s.Type != typeText || len(s.Top) != 2 || s.Top[0] != (topValue{"Fossil Fuels", 4}) {
		t.Errorf("source: %+v", s)
	}
	if len(got.SampleRows) != 5 || got.SampleRows[1][1] != "Wind, sun" || len(r.Warnings) != 0 {
		t.Errorf("sample %v, warnings %q", got.SampleRows, r.Warnings)
	}
}

func TestTablesOfEveryShape(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file, content string
		rows          int
		columns       string // name:type …
		warn          string
	}{
		"bom":              {"a.csv", "\xef\xbb\xbfname,age\nAnn,3\nBob,4\n", 2, "name:text age:number", ""},
		"semicolon":        {"a.csv", "name;price\nA;1.234,50\nB;2,25\n", 2, "name:text price:number", ""},
		"tabs":             {"a.tsv", "name\tn\nA, or B\t1\nC\t2\n", 2, "name:text n:number", ""},
		"tabs in csv":      {"a.csv", "name\tn\nA\t1\nC\t2\n", 2, "name:text n:number", ""},
		"pipes":            {"a.csv", "name|n\nA|1\nC|2\n", 2, "name:text n:number", ""},
		"quoted newlines":  {"a.csv", "name,n\n\"A\nB \"\"x\"\", y\",1\r\nC,2", 2, "name:text n:number", ""},
		"one column":       {"a.csv", "value\n1\n2\n3\n", 3, "value:number", "one column only"},
		"ragged":           {"a.csv", "a,b,c\n1,2,3\n4,5\n6,7,8,9\n1,2,3,\n", 4, "a:number b:number c:number", "2 rows have more or fewer"},
		"no header":        {"a.csv", "2001-01-01,5\n2002-01-01,6\n", 2, "Column 1:date Column 2:number", "no header row"},
		"header only":      {"a.csv", "a,b\n", 0, "a:text b:text", "no rows"},
		"doubled names":    {"a.csv", "x,x,\nA,1,2\n", 1, "x:text x (2):number Column 3:number", ""},
		"blank name":       {"a.csv", ",n\nA,1\nB,2\n", 2, "Column 1:text n:number", ""},
		"preamble":         {"a.csv", "# made by hand\nTable 1,,\na,b,c\nx,1,2\ny,3,4\n", 2, "a:text b:number c:number", "2 lines before"},
		"blank lines":      {"a.csv", "a,b\n\n1,2\n\n\n3,4\n", 2, "a:number b:number", ""},
		"old mac":          {"a.csv", "a,b\r1,2\r3,4\r", 2, "a:number b:number", ""},
		"latin-1":          {"a.csv", "stadt,n\nM\xfcnchen,1\nK\xf6ln,2\n", 2, "stadt:text n:number", "2 bytes were read as Latin-1"},
		"money":            {"a.csv", "item,cost,part,loss\na,\"$1,200.50\",45%,(12)\nb,€3,5 %,(1)\n", 2, "item:text cost:number part:number loss:number", ""},
		"infinite":         {"a.csv", "a,b\nx,inf\ny,-Infinity\nz,NaN\nw,5\n", 4, "a:text b:number", ""},
		"missing":          {"a.csv", "a,b\nx,NA\ny,n/a\nz,-\nw,5\n", 4, "a:text b:number", ""},
		"zip codes":        {"a.csv", "zip,n\n01234,1\n04567,2\n", 2, "zip:text n:number", ""},
		"booleans":         {"a.csv", "ok,n\ntrue,1\nno,2\n", 2, "ok:boolean n:number", ""},
		"dates":            {"a.csv", "a,b,c,d\n2001-02,3/4/2020,Jan 2001,2001-01-01T05:00:00Z\n2001-03,12/24/2020,Feb 2001,2001-01-01 06:30\n", 2, "a:date b:date c:date d:date", ""},
		"day first":        {"a.csv", "d,n\n3/4/2020,1\n24/12/2020,2\n", 2, "d:date n:number", ""},
		"odd values":       {"a.csv", "n,m\n" + strings.Repeat("1,2\n", 19) + "oops,2\n", 20, "n:number m:number", `1 values of column "n" are no number`},
		"unclosed quote":   {"a.csv", "a,b\n1,\"2\n3,4\n5,6\n", 1, "a:number b:text", ""},
		"years as numbers": {"a.csv", "Year,n\n1990,1\n1991,2\n", 2, "Year:date n:number", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readOne(t, test.file, test.content)
			if r.Kind != "table" {
				t.Fatalf("reading: %+v", r)
			}
			var got []string
			for _, c := range r.Table.Columns {
				got = append(got, c.Name+":"+string(c.Type))
			}
			if diff := cmp.Diff(test.columns, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
			if r.Table.RowCount != test.rows {
				t.Errorf("%d rows, want %d", r.Table.RowCount, test.rows)
			}
			if test.warn != "" && !r.warned(test.warn) || test.warn == "" && len(r.Warnings) > 0 {
				t.Errorf("warnings %q, want %q", r.Warnings, test.warn)
			}
		})
	}
}

func TestSeries(t *testing.T) {
	t.Parallel()
	rows := func(head string, n int, row func(int) string) string {
		var b strings.Builder
		b.WriteString(head + "\n")
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		return b.String()
	}
	day := func(i int) string { return fmt.Sprintf("20%02d-%02d-%02d", i/336, i/28%12+1, i%28+1) }
	for name, test := range map[string]struct {
		content           string
		x, group, measure string
		how, bucket       string
		series, points    int
		first             string
		warn              string
	}{
		"daily by month":        {rows("date,temp_max,wind", 336*4, func(i int) string { return fmt.Sprintf("%s,%d,2", day(i), i%28) }), "date", "", "temp_max", "mean", "month", 2, 48, "[2000-01 13.5]", ""},
		"century":               {rows("year,temp", 121, func(i int) string { return fmt.Sprintf("%d,%d", 1900+i, i) }), "year", "", "temp", "mean", "5 years", 1, 25, "[1900 2]", ""},
		"names":                 {"state,population\nOhio,5\nIowa,7\nUtah,1\n", "state", "", "population", "none", "", 1, 3, "[Ohio 5]", ""},
		"categories":            {rows("region,country,population", 90, func(i int) string { return fmt.Sprintf("R%d,C%d,2", i%3, i) }), "region", "", "population", "sum", "", 1, 3, "[R0 60]", ""},
		"rates":                 {rows("region,country,income", 90, func(i int) string { return fmt.Sprintf("R%d,C%d,%d", i%3, i, 10) }), "region", "", "income", "mean", "", 1, 3, "[R0 10]", ""},
		"counts":                {rows("colour,shape", 90, func(i int) string { return fmt.Sprintf("C%d,S%d", i%3, i%9) }), "colour", "", "count", "sum", "", 1, 3, "[C0 30]", ""},
		"many groups":           {rows("year,who,n", 400, func(i int) string { return fmt.Sprintf("%d,W%02d,%d", 2000+i/20, i%20, i%20) }), "year", "who", "n", "none", "", 8, 20, "[2000 19]", "8 largest of 20 groups"},
		"many names":            {rows("who,n", 90, func(i int) string { return fmt.Sprintf("W%02d,%d", i, i) }), "who", "", "n", "none", "", 1, 60, "[W89 89]", "60 largest of 90"},
		"names by the thousand": {rows("who,n", 10_000, func(i int) string { return fmt.Sprintf("W%d,%d", i, i) }), "who", "", "n", "none", "", 1, 60, "[W9999 9999]", "60 largest of 10000"},
		"wide years":            {"country,1990,1991,1992\nA,1,2,3\nB,4,5,6\n", "year", "country", "value", "none", "", 2, 3, "[1990 1]", ""},
		"descending":            {"date,n\n2003-01-01,3\n2002-01-01,2\n2001-01-01,1\n", "date", "", "n", "none", "", 1, 3, "[2001 1]", ""},
		"same dates":            {"date,n\n2001-05-01,3\n2001-05-01,2\n2001-06-01,1\n2001-06-01,1\n", "date", "", "n", "sum", "", 1, 2, "[2001-05 5]", ""},
		"whole":                 {"entity,year,deaths\nAll causes,2001,9\nFlood,2001,4\nFire,2001,5\nAll causes,2002,3\nFlood,2002,2\nFire,2002,1\n", "year", "entity", "deaths", "none", "", 3, 2, "[2001 9]", "shares leave it out"},
		"hours":                 {rows("time,n", 24, func(i int) string { return fmt.Sprintf("2020-01-01T%02d:00:00,1", i) }), "time", "", "n", "none", "", 1, 24, "[2020-01-01T00:00 1]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readOne(t, "a.csv", test.content)
			got := r.Table
			if got == nil || len(got.Series) == 0 {
				t.Fatalf("reading: %+v", r)
			}
			have := fmt.Sprint(got.X, "|", got.GroupBy, "|", got.Measure, "|", got.Aggregation, "|", got.Bucket, "|", len(got.Series), "|", len(got.Series[0].Points), "|", got.Series[0].Points[0])
			want := fmt.Sprint(test.x, "|", test.group, "|", test.measure, "|", test.how, "|", test.bucket, "|", test.series, "|", test.points, "|", test.first)
			if diff := cmp.Diff(want, have); diff != "" {
				t.Error(diff)
			}
			if test.warn != "" && !r.warned(test.warn) {
				t.Errorf("warnings %q, want %q", r.Warnings, test.warn)
			}
		})
	}
}

// TestRowsThatStandOnceAreNotCounted: a chart of ones tells nothing.
func TestRowsThatStandOnceAreNotCounted(t *testing.T) {
	t.Parallel()
	r := readOne(t, "a.csv", "year,note\n2001,first\n2002,second\n2003,third\n")
	if r.Table == nil || len(r.Table.Series) != 0 || r.Table.X != "" {
		t.Errorf("table: %+v", r.Table)
	}
}

func TestNamesBeyondTheSeriesAreCounted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("who,n\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "W%d,%d\n", i, i)
	}
	r := readOne(t, "a.csv", b.String())
	if r.Table.XCount != 5000 || r.Table.Totals[0].Group != "W4999" || r.Table.Totals[0].Share == nil || *r.Table.Totals[0].Share != 0.0004 {
		t.Errorf("%d names, totals %+v", r.Table.XCount, r.Table.Totals)
	}
}

func TestWideTableFitsAPrompt(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, "the lengthy name of column %d,", i)
	}
	b.WriteString("date\n")
	for y := range 60 {
		for i := range 120 {
			fmt.Fprintf(&b, "%d.123456,", y*1000003+i)
		}
		fmt.Fprintf(&b, "%d-01-01\n", 1950+y)
	}
	r := readOne(t, "a.csv", b.String()) // checks the length
	if r.Table.RowCount != 60 || len(r.Table.Columns)+r.Table.MoreColumns != 121 || len(r.Table.Series) == 0 {
		t.Errorf("%d rows, %d + %d columns, %d series", r.Table.RowCount, len(r.Table.Columns), r.Table.MoreColumns, len(r.Table.Series))
	}
}

// generator is a table of a given size that was never in memory: one block again
// and again.
type generator struct {
	left, at int
	block    []byte
	peak     *uint64
}

func (g *generator) Read(b []byte) (int, error) {
	if g.left <= 0 {
		return 0, io.EOF
	}
	if g.at == 0 && g.peak != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		*g.peak = max(*g.peak, m.HeapAlloc)
	}
	n := copy(b, g.block[g.at:])
	g.at = (g.at + n) % len(g.block)
	g.left -= n
	return n, nil
}

// big opens a generated table.
func big(size int, peak *uint64) func() (io.ReadCloser, error) {
	var block []byte
	rng := rand.New(rand.NewPCG(1, 2))
	for row := range 20_000 {
		block = fmt.Appendf(block, "2020-%02d-%02d,Station %d,%d.%d,\"some, text %d\"\n", row%12+1, row%28+1, rng.IntN(40), row%40, row%10, row)
	}
	return func() (io.ReadCloser, error) {
		head := strings.NewReader("date,station,temp,note\n")
		return io.NopCloser(io.MultiReader(head, &generator{left: size, block: block, peak: peak})), nil
	}
}

//nolint:paralleltest // it measures the heap of the process
func TestBigTableNeedsFixedMemory(t *testing.T) {
	var peak uint64
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	src, err := openCSV(big(24<<20, &peak), 0)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := profile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if grown := int64(peak) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("24 MiB of rows took %d MiB of memory", grown>>20)
	}
	if got.RowCount < 400_000 || len(got.Series) != 8 || !got.column("note").DistinctCapped {
		t.Errorf("%d rows, %d series", got.RowCount, len(got.Series))
	}
}

func TestUnclosedQuoteNeedsFixedMemory(t *testing.T) {
	t.Parallel()
	r := newCSVReader(io.MultiReader(strings.NewReader("\""), strings.NewReader(strings.Repeat("x,\n", 1<<20))), ',')
	cells, err := r.next()
	if err != nil || len(cells) != 1 || len(cells[0]) != maxField || r.clipped != 1 || cap(r.buf) > 4*maxField {
		t.Errorf("%d cells, %v, clipped %d, buffer %d", len(cells), err, r.clipped, cap(r.buf))
	}
}

func FuzzTable(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\"a\"\"b\",c\r\n", "\xef\xbb\xbfx;y\n1,5;2\n", "\"", "2001,2002,2003\n", "#\n,\n", "year,1990,1991,1992\nA,1,2,x\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(content))), nil }
		src, err := openCSV(open, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, notes, err := profile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := result(reading{Kind: "table", Path: "x", Table: &got, Warnings: notes}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`[{"a":1},{"a":{"b":[2]}}]`, `{"d":[{"x":1},{"x":2}]}`, "{}\n{}", `[[[`, `{"a":{"b":[{"c":1},{"c":2}]}}`, `[{"":1},{"":2}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		files, _ := folder(t, map[string]string{"a.json": content, "b.txt": "x"})
		if _, err := files.call(t, map[string]any{"Path": "a.json"}); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkTable200MB profiles a table of 200 MB, which streams past twice.
func BenchmarkTable200MB(b *testing.B) {
	const size = 200 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		src, err := openCSV(big(size, nil), 0)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := profile(b.Context(), src); err != nil {
			b.Fatal(err)
		}
	}
}

// A file without line breaks is one record, and a table may have more columns than
// anybody reads; neither may cost more than the columns that are kept.
func TestWideRowsNeedFixedMemory(t *testing.T) {
	t.Parallel()
	r := newCSVReader(strings.NewReader(strings.Repeat("12,", 1<<20)), ',')
	cells, err := r.next()
	if err != nil || len(cells) != maxCells || r.widest != 1<<20+1 || cap(r.buf) > 64<<10 || cap(r.ends) > 4*maxCells {
		t.Errorf("%d cells of %d, %v, buffer %d", len(cells), r.widest, err, cap(r.buf))
	}
	var content strings.Builder
	for row := range 50 {
		for col := range 3000 {
			content.WriteString(strconv.Itoa(row*col) + ",")
		}
		content.WriteString("\n")
	}
	got := readOne(t, "wide.csv", content.String())
	if got.Table == nil || got.Table.RowCount != 50 || len(got.Table.Columns)+got.Table.MoreColumns != maxCells {
		t.Fatalf("%+v", got)
	}
	if !got.warned("rows have up to 3001 cells; those beyond the first 200 are left out") {
		t.Errorf("warnings: %q", got.Warnings)
	}
}

// Long values are told apart by their beginnings, and equal ones are counted.
func TestLongValuesAreCounted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long sentence ", 30)
	c := newColumn("note", dialect{})
	for range 3 {
		c.add([]byte(long), nil)
	}
	c.add([]byte("short"), nil)
	if top := c.top(2); len(top) != 2 || top[0].Count != 3 || c.unique() {
		t.Errorf("%+v, unique %v", top, c.unique())
	}
}
