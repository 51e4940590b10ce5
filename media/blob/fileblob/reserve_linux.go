package fileblob

import (
	"errors"
	"os"
	"syscall"
)

// allocate gives n bytes of a file, from an offset, their blocks.
func allocate(f *os.File, from, n int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, from, n)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
