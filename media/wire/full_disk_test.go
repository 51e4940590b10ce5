package wire_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// limitedDriver is a driver on a disk with limited space.
type limitedDriver struct {
	blob.Driver
	room *atomic.Int64
}

func (d limitedDriver) Create(ctx context.Context) (blob.Upload, error) {
	u, err := d.Driver.Create(ctx)
	return limitedUpload{u, d.room}, err
}

type limitedUpload struct {
	blob.Upload
	room *atomic.Int64
}

func (u limitedUpload) Write(p []byte) (int, error) {
	fits := min(int64(len(p)), max(0, u.room.Load()))
	u.room.Add(-fits)
	n, err := u.Upload.Write(p[:fits])
	if err == nil && n < len(p) {
		err = media.Errorf(media.CodeDiskFull, "no space left")
	}
	return n, err
}

// TestItemsWaitForRoom: an item on a full disk waits, and is complete if space becomes free. Otherwise it fails with
// disk_full.
func TestItemsWaitForRoom(t *testing.T) {
	t.Parallel()
	picture := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x04\x00\x00\x00\x04\x08\x06\x00\x00\x00"), bytes.Repeat([]byte("pixels"), 20_000)...)
	for name, comes := range map[string]bool{"room comes": true, "no room comes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var room atomic.Int64
			room.Store(50_000)
			blobs, err := blob.New(blob.Config{Driver: limitedDriver{memblob.New(), &room}})
			if err != nil {
				t.Fatal(err)
			}
			codec, err := wire.NewCodec(wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: make([]byte, 32)}}, DiskWait: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if comes {
				time.AfterFunc(300*time.Millisecond, func() { room.Add(1 << 20) })
			}
			body := `{"b64_json":"` + base64.StdEncoding.EncodeToString(picture) + `"}`
			var got []wire.Lifted
			r := codec.LiftReader(t.Context(), io.NopCloser(bytes.NewReader([]byte(body))), wire.LiftOptions{
				Scope: "tree", Fields: wire.Fields{Media: []string{"b64_json"}}, OnLift: func(l wire.Lifted) { got = append(got, l) },
			})
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 {
				t.Fatalf("%d items", len(got))
			}
			if comes && (got[0].Err != nil || got[0].Blob.Digest != media.DigestOf(picture)) {
				t.Errorf("the item is not whole: %+v", got[0])
			}
			if !comes && media.CodeOf(got[0].Err) != media.CodeDiskFull {
				t.Errorf("got %v", got[0].Err)
			}
		})
	}
}

// fullDriver is a driver on a disk that is full at one step of an item, a given number of times.
type fullDriver struct {
	blob.Driver
	at    string
	times atomic.Int64
}

func (d *fullDriver) full(at string) error {
	if at == d.at && d.times.Add(-1) >= 0 {
		return media.Errorf(media.CodeDiskFull, "no space left: %s", at)
	}
	return nil
}

func (d *fullDriver) Create(ctx context.Context) (blob.Upload, error) {
	if err := d.full("create"); err != nil {
		return nil, err
	}
	u, err := d.Driver.Create(ctx)
	return fullUpload{u, d}, err
}

type fullUpload struct {
	blob.Upload
	disk *fullDriver
}

func (u fullUpload) Commit(ctx context.Context, d media.Digest) error {
	if err := u.disk.full("commit"); err != nil {
		return err
	}
	return u.Upload.Commit(ctx, d)
}

// TestItemsWaitAtEveryStep: an item waits if there is no space for its file, for its last bytes or for its row.
func TestItemsWaitAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"create", "commit", "register"} {
		for _, mime := range []string{"", "audio/L16"} {
			for times, want := range map[int64]media.Code{1: "", 9: media.CodeDiskFull} {
				t.Run(fmt.Sprint(at, mime, times), func(t *testing.T) {
					t.Parallel()
					disk := &fullDriver{Driver: memblob.New(), at: at}
					disk.times.Store(times)
					blobs, err := blob.New(blob.Config{Driver: disk})
					if err != nil {
						t.Fatal(err)
					}
					codec, err := wire.NewCodec(wire.Config{
						Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: make([]byte, 32)}}, DiskWait: 500 * time.Millisecond,
						Register: func(context.Context, media.Blob) error { return disk.full("register") },
					})
					if err != nil {
						t.Fatal(err)
					}
					b, err := codec.Store(t.Context(), strings.NewReader("\x01\x02\x03\x04 and so on"), mime)
					if got := media.CodeOf(err); (err == nil) != (want == "") || err != nil && got != want {
						t.Errorf("%+v, %v", b, err)
					}
				})
			}
		}
	}
}

// reserving is a driver with a limited number of yields.
type reserving struct {
	*fullDriver
	yields atomic.Int64
}

func (d *reserving) Reserve(context.Context, int64, int64) (func(), error) { return func() {}, nil }

func (d *reserving) Yield(int64) bool { return d.yields.Add(-1) >= 0 }

// TestResultsUseReservedSpace: a result of a generation uses reserved space at every step, and waits when it is used
// up; other items do not use it.
func TestResultsUseReservedSpace(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"create", "commit", "register"} {
		for name, c := range map[string]struct {
			operation           string
			times, yields, left int64
			wait                time.Duration
			want                media.Code
		}{
			"a result":          {operation: "op-1", times: 3, yields: 5, left: 2},
			"too much":          {operation: "op-1", times: 4, yields: 3, left: -1, want: media.CodeDiskFull},
			"a wait after that": {operation: "op-1", times: 4, yields: 3, left: -1, wait: time.Minute},
			"an upload":         {times: 1, yields: 5, left: 5, want: media.CodeDiskFull},
		} {
			t.Run(at+" "+name, func(t *testing.T) {
				t.Parallel()
				disk := &reserving{fullDriver: &fullDriver{Driver: memblob.New(), at: at}}
				disk.times.Store(c.times)
				disk.yields.Store(c.yields)
				blobs, err := blob.New(blob.Config{Driver: disk})
				if err != nil {
					t.Fatal(err)
				}
				codec, err := wire.NewCodec(wire.Config{
					Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: make([]byte, 32)}}, DiskWait: c.wait,
					Register: func(context.Context, media.Blob) error { return disk.full("register") },
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx := media.WithScope(t.Context(), media.Scope{Operation: c.operation})
				b, err := codec.Store(ctx, strings.NewReader("some text"), "")
				if got := media.CodeOf(err); (err == nil) != (c.want == "") || err != nil && got != c.want {
					t.Errorf("%+v, %v", b, err)
				}
				if left := disk.yields.Load(); left != c.left {
					t.Errorf("%d yields remain, want %d", left, c.left)
				}
			})
		}
	}
}
