package evidence_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"atelier/agent/evidence"
)

// table returns a query's outputs as JSON.
func table(t *testing.T, statement string, columns []string, rows ...[]any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"statement": statement, "columns": columns, "rows": rows, "rowCount": len(rows),
		"tables": []map[string]string{{"name": "sales", "path": "sales.csv"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// verdict returns the verdict on the only claim of a text.
func verdict(t *testing.T, s *evidence.Set, text string) evidence.Verdict {
	t.Helper()
	for _, n := range evidence.Scan(text) {
		if n.NeedsSource() {
			return s.Trace(n)
		}
	}
	t.Fatalf("%q claims nothing", text)
	return evidence.Verdict{}
}

func TestHeldAfterRounding(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	s.AddResult("Query Tables", table(t, `SELECT a FROM sales`, []string{"people", "rate", "loss", "umsatz (Mio. €)", "share %", "name"},
		[]any{3706227.0, 0.1234, -52.46, 12.3, 45.6, "Model 3300"}, []any{nil, 1.835, 1234.5, 0.5, 7.25, "9,99 €"}))
	for _, text := range []string{
		"3,706,227", "3.706.227", "3 706 227", "3\u00a0706\u00a0227", "3'706'227", "3’706’227", "3706227", "3.7 million", "3.71 Mio.", "3,706 Tsd.", "3706k", "37.06 lakh", "$3.7m",
		"12.3 %", "12,34 Prozent", "0.12", "0.1234", "183.5 %", "1.84", "fell by 52.46", "−52.5", "52", "1,234.5", "1.234,5", "1235",
		"12.3 million", "12,300,000", "500 Tsd.", "45.6 %", "0.456", "7 %", "7.3 percentage points", "3300", "9.99", "٣٧٠٦٢٢٧",
	} {
		if v := verdict(t, &s, text); v.Support != evidence.Held || v.Query != 0 {
			t.Errorf("%q: got %+v", text, v)
		}
	}
	for _, text := range []string{
		"3,706,228", "3.8 million", "3.72 Mio.", "3.7 billion", "12.4 %", "0.13", "+52.46", "−1,234.5", "1,234.6", "2,471 km", "182 %", "13.3", "46.5 %", "3301", "37.0", "0.1235",
	} {
		if v := verdict(t, &s, text); v.Support == evidence.Held {
			t.Errorf("%q: got %+v", text, v)
		}
	}
}

func TestHeldByText(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	s.AddText(evidence.Task, "Orders over 150 € since March 2031, please; a 2.5 % limit.")
	s.AddResult("Read File", json.RawMessage(`{"path":"notes.md","text":"The plant has 4,711 panels (3.2 million kWh, 12,5 %).","page":17}`))
	s.AddValue(evidence.Input, map[string]any{"sales": []any{99.5, map[string]any{"2027": json.Number("1234")}}})
	for text, name := range map[string]string{
		"150": "task", "2,5 %": "task", "0.025": "task", "4711": "notes.md", "3.2 Mio. kWh": "notes.md", "3,200,000": "notes.md", "12.5 %": "notes.md", "99.5": "input", "100": "input", "1,234": "input",
	} {
		v := verdict(t, &s, text)
		if v.Support != evidence.Held || v.Query >= 0 || v.Text < 0 || s.Texts[v.Text].Name != name {
			t.Errorf("%q: got %+v", text, v)
		}
	}
	for _, year := range []string{"2031 customers", "2027 customers"} {
		if v := verdict(t, &s, "lost "+year); v.Support != evidence.Held {
			t.Errorf("%q: a year that a source names is marked", year)
		}
	}
	for _, text := range []string{"151", "2.6 %", "4712", "3.3 million", "lost 2030 customers"} {
		if v := verdict(t, &s, text); v.Support != evidence.Unsupported {
			t.Errorf("%q: got %+v", text, v)
		}
	}
}

func TestDerived(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	s.AddResult("Query Tables", table(t, "SELECT 1", []string{"year", "north", "south"}, []any{1991.0, 120.0, 80.0}, []any{2024.0, 180.0, 250.0}))
	s.AddResult("Query Tables", table(t, "SELECT 1", []string{"year", "north", "south"}, []any{1991.0, 1.0, 1.0})) // the same again
	for text, kind := range map[string]string{
		"rose by 60":     "difference",
		"rose by 50 %":   "change",
		"33.3 %":         "change", // back from 180 to 120
		"200 in all":     "sum",
		"300 in all":     "sum",
		"1.5 times":      "ratio",
		"3.125 times":    "ratio",
		"66.7 %":         "share",
		"a span of 33 y": "difference",
		"0.43 thousand":  "sum",
		"212.5 %":        "change",
	} {
		v := verdict(t, &s, text)
		if v.Support != evidence.Derived || v.Kind != kind || v.Query != 0 {
			t.Errorf("%q: got %+v, want %s", text, v, kind)
		}
	}
	if v := verdict(t, &s, "50 %"); v.From != [2]float64{120, 180} {
		t.Errorf("50 %% is computed from %v", v.From)
	}
	for _, text := range []string{"61", "51 %", "370 crosswise", "4015 years in all", "1.6 times", "70", "130"} {
		if v := verdict(t, &s, text); v.Support != evidence.Unsupported && text != "70" {
			t.Errorf("%q: got %+v", text, v)
		}
	}
	if len(s.Queries) != 1 {
		t.Errorf("%d queries are kept", len(s.Queries))
	}
}

// TestDerivedIsNotChance measures how many random numbers count as derived, with results of many sizes: fewer than the
// 5 in 100 that Trace documents.
func TestDerivedIsNotChance(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 11))
	for _, size := range [][3]int{{1, 3, 2}, {1, 5, 1}, {1, 6, 3}, {1, 12, 1}, {1, 12, 4}, {1, 30, 2}, {1, 60, 6}, {1, 500, 3}, {2, 3, 2}, {8, 2, 2}, {5, 12, 2}} {
		accepted, tried := 0, 0
		for range 40 {
			var s evidence.Set
			for i := range size[0] {
				s.AddResult("Query Tables", random(t, rnd, fmt.Sprint("SELECT ", i), size[1], size[2]))
			}
			for range 50 {
				text := strconv.FormatFloat(float64(13)+rnd.Float64()*1500, 'f', rnd.IntN(3), 64)
				if rnd.IntN(2) == 0 {
					text = strconv.FormatFloat(rnd.Float64()*250, 'f', rnd.IntN(2), 64) + " %"
				}
				for _, n := range evidence.Scan(text) {
					if v := s.Trace(n); n.NeedsSource() && v.Support != evidence.Held {
						tried++
						if v.Support == evidence.Derived {
							accepted++
						}
					}
				}
			}
		}
		rate := float64(accepted) / float64(tried)
		t.Logf("%d results of %d rows, %d columns: %d of %d random numbers are derived by chance (%.1f %%)", size[0], size[1], size[2], accepted, tried, 100*rate)
		if rate >= 0.05 {
			t.Errorf("%d results of %d rows, %d columns: %.1f %% of random numbers are taken for derived ones", size[0], size[1], size[2], 100*rate)
		}
	}
}

// random returns a result of random numbers.
func random(t *testing.T, rnd *rand.Rand, statement string, rows, columns int) json.RawMessage {
	t.Helper()
	names := make([]string, columns)
	for c := range names {
		names[c] = fmt.Sprint("c", c)
	}
	cells := make([][]any, rows)
	for r := range cells {
		for range names {
			cells[r] = append(cells[r], float64(1000+rnd.IntN(9000))/10)
		}
	}
	return table(t, statement, names, cells...)
}

func TestResultsOfOtherShapes(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	for _, raw := range []string{
		``, `null`, `[1]`, `{"statement":1}`, `{"statement":"SELECT 4444","columns":["a"],"rows":[[1,2,3],[],["1e400",true,{"x":5}]]}`,
		`{"statement":"SELECT b","columns":[{"name":"n 4445"}],"rows":[["12.75"]]}`, `{"statement":"x 4446","columns":[],"rows":[]}`, `{"text":"4447","url":" "}`,
	} {
		s.AddResult("Query Tables", json.RawMessage(raw))
	}
	if len(s.Queries) != 2 || s.Queries[1].Columns[0] != "n 4445" {
		t.Fatalf("got %+v", s.Queries)
	}
	for _, text := range []string{"4444", "4445", "4446", "4447", "12.75"} {
		if v := verdict(t, &s, text); v.Support != evidence.Held {
			t.Errorf("%s: got %+v", text, v)
		}
	}
}

// TestAYearOfTheDataIsHeld: a year that only the wording of a sentence suggests needs a year in a source.
func TestAYearOfTheDataIsHeld(t *testing.T) {
	t.Parallel()
	var s evidence.Set
	s.AddResult("Query Tables", json.RawMessage(`{"statement":"SELECT day, sold FROM t","columns":["day","sold"],"rows":[["2010-05-01",12.5]],"rowCount":1}`))
	for text, want := range map[string]evidence.Support{"In 2010 emissions fell.": evidence.Held, "It failed in 2000 cases.": evidence.Unsupported} {
		numbers := evidence.Scan(text)
		if len(numbers) != 1 || !numbers[0].NeedsSource() || s.Trace(numbers[0]).Support != want {
			t.Errorf("%q: %+v", text, numbers)
		}
	}
}
