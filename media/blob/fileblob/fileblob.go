// Package fileblob is a [blob.Driver] that keeps each blob in a file of its own: DIR/ab/abcd….blob for the digest
// sha256-abcd…. Unfinished uploads are in DIR/tmp. Every file can be checked with sha256sum.
//
// An upload is a temporary file that is synced and then renamed, so that an incomplete blob is never visible after a
// crash or to another process. A full disk is disk_full, and the error names the folder. The package may import blob,
// media and golang.org/x/sys/unix.
package fileblob

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"atelier/media"
	"atelier/media/blob"
)

const (
	suffix    = ".blob"
	tmpFolder = "tmp"
	tmpName   = "upload-*"
	digestTag = "sha256-"
)

// file is the part of os.File that an upload needs. Tests use files on a full disk.
type file interface {
	io.WriteCloser
	Name() string
	Sync() error
}

// Driver stores blobs in one folder. It is safe for concurrent use, also by several processes.
type Driver struct {
	dir     string
	create  func(dir string) (file, error)
	reserve reserve
}

var _ blob.Driver = (*Driver)(nil)

// New creates a driver on a folder, which is created if it is missing. The error names the folder and the problem.
func New(dir string) (*Driver, error) {
	if dir == "" {
		return nil, media.Errorf(media.CodeInvalid, "open blob folder: its name is empty")
	}
	if err := os.MkdirAll(filepath.Join(dir, tmpFolder), 0o700); err != nil {
		return nil, explain(dir, "open blob folder", err)
	}
	d := &Driver{dir: dir}
	d.create = d.createTemp
	d.reserve.free = func() (int64, error) { return freeOn(dir) }
	d.reserve.resize = (&extent{dir: dir}).resize
	return d, nil
}

func (f *Driver) createTemp(dir string) (file, error) {
	t, err := os.CreateTemp(dir, tmpName)
	if err != nil {
		return nil, err
	}
	return synced(t), nil
}

// Create implements [blob.Driver].
func (f *Driver) Create(ctx context.Context) (blob.Upload, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tmp := filepath.Join(f.dir, tmpFolder)
	t, err := f.create(tmp)
	if errors.Is(err, fs.ErrNotExist) { // the folder was removed in the meantime
		if err = os.MkdirAll(tmp, 0o700); err == nil {
			t, err = f.create(tmp)
		}
	}
	if err != nil {
		return nil, explain(f.dir, "create blob", err)
	}
	return &upload{driver: f, file: t}, nil
}

// Open implements [blob.Driver].
func (f *Driver) Open(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := os.Open(f.path(d))
	if err != nil {
		return nil, missing(d, "open blob", err)
	}
	if offset > 0 {
		if _, err := r.Seek(offset, io.SeekStart); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if length < 0 {
		return r, nil
	}
	return &part{Reader: io.LimitReader(r, length), Closer: r}, nil
}

// part reads a range of a file and closes the file.
type part struct {
	io.Reader
	io.Closer
}

// Stat implements [blob.Driver].
func (f *Driver) Stat(ctx context.Context, d media.Digest) (blob.Info, error) {
	if err := ctx.Err(); err != nil {
		return blob.Info{}, err
	}
	i, err := os.Stat(f.path(d))
	if err != nil {
		return blob.Info{}, missing(d, "stat blob", err)
	}
	return blob.Info{Digest: d, SizeBytes: i.Size(), ModTime: i.ModTime()}, nil
}

// Delete implements [blob.Driver]. It moves the file aside before it looks at its time, because another process may put
// the blob again at any moment.
func (f *Driver) Delete(ctx context.Context, d media.Digest, before time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	aside := filepath.Join(f.dir, tmpFolder, "delete-"+rand.Text())
	err := os.MkdirAll(filepath.Dir(aside), 0o700) // the folder may have been removed in the meantime
	if err == nil {
		err = os.Rename(f.path(d), aside)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var i fs.FileInfo
	if err == nil {
		i, err = os.Stat(aside)
	}
	young := err == nil && !before.IsZero() && !i.ModTime().Before(before)
	switch {
	case young:
		err = os.Rename(aside, f.path(d))
	case err == nil:
		err = os.Remove(aside)
	}
	if err != nil {
		return false, explain(f.dir, "delete blob", err)
	}
	return !young, nil
}

// List implements [blob.Driver].
func (f *Driver) List(ctx context.Context, after media.Digest, limit int) ([]blob.Info, error) {
	shards, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, explain(f.dir, "list blobs", err)
	}
	var list []blob.Info
	for _, s := range shards { // ReadDir sorts by name, which is the order of the digests
		if !s.IsDir() || len(s.Name()) != 2 || !after.IsZero() && s.Name() < after.Hex()[:2] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part, err := f.listShard(s.Name(), after, limit-len(list))
		if err != nil {
			return nil, err
		}
		if list = append(list, part...); len(list) >= limit {
			break
		}
	}
	return list, nil
}

func (f *Driver) listShard(shard string, after media.Digest, limit int) ([]blob.Info, error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, shard))
	if err != nil {
		return nil, explain(f.dir, "list blobs", err)
	}
	var list []blob.Info
	for _, e := range entries {
		if len(list) >= limit {
			break
		}
		hex, ok := strings.CutSuffix(e.Name(), suffix)
		d, err := media.ParseDigest(digestTag + hex)
		if !ok || err != nil || d.Hex() <= after.Hex() {
			continue // not a blob, or already listed
		}
		if i, err := e.Info(); err == nil { // otherwise the file was deleted in the meantime
			list = append(list, blob.Info{Digest: d, SizeBytes: i.Size(), ModTime: i.ModTime()})
		}
	}
	return slices.Clip(list), nil
}

// Sweep implements [blob.Driver].
func (f *Driver) Sweep(ctx context.Context, olderThan time.Time) (int, error) {
	tmp := filepath.Join(f.dir, tmpFolder)
	entries, err := os.ReadDir(tmp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, explain(f.dir, "sweep uploads", err)
	}
	n := 0
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		i, err := e.Info()
		if err != nil || !i.ModTime().Before(olderThan) {
			continue
		}
		if os.Remove(filepath.Join(tmp, e.Name())) == nil {
			n++
		}
	}
	return n, nil
}

func (f *Driver) path(d media.Digest) string {
	h := d.Hex()
	return filepath.Join(f.dir, h[:2], h+suffix)
}

// missing turns a missing file into not_found.
func missing(d media.Digest, what string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return media.Errorf(media.CodeNotFound, "blob %s is not in the store", d)
	}
	return media.Errorf(media.CodeInternal, "%s: %w", what, err)
}

// explain adds a code to a file system error, and says what to do.
func explain(dir, what string, err error) error {
	switch {
	case noRoom(err):
		return media.Errorf(media.CodeDiskFull, "%s: no space left in %s: free some or use another data folder: %w", what, dir, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return media.Errorf(media.CodeInvalid, "%s: the data folder %s cannot be written: %w", what, dir, err)
	}
	return media.Errorf(media.CodeInternal, "%s: %w", what, err)
}

// noRoom reports whether the disk is full or a quota is used up.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
