package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestColumns imports one column each and checks type, unit and the stored values.
func TestColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, header, cells string // cells separated by |
		kind                Type
		unit                string
		want                []any
		missing, unusable   int
	}{
		{name: "integers", header: "units", cells: "1|22|-3|0", kind: Integer, want: []any{1.0, 22.0, -3.0, 0.0}},
		{name: "points", header: "price", cells: "1.5|22.25|0.5", kind: Number, want: []any{1.5, 22.25, 0.5}},
		{name: "commas", header: "Preis", cells: "1,5|22,25|0,5", kind: Number, want: []any{1.5, 22.25, 0.5}},
		{name: "German thousands", header: "Umsatz", cells: "1.234,56|12.345,00|7,5", kind: Number, want: []any{1234.56, 12345.0, 7.5}},
		{name: "English thousands", header: "sales", cells: "1,234.56|12,345.00|7.5", kind: Number, want: []any{1234.56, 12345.0, 7.5}},
		{name: "millions", header: "sales", cells: "1.234.567|12.345|950", kind: Integer, want: []any{1234567.0, 12345.0, 950.0}},
		{name: "French", header: "ventes", cells: "1 234,5|12 345,0|7,5", kind: Number, want: []any{1234.5, 12345.0, 7.5}},
		{name: "narrow spaces", header: "ventes", cells: "1\u202f234,5|12\u00a0345,0|7,5", kind: Number, want: []any{1234.5, 12345.0, 7.5}},
		{name: "Swiss", header: "Betrag", cells: "1'234.50|12’345.00|7.50", kind: Number, want: []any{1234.5, 12345.0, 7.5}},
		{name: "no cents", header: "Preis", cells: "50,-|1.200,– €|12,50|7,-- €", kind: Number, unit: "€", want: []any{50.0, 1200.0, 12.5, 7.0}},
		{name: "no Rappen", header: "Preis", cells: "CHF 1'200.-|45.– CHF|CHF 7.50", kind: Number, unit: "CHF", want: []any{1200.0, 45.0, 7.5}},
		{
			name: "all digits of a binary fraction", header: "score", cells: "0.5488135039273248|0.30000000000000004|-12.345678901234567|5.488135039273248e-05", kind: Number,
			want: []any{0.548813503927325, 0.3, -12.3456789012346, 5.48813503927325e-05},
		},
		{name: "all digits with a decimal comma", header: "Wert", cells: "0,5488135039273248|1.234,567890123456|7,5", kind: Number, want: []any{0.548813503927325, 1234.56789012346, 7.5}},
		{name: "long ids", header: "article", cells: "1234567890123456|9234567890123456.0", kind: Text, want: []any{"1234567890123456", "9234567890123456.0"}},
		{name: "currency in front", header: "Preis", cells: "€ 12,50|€ 1.200,00|€ 3,00", kind: Number, unit: "€", want: []any{12.5, 1200.0, 3.0}},
		{name: "currency behind", header: "Preis", cells: "12,50 €|1.200,00 €|3,00 EUR", kind: Number, unit: "€", want: []any{12.5, 1200.0, 3.0}},
		{name: "dollars", header: "price", cells: "$1,200|$5|-$3", kind: Integer, unit: "$", want: []any{1200.0, 5.0, -3.0}},
		{name: "dollar at the first only", header: "price", cells: "$1,200.10|5.00|3.25", kind: Number, unit: "$", want: []any{1200.1, 5.0, 3.25}},
		{name: "percent", header: "share", cells: "12,5 %|3 %|100 %", kind: Number, unit: "%", want: []any{12.5, 3.0, 100.0}},
		{name: "unit", header: "weight", cells: "12 kg|3.5 kg|7kg", kind: Number, unit: "kg", want: []any{12.0, 3.5, 7.0}},
		{name: "another unit is unusable", header: "weight", cells: "1 kg|2 kg|3 kg|4 kg|500 g", kind: Integer, unit: "kg", want: []any{1.0, 2.0, 3.0, 4.0, nil}, unusable: 1},
		{name: "mixed units", header: "weight", cells: "1 kg|2 kg|300 g|400 g", kind: Text, want: []any{"1 kg", "2 kg", "300 g", "400 g"}},
		{name: "unit in the header", header: "weight (kg)", cells: "1|2", kind: Integer, unit: "kg", want: []any{1.0, 2.0}},
		{name: "brackets are negative", header: "profit", cells: "(1,234.50)|20.00|(3.25)", kind: Number, want: []any{-1234.5, 20.0, -3.25}},
		{name: "minus behind and typographic", header: "profit", cells: "12-|−5|–7|3", kind: Integer, want: []any{-12.0, -5.0, -7.0, 3.0}},
		{name: "powers", header: "x", cells: "1.5e-3|2E6|1.0e+2", kind: Number, want: []any{0.0015, 2e6, 100.0}},
		{name: "missing", header: "x", cells: "1||NA|N/A|n/a|null|-|–|k.A.|.|2", kind: Integer, want: []any{1.0, nil, nil, nil, nil, nil, nil, nil, nil, nil, 2.0}, missing: 9},
		{
			name: "unusable", header: "x", cells: "1|2|3|4|5|6|7|8|abc|#REF!", kind: Integer,
			want: []any{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, nil, nil}, unusable: 2,
		},
		{name: "too few numbers", header: "x", cells: "1|2|3|a|b", kind: Text, want: []any{"1", "2", "3", "a", "b"}},
		{name: "ZIP codes", header: "ZIP", cells: "10115|80331|99084", kind: Text, want: []any{"10115", "80331", "99084"}},
		{name: "zeros in front", header: "Ort", cells: "01067|80331|99084", kind: Text, want: []any{"01067", "80331", "99084"}},
		{name: "ids", header: "customer_id", cells: "1|2|3", kind: Text, want: []any{"1", "2", "3"}},
		{name: "order number", header: "orderNo", cells: "1001|1002", kind: Text, want: []any{"1001", "1002"}},
		{name: "German number", header: "Artikelnummer", cells: "1001|1002", kind: Text, want: []any{"1001", "1002"}},
		{name: "a count is no id", header: "number of employees", cells: "10|12", kind: Integer, want: []any{10.0, 12.0}},
		{name: "telephone", header: "contact", cells: "+49301234567|+493012345678", kind: Text, want: []any{"+49301234567", "+493012345678"}},
		{name: "SKU", header: "sku", cells: "1002|A-17|99", kind: Text, want: []any{"1002", "A-17", "99"}},
		{name: "EAN", header: "article", cells: "4006381333931|4006381333948", kind: Text, want: []any{"4006381333931", "4006381333948"}},
		{name: "months with zeros", header: "month", cells: "01|02|12", kind: Integer, want: []any{1.0, 2.0, 12.0}},
		{name: "years", header: "year", cells: "2019|2020|2021", kind: Integer, want: []any{2019.0, 2020.0, 2021.0}},
		{name: "years as dates", header: "year", cells: "2019-01-01|2020-01-01", kind: Integer, want: []any{2019.0, 2020.0}},
		{name: "words among numbers", header: "qty", cells: "1,200|950|see note|40|#REF!|#DIV/0!|12", kind: Integer, want: []any{1200.0, 950.0, nil, 40.0, nil, nil, 12.0}, unusable: 3},
		{name: "codes among numbers", header: "size", cells: "36|38|40|7b", kind: Text, want: []any{"36", "38", "40", "7b"}},
		{name: "measuring failed", header: "wind", cells: "12.5|-999|3.5|0", kind: Number, want: []any{12.5, nil, 3.5, 0.0}, missing: 1},
		{name: "low numbers", header: "balance", cells: "-1200|-999|3|0", kind: Integer, want: []any{-1200.0, -999.0, 3.0, 0.0}},
		{name: "a range is no unit", header: "score (1-5)", cells: "1|2", kind: Integer, want: []any{1.0, 2.0}},
		{name: "unit behind the name", header: "body_mass_g", cells: "1|2", kind: Integer, unit: "g", want: []any{1.0, 2.0}},
		{name: "price of a unit", header: "price_per_kwh", cells: "1|2", kind: Integer, want: []any{1.0, 2.0}},
		{name: "currency behind the name", header: "Umsatz in EUR", cells: "1|2", kind: Integer, unit: "€", want: []any{1.0, 2.0}},
		{name: "thousands in the name", header: "Umsatz (Tsd. €)", cells: "1|2", kind: Integer, unit: "Tsd. €", want: []any{1.0, 2.0}},
		{name: "times of forms", header: "d", cells: "2024/03/01 9:12:33 AM GMT+1|2024/03/02 1:33:10 PM GMT+1", kind: DateTime, want: []any{"2024-03-01 09:12:33", "2024-03-02 13:33:10"}},
		{name: "months of numbers", header: "d", cells: "09.2024|10.2024|12.2024", kind: Date, want: []any{"2024-09-01", "2024-10-01", "2024-12-01"}},
		{name: "numbers that could be months", header: "price", cells: "10.2024|11.2024|12.1999", kind: Number, want: []any{10.2024, 11.2024, 12.1999}},
		{name: "ISO dates", header: "d", cells: "2024-03-01|2024-12-31", kind: Date, want: []any{"2024-03-01", "2024-12-31"}},
		{name: "dotted dates", header: "d", cells: "31.12.2024|1.3.2024", kind: Date, want: []any{"2024-12-31", "2024-03-01"}},
		{name: "short years", header: "d", cells: "31.12.24|01.03.99", kind: Date, want: []any{"2024-12-31", "1999-03-01"}},
		{name: "month first", header: "d", cells: "12/31/2024|3/1/2024", kind: Date, want: []any{"2024-12-31", "2024-03-01"}},
		{name: "day first", header: "d", cells: "31/12/2024|1/3/2024", kind: Date, want: []any{"2024-12-31", "2024-03-01"}},
		{name: "firsts of months", header: "d", cells: "01/02/2024|01/03/2024|01/04/2024", kind: Date, want: []any{"2024-02-01", "2024-03-01", "2024-04-01"}},
		{name: "times", header: "d", cells: "2024-03-01T13:45:00Z|2024-03-02 01:02:03", kind: DateTime, want: []any{"2024-03-01 13:45:00", "2024-03-02 01:02:03"}},
		{name: "fractions of seconds", header: "d", cells: "2024-03-01 00:00:00.125|2024-03-01T00:00:00.250Z|2024-03-01 00:00:00,000", kind: DateTime, want: []any{"2024-03-01 00:00:00.125", "2024-03-01 00:00:00.25", "2024-03-01 00:00:00"}},
		{name: "American times", header: "d", cells: "3/14/2024 1:05 PM|12/31/2024 12:00 AM", kind: DateTime, want: []any{"2024-03-14 13:05:00", "2024-12-31 00:00:00"}},
		{name: "midnights", header: "d", cells: "2024-03-01 00:00:00|2024-03-02 00:00", kind: Date, want: []any{"2024-03-01", "2024-03-02"}},
		{name: "months", header: "d", cells: "2024-03|2024-04", kind: Date, want: []any{"2024-03-01", "2024-04-01"}},
		{name: "named months", header: "d", cells: "Mar 2024|April 2024|May-24", kind: Date, want: []any{"2024-03-01", "2024-04-01", "2024-05-01"}},
		{name: "English dates", header: "d", cells: "3 March 2024|March 12, 2024|1st Apr 2024", kind: Date, want: []any{"2024-03-03", "2024-03-12", "2024-04-01"}},
		{name: "German dates", header: "d", cells: "3. März 2024|12. Dez. 2024|1. Mai 2024", kind: Date, want: []any{"2024-03-03", "2024-12-12", "2024-05-01"}},
		{name: "French dates", header: "d", cells: "3 mars 2024|12 décembre 2024|1er août 2024", kind: Date, want: []any{"2024-03-03", "2024-12-12", "2024-08-01"}},
		{name: "compact dates", header: "order_date", cells: "20240301|20241231", kind: Date, want: []any{"2024-03-01", "2024-12-31"}},
		{name: "a day that is none", header: "d", cells: "2024-01-01|2024-01-02|2024-01-03|2024-01-04|2024-02-30", kind: Date, want: []any{"2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", nil}, unusable: 1},
		{name: "yes and no", header: "active", cells: "yes|no|Yes|", kind: Boolean, want: []any{1.0, 0.0, 1.0, nil}, missing: 1},
		{name: "ja und nein", header: "aktiv", cells: "ja|nein", kind: Boolean, want: []any{1.0, 0.0}},
		{name: "letters", header: "active", cells: "Y|N|Y", kind: Boolean, want: []any{1.0, 0.0, 1.0}},
		{name: "one letter is a name", header: "side", cells: "N|N|N", kind: Text, want: []any{"N", "N", "N"}},
		{name: "Namibia", header: "country", cells: "DE|NA|FR|ZA|GB|US", kind: Text, want: []any{"DE", "NA", "FR", "ZA", "GB", "US"}},
		{name: "none is a word", header: "discount", cells: "none|full|half", kind: Text, want: []any{"none", "full", "half"}},
		{name: "none is missing", header: "discount", cells: "none|1|2|3", kind: Integer, want: []any{nil, 1.0, 2.0, 3.0}, missing: 1},
		{name: "ranges", header: "age", cells: "18-25|26-35|36-45", kind: Text, want: []any{"18-25", "26-35", "36-45"}},
		{name: "versions", header: "version", cells: "1.2.3|1.10.0", kind: Text, want: []any{"1.2.3", "1.10.0"}},
		{name: "clock times", header: "time", cells: "13:45|07:30", kind: Text, want: []any{"13:45", "07:30"}},
		{name: "house numbers", header: "house", cells: "12|12a|14|7b", kind: Text, want: []any{"12", "12a", "14", "7b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tables, v := describeOne(t, "data.tsv", "name\t"+c.header+"\n"+rowsOf(c.cells))
			got := v.column(t, c.header)
			if got.Type != c.kind || got.Unit != c.unit || got.Missing != c.missing || got.Unusable != c.unusable {
				t.Errorf("column is %+v, want %s, unit %q, %d missing, %d unusable", got, c.kind, c.unit, c.missing, c.unusable)
			}
			var values []any
			for _, row := range tables.ask(t, "SELECT "+quote(c.header)+" FROM data ORDER BY rowid").Rows {
				values = append(values, row[0])
			}
			if d := cmp.Diff(c.want, values); d != "" {
				t.Errorf("values differ (-want +got):\n%s", d)
			}
		})
	}
}

