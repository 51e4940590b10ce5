// Package memblob is a [blob.Driver] that keeps blobs in memory, for tests, examples and short-lived programs. Its
// errors are those of the Driver contract. It may import blob and media.
package memblob

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/media"
	"atelier/media/blob"
)

// Driver keeps blobs in a map. It is safe for concurrent use.
type Driver struct {
	mu    sync.RWMutex // guards blobs; their byte slices never change
	blobs map[media.Digest]entry
}

// entry is a blob in one chunk for each write, so that a growing upload is not copied.
type entry struct {
	chunks [][]byte
	size   int64
	at     time.Time
}

// reader returns a reader that starts at offset.
func (e entry) reader(offset int64) io.Reader {
	var parts []io.Reader
	for _, chunk := range e.chunks {
		if n := int64(len(chunk)); offset >= n {
			offset -= n
			continue
		}
		parts = append(parts, bytes.NewReader(chunk[offset:]))
		offset = 0
	}
	return io.MultiReader(parts...)
}

var _ blob.Driver = (*Driver)(nil)

// New returns an empty driver.
func New() *Driver { return &Driver{blobs: map[media.Digest]entry{}} }

// Create implements [blob.Driver].
func (m *Driver) Create(ctx context.Context) (blob.Upload, error) {
	return &upload{m: m}, ctx.Err()
}

// Open implements [blob.Driver].
func (m *Driver) Open(ctx context.Context, d media.Digest, offset, length int64) (io.ReadCloser, error) {
	e, err := m.entry(ctx, d)
	if err != nil {
		return nil, err
	}
	r := e.reader(offset)
	if length >= 0 {
		r = io.LimitReader(r, length)
	}
	return io.NopCloser(r), nil
}

// Stat implements [blob.Driver].
func (m *Driver) Stat(ctx context.Context, d media.Digest) (blob.Info, error) {
	e, err := m.entry(ctx, d)
	if err != nil {
		return blob.Info{}, err
	}
	return blob.Info{Digest: d, SizeBytes: e.size, ModTime: e.at}, nil
}

func (m *Driver) entry(ctx context.Context, d media.Digest) (entry, error) {
	if err := ctx.Err(); err != nil {
		return entry{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.blobs[d]
	if !ok {
		return entry{}, media.Errorf(media.CodeNotFound, "blob %s is not in the store", d)
	}
	return e, nil
}

// Delete implements [blob.Driver].
func (m *Driver) Delete(ctx context.Context, d media.Digest, before time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.blobs[d]; !ok || !before.IsZero() && !e.at.Before(before) {
		return false, ctx.Err()
	}
	delete(m.blobs, d)
	return true, ctx.Err()
}

// List implements [blob.Driver].
func (m *Driver) List(ctx context.Context, after media.Digest, limit int) ([]blob.Info, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var list []blob.Info
	for d, e := range m.blobs {
		if d.String() > after.String() {
			list = append(list, blob.Info{Digest: d, SizeBytes: e.size, ModTime: e.at})
		}
	}
	slices.SortFunc(list, func(a, b blob.Info) int { return strings.Compare(a.Digest.String(), b.Digest.String()) })
	return list[:min(limit, len(list))], ctx.Err()
}

// Sweep implements [blob.Driver]. It does nothing, because unfinished uploads in memory end with the process.
func (m *Driver) Sweep(ctx context.Context, _ time.Time) (int, error) { return 0, ctx.Err() }

type upload struct {
	m    *Driver
	blob entry
}

// Write implements [blob.Upload].
func (u *upload) Write(p []byte) (int, error) {
	u.blob.chunks, u.blob.size = append(u.blob.chunks, bytes.Clone(p)), u.blob.size+int64(len(p))
	return len(p), nil
}

// Commit implements [blob.Upload].
func (u *upload) Commit(ctx context.Context, d media.Digest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u.blob.at = time.Now() //nolint:forbidigo // the time of storing
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	u.m.blobs[d] = u.blob
	return nil
}

// Abort implements [blob.Upload].
func (u *upload) Abort() error {
	u.blob = entry{}
	return nil
}
