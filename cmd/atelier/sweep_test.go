package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHalfUploadsAreSwept: files of killed uploads are deleted after a day; one that may be in progress stays.
func TestHalfUploadsAreSwept(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("media", "list")
	folder := filepath.Join(p.env["ATELIER_DATA"], "blobs", "tmp")
	for name, age := range map[string]time.Duration{"upload-old": 25 * time.Hour, "upload-new": time.Hour} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	p.must("media", "list")
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 || left[0].Name() != "upload-new" {
		t.Errorf("%v remain, %v", left, err)
	}
}
