package database

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenKeepsLocks: closing a file releases the locks of all connections of the process, also those of a query that
// another run executes.
func TestOpenKeepsLocks(t *testing.T) {
	t.Parallel()
	path := createFile(t, sales()...)
	writer, err := sql.Open("sqlite", "file:"+strings.ReplaceAll(path, " ", "%20"))
	if err != nil {
		t.Fatal(err)
	}
	writer.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = writer.Close() })
	for _, s := range []string{"BEGIN IMMEDIATE", "DELETE FROM sale"} {
		if _, err := writer.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	open(t, Config{URL: path})
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil || lock.Type == unix.F_UNLCK {
		t.Errorf("the lock of the writer is gone (%v)", err)
	}
}
