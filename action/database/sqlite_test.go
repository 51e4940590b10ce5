package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/action"
	"atelier/media"

	"github.com/google/go-cmp/cmp"
)

func TestDescribeSQLite(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, sales()...)})
	res, err := d.describe(t.Context(), &action.Call{Params: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tb := range res.Outputs["tables"].([]Table) { //nolint:forcetypeassert // describe creates them
		rows := "?"
		if tb.Rows != nil {
			rows = fmt.Sprint(*tb.Rows)
		}
		got = append(got, fmt.Sprintf("%s %s, %s rows, %v, first %v, notes %v", tb.Kind, tb.Name, rows, tb.References, tb.SampleRows[0], tb.Notes))
		for _, c := range tb.Columns {
			line := fmt.Sprintf("%s: %s (%s), key %v, %d missing", c.Name, c.Type, c.DatabaseType, c.Key, *c.Missing)
			if c.Distinct != nil {
				line += fmt.Sprintf(", %d distinct (%v), %v to %v, %q", *c.Distinct, c.DistinctCapped, c.Min, c.Max, c.Values)
			}
			got = append(got, line)
		}
	}
	want := []string{
		"view by_region, ? rows, [], first [North 98000], notes []",
		`name: text (text), key false, 0 missing, 2 distinct (false), <nil> to <nil>, ["North" "South"]`,
		"amount: number (), key false, 0 missing, 2 distinct (false), 98000 to 100000, []",
		"table region, 2 rows, [], first [1 North], notes []",
		"id: integer (integer), key true, 0 missing, 2 distinct (false), 1 to 2, []",
		`name: text (text), key false, 0 missing, 2 distinct (false), <nil> to <nil>, ["North" "South"]`,
		"table sale, 4000 rows, [region_id → region(id)], first [2020-01-01 1 0 <nil> <nil>], notes []",
		"day: date (date), key false, 0 missing, 1000 distinct (true), 2020-01-01 to 2025-06-22, []",
		"region_id: integer (integer), key false, 0 missing, 2 distinct (false), 1 to 2, []",
		"amount: number (real), key false, 0 missing, 100 distinct (false), 0 to 99, []",
		"note: text (text), key false, 4000 missing, 0 distinct (false), <nil> to <nil>, []",
		"photo: text (blob), key false, 4000 missing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if res.Outputs["engine"] != "SQLite" || res.Outputs["totalCount"] != 3 || res.Message != "SQLite database with 3 tables" {
		t.Errorf("%v %s", res.Outputs, res.Message)
	}
}

// TestASlowViewHidesNoOtherTable has a view whose rows never come.
func TestASlowViewHidesNoOtherTable(t *testing.T) {
	t.Parallel()
	d := open(t, Config{Timeout: 10 * time.Second, URL: createFile(t, append(sales(), "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) AS most FROM n")...)})
	res, err := d.describe(t.Context(), &action.Call{Params: map[string]any{}})
	tables, _ := res.Outputs["tables"].([]Table)
	if err != nil || len(tables) != 4 || !strings.Contains(fmt.Sprint(tables[1].Notes), "its rows could not be read in time") || len(tables[3].SampleRows) == 0 {
		t.Errorf("%v %+v", err, tables)
	}
}

func TestDescribeOneTable(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, sales()...)})
	res, err := d.describe(t.Context(), &action.Call{Params: map[string]any{"Table": "REGION"}})
	if err != nil {
		t.Fatal(err)
	}
	tables, _ := res.Outputs["tables"].([]Table)
	if len(tables) != 1 || fmt.Sprint(tables[0].SampleRows) != "[[1 North] [2 South]]" {
		t.Errorf("%+v", tables)
	}
	_, err = d.describe(t.Context(), &action.Call{Params: map[string]any{"Table": "nothing"}})
	if media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), "by_region, region, sale") || !media.Retryable(err) {
		t.Error(err)
	}
}

