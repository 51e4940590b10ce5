package sqlitedb

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPrivateKeepsLocks: closing a file releases the locks of all connections of the process. Another process could
// then remove the write-ahead log of an open database.
func TestPrivateKeepsLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "ledger.db")
	if err := Private(path); err != nil {
		t.Fatal(err)
	}
	db := Open("file:" + path + "?" + WAL)
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE a (b)"); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	locked := func() bool {
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
			t.Fatal(err)
		}
		return lock.Type != unix.F_UNLCK
	}
	if !locked() {
		t.Fatal("the connection has no lock")
	}
	if err := Private(path); err != nil {
		t.Fatal(err)
	}
	if !locked() {
		t.Error("the lock of the connection is gone")
	}
}
