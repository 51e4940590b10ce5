package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file for its process, alone or with others that do not need it alone, or
// gives errHeld. The byte that is locked is behind what the file says, which stays readable.
func tryLock(f *os.File, alone bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
