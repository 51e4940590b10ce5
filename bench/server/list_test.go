package server

import (
	"database/sql"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers with which rows are inserted
	_ "modernc.org/sqlite"

	"atelier/api"
	"atelier/internal/pgtest"
)

var rows = flag.Int("rows", 1_000_000, "how many items of media the lists have") //nolint:gochecknoglobals // a flag

// BenchmarkLists measures pages of 50 out of a million items of media. One item in a thousand is a video; a run has
// twenty items.
func BenchmarkLists(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		dir := b.TempDir()
		serve(b, dir).stop() // creates the tables
		fill(b, "sqlite", filepath.Join(dir, "atelier.db"),
			"WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", "PRAGMA synchronous = OFF")
		lists(b, serve(b, dir))
	})
	b.Run("postgres", func(b *testing.B) {
		_, missing := exec.LookPath("initdb")
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); missing != nil && len(found) == 0 {
			b.Log("PostgreSQL is not installed: nothing is measured")
			return
		}
		url := pgtest.Start(b).Database(b)
		dir := b.TempDir()
		serve(b, dir, "ATELIER_DATABASE_URL="+url).stop()
		fill(b, "pgx", url, "WITH n(i) AS (SELECT generate_series(%d, %d)) ", "SET synchronous_commit = off")
		lists(b, serve(b, dir, "ATELIER_DATABASE_URL="+url))
	})
}

// fill inserts the rows; numbers is the SQL of a table n of numbers i.
func fill(b *testing.B, driver, source, numbers, before string) {
	b.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	begun := time.Now()
	twelve := func(number string) string { // an SQL expression of 12 digits
		if driver == "pgx" {
			return "LPAD(CAST(" + number + " AS TEXT), 12, '0')"
		}
		return "SUBSTR('000000000000' || CAST(" + number + " AS TEXT), -12)"
	}
	digest := func(number string) string { return "'sha256-" + strings.Repeat("0", 52) + "' || " + twelve(number) }
	const when = "'2026-11-20T10:00:00.000000Z'"
	do := func(statement string) {
		if _, err := db.ExecContext(b.Context(), statement); err != nil {
			b.Fatalf("%v: %.200s", err, statement)
		}
	}
	do(before)
	do(fmt.Sprintf(numbers, 0, 19) + "INSERT INTO blobs (digest, size_bytes, mime_type, state, created_at, updated_at) SELECT " + digest("i") + ", 1000, 'image/png', 'ready', " + when + ", " + when + " FROM n")
	for from := 0; from < *rows; from += 20_000 {
		do(fmt.Sprintf(numbers, from, from+19_999) + `INSERT INTO media (id, owner, tree_id, run_id, digest, ref, modality, mime_type, file_name, size_bytes, width, height, label, direction, created_at, updated_at)
			SELECT '0198a000-0000-7000-8000-' || ` + twelve("i") + `, 'local', 'tree-' || CAST(i / 20 AS TEXT), 'tree-' || CAST(i / 20 AS TEXT), ` + digest("i % 20") + `, 'img-00000000',
			CASE WHEN i % 1000 = 0 THEN 'video' ELSE 'image' END, 'image/png', 'file.png', 1000, 640, 480, 'harbour ' || CAST(i AS TEXT), 'output', ` + when + `, ` + when + ` FROM n`)
	}
	do("ANALYZE")
	b.Logf("%d rows in %v", *rows, time.Since(begun).Round(time.Second))
}

// lists measures the kinds of lists that people open.
func lists(b *testing.B, s *server) {
	b.Helper()
	for _, row := range []struct {
		name  string
		query api.MediaQuery
		walk  bool
	}{
		{"newest", api.MediaQuery{}, false},
		{"pages", api.MediaQuery{}, true},
		{"images", api.MediaQuery{Modality: "image"}, true},
		{"videos", api.MediaQuery{Modality: "video"}, true},
		{"run", api.MediaQuery{Run: "tree-500"}, false},
		{"words", api.MediaQuery{Q: "harbour 99"}, false},
		{"rare-words", api.MediaQuery{Q: "harbour 123456"}, false},
		{"deleted", api.MediaQuery{Deleted: true}, false},
	} {
		b.Run(row.name, func(b *testing.B) {
			var times []time.Duration
			q := row.query
			for b.Loop() {
				begun := time.Now()
				l, err := s.Media.ListMedia(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(begun))
				if len(l.Items) == 0 && !row.query.Deleted && row.query.Run == "" {
					b.Fatal("the list is empty")
				}
				if q.After = ""; row.walk {
					q.After = l.Next
				}
			}
			report(b, times)
		})
	}
}
