package disk_test

import (
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
		error(media.Errorf(media.CodeConflict, "busy")): media.CodeConflict,
	} {
		if got := disk.Error("write a file", err); media.CodeOf(got) != want {
			t.Errorf("%v became %v, want %s", err, got, want)
		}
	}
}
