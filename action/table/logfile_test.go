package table

import (
	"strings"
	"testing"
)

func TestLogsAreTables(t *testing.T) {
	t.Parallel()
	web := strings.Repeat(`10.0.0.1 - - [11/Jun/2024:00:10:30 +0000] "GET /cart HTTP/1.1" 404 352 "-" "curl/8.4.0"`+"\n", 6) +
		`10.0.0.2 - bob [12/Jun/2024:07:10:30 +0000] "POST /pay HTTP/1.1" 200 -` + "\n"
	tb, v := describeOne(t, "access.log", web)
	if v.RowCount != 7 || tb.value(t, `SELECT count(*) FROM access WHERE status_code = '404' AND method = 'GET'`) != 6.0 {
		t.Errorf("%d rows of %+v", v.RowCount, v.Columns)
	}
	if c := v.column(t, "time"); c.Type != DateTime {
		t.Errorf("time is %s", c.Type)
	}
	app := "2024-03-04 06:00:09,567 INFO  [auth] cache refreshed\n2024-03-04T06:01:49Z ERROR [jobs] out of memory\n" +
		strings.Repeat("2024-03-04 06:05:26 WARN slow query\n", 20) + "  at main.go:12\n"
	tb, v = describeOne(t, "app.log", app)
	if v.RowCount != 22 || tb.value(t, `SELECT text FROM app WHERE level = 'ERROR'`) != "out of memory" {
		t.Errorf("%d rows, notes %v", v.RowCount, v.Notes)
	}
	if got := tb.value(t, `SELECT min(time) FROM app`); got != "2024-03-04 06:00:09.567" {
		t.Errorf("the first time is %v", got)
	}
	if len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "another form") {
		t.Errorf("notes %v", v.Notes)
	}
	if _, v = describeOne(t, "app.txt", app); v.RowCount != 22 {
		t.Errorf("%d rows of a log in a text file", v.RowCount)
	}
	if d := folder(t, map[string]string{"notes.log": strings.Repeat("went home at six\n", 9), "notes.txt": strings.Repeat("went home at six\n", 9)}).all(t); len(d.Tables)+len(d.NotRead) > 0 {
		t.Errorf("prose is %v, %v", d.Tables, d.NotRead)
	}
}

func TestLogsOfPairsAreTables(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("2024-11-04T06:11:00Z build=4100 branch=main status=passed duration_s=1315\n", 5) +
		"2024-11-04T06:25:00Z build=4101 branch=\"my branch\" status=failed duration_s=20 agent=runner-1\n"
	tb, v := describeOne(t, "ci.log", text)
	if v.RowCount != 6 || tb.value(t, `SELECT branch FROM ci WHERE agent = 'runner-1' AND duration_s = 20`) != "my branch" {
		t.Errorf("%d rows of %+v", v.RowCount, v.Columns)
	}
	if c := v.column(t, "time"); c.Type != DateTime {
		t.Errorf("time is %s", c.Type)
	}
}

// TestALogWithAnEndlessLineHidesNoOtherTable: a log that lost its line endings, or holds zeros after a crash.
func TestALogWithAnEndlessLineHidesNoOtherTable(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("2024-03-04 06:05:26 WARN slow query\n", fitLines+1) + strings.Repeat("x", maxLine+1)
	d := folder(t, map[string]string{"app.log": log, "good.csv": "a,b\n1,2\n"}).all(t)
	if len(d.Tables) != 1 || len(d.NotRead) != 1 || !strings.Contains(d.NotRead[0].Reason, "a line is longer than 16 MiB") {
		t.Errorf("tables %v, not read %v", d.Tables, d.NotRead)
	}
}