// TestDescribeUnusualTables has a generated column, and a virtual table that keeps its content in other tables.
func TestDescribeUnusualTables(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, "CREATE TABLE line (n int, price real, total real GENERATED ALWAYS AS (n * price))", "INSERT INTO line (n, price) VALUES (2, 1.5)",
		"CREATE VIRTUAL TABLE note USING fts5(body)", "INSERT INTO note VALUES ('hello')")})
	res, err := d.describe(t.Context(), &action.Call{Params: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tb := range res.Outputs["tables"].([]Table) { //nolint:forcetypeassert // describe creates them
		for _, c := range tb.Columns {
			got = append(got, tb.Name+"."+c.Name)
		}
	}
	if diff := cmp.Diff([]string{"line.n", "line.price", "line.total", "note.body"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDescribeManyTables(t *testing.T) {
	t.Parallel()
	var make []string
	for i := range 600 {
		make = append(make, fmt.Sprintf("CREATE TABLE table_%03d (first_column TEXT, second_column REAL)", i))
	}
	d := open(t, Config{URL: createFile(t, make...)})
	res, err := d.describe(t.Context(), &action.Call{Params: map[string]any{}})
	if err != nil || length(res.Outputs) > 2*maxOutcome || res.Outputs["totalCount"] != 600 || !strings.Contains(res.Message, "use Table") {
		t.Errorf("%v, %d characters, %s", err, length(res.Outputs), res.Message)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: "sqlite:" + createFile(t, sales()...)})
	for name, test := range map[string]struct{ sql, want string }{
		"rows":       {"SELECT id, name FROM region ORDER BY id DESC", "[id name] [[2 South] [1 North]] 2 rows"},
		"semicolon":  {"SELECT 1 AS one; -- done;\n", "[one] [[1]] 1 row"},
		"comment":    {"/* a; b */ SELECT ';' AS s -- end", "[s] [[;]] 1 row"},
		"with":       {"WITH x AS (SELECT 1 a, 2 b) SELECT b, a FROM x", "[b a] [[2 1]] 1 row"},
		"values":     {"VALUES (1), (2)", "[column1] [[1] [2]] 2 rows"},
		"none":       {"SELECT * FROM region WHERE 0", "[id name] [] The query returned no rows"},
		"null":       {"SELECT NULL AS n, 1.5 AS f, 9007199254740993 AS big, 1e999 AS inf", "[n f big inf] [[<nil> 1.5 9.007199254740992e+15 Infinity]] 1 row"},
		"same names": {"SELECT 1 AS a, 2 AS a", "[a a:1] [[1 2]] 1 row"},
		"bytes":      {"SELECT x'89504e470d0a1a0a0000000d49484452' AS p, x'00ff' AS b", "[p b] [[<image/png 16 bytes> <2 bytes>]] 1 row"},
		"brackets":   {"SELECT [name] FROM \"region\" LIMIT 1", "[name] [[North]] 1 row"},
	} {
		if got := d.must(t, test.sql).String(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestTimesHaveOneZone: times with an offset are shown in UTC, at midnight too, with their fractions of seconds.
func TestTimesHaveOneZone(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, "CREATE TABLE visit (at DATETIME)", "INSERT INTO visit VALUES ('2024-03-01 00:00:00+02:00'), ('2024-03-01 01:00:00+02:00'), ('2024-03-01 02:00:00+02:00'), ('2024-03-01 10:00:00.125')")})
	if got := fmt.Sprint(d.must(t, "SELECT at FROM visit").Rows); got != "[[2024-02-29 22:00:00] [2024-02-29 23:00:00] [2024-03-01] [2024-03-01 10:00:00.125]]" {
		t.Error(got)
	}
}

// TestQueryKeepsItsStatement checks the form of the outputs to which numbers are traced.
func TestQueryKeepsItsStatement(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, sales()...)})
	a := d.must(t, " SELECT r.name AS region, count(*) AS n, 0.1 + 0.2, 1 > 0 FROM sale JOIN region r ON r.id = region_id GROUP BY 1 ORDER BY 1; ")
	if want := "SELECT r.name AS region, count(*) AS n, 0.1 + 0.2, 1 > 0 FROM sale JOIN region r ON r.id = region_id GROUP BY 1 ORDER BY 1"; a.Statement != want {
		t.Errorf("statement %q", a.Statement)
	}
	if got := fmt.Sprint(a.Rows); got != "[[North 2000 0.3 1] [South 2000 0.3 1]]" {
		t.Errorf("rows %s", got)
	}
}

