package table

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestFoldersOfKilledProcessesAreSwept: an import removes what a killed process left more than a day ago, and nothing
// of a running process, nothing newer and nothing of other programs.
func TestFoldersOfKilledProcessesAreSwept(t *testing.T) {
	t.Parallel()
	gone := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	temp, now := t.TempDir(), time.Now()
	old := now.Add(-25 * time.Hour)
	made := map[string]struct {
		age  time.Time
		left bool
	}{
		fmt.Sprintf("atelier-tables-%d-1", gone.Process.Pid): {old, false},
		fmt.Sprintf("atelier-tables-%d-2", gone.Process.Pid): {now, true},
		fmt.Sprintf("atelier-tables-%d-3", os.Getpid()):      {old, true},
		"atelier-other-1": {old, true},
	}
	for name, f := range made {
		folder := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Join(folder, "inner"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "tables.db"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(folder, f.age, f.age); err != nil {
			t.Fatal(err)
		}
	}
	tables := folder(t, map[string]string{"a.csv": "a,b\n1,2\n"})
	tables.cfg.TempDir = temp
	tables.all(t)
	for name, f := range made {
		if _, err := os.Stat(filepath.Join(temp, name)); (err == nil) != f.left {
			t.Errorf("%s: %v", name, err)
		}
	}
}
