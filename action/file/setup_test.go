package file

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/action"
)

// folder creates a folder with the given files and opens it.
func folder(tb testing.TB, files map[string]string) (*Files, string) {
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
	f, err := Open(Config{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f, dir
}

// call runs Read File with its default parameters.
func (f *Files) call(tb testing.TB, params map[string]any) (action.Result, error) {
	tb.Helper()
	p := map[string]any{"Offset": 0.0, "Limit": 8000.0}
	for k, v := range params {
		p[k] = v
	}
	return f.read(tb.Context(), &action.Call{Params: p})
}

// readOne reads a single file with the given name and content.
func readOne(tb testing.TB, name, content string) reading {
	tb.Helper()
	f, _ := folder(tb, map[string]string{name: content})
	res, err := f.call(tb, map[string]any{"Path": name})
	if err != nil {
		tb.Fatal(err)
	}
	return decoded(tb, res)
}

// decoded decodes the outputs as models get them.
func decoded(tb testing.TB, res action.Result) reading {
	tb.Helper()
	b, err := json.Marshal(res.Outputs)
	if err != nil {
		tb.Fatal(err)
	}
	if n := len([]rune(string(b))); n > maxOutcome+200 {
		tb.Errorf("outcome of %d characters, at most %d", n, maxOutcome)
	}
	var r reading
	if err := json.Unmarshal(b, &r); err != nil {
		tb.Fatal(err)
	}
	return r
}

func (r reading) warned(word string) bool {
	return strings.Contains(strings.Join(r.Warnings, "\n"), word)
}
