//go:build linux || darwin

package fileblob

import (
	"context"
	"math"
	"syscall"

	"atelier/blob"
)

var _ blob.Spacious = (*Driver)(nil)

// Free is the room on the disk of the folder that is free for this user.
func (f *Driver) Free(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var at syscall.Statfs_t
	if err := syscall.Statfs(f.dir, &at); err != nil {
		return 0, explain(f.dir, "look for room", err)
	}
	size := uint64(max(at.Bsize, 1))
	if at.Bavail > math.MaxInt64/size {
		return math.MaxInt64, nil
	}
	return int64(at.Bavail * size), nil //nolint:gosec // Compared above.
}
