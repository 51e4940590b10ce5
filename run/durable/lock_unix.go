//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file for its process, alone or with others that do not need it alone, or
// gives errHeld.
func tryLock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
