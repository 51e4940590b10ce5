package table

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/action"
	"atelier/action/file"
	"atelier/media"
)

func TestManyColumns(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&b, "name %d,", i)
	}
	b.WriteString("\n" + strings.Repeat("7,", 2500) + "\n" + strings.Repeat("8,", 2500) + "\n")
	tables, v := describeOne(t, "wide.csv", b.String())
	if v.RowCount != 2 || len(v.Columns) == 0 || len(v.Columns) > 200 || !strings.Contains(strings.Join(v.Notes, "\n"), "more columns are not described") {
		t.Errorf("%d rows, %d columns, notes %q", v.RowCount, len(v.Columns), v.Notes)
	}
	if got := tables.value(t, `SELECT sum("name 1899") FROM wide`); got != 15.0 {
		t.Errorf("the sum is %v", got)
	}
	if got := tables.ask(t, "SELECT * FROM wide"); len(got.Columns) != 100 || len(got.Warnings) == 0 {
		t.Errorf("%d columns, warnings %q", len(got.Columns), got.Warnings)
	}
}

func TestManyTables(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 150 {
		files[fmt.Sprintf("d%d/sales of the region.csv", i)] = "region,product,month,sales\nNorth,Apples,2024-01,1\nSouth,Pears,2024-02,2\n"
	}
	tables := folder(t, files)
	d := tables.all(t)
	if d.TotalCount != 150 || len(d.Tables)+len(d.MoreTables) < 50 || len(d.Tables) < 5 {
		t.Errorf("%d tables, %d described, %d named", d.TotalCount, len(d.Tables), len(d.MoreTables))
	}
	name := d.MoreTables[0]
	res, err := tables.describe(t.Context(), &action.Call{Params: map[string]any{"Table": name}})
	if got := decoded[described](t, res); err != nil || len(got.Tables) != 1 || got.Tables[0].Name != name {
		t.Errorf("one table: %v %+v", err, got)
	}
	_, err = tables.describe(t.Context(), &action.Call{Params: map[string]any{"Table": "nothing"}})
	if media.CodeOf(err) != media.CodeNotFound || !media.Retryable(err) {
		t.Errorf("unknown table: %v", err)
	}
}

// TestAgentsShareOneImport calls the actions from several goroutines at once.
func TestAgentsShareOneImport(t *testing.T) {
	t.Parallel()
	tables := folder(t, map[string]string{"a.csv": "x\n1\n2\n"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			res, err := tables.query(t.Context(), &action.Call{Params: map[string]any{"SQL": "SELECT sum(x) FROM a"}})
			if err != nil || fmt.Sprint(res.Outputs["rows"]) != "[[3]]" {
				t.Errorf("%v %v", err, res.Outputs)
			}
		})
	}
	wg.Wait()
}

func TestAWaitingCallCanBeCancelled(t *testing.T) {
	t.Parallel()
	tables := folder(t, map[string]string{"a.csv": "x\n1\n"})
	tables.importLock <- struct{}{} // another call imports
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tables.describe(ctx, &action.Call{}); media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("waiting: %v", err)
	}
	<-tables.importLock
}

