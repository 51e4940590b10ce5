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
}

// Write implements [blob.Upload].
func (u *upload) Write(p []byte) (int, error) {
	n, err := u.file.Write(p)
	if err != nil {
		err = explain(u.driver.dir, "write blob", err)
	}
	return n, err
}

// Commit implements [blob.Upload]. Renaming over an equal blob renews its time, and
// repairs it if it was damaged.
func (u *upload) Commit(ctx context.Context, d media.Digest) error {
	err := ctx.Err()
	if err == nil && !u.driver.noSync {
		err = u.file.Sync()
	}
	if cerr := u.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = u.place(u.driver.path(d))
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(u.file.Name())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return explain(u.driver.dir, "commit blob", err)
}

// place renames the file and makes the new name durable.
func (u *upload) place(path string) error {
	shard := filepath.Dir(path)
	err := os.Rename(u.file.Name(), path)
	if errors.Is(err, fs.ErrNotExist) { // the first of its shard
		if err = os.MkdirAll(shard, 0o700); err == nil {
			err = os.Rename(u.file.Name(), path)
		}
		if err == nil && !u.driver.noSync {
			err = syncFolder(u.driver.dir)
		}
	}
	if err != nil || u.driver.noSync {
		return err
	}
	return syncFolder(shard)
}

func syncFolder(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the folder is ours, named by a digest
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Abort implements [blob.Upload].
func (u *upload) Abort() error {
	return errors.Join(u.file.Close(), os.Remove(u.file.Name()))
}