// rowsOf writes cells as rows with a name in the first column.
func rowsOf(cells string) string {
	var b strings.Builder
	for i, c := range strings.Split(cells, "|") {
		b.WriteString(string(rune('a'+i)) + "\t" + c + "\n")
	}
	return b.String()
}

// TestAmbiguousNumbersAreNoted: 1.234 alone can be a thousand with a German sign or one with English decimals.
func TestAmbiguousNumbersAreNoted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, content string
		noted               bool
	}{
		{"separated by commas", "a.csv", "name,amount\na,1.234\nb,2.500\nc,3.750\n", true},
		{"separated by semicolons", "a.csv", "name;amount\na;1.234\nb;2.500\nc;3.750\n", true},
		{"next to thousands without a sign", "a.csv", "name;amount\na;1.234\nb;450\nc;5000\n", true},
		{"texts of JSON", "a.json", `[{"name":"a","amount":"1.234"},{"name":"b","amount":"2.500"}]`, true},
		{"next to hundreds", "a.csv", "name;amount\na;1.234\nb;450\nc;2.500\n", false},
		{"a zero shows the sign", "a.csv", "name,amount\na,1.234\nb,0.500\nc,3.750\n", false},
		{"another column shows the sign", "a.csv", "name,amount,share\na,1.234,1.5\nb,2.500,2.25\nc,3.750,9.5\n", false},
		{"numbers of JSON", "a.json", `[{"name":"a","amount":1.234},{"name":"b","amount":2.500}]`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, tb := describeOne(t, c.file, c.content)
			if notes := strings.Join(tb.Notes, "; "); strings.Contains(notes, "ambiguous thousands and decimal signs") != c.noted {
				t.Errorf("noted is %v: %q", !c.noted, notes)
			}
		})
	}
}
