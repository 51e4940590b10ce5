package openai_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// fullDisk fails the writes of a picture while it is full.
type fullDisk struct {
	blob.Driver
	full atomic.Bool
	met  func()
}

func (d *fullDisk) Create(ctx context.Context) (blob.Upload, error) {
	u, err := d.Driver.Create(ctx)
	return fullUpload{u, d}, err
}

type fullUpload struct {
	blob.Upload
	disk *fullDisk
}

func (u fullUpload) Write(p []byte) (int, error) {
	if u.disk.full.Load() {
		u.disk.met()
		return 0, media.Errorf(media.CodeDiskFull, "no space left in /blobs")
	}
	return u.Upload.Write(p)
}

// TestAnswerAtOnceWaitsForRoom: if the disk is full when a paid answer arrives and has space two seconds later, the
// picture of that one call is stored. Without space the error says how much is needed.
func TestAnswerAtOnceWaitsForRoom(t *testing.T) {
	t.Parallel()
	for name, comes := range map[string]bool{"room comes": true, "no room comes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := openaisim.New(openaisim.Config{PictureBytes: 300_000})
			server := httptest.NewServer(sim)
			t.Cleanup(server.Close)
			disk := &fullDisk{Driver: memblob.New()}
			disk.full.Store(true)
			var once atomic.Bool
			disk.met = func() {
				if comes && !once.Swap(true) {
					time.AfterFunc(2*time.Second, func() { disk.full.Store(false) })
				}
			}
			blobs, err := blob.New(blob.Config{Driver: disk})
			if err != nil {
				t.Fatal(err)
			}
			wait := 3 * time.Second
			if comes {
				wait = time.Minute
			}
			codec, err := wire.NewCodec(wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "k", Secret: make([]byte, 32)}}, DiskWait: wait})
			if err != nil {
				t.Fatal(err)
			}
			d, err := openai.New(openai.Config{APIKey: sim.Key(), BaseURL: server.URL + "/v1", Codec: codec, Base: server.Client().Transport})
			if err != nil {
				t.Fatal(err)
			}
			log := &generatetest.Log{}
			g, err := gateway.New(gateway.Config{Drivers: []driver.Driver{d}, Storage: codec, Operations: log})
			if err != nil {
				t.Fatal(err)
			}
			got, err := g.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house"})
			if err != nil || got.Usage.Calls != 1 || len(sim.Captured()) != 1 {
				t.Fatalf("%+v, %v; %d requests", got, err, len(sim.Captured()))
			}
			if comes {
				if got.Status != generate.StatusSucceeded || len(got.Outputs()) != 1 || blobs.Verify(t.Context(), sim.Sent()[0]) != nil || got.Outputs()[0].Digest != sim.Sent()[0] {
					t.Errorf("%+v", got.Slots)
				}
				return
			}
			if reason := got.Slots[0].Error; got.Status != generate.StatusRunning || reason.Code != media.CodeDiskFull || !strings.Contains(reason.Message, "MiB are needed") {
				t.Errorf("%+v", got.Slots)
			}
		})
	}
}
