package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// TestWrite: a new file has the mode of the umask. A replaced one keeps its mode and the links to it. A failed write
// changes nothing.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, plain := filepath.Join(dir, "file"), filepath.Join(dir, "folder", "link"), filepath.Join(dir, "plain")
	if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink("../file", link), os.WriteFile(plain, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	mode := func(name string) fs.FileMode {
		t.Helper()
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	write := func(name, text string) error {
		return disk.Write(name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	if err := write(file, "new"); err != nil || mode(file) != mode(plain) {
		t.Errorf("a new file: mode %v, want %v; %v", mode(file), mode(plain), err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(link, "replaced"); err != nil || mode(file) != 0o600 || mode(link).Type() != fs.ModeSymlink {
		t.Errorf("a link: mode %v, the link %v; %v", mode(file), mode(link), err)
	}
	if err := disk.Write(file, func(io.Writer) error { return syscall.ENOSPC }); media.CodeOf(err) != media.CodeDiskFull {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "replaced" {
		t.Errorf("%q, %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestCreate: a created file is private, has its whole content, and is never replaced.
func TestCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "key")
	if err := disk.Create(name, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := disk.Create(name, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file: %v", err)
	}
	b, err := os.ReadFile(name)
	info, _ := os.Stat(name)
	left, _ := os.ReadDir(dir)
	if err != nil || string(b) != "first" || info.Mode().Perm() != 0o600 || len(left) != 1 {
		t.Errorf("%q, %v, mode %v, %d files", b, err, info.Mode(), len(left))
	}
}