// TestProgress advances the clock by a second per reading during an import: notes come every two seconds, up to the end
// of the import also for a file that is read once.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"sales.csv":  "a,b\n" + strings.Repeat("1,some text\n", 50_000),
		"sales.json": "[" + strings.Repeat(`{"a":1,"b":"some text"},`, 49_999) + `{"a":1,"b":"some text"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := file.Open(file.Config{Dir: dirOf(t, name, content)})
			if err != nil {
				t.Fatal(err)
			}
			now := time.Unix(0, 0)
			tables := New(Config{Files: f, TempDir: t.TempDir(), Now: func() time.Time {
				now = now.Add(time.Second)
				return now
			}})
			t.Cleanup(func() { _ = tables.Close(); _ = f.Close() })
			var notes []string
			if _, err := tables.describe(t.Context(), &action.Call{Progress: func(n string) { notes = append(notes, n) }}); err != nil {
				t.Fatal(err)
			}
			if len(notes) < 3 || !strings.HasPrefix(notes[0], "importing "+name+": ") || notes[0] == notes[len(notes)-1] {
				t.Errorf("notes %q", notes)
			}
			if last := notes[len(notes)-1]; last < "importing "+name+": 90 %" {
				t.Errorf("the last note is %q", last)
			}
		})
	}
}

func TestATextWithDelimitersIsATable(t *testing.T) {
	t.Parallel()
	rows := "City\tMonth\tRain\n" + strings.Repeat("Porto\t2021-01\t108.3\n", 8)
	_, tb := describeOne(t, "climate.txt", rows)
	if tb.RowCount != 8 || len(tb.Columns) != 3 {
		t.Errorf("%d rows, %d columns", tb.RowCount, len(tb.Columns))
	}
	prose := "Porto, Lisbon, Faro.\nWe went there; it rained; we left.\n" + strings.Repeat("It rained, it snowed, it froze.\n", 8)
	if d := folder(t, map[string]string{"notes.txt": prose}).all(t); len(d.Tables)+len(d.NotRead) > 0 {
		t.Errorf("prose is %v, %v", d.Tables, d.NotRead)
	}
}

func TestTheLinesAboveTheHeaderAreTheTitle(t *testing.T) {
	t.Parallel()
	_, tb := describeOne(t, "results.csv", "Council election - votes by district\n\nDistrict,Greens,Liberals\nNorth,1,2\nSouth,3,4\nEast,5,6\n")
	if tb.Title != "Council election - votes by district" {
		t.Errorf("title %q", tb.Title)
	}
}

// TestAFileThatGoesDuringTheImportHidesNoOtherTable removes a file after its first byte was read.
func TestAFileThatGoesDuringTheImportHidesNoOtherTable(t *testing.T) {
	t.Parallel()
	dir, calls := t.TempDir(), 0
	for _, name := range []string{"gone.csv", "here.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a,b\n1,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tables := openTables(t, dir)
	tables.cfg.Now = func() time.Time {
		if calls++; calls == 3 { // after those of the sweep and of the start
			if err := os.Remove(filepath.Join(dir, "gone.csv")); err != nil {
				t.Error(err)
			}
		}
		return time.Unix(0, 0)
	}
	d := tables.all(t)
	if len(d.Tables) != 1 || d.Tables[0].Name != "here" || len(d.NotRead) != 1 || !strings.Contains(d.NotRead[0].Reason, "it cannot be read") {
		t.Errorf("tables %v, not read %v", d.Tables, d.NotRead)
	}
}

// TestChangedFiles: a run reads the tables as they were at its first call, and the next run the changed files.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sales.csv", "region,amount\nnorth,10\nsouth,31\n")
	tables := openTables(t, dir)
	total := func(run string) any {
		t.Helper()
		ctx := media.WithScope(t.Context(), media.Scope{Owner: "ada", Tree: run})
		res, err := tables.query(ctx, &action.Call{Params: map[string]any{"SQL": `SELECT sum(amount) FROM sales`}})
		if err != nil {
			t.Fatal(err)
		}
		return decoded[answer](t, res).Rows[0][0]
	}
	if got := total("first"); got != 41.0 {
		t.Errorf("the total is %v, not 41", got)
	}
	write("sales.csv", "region,amount\nnorth,100\nsouth,317\n")
	write("more.csv", "region,amount\nwest,5\n")
	if got := total("first"); got != 41.0 {
		t.Errorf("the total changed to %v within a run", got)
	}
	if got := total("second"); got != 417.0 {
		t.Errorf("the total of the next run is %v, not 417", got)
	}
	if kept, err := filepath.Glob(filepath.Join(tables.cfg.TempDir, folderPrefix+"*")); err != nil || len(kept) != 1 {
		t.Errorf("%d databases are kept, %v", len(kept), err)
	}
}
