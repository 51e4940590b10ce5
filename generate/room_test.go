package generate_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/blob"
	"atelier/blob/memblob"
	"atelier/generate"
	"atelier/media"
	"atelier/wire"
)

// disk is a blob driver with little room: -1 is more than enough, and what it has is told, unless it
// does not know. After so many more blobs it is full.
type disk struct {
	blob.Driver
	free    atomic.Int64
	unknown bool
	puts    atomic.Int64
	full    atomic.Bool
}

func (d *disk) Free(context.Context) (int64, error) {
	if d.unknown {
		return 0, media.Errorf(media.CodeUnsupported, "nobody knows")
	}
	return d.free.Load(), nil
}

func (d *disk) Create(ctx context.Context) (blob.Upload, error) {
	if d.full.Load() && d.puts.Add(-1) < 0 {
		return nil, media.Errorf(media.CodeDiskFull, "no space left in /blobs")
	}
	return d.Driver.Create(ctx)
}

// onDisk is a codec on a disk with so many bytes free.
func onDisk(t *testing.T, free int64) (*wire.Codec, *disk) {
	t.Helper()
	d := &disk{Driver: memblob.New()}
	d.free.Store(free)
	store, err := blob.New(blob.Config{Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "test", Secret: []byte("a secret of thirty-two bytes .. ")}}})
	if err != nil {
		t.Fatal(err)
	}
	return codec, d
}

// TestRoomIsLookedForFirst: nothing is asked of a provider that bills it while there is no room for what it makes.
func TestRoomIsLookedForFirst(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, c := range map[string]struct {
		free    int64
		minFree int64
		unknown bool
		request generate.Request
		refused bool
	}{
		"enough":            {free: 200 * mib, request: generate.Request{N: 2}},
		"too little":        {free: 34 * mib, request: generate.Request{N: 2}, refused: true},
		"a smaller minimum": {free: 34 * mib, minFree: 10 * mib, request: generate.Request{N: 2}},
		"no minimum":        {free: 10 * mib, minFree: -1, request: generate.Request{N: 2}},
		"not for so many":   {free: 40 * mib, minFree: -1, request: generate.Request{N: 20}, refused: true},
		"not so large":      {free: 20 * mib, minFree: -1, request: generate.Request{Size: "3840x2160"}, refused: true},
		"nobody knows":      {unknown: true, request: generate.Request{N: 2}},
		"for nothing":       {request: generate.Request{Model: "offline"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codec, d := onDisk(t, c.free)
			d.unknown = c.unknown
			h := build(t, func(_ *house, conf *generate.Config) { conf.Storage, conf.MinFree = codec, c.minFree })
			r := c.request
			if r.Prompt = "a house"; r.Model == "" {
				r.Model = "GPT Image 2"
			}
			got, err := h.Generate(t.Context(), r)
			if !c.refused {
				if err != nil || got.Status != generate.StatusSucceeded {
					t.Fatalf("%+v, %v", got, err)
				}
				return
			}
			if media.CodeOf(err) != media.CodeDiskFull || !strings.Contains(err.Error(), "MiB are needed") || len(h.openai.Tasks()) > 0 || len(h.log.Entries()) > 0 {
				t.Errorf("%v; %d calls, %q", err, len(h.openai.Tasks()), h.log.Entries())
			}
		})
	}
}

// TestRoomIsSharedAndLookedForAgain: calls at once do not count on the same room, and one that is repeated
// looks for it anew.
func TestRoomIsSharedAndLookedForAgain(t *testing.T) {
	t.Parallel()
	codec, d := onDisk(t, 1<<30)
	h := build(t, func(h *house, c *generate.Config) {
		c.Storage = codec
		h.gemini.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
			d.free.Store(33 << 20)
			e := media.Errorf(media.CodeUnavailable, "try again")
			e.Retryable = true
			return generate.Update{}, e
		}
	})
	got := h.must(t, generate.Request{Model: "Nano Banana Pro"})
	if e := got.Slots[0].Error; len(h.gemini.Tasks()) != 1 || e == nil || e.Code != media.CodeDiskFull || got.Usage.Unsettled > 0 {
		t.Errorf("%+v; %d calls", got, len(h.gemini.Tasks()))
	}
	d.free.Store(1 << 30)
	h.gemini.OnStart = nil
	if again, err := h.Retry(t.Context(), generate.Again{Operation: got.Operation}); err != nil || again.Status != generate.StatusSucceeded {
		t.Errorf("with room: %+v, %v", again, err)
	}

	d.free.Store(32<<20 + 5<<20) // for one call of the least size, not for two
	begun, goOn := make(chan struct{}), make(chan struct{})
	h.openai.OnStart = func(ctx context.Context, _ generate.Task, _ int) (generate.Update, error) {
		close(begun)
		<-goOn
		return generate.Update{Done: true, Items: []generate.Item{h.picture(ctx, t, 1)}}, nil
	}
	first := make(chan *generate.Result, 1)
	go func() {
		res, _ := h.Generate(t.Context(), generate.Request{Model: "GPT Image 2", Prompt: "a house", Size: "1024x1024"})
		first <- res
	}()
	<-begun
	if _, err := h.Generate(t.Context(), generate.Request{Model: "GPT Image 2", Prompt: "a house", Size: "1024x1024"}); media.CodeOf(err) != media.CodeDiskFull {
		t.Errorf("two at once: %v", err)
	}
	close(goOn)
	if res := <-first; res == nil || res.Status != generate.StatusSucceeded {
		t.Errorf("the first one: %+v", res)
	}
}

