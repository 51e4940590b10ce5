package fileblob

import (
	"errors"
	"os"
	"syscall"
)

// allocate allocates the blocks of n bytes of a file, starting at the offset from.
func allocate(f *os.File, from, n int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, from, n)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
