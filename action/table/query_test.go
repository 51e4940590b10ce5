package table

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/action/file"
	"atelier/media"
)

const sales = "region,month,Net sales\nNorth,2024-01,10.1\nNorth,2024-02,20.2\nSouth,2024-01,\nSouth,2024-02,n/a\nSouth,2024-03,5\n"

func TestQuery(t *testing.T) {
	t.Parallel()
	tables := folder(t, map[string]string{"sales 2024.csv": sales, "more/staff.csv": "name,age\nAnn,40\n"})
	got := tables.ask(t, `SELECT region, sum("Net sales") AS total, count(*) AS n, max(month) FROM sales_2024 GROUP BY region ORDER BY region;`)
	want := answer{
		Statement: `SELECT region, sum("Net sales") AS total, count(*) AS n, max(month) FROM sales_2024 GROUP BY region ORDER BY region`,
		Columns:   []string{"region", "total", "n", "max(month)"},
		Rows:      [][]any{{"North", 30.3, 2.0, "2024-02-01"}, {"South", 5.0, 3.0, "2024-03-01"}},
		RowCount:  2, Tables: []map[string]string{{"name": "sales_2024", "path": "sales 2024.csv"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("answer (-want +got):\n%s", d)
	}
	if got := tables.value(t, "SELECT 0.1 + 0.2"); got != 0.3 {
		t.Errorf("0.1 + 0.2 is %v", got)
	}
	if got := tables.value(t, "SELECT NULL"); got != nil {
		t.Errorf("NULL is %v", got)
	}
}

func TestQueryRefuses(t *testing.T) {
	t.Parallel()
	tables := folder(t, map[string]string{"sales.csv": sales})
	for _, c := range []struct {
		sql   string
		code  media.Code
		words []string
	}{
		{"DELETE FROM sales", media.CodeForbidden, []string{"read-only"}},
		{"ATTACH 'x.db' AS x", media.CodeForbidden, []string{"read-only"}},
		{"WITH x AS (SELECT 1) INSERT INTO sales SELECT 1, 2, 3", "", nil},
		{"SELECT 1; DROP TABLE sales", media.CodeInvalid, []string{"one statement"}},
		{"SELECT load_extension('x')", "", nil},
		{"SELECT writefile('x', 'y')", "", nil},
		{"", media.CodeInvalid, []string{"empty"}},
		{"SELECT * FROM sale", media.CodeInvalid, []string{"no such table", "sales"}},
		{"SELECT price FROM sales", media.CodeInvalid, []string{"no such column", `sales."Net sales"`}},
		{`SELECT sum("Net sale") FROM sales`, media.CodeInvalid, []string{"no such column", `sales."Net sales"`}},
		{"SELEC * FROM sales", "", nil},
	} {
		_, err := tables.query(t.Context(), &action.Call{Params: map[string]any{"SQL": c.sql}})
		if err == nil {
			t.Errorf("%s is done", c.sql)
			continue
		}
		if c.code != "" && media.CodeOf(err) != c.code {
			t.Errorf("%s: code %s (%v), want %s", c.sql, media.CodeOf(err), err, c.code)
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", c.sql, err, w)
			}
		}
	}
	if n := tables.value(t, "SELECT count(*) FROM sales"); n != 5.0 {
		t.Errorf("%v rows are left of 5", n)
	}
	var e *media.Error
	_, err := tables.query(t.Context(), &action.Call{Params: map[string]any{"SQL": "SELECT price FROM sales"}})
	if !errors.As(err, &e) || !e.Retryable || !slices.Contains(e.Valid, `sales."Net sales"`) {
		t.Errorf("unknown column: %+v", e)
	}
}

func TestQueryEnds(t *testing.T) {
	t.Parallel()
	f, err := file.Open(file.Config{Dir: dirOf(t, "a.csv", "x\n1\n")})
	if err != nil {
		t.Fatal(err)
	}
	brief := New(Config{Files: f, TempDir: t.TempDir(), Timeout: 3 * time.Second})
	tables := New(Config{Files: f, TempDir: t.TempDir(), MaxRows: 10})
	t.Cleanup(func() { _ = brief.Close(); _ = tables.Close(); _ = f.Close() })
	if _, err := brief.load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	_, err = brief.query(t.Context(), &action.Call{Params: map[string]any{"SQL": endless}})
	if media.CodeOf(err) != media.CodeDeadline {
		t.Errorf("an endless query: %v", err)
	}
	got := tables.ask(t, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n")
	if got.RowCount != 10 || !got.Truncated {
		t.Errorf("%d rows, truncated %v", got.RowCount, got.Truncated)
	}
}

func dirOf(t *testing.T, name, content string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheDatabaseIsPrivateAndGoes(t *testing.T) {
	t.Parallel()
	f, err := file.Open(file.Config{Dir: dirOf(t, "a.csv", "x\n1\n")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	temp := t.TempDir()
	tables := New(Config{Files: f, TempDir: temp})
	entries := func() []os.DirEntry {
		e, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if n := len(entries()); n != 0 {
		t.Errorf("%d entries before the first call", n)
	}
	tables.all(t)
	e := entries()
	if len(e) != 1 {
		t.Fatalf("%d entries", len(e))
	}
	info, err := e[0].Info()
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	tables.all(t)
	if len(entries()) != 1 {
		t.Error("a second call imports anew")
	}
	if err := tables.Close(); err != nil {
		t.Error(err)
	}
	if n := len(entries()); n != 0 {
		t.Errorf("%d entries are left", n)
	}
	if _, err := tables.describe(t.Context(), &action.Call{}); err == nil {
		t.Error("closed tables answer")
	}
}

func TestACancelledImportLeavesNothing(t *testing.T) {
	t.Parallel()
	tables := folder(t, map[string]string{"a.csv": "x\n1\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tables.describe(ctx, &action.Call{}); err == nil {
		t.Fatal("no error")
	}
	if n := tables.all(t).TotalCount; n != 1 {
		t.Errorf("%d tables at the second call", n)
	}
}
