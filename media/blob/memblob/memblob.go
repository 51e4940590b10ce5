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

type entry struct {
	content content
	at      time.Time
}

// content is a blob in chunks, so that a growing upload is not copied.
type content struct {
	chunks [][]byte
	size   int64
}

// firstChunk is the size of the first chunk of an upload, mostChunk that of the largest.
const (
	firstChunk = 4 << 10
	mostChunk  = 256 << 10
)

// add appends a copy of p.
func (c *content) add(p []byte) {
	c.size += int64(len(p))
	for len(p) > 0 {
		last := len(c.chunks) - 1
		if last < 0 || len(c.chunks[last]) == cap(c.chunks[last]) {
			next := firstChunk
			if last >= 0 {
				next = min(2*cap(c.chunks[last]), mostChunk)
			}
			c.chunks = append(c.chunks, make([]byte, 0, next))
			last++
		}
		n := min(len(p), cap(c.chunks[last])-len(c.chunks[last]))
		c.chunks[last] = append(c.chunks[last], p[:n]...)
		p = p[n:]
	}
}

// reader returns a reader that starts at offset.
func (c content) reader(offset int64) io.Reader {
	var parts []io.Reader
	for _, chunk := range c.chunks {
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
	r := e.content.reader(offset)
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
	return blob.Info{Digest: d, SizeBytes: e.content.size, ModTime: e.at}, nil
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
func (m *Driver) Delete(ctx context.Context, d media.Digest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, d)
	return ctx.Err()
}

// List implements [blob.Driver].
func (m *Driver) List(ctx context.Context, after media.Digest, limit int) ([]blob.Info, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var list []blob.Info
	for d, e := range m.blobs {
		if d.String() > after.String() {
			list = append(list, blob.Info{Digest: d, SizeBytes: e.content.size, ModTime: e.at})
		}
	}
	slices.SortFunc(list, func(a, b blob.Info) int { return strings.Compare(a.Digest.String(), b.Digest.String()) })
	return list[:min(limit, len(list))], ctx.Err()
}

// Sweep implements [blob.Driver]. It does nothing, because unfinished uploads in memory end with the process.
func (m *Driver) Sweep(ctx context.Context, _ time.Time) (int, error) { return 0, ctx.Err() }

type upload struct {
	m       *Driver
	content content
}

// Write implements [blob.Upload].
func (u *upload) Write(p []byte) (int, error) {
	u.content.add(p)
	return len(p), nil
}

// Commit implements [blob.Upload].
func (u *upload) Commit(ctx context.Context, d media.Digest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u.m.mu.Lock()
	defer u.m.mu.Unlock()
	u.m.blobs[d] = entry{content: u.content, at: time.Now()} //nolint:forbidigo // the time of storing
	return nil
}

// Abort implements [blob.Upload].
func (u *upload) Abort() error {
	u.content = content{}
	return nil
}
