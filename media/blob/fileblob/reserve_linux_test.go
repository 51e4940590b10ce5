package fileblob

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReservedBlocks: the reserved bytes are allocated on the disk, to a file without a name in the folder.
func TestReservedBlocks(t *testing.T) {
	t.Parallel()
	d, file := open(t, t.TempDir()), &extent{}
	file.dir = d.dir
	d.reserve.resize = file.resize
	blocks := func() int64 {
		t.Helper()
		var st syscall.Stat_t
		if err := syscall.Fstat(int(file.file.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		return st.Blocks * 512
	}
	first := reserved(t, d, 3*mib, 2*mib)
	second := reserved(t, d, 4*mib, 2*mib)
	if got := blocks(); got < 9*mib || got > 10*mib {
		t.Errorf("%d bytes are allocated, want 9 MiB", got)
	}
	if e, err := os.ReadDir(filepath.Join(d.dir, tmpFolder)); err != nil || len(e) > 0 {
		t.Errorf("a crash would leave %v, %v", e, err)
	}
	if !d.Yield(mib) || blocks() > 9*mib {
		t.Errorf("%d bytes are allocated after a yield", blocks())
	}
	first()
	if got := blocks(); got < 6*mib || got > 7*mib {
		t.Errorf("%d bytes are allocated for one, want 6 MiB", got)
	}
	second()
	if got := blocks(); got != 0 {
		t.Errorf("%d bytes are allocated without a reservation", got)
	}
	if err := os.RemoveAll(d.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Reserve(t.Context(), 1, 1); err == nil {
		t.Error("space is reserved in a folder that does not exist")
	}
}
