// Package disk adds a meaning and advice to file system errors. The front door and the command line
// use it to write files.
//
// Its errors are media.CodeDiskFull and media.CodeInvalid. It imports only media.
package disk

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"atelier/media"
)

// Error adds a code to a file system error: media.CodeDiskFull or, with advice, media.CodeInvalid. It returns errors
// with a code, and those of a context, unchanged. what describes the operation.
func Error(what string, err error) error {
	var own *media.Error
	switch {
	case errors.As(err, &own), media.CodeOf(err) != media.CodeInternal:
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return media.Errorf(media.CodeDiskFull, "%s: the disk is full: free some space, or choose a folder on another disk: %w", what, err)
	}
	return media.Errorf(media.CodeInvalid, "%s: %w (choose a writable folder)", what, err)
}

// Write writes a temporary file in the same folder and renames it to name when it is complete. If name is a link to a
// file, that file is replaced. A replaced file keeps its mode; a new one has that of the umask.
func Write(name string, write func(io.Writer) error) error {
	target := name
	if linked, err := filepath.EvalSymlinks(name); err == nil {
		target = linked
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(target), ".atelier-"+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // the caller names the file
	if err != nil {
		return Error("write "+name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	err = write(f)
	if replaced, missing := os.Stat(target); missing == nil {
		err = errors.Join(err, f.Chmod(replaced.Mode().Perm()))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return Error("write "+name, err)
	}
	return nil
}

// Create writes a file with mode 0600, which appears when it is complete and synced. For a name that is in use, the
// error is fs.ErrExist.
func Create(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".atelier-*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // on success it has another name as well
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), name)
}
