package fileblob

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"

	"atelier/media"
	"atelier/media/blob"
)

var _ blob.Reserver = (*Driver)(nil)

// reserve is disk space that is set aside for uploads: the length of a file whose blocks are allocated. If the file
// system cannot allocate blocks, size remains 0, and only the needs of the holders are counted.
type reserve struct {
	mu     sync.Mutex // guards the sizes
	need   int64      // needed by all holders
	margin int64      // for uploads that are larger than their holders expect
	size   int64      // length of the file: less than the sum of need and margin after a yield

	// free returns the number of free bytes on the disk.
	free func() (int64, error)
	// resize changes the length of the file; after an error, the length is unchanged.
	resize func(from, to int64) error
}

// Reserve implements [blob.Reserver].
func (f *Driver) Reserve(ctx context.Context, need, leave int64) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	need, leave = min(max(need, 0), mostReserved), min(max(leave, 0), mostReserved)
	switch err := f.reserve.take(need, leave); {
	case media.CodeOf(err) == media.CodeDiskFull:
		return nil, err
	case err != nil:
		return nil, explain(f.dir, fmt.Sprintf("about %s are needed", mebibytes(need)), err)
	}
	return sync.OnceFunc(func() { f.reserve.give(need) }), nil
}

// Yield implements [blob.Reserver].
func (f *Driver) Yield(n int64) bool { return f.reserve.yield(n) }

// mostReserved is the limit of a size; it prevents sums of sizes from overflowing.
const mostReserved = math.MaxInt64 / 8

// take adds a holder. leave bytes remain free for the databases. The margin is as large as leave, or smaller if there
// is less space.
func (r *reserve) take(need, leave int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	free, err := r.free()
	if err != nil {
		return err
	}
	all := r.need + need
	spare := min(free, mostReserved) + r.size - all
	if spare < leave {
		return media.Errorf(media.CodeDiskFull, "the disk of the media has %s free, and about %s are needed: free some, or use another data folder", mebibytes(spare+need), mebibytes(need+leave))
	}
	if need == 0 {
		return nil
	}
	margin := min(leave, spare-leave)
	err = r.set(all + margin)
	if noRoom(err) && margin > 0 { // a quota applies, or another program used the space
		margin = 0
		err = r.set(all)
	}
	if noRoom(err) {
		return err
	}
	r.need, r.margin = all, margin
	return nil
}

// give removes a holder.
func (r *reserve) give(need int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.need -= need; r.need == 0 {
		r.margin = 0
	}
	_ = r.set(min(r.size, r.need+r.margin)) // the next change tries this again
}

func (r *reserve) yield(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size > 0 && r.set(max(r.size-n, 0)) == nil
}

// set changes the length; the caller holds mu.
func (r *reserve) set(size int64) error {
	if size == r.size {
		return nil
	}
	err := r.resize(r.size, size)
	if err == nil {
		r.size = size
	}
	return err
}

// mebibytes formats a number of bytes in MiB, rounded up.
func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (max(n, 0)+1<<20-1)>>20) }

// extent is a file without a name. Its blocks are allocated and never written. A crash frees them.
type extent struct {
	dir  string
	file *os.File // opened by the first resize
}

// resize changes the length of the file.
func (e *extent) resize(from, to int64) error {
	if e.file == nil {
		f, err := os.CreateTemp(filepath.Join(e.dir, tmpFolder), tmpName)
		if err != nil {
			return err
		}
		if err := os.Remove(f.Name()); err != nil {
			_ = f.Close()
			return err
		}
		e.file = f
	}
	if to <= from {
		return e.file.Truncate(to)
	}
	err := allocate(e.file, from, to-from)
	if err != nil {
		_ = e.file.Truncate(from) // frees what was allocated before the disk was full
	}
	return err
}
