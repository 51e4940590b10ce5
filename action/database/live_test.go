//go:build postgres && unix

package database

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier/action"
	"atelier/internal/pgtest"
	"atelier/media"
)

// TestLivePostgres checks on a real server what the simulator only imitates.
func TestLivePostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	url := server.Database(t)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"DROP SCHEMA IF EXISTS other CASCADE", "DROP TABLE IF EXISTS sale, region", "CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL)",
		"CREATE TABLE sale (day date, at timestamptz DEFAULT '2024-05-06 07:08:09+00', region_id int REFERENCES region(id), amount numeric(10,2), tags text[], doc jsonb, photo bytea, u uuid)",
		"CREATE SCHEMA other", "CREATE VIEW other.big AS SELECT * FROM sale WHERE amount > 50", "INSERT INTO region VALUES (1, 'North'), (2, 'South')",
		`INSERT INTO sale SELECT date '2020-01-01' + i/2, '2024-05-06 07:08:09+00', i%2+1, i%100+0.25, '{a,b}', '{"k": [1]}', '\x89504e470d0a1a0a', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' FROM generate_series(0, 3999) i`,
		"CREATE SEQUENCE IF NOT EXISTS s", "ANALYZE", "CREATE OR REPLACE FUNCTION sneak() RETURNS int LANGUAGE sql AS $$ INSERT INTO region VALUES (99, 'x') RETURNING id $$",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	d, hasty := open(t, Config{URL: url}), open(t, Config{URL: url, Timeout: time.Second})
	res, err := d.describe(t.Context(), &action.Call{Params: map[string]any{"Table": "other.big"}})
	if err != nil || res.Outputs["totalCount"] != 3 || !strings.Contains(fmt.Sprint(res.Outputs["tables"]), "amount number numeric(10,2)") {
		t.Errorf("%v %+v", err, res.Outputs)
	}
	// The server has no estimate for a table that it has never analysed.
	for _, s := range []string{"CREATE TABLE fresh (a int)", "INSERT INTO fresh VALUES (3), (5)"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	res, err = d.describe(t.Context(), &action.Call{Params: map[string]any{"Table": "fresh"}})
	if tb, _ := res.Outputs["tables"].([]Table); err != nil || len(tb) != 1 || tb[0].Rows == nil || *tb[0].Rows != 2 || tb[0].Note != "" || fmt.Sprint(tb[0].Columns[0].Max) != "5" {
		t.Errorf("%v %+v", err, tb)
	}
	// Dots in names do not separate schema and table.
	for _, s := range []string{`CREATE TABLE "price.list" ("net.price" int)`, `INSERT INTO "price.list" VALUES (3), (5)`} {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for _, name := range []string{`"price.list"`, "price.list"} {
		res, err = d.describe(t.Context(), &action.Call{Params: map[string]any{"Table": name}})
		if tb, _ := res.Outputs["tables"].([]Table); err != nil || len(tb) != 1 || tb[0].Name != `"price.list"` || len(tb[0].Columns) != 1 || fmt.Sprint(tb[0].Columns[0].Max) != "5" || len(tb[0].SampleRows) != 2 {
			t.Errorf("%s: %v %+v", name, err, tb)
		}
	}
	a := d.must(t, "SELECT * FROM sale ORDER BY amount, day LIMIT 2")
	if got := fmt.Sprint(a.Rows[0]); got != "[2020-01-01 2024-05-06 07:08:09 1 0.25 {a,b} {\"k\": [1]} <image/png 8 bytes> a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11]" {
		t.Error(got)
	}
	a = d.must(t, "SELECT 'NaN'::numeric, '-Infinity'::float8, 1.1::real, 16777216::real, 7 / 2.0, 1234567890.123456789::numeric, timestamp '2024-03-01 10:00:00.5'")
	if got := fmt.Sprint(a.Rows[0]); got != "[NaN -Infinity 1.1 1.6777216e+07 3.5 1234567890.123456789 2024-03-01 10:00:00.5]" {
		t.Error(got)
	}
	if a = d.must(t, "SELECT to_char(day, 'YYYY') AS year, r.name, sum(amount) AS amount FROM sale JOIN region r ON r.id = region_id GROUP BY 1, 2 ORDER BY 1"); len(a.Rows) == 0 || a.Rows[0][2] == nil {
		t.Errorf("%+v", a)
	}
	for _, q := range []string{
		"DELETE FROM sale", "SELECT 1; DELETE FROM sale", "WITH x AS (DELETE FROM sale RETURNING 1) SELECT * FROM x", "SELECT nextval('s')", "SELECT sneak()",
		"SELECT set_config('transaction_read_only', 'off', false), sneak()", "SELECT * FROM sale FOR UPDATE", "SELECT 1 INTO zzz", "COPY sale TO PROGRAM 'id'",
		"SELECT 1) AS a; DELETE FROM sale; SELECT * FROM (SELECT 1", "SET transaction_read_only = off", "COMMIT", "CALL x()", "DO $$ BEGIN DELETE FROM sale; END $$", "TRUNCATE sale",
		"SELECT $$;$$; DROP TABLE sale", "CREATE TEMP TABLE z (a int)", "SELECT query_to_xml('delete from sale', true, true, '')",
	} {
		_, err := d.ask(t, q)
		if code := media.CodeOf(err); code != media.CodeForbidden && code != media.CodeInvalid {
			t.Errorf("%s: %v", q, err)
		}
	}
	for _, q := range []string{"SELECT pg_sleep(60)", "SELECT count(*) FROM generate_series(1, 1e12)", "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)"} {
		if _, err := hasty.ask(t, q); media.CodeOf(err) != media.CodeDeadline {
			t.Errorf("%s: %v", q, err)
		}
	}
	if a = d.must(t, "SELECT i, 'n' || i AS name FROM generate_series(1, 100000) i"); a.RowCount != 1000 || !a.Truncated {
		t.Errorf("%d rows", a.RowCount)
	}
	if _, err := d.ask(t, "SELECT repeat('x', 100000000)"); media.CodeOf(err) != media.CodeTooLarge {
		t.Error(err)
	}
	// Servers before PostgreSQL 16 execute this in a read-only transaction; it is rolled back.
	if _, err := d.ask(t, "SELECT lo_create(4711)"); err == nil {
		if a = d.must(t, "SELECT count(*) FROM pg_largeobject_metadata"); a.Rows[0][0] != 0.0 {
			t.Error("a large object was kept")
		}
	}
	if a = d.must(t, "SELECT count(*) FROM sale"); a.Rows[0][0] != 4000.0 {
		t.Errorf("%v", a)
	}
	if _, err := Open(t.Context(), Config{URL: server.URL("nope", "postgres")}); media.CodeOf(err) != media.CodeNotFound {
		t.Error(err)
	}
}
