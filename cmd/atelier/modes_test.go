//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestModes: with a umask of 000, in a folder that anyone can write, only the user can access what commands store: new
// and older databases, their logs while a process works or after it was killed, keys, blobs and locks. doctor reports a
// folder that others can read.
func TestModes(t *testing.T) {
	t.Parallel()
	s := newSQLiteEnv(t)
	s.env["ATELIER_DATA"] = filepath.Join(s.dir, "open", "data")
	s.data = s.env["ATELIER_DATA"]
	open := filepath.Dir(s.data)
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, s.data} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.data, "atelier.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(s.data, "atelier.db"), 0o666); err != nil {
		t.Fatal(err)
	}
	begin := func(args ...string) *exec.Cmd {
		proc := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `umask 000; exec "$0" "$@"`, binary(t)}, args...)...)
		proc.Dir, proc.Env = s.dir, []string{asBinary + "=1", "HOME=" + s.dir, "TMPDIR=" + os.TempDir(), "GOCOVERDIR=" + s.dir}
		for k, v := range s.env {
			proc.Env = append(proc.Env, k+"="+v)
		}
		return proc
	}
	started := s.blockUntilGone(t, blockingPoints()["sub-agent paints"])
	proc := begin("run", "boss", "paint", "--agents", filepath.Join(s.dir, "own"), "--kb", filepath.Dir(s.write("papers/a.md", "# Foxes\n\nA fox is red.\n")))
	if err := proc.Start(); err != nil {
		t.Fatal(err)
	}
	<-started
	seen := s.checkModes(t)
	_ = proc.Process.Kill()
	_ = proc.Wait()
	s.checkModes(t)
	for _, want := range []string{"atelier.db", "atelier.db-wal", "atelier.db-shm", "engine.db", "engine.db-wal", "engine.db-shm", "wire.key", "blobs"} {
		if !strings.Contains(seen, "\n"+want+"\n") {
			t.Errorf("there is no %s among%s", want, seen)
		}
	}
	if !strings.Contains(seen, "\nkb/") {
		t.Errorf("there is no index among%s", seen)
	}
	said, err := begin("doctor").Output()
	if err != nil || !strings.Contains(string(said), "warn") || !strings.Contains(string(said), "other users can read "+s.data) {
		t.Errorf("doctor said, %v:\n%s", err, said)
	}
	if err := os.Chmod(s.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if said, err := begin("doctor").Output(); err != nil || strings.Contains(string(said), "warn") {
		t.Errorf("doctor said of a folder for one, %v:\n%s", err, said)
	}
}

// checkModes checks that others can access nothing below the data folder, and returns a list of its files.
func (s *agentEnv) checkModes(t *testing.T) string {
	t.Helper()
	list := "\n"
	err := filepath.WalkDir(s.data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == s.data {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.data, path)
		list += name + "\n"
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return list
}
