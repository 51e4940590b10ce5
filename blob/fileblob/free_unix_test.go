//go:build linux || darwin

package fileblob

import (
	"os"
	"path/filepath"
	"testing"

	"atelier/blob"
)

// TestFree: the room is that of the disk of the folder; of a folder that is gone nobody knows.
func TestFree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blobs")
	store, err := blob.New(blob.Config{Driver: open(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	if free, err := store.Free(t.Context()); err != nil || free <= 0 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if free, err := store.Free(t.Context()); err == nil {
		t.Errorf("%d bytes are free in a folder that is gone", free)
	}
}
