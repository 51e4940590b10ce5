//go:build !linux && !darwin

package fileblob

import "errors"

// freeOn is not supported on this system.
func freeOn(string) (int64, error) { return 0, errors.ErrUnsupported }
