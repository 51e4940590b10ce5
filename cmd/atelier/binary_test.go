package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// binaryDir returns the folder for what [binary] builds; [removeBinaries] removes it.
var binaryDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "atelier-tests-") })

// plainBinary builds this test binary without the race detector.
var plainBinary = sync.OnceValues(func() (string, error) {
	dir, err := binaryDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "atelier.test")
	out, err := exec.Command("go", "test", "-c", "-race=false", "-tags", tags, "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: "go test -c: " + string(out), Err: err}
	}
	return path, nil
})

// binary returns the program that tests start in other processes. The race detector watches the commands that run in
// this process; in others it would only make kills and restarts ten times as slow.
func binary(t *testing.T) string {
	t.Helper()
	if !raceEnabled {
		return os.Args[0]
	}
	path, err := plainBinary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// removeBinaries removes what binary built.
func removeBinaries() {
	if dir, err := binaryDir(); err == nil {
		_ = os.RemoveAll(dir) // only a temporary folder
	}
}
