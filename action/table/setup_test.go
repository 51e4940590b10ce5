package table

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"atelier/action"
	"atelier/action/file"
)

// folder opens the tables of a folder with the given files.
func folder(tb testing.TB, files map[string]string) *Tables {
	tb.Helper()
	dir := tb.TempDir()
	for name, content := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return openTables(tb, dir)
}

// openTables opens the tables of an existing folder.
func openTables(tb testing.TB, dir string) *Tables {
	tb.Helper()
	f, err := file.Open(file.Config{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	t := New(Config{Files: f, TempDir: tb.TempDir()})
	tb.Cleanup(func() {
		if err := t.Close(); err != nil {
			tb.Error(err)
		}
		_ = f.Close()
	})
	return t
}

// described is the output of Describe Tables.
type described struct {
	Tables     []tableView    `json:"tables"`
	TotalCount int            `json:"totalCount"`
	MoreTables []string       `json:"moreTables"`
	NotRead    []file.Skipped `json:"notRead"`
}

// all runs Describe Tables.
func (t *Tables) all(tb testing.TB) described {
	tb.Helper()
	res, err := t.describe(tb.Context(), &action.Call{Params: map[string]any{}})
	if err != nil {
		tb.Fatal(err)
	}
	return decoded[described](tb, res)
}

// describeOne describes the only table of a file with the given name and content.
func describeOne(tb testing.TB, name, content string) (*Tables, tableView) {
	tb.Helper()
	t := folder(tb, map[string]string{name: content})
	d := t.all(tb)
	if len(d.Tables) != 1 {
		tb.Fatalf("%d tables, not 1; not read: %v", len(d.Tables), d.NotRead)
	}
	return t, d.Tables[0]
}

// answer is the output of Query Tables.
type answer struct {
	Statement string              `json:"statement"`
	Columns   []string            `json:"columns"`
	Rows      [][]any             `json:"rows"`
	RowCount  int                 `json:"rowCount"`
	Truncated bool                `json:"truncated"`
	Tables    []map[string]string `json:"tables"`
	Warnings  []string            `json:"warnings"`
}

// ask runs Query Tables.
func (t *Tables) ask(tb testing.TB, sql string) answer {
	tb.Helper()
	res, err := t.query(tb.Context(), &action.Call{Params: map[string]any{"SQL": sql}})
	if err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	return decoded[answer](tb, res)
}

// value returns the only value of a query.
func (t *Tables) value(tb testing.TB, sql string) any {
	tb.Helper()
	a := t.ask(tb, sql)
	if len(a.Rows) != 1 || len(a.Rows[0]) != 1 {
		tb.Fatalf("%s gives %v", sql, a.Rows)
	}
	return a.Rows[0][0]
}

// decoded decodes outputs as models get them.
func decoded[T any](tb testing.TB, res action.Result) (out T) {
	tb.Helper()
	b, err := json.Marshal(res.Outputs)
	if err != nil {
		tb.Fatal(err)
	}
	if n := len([]rune(string(b))); n > 12_000*5/4 {
		tb.Errorf("outcome of %d characters, at most %d", n, 12_000)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func (v tableView) column(tb testing.TB, name string) columnView {
	tb.Helper()
	for _, c := range v.Columns {
		if c.Name == name {
			return c
		}
	}
	tb.Fatalf("no column %q in %+v", name, v.Columns)
	return columnView{}
}

// tableView and columnView are what the tests read of a description.
type tableView struct {
	Name       string       `json:"name"`
	Path       string       `json:"path"`
	Sheet      string       `json:"sheet"`
	Title      string       `json:"title"`
	RowCount   int          `json:"rowCount"`
	Columns    []columnView `json:"columns"`
	SampleRows [][]any      `json:"sampleRows"`
	Notes      []string     `json:"notes"`
}

type columnView struct {
	Name           string   `json:"name"`
	Type           Type     `json:"type"`
	Unit           string   `json:"unit"`
	Missing        int      `json:"missing"`
	Unusable       int      `json:"unusable"`
	UnusableValues []string `json:"unusableValues"`
	Distinct       int      `json:"distinct"`
	DistinctCapped bool     `json:"distinctCapped"`
	Min            any      `json:"min"`
	Max            any      `json:"max"`
	Values         []string `json:"values"`
}