// TestWhatCannotBeStoredStaysOpen: results that came and for which there was no room are not lost: the operation is
// open, says disk_full and how much is needed, and gives them to whoever goes on with it; nothing is asked for twice.
func TestWhatCannotBeStoredStaysOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		puts  int64 // blobs for which there is room
		tiles bool
		kept  int
	}{
		"none": {0, false, 0}, "one of three": {1, false, 1}, "no grid": {0, true, 0}, "a grid and not its tiles": {2, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codec, d := onDisk(t, 1<<30)
			h, host := delivered(t, func(h *house, conf *generate.Config) {
				conf.Storage = codec
				if poll := h.openai.OnPoll; c.tiles {
					h.openai.OnPoll = func(ctx context.Context, task generate.Task, at generate.Handle, n int) (generate.Update, error) {
						u, err := poll(ctx, task, at, n)
						u.Items = u.Items[:1]
						u.Items[0].Tiles = &generate.Tiles{Columns: 3, Rows: 1}
						return u, err
					}
				}
			})
			d.puts.Store(c.puts)
			d.full.Store(true)
			got := h.must(t, generate.Request{Model: "GPT Image 2", N: 3, Fallback: []string{"Nano Banana Pro"}})
			var why *generate.SlotError
			for _, s := range got.Slots {
				if why == nil {
					why = s.Error
				}
			}
			op := h.log.Operation(got.Operation)
			if got.Status != generate.StatusRunning || len(got.Outputs()) != c.kept || why == nil || why.Code != media.CodeDiskFull || !op.FinishedAt.IsZero() {
				t.Fatalf("%+v; %+v", got, op)
			}
			if !strings.Contains(why.Message, "MiB are needed") || c.kept == 0 && (op.Error == nil || op.Error.Code != media.CodeDiskFull) {
				t.Errorf("%q, %+v", why.Message, op.Error)
			}
			d.full.Store(false)
			g := h.heir(t, func(conf *generate.Config) { conf.Fetch, conf.Storage = host.fetch, codec })
			end, err := g.Resume(t.Context(), got.Operation)
			if err != nil || end.Status != generate.StatusSucceeded || len(end.Outputs()) != 3 || len(h.openai.Tasks()) != 1 || len(h.gemini.Tasks()) > 0 {
				t.Errorf("%+v, %v; %d calls", end, err, len(h.openai.Tasks()))
			}
		})
	}
}

// TestAnswerAtOnceOnAFullDisk: the result is lost, says so, and is not paid for again by itself.
func TestAnswerAtOnceOnAFullDisk(t *testing.T) {
	t.Parallel()
	h := build(t, func(h *house, _ *generate.Config) {
		h.openai.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
			return generate.Update{Done: true, Items: []generate.Item{{Err: media.Errorf(media.CodeDiskFull, "no space left")}}}, nil
		}
	})
	lost := h.must(t, generate.Request{Model: "GPT Image 2"})
	if e := lost.Slots[0].Error; lost.Status != generate.StatusFailed || e.Code != media.CodeDiskFull || e.Retryable || !strings.Contains(e.Message, "MiB are needed") || !strings.Contains(e.Message, "atelier operations retry "+lost.Operation+" --all asks for it again") {
		t.Errorf("%+v", lost)
	}
	if _, err := h.Retry(t.Context(), generate.Again{Operation: lost.Operation}); media.CodeOf(err) != media.CodeInvalid || len(h.openai.Tasks()) != 1 {
		t.Errorf("retry: %v, %d calls", err, len(h.openai.Tasks()))
	}
	h.openai.OnStart = nil
	if again, err := h.Retry(t.Context(), generate.Again{Operation: lost.Operation, All: true}); err != nil || again.Status != generate.StatusSucceeded || len(h.openai.Tasks()) != 2 {
		t.Errorf("retry of all: %+v, %v", again, err)
	}
}
