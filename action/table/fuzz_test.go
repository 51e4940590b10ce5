package table

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier/action"
	"atelier/action/file"
	"atelier/media"
)

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1", "-1.5", "1.234,56", "1'234", "€ 12", "(3)", "1e9", "12 kg", "٣", "+", "1.", ".5", "--1", "0,5%", "1 234 567", "999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := parseNumber([]byte(s))
		if !ok {
			return
		}
		for _, comma := range []bool{false, true} {
			if v, whole := n.value(comma); math.IsNaN(v) || math.IsInf(v, 0) || whole && v != math.Trunc(v) && n.okPoint && n.okComma {
				t.Errorf("%q is %v, whole %v", s, v, whole)
			}
		}
		if !strings.ContainsAny(s, "0123456789") {
			t.Errorf("%q has no digit", s)
		}
	})
}

func FuzzDate(f *testing.F) {
	for _, s := range []string{"2024-03-01", "31.12.2024", "1/2/24", "2024-03-01T01:02:03Z", "3. März 2024", "Mar-24", "0000-00-00", "2024-02-30", "1st of May 2024", "2024-03-01 10:00:00.x", "2024-03-01 10:00:00,5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, ok := parseDate([]byte(s))
		if !ok {
			return
		}
		for _, dayFirst := range []bool{false, true} {
			if m, ok := m.settle(dayFirst); ok {
				if again, ok := parseDate([]byte(m.text(true))); !ok || again.year != m.year || again.month != m.month || again.day != m.day {
					t.Errorf("%q is %s, which is %+v", s, m.text(true), again)
				}
			}
		}
	})
}

// FuzzImport imports any content under the file names of tables: the import ends, the counts agree, and what Describe
// Tables returns can be queried.
func FuzzImport(f *testing.F) {
	for name, s := range map[string]string{
		"a.csv": "a,b\n1,2\n", "b.csv": "Umsatz;Tag\n1,5;31.12.2024\nSumme;\n", "c.json": `[{"a":1,"b":{"c":[1]}}]`, "d.jsonl": "{\"a\":1}\n{}\n", "e.csv": "\"a\nb\"\"c\",\"", "f.tsv": "a\t\t\n\x00",
		"g.json": `{"x":{"y":[{"a":"2024-01-01"}]}}`, "h.csv": "x,2019,2020,2021\nq,1,2,3\n",
	} {
		f.Add(name[1:], s)
	}
	f.Fuzz(func(t *testing.T, ext, content string) {
		if kind := kinds[strings.ToLower(ext)]; kind == "" || kind == "excel" || strings.ContainsAny(ext, "/\\\x00") {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "data"+ext), []byte(content), 0o600); err != nil {
			return
		}
		files, err := file.Open(file.Config{Dir: dir})
		if err != nil {
			return
		}
		defer func() { _ = files.Close() }()
		tables := New(Config{Files: files, TempDir: t.TempDir()})
		defer func() { _ = tables.Close() }()
		d := tables.all(t)
		if d.TotalCount == 0 && len(d.NotRead) == 0 {
			t.Errorf("%q %q is neither a table nor an error", ext, content)
		}
		for _, v := range d.Tables {
			for _, c := range v.Columns {
				if !utf8.ValidString(c.Name) || c.Missing+c.Unusable > v.RowCount {
					t.Errorf("column %+v of %d rows", c, v.RowCount)
				}
				sql := "SELECT count(*) - count(" + quote(c.Name) + ") FROM " + quote(v.Name)
				res, err := tables.query(t.Context(), &action.Call{Params: map[string]any{"SQL": sql}})
				var e *media.Error
				if errors.As(err, &e) {
					t.Errorf("%s: %v", sql, err)
					continue
				}
				if got := decoded[answer](t, res).Rows[0][0]; got != float64(c.Missing+c.Unusable) {
					t.Errorf("%s gives %v, reported %d missing and %d unusable", sql, got, c.Missing, c.Unusable)
				}
			}
		}
	})
}