// TestNothingIsWritten tries writes that a model, or a person who prompts it, may try.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	path := createFile(t, sales()...)
	before := sum(t, path)
	other := createFile(t, "CREATE TABLE secret (word TEXT)", "INSERT INTO secret VALUES ('swordfish')")
	d := open(t, Config{URL: path})
	fresh := filepath.Join(t.TempDir(), "new.db")
	for _, q := range []string{
		"DELETE FROM sale", "DROP TABLE sale", "UPDATE sale SET amount = 0", "INSERT INTO region VALUES (3, 'x')",
		"CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)", "REPLACE INTO region VALUES (1, 'x')", "ALTER TABLE sale RENAME TO s", "REINDEX", "ANALYZE",
		"WITH x AS (SELECT 1) DELETE FROM sale", "WITH x AS (SELECT 1) INSERT INTO region SELECT 9, 'x'",
		"SELECT 1; DELETE FROM sale", "SELECT 1;;DELETE FROM sale", "SELECT 1) ; DELETE FROM sale; --", "/**/DELETE FROM sale", "-- SELECT\nDELETE FROM sale",
		"PRAGMA query_only = 0", "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1", "PRAGMA user_version = 7", "VACUUM",
		"VACUUM INTO '" + fresh + "'", "ATTACH '" + other + "' AS o", "ATTACH '" + fresh + "' AS o", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "DETACH main",
		"SELECT load_extension('/tmp/x.so')", "SELECT writefile('" + fresh + "', 'x')", "SELECT readfile('/etc/passwd')", "EXPLAIN DELETE FROM sale",
		"SELECT * FROM region) LIMIT 1); DROP TABLE sale; SELECT (1", "SELECT fts3_tokenizer('simple', x'00')", "SELECT edit('x')",
	} {
		_, err := d.ask(t, q)
		if code := media.CodeOf(err); code != media.CodeForbidden && code != media.CodeInvalid {
			t.Errorf("%s: %v", q, err)
		}
	}
	if sum(t, path) != before {
		t.Error("the file has changed")
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("a new file was written")
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the database lie %v, %v", entries, err)
	}
	if a := d.must(t, "SELECT count(*) FROM sale"); a.Rows[0][0] != 4000.0 {
		t.Errorf("%v", a)
	}
}

// TestTheConnectionItselfRefuses bypasses the check of the statement: the connection itself must still write nothing
// and open nothing.
func TestTheConnectionItselfRefuses(t *testing.T) {
	t.Parallel()
	path := createFile(t, sales()...)
	before := sum(t, path)
	other := createFile(t, "CREATE TABLE secret (word TEXT)")
	d := open(t, Config{URL: path})
	fresh := filepath.Join(t.TempDir(), "new.db")
	for _, script := range []string{
		"DELETE FROM sale", "PRAGMA query_only = 0; DELETE FROM sale", "PRAGMA query_only = 0; CREATE TABLE x (a)",
		"ATTACH '" + other + "' AS o", "ATTACH '" + fresh + "' AS o", "COMMIT; VACUUM INTO '" + fresh + "'", "PRAGMA journal_mode = DELETE; DROP TABLE sale",
	} {
		err := d.read(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), script)
			return err
		})
		if err == nil {
			t.Errorf("%s went through", script)
		}
	}
	if _, err := os.Stat(fresh); err == nil || sum(t, path) != before {
		t.Error("something was written")
	}
}

