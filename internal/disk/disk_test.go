package disk_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"atelier/internal/disk"
	"atelier/media"
)

func TestError(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]media.Code{
		error(&os.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}): media.CodeDiskFull,
		error(&os.PathError{Op: "write", Path: "a", Err: syscall.EDQUOT}): media.CodeDiskFull,
		fs.ErrPermission: media.CodeInvalid,
		fmt.Errorf("write img-7k3m9q2x: %w", context.Canceled): media.CodeCancelled,
		context.DeadlineExceeded:                               media.CodeDeadline,
		error(media.Errorf(media.CodeConflict, "busy")):        media.CodeConflict,
	} {
		if got := disk.Error("write a file", err); media.CodeOf(got) != want {
			t.Errorf("%v became %v, want %s", err, got, want)
		}
	}
}
