//go:build linux || darwin

package fileblob

import (
	"math"
	"syscall"
)

// freeOn returns how many bytes this user can still store on the disk of a folder.
func freeOn(dir string) (int64, error) {
	var at syscall.Statfs_t
	if err := syscall.Statfs(dir, &at); err != nil {
		return 0, err
	}
	size := uint64(max(at.Bsize, 1))
	if at.Bavail > math.MaxInt64/size {
		return math.MaxInt64, nil
	}
	return int64(at.Bavail * size), nil //nolint:gosec // compared above
}
