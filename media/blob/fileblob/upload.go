package fileblob

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"atelier/media"
)

// upload is a temporary file.
type upload struct {
	driver *Driver
	file   file
	closed bool
	lost   error // the file could not be synced or closed
}

// Write implements [blob.Upload].
func (u *upload) Write(p []byte) (int, error) {
	n, err := u.file.Write(p)
	if err != nil {
		err = explain(u.driver.dir, "write blob", err)
	}
	return n, err
}

// Commit implements [blob.Upload]. Renaming over an existing blob renews its time, and repairs it if it was damaged. If
// only the sync of a folder fails, the renamed blob remains.
func (u *upload) Commit(ctx context.Context, d media.Digest) error {
	err := ctx.Err()
	if err == nil {
		err = u.end()
	}
	if err == nil {
		err = u.place(u.driver.path(d))
	}
	if err == nil {
		return nil
	}
	if err = explain(u.driver.dir, "commit blob", err); ctx.Err() != nil {
		err = ctx.Err()
	}
	if media.CodeOf(err) != media.CodeDiskFull { // otherwise the commit can be tried again
		_ = u.Abort()
	}
	return err
}

// end syncs the file and closes it. After a failed sync or close, the kernel may discard the bytes that it could not
// write, and another sync would succeed without them. Such an error is therefore permanent.
func (u *upload) end() error {
	if u.closed || u.lost != nil {
		return u.lost
	}
	if err := u.file.Sync(); err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Op == "sync" {
			u.lost = err
		}
		return err
	}
	u.closed, u.lost = true, u.file.Close()
	return u.lost
}

// place renames the file and makes the new name durable.
func (u *upload) place(path string) error {
	shard := filepath.Dir(path)
	err := os.Rename(u.file.Name(), path)
	if errors.Is(err, fs.ErrNotExist) { // the first blob of its shard
		if err = os.MkdirAll(shard, 0o700); err == nil {
			err = os.Rename(u.file.Name(), path)
		}
		if err == nil {
			err = syncFolder(u.driver.dir)
		}
	}
	if err != nil {
		return err
	}
	return syncFolder(shard)
}

func syncFolder(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the folder belongs to the driver, and its name comes from a digest
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Abort implements [blob.Upload].
func (u *upload) Abort() error {
	var err error
	if !u.closed {
		err = u.file.Close()
	}
	return errors.Join(err, os.Remove(u.file.Name()))
}