func TestQueriesThatNeverEnd(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, sales()...)})
	d.cfg.Timeout = shortLimit // set after open, which can take longer on a busy machine
	const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
	for _, q := range []string{
		endless + "SELECT count(*) FROM c", endless + "SELECT x FROM c WHERE x < 0", endless + "SELECT x FROM c WHERE x = 1 OR x < 0",
		"SELECT count(*) FROM sale a, sale b, sale c, sale d", "SELECT a.amount FROM sale a, sale b, sale c, sale d ORDER BY a.amount * b.amount",
	} {
		_, err := d.ask(t, q)
		if media.CodeOf(err) != media.CodeDeadline || !strings.Contains(err.Error(), "LIMIT") {
			t.Errorf("%s: %v", q, err)
		}
	}
	var err error
	for range 50 { // on a busy machine one call can take longer than soon
		if _, err = d.ask(t, "SELECT 1"); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("the database is of no use afterwards: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.run(ctx, "SELECT 1"); media.CodeOf(err) != media.CodeCancelled {
		t.Error(err)
	}
}

func TestTenMillionRows(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, sales()...), Timeout: 5 * time.Minute})
	a := d.must(t, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 10000000) SELECT x, 'name '||x AS name FROM c")
	if a.RowCount != 1000 || !a.Truncated || !strings.Contains(a.Message, "there are more") || len(a.Rows) >= 1000 || len(a.Rows) < 10 {
		t.Errorf("%d rows, truncated %v, %d shown, %s", a.RowCount, a.Truncated, len(a.Rows), a.Message)
	}
	if a.Rows[0][0] != 1.0 || a.Rows[1][0] != 2.0 {
		t.Errorf("out of order: %v", a.Rows[:3])
	}
	if b := d.must(t, "SELECT * FROM (SELECT i AS x FROM (VALUES (1)), (SELECT 3 i UNION SELECT 1 UNION SELECT 2)) ORDER BY x DESC"); fmt.Sprint(b.Rows) != "[[3] [2] [1]]" {
		t.Errorf("out of order: %v", b.Rows)
	}
}

func TestGiantValues(t *testing.T) {
	t.Parallel()
	// The race detector makes these queries slow; they test size, not time.
	d := open(t, Config{URL: createFile(t, sales()...), Timeout: 5 * time.Minute})
	for _, q := range []string{"SELECT zeroblob(1000000000)", "SELECT hex(zeroblob(900000000))", "SELECT printf('%1000000000d', 1)", "SELECT group_concat(hex(zeroblob(400000))) FROM sale"} {
		if _, err := d.ask(t, q); media.CodeOf(err) != media.CodeTooLarge {
			t.Errorf("%s: %v", q, err)
		}
	}
	a := d.must(t, "SELECT hex(zeroblob(3000000)) AS wide")
	if s, _ := a.Rows[0][0].(string); len(s) > 7000 || len(a.Warnings) != 0 && !strings.Contains(a.Warnings[0], "truncated") {
		t.Errorf("%d characters, %v", len(s), a.Warnings)
	}
	var cols []string
	for i := range 900 {
		cols = append(cols, fmt.Sprintf("'a rather long text in column %d' AS column_%d", i, i))
	}
	a = d.must(t, "SELECT "+strings.Join(cols, ", ")+" FROM sale")
	if len(a.Columns) != maxColumns || !strings.Contains(strings.Join(a.Warnings, " "), "800 more columns") {
		t.Errorf("%d columns, %v", len(a.Columns), a.Warnings)
	}
}

func TestNoMediaReachesTheAnswer(t *testing.T) {
	t.Parallel()
	picture := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 4000)...)
	for i := range picture[16:] {
		picture[16+i] = byte(i * 7)
	}
	b64 := base64.StdEncoding.EncodeToString(picture)
	d := open(t, Config{URL: createFile(t, "CREATE TABLE a (b BLOB, t TEXT)", fmt.Sprintf("INSERT INTO a VALUES (x'%x', '%s'), (x'00', 'data:image/png;base64,%s')", picture, b64, b64))})
	a := d.must(t, "SELECT * FROM a")
	if s := fmt.Sprint(a); strings.Contains(s, b64[100:148]) || !strings.Contains(s, "<image/png 4016 bytes>") || !strings.Contains(s, "[media as base64 left out]") {
		t.Errorf("%.500s", s)
	}
	_, err := d.ask(t, "SELECT "+b64)
	if err == nil || strings.Contains(err.Error(), b64[100:148]) {
		t.Errorf("%.300v", err)
	}
}

