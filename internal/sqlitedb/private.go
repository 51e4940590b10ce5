package sqlitedb

import (
	"os"
	"path/filepath"
)

// Private creates the folder of a database with mode 0700 and the file with mode 0600, regardless of the umask. An
// existing file and its logs get that mode, without being opened: closing a file releases all locks of the process on
// it. SQLite gives new logs the mode of their file. Errors concern only the folder: SQLite reports others better.
func Private(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil { //nolint:gosec // the caller chooses the path
		_ = f.Close() // nothing was written
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(path + end); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			_ = os.Chmod(path+end, 0o600) // another user's file stays as it is
		}
	}
	return nil
}
