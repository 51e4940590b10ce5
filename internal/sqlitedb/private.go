package sqlitedb

import (
	"os"
	"path/filepath"
)

// Private makes the folder of a database, with mode 0700, and the file, with mode 0600, whatever the umask;
// a file that is there and its logs get that mode. SQLite gives new logs the mode of their file. An
// error is that of the folder: what is wrong with the file SQLite says better.
func Private(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err == nil { //nolint:gosec // the caller names it
		_ = f.Close() // nothing was written
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if info, err := os.Stat(path + end); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			_ = os.Chmod(path+end, 0o600) // a file of another user stays as it is
		}
	}
	return nil
}
