//go:build !linux

package fileblob

import (
	"errors"
	"os"
)

// allocate is not supported on this system, where reservations are only counted.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
