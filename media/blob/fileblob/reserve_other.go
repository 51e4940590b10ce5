//go:build !linux

package fileblob

import (
	"errors"
	"os"
)

// allocate is not possible here: reservations are counted.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
