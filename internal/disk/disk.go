// Package disk says what an error of the file system means and what to do: the front door and the
// command line write files by it.
//
// Its errors are media.CodeDiskFull and media.CodeInvalid. It imports media only.
package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"atelier/media"
)

// Error adds a code to an error of the file system: media.CodeDiskFull or, with advice,
// media.CodeInvalid. what says what was being done.
func Error(what string, err error) error {
	var own *media.Error
	switch {
	case errors.As(err, &own):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return media.Errorf(media.CodeDiskFull, "%s: the disk is full: free some space, or set ATELIER_DATA to a folder on another disk: %w", what, err)
	}
	return media.Errorf(media.CodeInvalid, "%s: %w (choose a writable folder)", what, err)
}

// Write writes a new file beside name and moves it there when it is whole.
func Write(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".atelier-*")
	if err != nil {
		return Error("write "+name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err = errors.Join(write(f), f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return Error("write "+name, err)
	}
	return nil
}
