package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/action"
)

// folder makes a folder of the given files and opens it.
func folder(t testing.TB, files map[string]string) (*Files, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

// call runs Read File with its defaults.
func (f *Files) call(t testing.TB, params map[string]any) (action.Result, error) {
	t.Helper()
	p := map[string]any{"Offset": 0.0, "Limit": 8000.0}
	for k, v := range params {
		p[k] = v
	}
	return f.read(t.Context(), &action.Call{Params: p})
}

// readOne reads a single file with the given name and content.
func readOne(t testing.TB, name, content string) reading {
	t.Helper()
	f, _ := folder(t, map[string]string{name: content})
	res, err := f.call(t, map[string]any{"Path": name})
	if err != nil {
		t.Fatal(err)
	}
	return back(t, res)
}

// back reads the outputs as models get them.
func back(t testing.TB, res action.Result) reading {
	t.Helper()
	b, err := json.Marshal(res.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(string(b))); n > maxOutcome+200 {
		t.Errorf("outcome of %d characters, at most %d", n, maxOutcome)
	}
	var r reading
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r reading) warned(word string) bool {
	return strings.Contains(strings.Join(r.Warnings, "\n"), word)
}

func (t *table) column(name string) columnView {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return columnView{}
}