func TestBadSQL(t *testing.T) {
	t.Parallel()
	d := open(t, Config{URL: createFile(t, sales()...)})
	for name, test := range map[string]struct{ sql, say string }{
		"empty":     {"  ", "is empty"},
		"comment":   {"-- nothing", "is empty"},
		"syntax":    {"SELECT FROM WHERE", "syntax error"},
		"no table":  {"SELECT * FROM missing", "no such table: missing"},
		"no column": {"SELECT missing FROM sale", "no such column: missing"},
		"no quoted": {`SELECT sum("missing") FROM sale`, `no such column: "missing"`},
		"open":      {"SELECT 'abc", "not closed"},
		"open two":  {"SELECT 1 /* abc", "not closed"},
		"two":       {"SELECT 1; SELECT 2", "one statement"},
		"prose":     {"please show me the sales", "use one SELECT"},
		"zero":      {"SELECT 1\x00", "not valid text"},
		"bytes":     {"SELECT '\xff'", "not valid text"},
		"long":      {"SELECT " + strings.Repeat("1+", 60_000) + "1", "shorten it"},
	} {
		_, err := d.ask(t, test.sql)
		if code := media.CodeOf(err); code != media.CodeInvalid && code != media.CodeForbidden || !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: %v, want %q", name, err, test.say)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	note, empty := filepath.Join(dir, "note.txt"), filepath.Join(dir, "empty.db")
	for path, text := range map[string]string{note: "just a text, long enough", empty: ""} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bare := createFile(t, "CREATE TABLE a (b)", "DROP TABLE a")
	broken := createFile(t, sales()...)
	whole, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	copy(whole[100:], strings.Repeat("\xff", 3000))
	if err := os.WriteFile(broken, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		url  string
		code media.Code
		say  string
	}{
		"none":     {"", media.CodeInvalid, "the database is missing"},
		"missing":  {filepath.Join(dir, "gone.db"), media.CodeNotFound, "does not exist"},
		"a folder": {dir, media.CodeInvalid, "not an SQLite database"},
		"a text":   {note, media.CodeInvalid, "not an SQLite database"},
		"empty":    {"sqlite://" + empty, media.CodeInvalid, "not an SQLite database"},
		"bare":     {"file:" + bare + "?mode=rwc", media.CodeInvalid, "no readable tables"},
		"broken":   {broken, media.CodeCorrupt, "damaged"},
		"mysql":    {"mysql://a:secret@localhost/x", media.CodeInvalid, `"mysql" databases are not supported`},
		"bad URL":  {"postgres://u:secret@host:port/x", media.CodeInvalid, "is not valid"},
	} {
		_, err := Open(t.Context(), Config{URL: test.url})
		if media.CodeOf(err) != test.code || !strings.Contains(fmt.Sprint(err), test.say) || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%s: %v, want %s: %s", name, err, test.code, test.say)
		}
	}
}

func sum(t *testing.T, path string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

func FuzzStatement(f *testing.F) {
	for _, s := range []string{"SELECT 1;", "select ';' -- x\n;", "/* ; */ WITH", "$a$;$a$", `"a""b"`, "[;]", "'", "; ;", "SELECT $1"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, dollars bool) {
		got, err := statement(s, about{words: []string{"SELECT"}, dollars: dollars})
		if err != nil {
			return
		}
		if !strings.HasPrefix(s, got) {
			t.Errorf("%q became %q", s, got)
		}
		if again, err := statement(got, about{words: []string{"SELECT"}, dollars: dollars}); err != nil || again != got {
			t.Errorf("%q is not stable: %q, %v", got, again, err)
		}
	})
}

func BenchmarkQueryThousandRows(b *testing.B) {
	d := open(b, Config{URL: createFile(b, sales()...), Timeout: time.Minute})
	for b.Loop() {
		d.must(b, "SELECT day, amount FROM sale")
	}
}
