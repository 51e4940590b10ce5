package action

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// testRegistry is a registry on real storage, with a recorder that keeps the records.
type testRegistry struct {
	*Registry
	codec    *wire.Codec
	recorder *recorder
	set      *media.Set
}

// recorder keeps records and whether the set held the item already.
type recorder struct {
	mu    sync.Mutex // guards all
	set   *media.Set
	items []media.Output
	early bool // an item was in the set before its record
	err   error
}

func (r *recorder) Record(_ context.Context, o media.Output) (media.Output, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return o, r.err
	}
	if _, ok := r.set.Lookup(o.Ref); ok {
		r.early = true
	}
	r.items = append(r.items, o)
	o.ID = "record-" + string(o.Ref)
	return o, nil
}

func newTestRegistry(tb testing.TB, change func(*Config), actions ...Action) *testRegistry {
	tb.Helper()
	store, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		tb.Fatal(err)
	}
	codec, err := wire.NewCodec(wire.Config{
		Blobs: store, Keys: []wire.Key{{ID: "k", Secret: []byte("0123456789abcdef0123456789abcdef")}},
		Limits: wire.Limits{ImageBytes: 1 << 20},
	})
	if err != nil {
		tb.Fatal(err)
	}
	set := &media.Set{}
	rec := &recorder{set: set}
	cfg := Config{Store: codec, Recorder: rec}
	if change != nil {
		change(&cfg)
	}
	r, err := NewRegistry(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	if err := r.Register(actions...); err != nil {
		tb.Fatal(err)
	}
	return &testRegistry{Registry: r, codec: codec, recorder: rec, set: set}
}

// run invokes an action with the room's media set.
func (r *testRegistry) run(tb testing.TB, name string, params map[string]any) Outcome {
	tb.Helper()
	ctx := media.WithScope(tb.Context(), media.Scope{Tree: "tree", AgentPath: "root/child"})
	return r.Invoke(ctx, name, params, Env{Media: r.set})
}

// outputAction returns an action with one output.
func outputAction(p Param, v any) Action {
	return Action{Name: "Give", Params: []Param{p}, Run: func(context.Context, *Call) (Result, error) {
		return Result{Message: "done", Outputs: map[string]any{p.Name: v}}, nil
	}}
}

// noise returns a PNG without repeating bytes.
func noise(tb testing.TB, w, h int, seed uint64) []byte {
	tb.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(seed, 7))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	for y := range h {
		for x := range w {
			c := img.NRGBAAt(x, y)
			img.SetNRGBA(x, y, color.NRGBA{c.R, c.G, c.B, 255})
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// tiny returns the smallest picture: about 70 bytes.
func tiny(tb testing.TB) []byte {
	tb.Helper()
	var buf bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, 1, 1))
	img.Pix[0] = 77
	if err := png.Encode(&buf, img); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// checkNoMedia fails the test if a model, a log or a row would get any 48 characters of the picture's base64 or any 32
// of its bytes.
func checkNoMedia(tb testing.TB, out Outcome, picture []byte) {
	tb.Helper()
	seen, err := json.Marshal(out)
	if err != nil {
		tb.Fatal(err)
	}
	text := string(seen)
	if out.Err != nil {
		text += out.Err.Error()
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		s := enc.EncodeToString(picture)
		for i := 0; i+48 <= len(s); i += 4 {
			if strings.Contains(text, s[i:i+48]) {
				tb.Fatalf("base64 of the picture from character %d on is in the outcome: %s", i, clip(text, 300))
			}
		}
	}
	for i := 0; i+32 <= len(picture); i += 8 {
		if strings.Contains(text, string(picture[i:i+32])) {
			tb.Fatalf("bytes of the picture from %d on are in the outcome", i)
		}
	}
}

// content reads an item.
func (r *testRegistry) content(tb testing.TB, o media.Output) []byte {
	tb.Helper()
	f, err := r.codec.Open(tb.Context(), o.Digest)
	if err != nil {
		tb.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		tb.Fatal(err)
	}
	return got
}

// checkContent fails the test unless the stored bytes equal want.
func (r *testRegistry) checkContent(tb testing.TB, o media.Output, want []byte) {
	tb.Helper()
	if got := r.content(tb, o); !bytes.Equal(got, want) {
		tb.Fatalf("stored %d bytes, want the %d that came", len(got), len(want))
	}
}
