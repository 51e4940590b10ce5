package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWideTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content, query string
		columns              []string
		want                 [][]any
		missing              int // of the column value
	}{
		{
			name: "years", content: "country,code,2019,2020,2021\nGermany,DE,83.1,83.2,\nFrance,FR,67.1,n/a,67.7\n", columns: []string{"country", "code", "year", "value"},
			query: "SELECT year, sum(value) FROM data_long GROUP BY year ORDER BY year", want: [][]any{{2019.0, 150.2}, {2020.0, 83.2}, {2021.0, 67.7}}, missing: 2,
		},
		{
			name: "years as text", content: "country,2019,2020,2021\nGermany,1,2,3\nFrance,4,5,6\n", columns: []string{"country", "year", "value"},
			query: "SELECT year, sum(value) FROM data_long WHERE year IN ('2019') OR year > '2020' OR year = '2020' GROUP BY 1", want: [][]any{{2019.0, 5.0}, {2020.0, 7.0}, {2021.0, 9.0}},
		},
		{
			name: "months", content: "Filiale;Januar;Februar;März;Gesamt\nNord;1;2;3;6\nSüd;4;5;6;15\n", columns: []string{"Filiale", "period", "value"},
			query: "SELECT period, sum(value) FROM data_long GROUP BY period ORDER BY period", want: [][]any{{1.0, 5.0}, {2.0, 7.0}, {3.0, 9.0}},
		},
		{
			name: "dates", content: "item,Jan 2024,Feb 2024,Mar 2024\nx,8,9,10\ny,6,7,8\n", columns: []string{"item", "period", "value"},
			query: "SELECT period, sum(value) FROM data_long GROUP BY 1 ORDER BY 1", want: [][]any{{"2024-01-01", 14.0}, {"2024-02-01", 16.0}, {"2024-03-01", 18.0}},
		},
		{
			name: "quarters", content: "year,Q1 2023,Q2 2023,Q1 2024\nx,8,9,10\ny,6,7,8\n", columns: []string{"year", "period", "value"},
			query: "SELECT period, sum(value) FROM data_long GROUP BY 1 ORDER BY 1", want: [][]any{{"2023-Q1", 14.0}, {"2023-Q2", 16.0}, {"2024-Q1", 18.0}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tables := folder(t, map[string]string{"data.csv": c.content})
			d := tables.all(t)
			if len(d.Tables) != 2 || d.Tables[1].Name != "data_long" || !strings.Contains(strings.Join(d.Tables[0].Notes, "\n"), "data_long") {
				t.Fatalf("%+v", d.Tables)
			}
			check(t, d.Tables[1], c.columns, d.Tables[0].RowCount*len(c.want), "long form of data")
			if got := d.Tables[1].column(t, "value").Missing; got != c.missing {
				t.Errorf("%d values are missing, want %d", got, c.missing)
			}
			if n := tables.value(t, "SELECT count(*) FROM data_long"); n != float64(d.Tables[1].RowCount) {
				t.Errorf("%v rows, reported %d", n, d.Tables[1].RowCount)
			}
			if d := cmp.Diff(c.want, tables.ask(t, c.query).Rows); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

func TestRowsWithSumsAreReported(t *testing.T) {
	t.Parallel()
	_, v := describeOne(t, "data.csv", "entity,year,deaths\nFlood,2000,10\nStorm,2000,20\nAll disasters,2000,30\nFlood,2001,1\nStorm,2001,2\nAll disasters,2001,3\n")
	check(t, v, []string{"entity", "year", "deaths"}, 6, `"All disasters" contain the sums`)
	_, v = describeOne(t, "data.csv", "entity,year,deaths\nFlood,2000,10\nStorm,2000,20\nAll inclusive,2000,7\n")
	if strings.Contains(strings.Join(v.Notes, "\n"), "sums") {
		t.Errorf("notes %q", v.Notes)
	}
}
