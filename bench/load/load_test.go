package load

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

func TestStoreNamesByDigest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := bytes.Repeat([]byte("x"), 1<<20)
	if err := Store(dir, b); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	got, err := os.ReadFile(filepath.Join(dir, hex.EncodeToString(sum[:])))
	if err != nil || !bytes.Equal(got, b) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := Store(dir, b[:10]); err == nil {
		t.Error("stored a picture of 10 bytes")
	}
}

func TestFloodKeepsToItsNumbers(t *testing.T) {
	t.Parallel()
	var made, now, most atomic.Int64
	times := flood(t.Context(), 50, 4, func(context.Context) error {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		made.Add(1)
		now.Add(-1)
		return nil
	})
	if made.Load() != 50 || len(times) != 50 || most.Load() > 4 {
		t.Errorf("made %d, timed %d, at once %d", made.Load(), len(times), most.Load())
	}
}
