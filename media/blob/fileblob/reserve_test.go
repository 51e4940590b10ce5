package fileblob

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/blobtest"
	"atelier/media/wire"
)

const mib = 1 << 20

// limitedSpace is a disk with a number of free bytes, for the files and reservations of all its drivers.
type limitedSpace struct{ free atomic.Int64 }

func newLimitedSpace(n int64) *limitedSpace {
	r := &limitedSpace{}
	r.free.Store(n)
	return r
}

// take uses up to n bytes.
func (r *limitedSpace) take(n int64) int64 {
	for {
		free := r.free.Load()
		n = max(min(n, free), 0)
		if r.free.CompareAndSwap(free, free-n) {
			return n
		}
	}
}

func (r *limitedSpace) resize(from, to int64) error {
	if more := to - from; more > 0 {
		if got := r.take(more); got < more {
			r.free.Add(got)
			return syscall.ENOSPC
		}
		return nil
	}
	r.free.Add(from - to)
	return nil
}

// hold makes a driver use the disk.
func (r *limitedSpace) hold(d *Driver) {
	d.create = func(dir string) (file, error) {
		f, err := d.createTemp(dir)
		return &fullFile{file: f, room: r}, err
	}
	d.reserve.free = func() (int64, error) { return r.free.Load(), nil }
	d.reserve.resize = r.resize
}

// newDriverOn returns a driver on a disk, and a codec that stores with it.
func newDriverOn(t *testing.T, r *limitedSpace, dir string) (*Driver, *wire.Codec) {
	t.Helper()
	d := open(t, dir)
	r.hold(d)
	blobs, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	codec, err := wire.NewCodec(wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: make([]byte, 32)}}})
	if err != nil {
		t.Fatal(err)
	}
	return d, codec
}

func reserved(t *testing.T, d *Driver, need, leave int64) func() {
	t.Helper()
	release, err := d.Reserve(t.Context(), need, leave)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// TestReservedSpaceIsForResults: another program fills the disk while space is reserved. A result of a generation is
// stored in that space, even if it is larger than expected; an upload is not.
func TestReservedSpaceIsForResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size      int64
		operation string
		reserves  bool
		full      bool
	}{
		"a result":              {4*mib - 100, "op-1", true, false},
		"a larger result":       {30*mib + 5, "op-1", true, false},
		"one that is too large": {37 * mib, "op-1", true, true},
		"an upload":             {mib, "", true, true},
		"without a reservation": {mib, "op-1", false, true},
		"exactly as much":       {36 * mib, "op-1", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLimitedSpace(100 * mib)
			d, codec := newDriverOn(t, r, t.TempDir())
			release := func() {}
			if c.reserves {
				release = reserved(t, d, 4*mib, 32*mib)
			}
			r.take(100 * mib)
			ctx := media.WithScope(t.Context(), media.Scope{Operation: c.operation})
			data := blobtest.Data(int(c.size), 1)
			b, err := codec.Store(ctx, bytes.NewReader(data), "image/png")
			if c.full {
				if media.CodeOf(err) != media.CodeDiskFull {
					t.Errorf("%+v, %v", b, err)
				}
			} else if err != nil || b.Digest != media.DigestOf(data) {
				t.Errorf("%+v, %v", b, err)
			}
			release()
			release()
			if d.reserve.size != 0 || d.reserve.need != 0 {
				t.Errorf("after the release: %d of %d bytes are reserved", d.reserve.size, d.reserve.need)
			}
			if e, err := os.ReadDir(filepath.Join(d.dir, tmpFolder)); err != nil || len(e) > 0 {
				t.Errorf("leftovers: %v, %v", e, err)
			}
		})
	}
}

// TestReserve: the space to be left free for others remains free, and the margin is taken from the rest.
func TestReserve(t *testing.T) {
	t.Parallel()
	r := newLimitedSpace(50 * mib)
	d, _ := newDriverOn(t, r, t.TempDir())
	check := func(what string, size, free int64) {
		t.Helper()
		if d.reserve.size != size*mib || r.free.Load() != free*mib {
			t.Errorf("%s: %d MiB are reserved and %d free, want %d and %d", what, d.reserve.size/mib, r.free.Load()/mib, size, free)
		}
	}
	first := reserved(t, d, 4*mib, 20*mib)
	check("with a margin", 24, 26)
	second := reserved(t, d, 10*mib, 20*mib)
	check("one margin for both", 14+16, 20)
	if _, err := d.Reserve(t.Context(), 17*mib, 20*mib); media.CodeOf(err) != media.CodeDiskFull || !strings.Contains(err.Error(), "36 MiB free") || !strings.Contains(err.Error(), "37 MiB are needed") {
		t.Errorf("too much: %v", err)
	}
	check("after a refusal", 30, 20)
	if !d.Yield(5 * mib) {
		t.Error("nothing was freed")
	}
	check("after a yield", 25, 25)
	r.take(5 * mib) // the upload that needed it
	first()
	check("after the first release", 25, 20)
	third := reserved(t, d, mib, 20*mib)
	check("with a smaller margin", 11+14, 20)
	r.take(10 * mib)
	reserved(t, d, 0, 10*mib)()
	check("after a look", 11+14, 10)
	fourth := reserved(t, d, mib, 20*mib)
	check("the margin gives way to what is left free", 12+3, 20)
	second()
	third()
	check("for the last one", 1+3, 20+11)
	fourth()
	check("after the last release", 0, 35)
	if d.Yield(mib) {
		t.Error("something was freed of nothing")
	}
}

