package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestToolContextOfTheCommandLine: values and files are read and stored with the run, and no output or error shows
// them.
func TestToolContextOfTheCommandLine(t *testing.T) {
	t.Parallel()
	const canary = "canary-6d1e"
	p := newTestEnv(t)
	p.env["ATELIER_DATABASE_URL"] = "" // the files are searched below
	file := filepath.Join(p.dir, "context.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"account": {"number": 9007199254740993}, "tenant": "overridden"}`)
	values, err := toolContext([]string{"@" + file, "tenant=a=b", "note=0"})
	if err != nil || len(values) != 3 || string(values["tenant"]) != `"a=b"` || string(values["note"]) != `"0"` || string(values["account"]) != `{"number": 9007199254740993}` {
		t.Errorf("%#v, %v", map[string]any{"values": values}, err)
	}
	o := p.must("run", "sage", "Draw a boat, 128x128", "--tool-context", "token="+canary, "--json")
	if strings.Contains(o.stdout+o.stderr, canary) {
		t.Errorf("shown: %s%s", o.stdout, o.stderr)
	}
	kept := false
	err = filepath.WalkDir(p.data, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		kept = kept || bytes.Contains(b, []byte(canary))
		return err
	})
	if err != nil || !kept {
		t.Errorf("kept: %v, %v", kept, err)
	}
	write(`["` + canary + `"]`)
	for _, bad := range []string{canary, "=" + canary, "@" + file, "@" + file + ".none", "token=" + strings.Repeat(canary, 8000)} {
		if o := p.atelier("run", "sage", "Draw a boat, 128x128", "--tool-context", bad); o.code != exitInput || strings.Contains(o.stdout+o.stderr, canary) || !strings.Contains(o.stderr, "tool") {
			t.Errorf("%.40s: exit %d %s", bad, o.code, o.stderr)
		}
	}
}
