//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file for its process, or gives errHeld.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