// TestReserveUnderAQuota: the quota is smaller than the disk. The margin gives way; the needed bytes do not.
func TestReserveUnderAQuota(t *testing.T) {
	t.Parallel()
	d, quota := open(t, t.TempDir()), newLimitedSpace(10*mib)
	d.reserve.resize = func(from, to int64) error {
		if quota.resize(from, to) != nil {
			return syscall.EDQUOT
		}
		return nil
	}
	d.reserve.free = func() (int64, error) { return 1 << 40, nil }
	defer reserved(t, d, 8*mib, 32*mib)()
	if d.reserve.size != 8*mib {
		t.Errorf("%d bytes are reserved", d.reserve.size)
	}
	if _, err := d.Reserve(t.Context(), 3*mib, 0); media.CodeOf(err) != media.CodeDiskFull || !strings.Contains(err.Error(), "about 3 MiB are needed") {
		t.Errorf("beyond the quota: %v", err)
	}
	if d.reserve.need != 8*mib || d.reserve.size != 8*mib {
		t.Errorf("after a refusal: %d of %d bytes are reserved", d.reserve.size, d.reserve.need)
	}
}

// TestReserveCounts: if the file system cannot allocate, holders do not count on the same space.
func TestReserveCounts(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	d.reserve.free = func() (int64, error) { return 50 * mib, nil }
	d.reserve.resize = func(int64, int64) error { return errors.ErrUnsupported }
	release := reserved(t, d, 15*mib, 20*mib)
	if _, err := d.Reserve(t.Context(), 16*mib, 20*mib); media.CodeOf(err) != media.CodeDiskFull {
		t.Errorf("the same space twice: %v", err)
	}
	if d.Yield(mib) {
		t.Error("something was freed that is only counted")
	}
	release()
	defer reserved(t, d, 16*mib, 20*mib)()

	d.reserve.free = func() (int64, error) { return 0, errors.ErrUnsupported }
	if _, err := d.Reserve(t.Context(), mib, 0); err == nil || media.CodeOf(err) == media.CodeDiskFull {
		t.Errorf("not known: %v", err)
	}
}

// TestReservationsOfTwoProcesses: the reserved space of one process is not available to another one.
func TestReservationsOfTwoProcesses(t *testing.T) {
	t.Parallel()
	r, dir := newLimitedSpace(50*mib), t.TempDir()
	one, _ := newDriverOn(t, r, dir)
	two, codec := newDriverOn(t, r, dir)
	first := reserved(t, one, 20*mib, 10*mib)
	if _, err := two.Reserve(t.Context(), 20*mib, 10*mib); media.CodeOf(err) != media.CodeDiskFull {
		t.Errorf("the same space twice: %v", err)
	}
	defer reserved(t, two, 4*mib, 10*mib)()
	r.take(50 * mib)
	ctx := media.WithScope(t.Context(), media.Scope{Operation: "op-1"})
	if _, err := codec.Store(ctx, bytes.NewReader(blobtest.Data(4*mib, 1)), "image/png"); err != nil {
		t.Errorf("its own space: %v", err)
	}
	if _, err := codec.Store(ctx, bytes.NewReader(blobtest.Data(20*mib, 1)), "image/png"); media.CodeOf(err) != media.CodeDiskFull || one.reserve.size < 20*mib {
		t.Errorf("that of the other one: %v, %d bytes", err, one.reserve.size)
	}
	first()
	if _, err := codec.Store(ctx, bytes.NewReader(blobtest.Data(20*mib, 1)), "image/png"); err != nil {
		t.Errorf("after its release: %v", err)
	}
}

// TestManyReservations: reservations of many goroutines, which store more than they reserved, add up.
func TestManyReservations(t *testing.T) {
	t.Parallel()
	r := newLimitedSpace(64 * mib)
	d, codec := newDriverOn(t, r, t.TempDir())
	ctx := media.WithScope(t.Context(), media.Scope{Operation: "op-1"})
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			data := blobtest.Data(mib+300_000, uint64(n))
			for range 2 {
				release, err := d.Reserve(ctx, mib, mib)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := codec.Store(ctx, bytes.NewReader(data), "image/png"); err != nil {
					t.Error(err)
				}
				release()
			}
		})
	}
	all.Wait()
	const stored = 16 * 2 * (mib + 300_000)
	if d.reserve.need != 0 || d.reserve.margin != 0 || d.reserve.size != 0 || r.free.Load() != 64*mib-stored {
		t.Errorf("%+v; %d bytes are free", &d.reserve, r.free.Load())
	}
}

// TestReleaseAfterYield: space that a result used beyond its own reservation is reserved again when there is room.
func TestReleaseAfterYield(t *testing.T) {
	t.Parallel()
	r := newLimitedSpace(20 * mib)
	d, codec := newDriverOn(t, r, t.TempDir())
	first, second := reserved(t, d, 6*mib, 0), reserved(t, d, 6*mib, 0)
	r.take(20 * mib)
	ctx := media.WithScope(t.Context(), media.Scope{Operation: "op-1"})
	if _, err := codec.Store(ctx, io.MultiReader(bytes.NewReader(blobtest.Data(8*mib, 1)), bytes.NewReader(blobtest.Data(mib, 1))), "image/png"); err != nil {
		t.Fatal(err)
	}
	first()
	if d.reserve.size != 3*mib { // of the second reservation: the first used 9 MiB of 6
		t.Errorf("%d bytes are reserved", d.reserve.size)
	}
	r.free.Add(10 * mib)
	third := reserved(t, d, 1, 0)
	if d.reserve.size != 6*mib+1 {
		t.Errorf("%d bytes are reserved, with room for all", d.reserve.size)
	}
	second()
	third()
}

func BenchmarkReserve(b *testing.B) {
	d, err := New(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		release, err := d.Reserve(b.Context(), 4*mib, 32*mib)
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}
