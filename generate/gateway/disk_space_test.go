package gateway_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// limitedDisk is a blob driver with little space. It reports the free space unless unknown is set. Once full is set, it
// accepts only puts more blobs.
type limitedDisk struct {
	blob.Driver
	free, reserved atomic.Int64
	unknown        bool
	puts           atomic.Int64
	full           atomic.Bool
}

func (d *limitedDisk) Reserve(_ context.Context, need, leave int64) (func(), error) {
	if d.unknown {
		return nil, media.Errorf(media.CodeUnsupported, "nobody knows")
	}
	if all := d.reserved.Add(need); d.free.Load() < all+leave {
		d.reserved.Add(-need)
		return nil, media.Errorf(media.CodeDiskFull, "%d MiB are needed", (need+leave)>>20)
	}
	return func() { d.reserved.Add(-need) }, nil
}

func (d *limitedDisk) Yield(int64) bool { return false }

func (d *limitedDisk) Create(ctx context.Context) (blob.Upload, error) {
	if d.full.Load() && d.puts.Add(-1) < 0 {
		return nil, media.Errorf(media.CodeDiskFull, "no space left in /blobs")
	}
	return d.Driver.Create(ctx)
}

// onDisk returns a codec on a disk with the given number of free bytes.
func onDisk(t *testing.T, free int64) (*wire.Codec, *limitedDisk) {
	t.Helper()
	d := &limitedDisk{Driver: memblob.New()}
	d.free.Store(free)
	codec := wiretest.NewCodecOn(t, d)
	return codec, d
}

// TestRoomIsLookedForFirst: a provider that bills is not called unless there is space for the results.
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
			h := build(t, func(_ *testGateway, conf *gateway.Config) { conf.Storage, conf.MinFree = codec, c.minFree })
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

// TestRoomIsSharedAndLookedForAgain: concurrent calls do not rely on the same free space, and a retried call checks it
// again.
func TestRoomIsSharedAndLookedForAgain(t *testing.T) {
	t.Parallel()
	codec, d := onDisk(t, 1<<30)
	h := build(t, func(h *testGateway, c *gateway.Config) {
		c.Storage = codec
		h.gemini.OnStart = func(context.Context, driver.Task, int) (driver.Update, error) {
			d.free.Store(33 << 20)
			e := media.Errorf(media.CodeUnavailable, "try again")
			e.Retryable = true
			return driver.Update{}, e
		}
	})
	got := h.must(t, generate.Request{Model: "Nano Banana Pro"})
	if e := got.Slots[0].Error; len(h.gemini.Tasks()) != 1 || e == nil || e.Code != media.CodeDiskFull || got.Usage.Unsettled > 0 {
		t.Errorf("%+v; %d calls", got, len(h.gemini.Tasks()))
	}
	d.free.Store(1 << 30)
	h.gemini.OnStart = nil
	if again, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: got.Operation}); err != nil || again.Status != generate.StatusSucceeded {
		t.Errorf("with room: %+v, %v", again, err)
	}

	d.free.Store(32<<20 + 5<<20) // enough for one call of the smallest size, not for two
	started, goOn := make(chan struct{}), make(chan struct{})
	h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
		close(started)
		<-goOn
		return driver.Update{Done: true, Items: []driver.Item{h.picture(ctx, t, 1)}}, nil
	}
	first := make(chan *generate.Result, 1)
	go func() {
		res, _ := h.Generate(t.Context(), generate.Request{Model: "GPT Image 2", Prompt: "a house", Size: "1024x1024"})
		first <- res
	}()
	<-started
	if _, err := h.Generate(t.Context(), generate.Request{Model: "GPT Image 2", Prompt: "a house", Size: "1024x1024"}); media.CodeOf(err) != media.CodeDiskFull {
		t.Errorf("two at once: %v", err)
	}
	close(goOn)
	if res := <-first; res == nil || res.Status != generate.StatusSucceeded {
		t.Errorf("the first one: %+v", res)
	}
}

// TestWhatCannotBeStoredStaysOpen: results that arrived without space to store them are not lost. The operation stays
// open, reports disk_full and the space needed, and the process that continues it gets them; no call is repeated.
func TestWhatCannotBeStoredStaysOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		puts  int64 // number of blobs that fit
		tiles bool
		kept  int
	}{
		"none": {0, false, 0}, "one of three": {1, false, 1}, "no grid": {0, true, 0}, "a grid and not its tiles": {2, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codec, d := onDisk(t, 1<<30)
			h, host := newLinkGateway(t, func(h *testGateway, conf *gateway.Config) {
				conf.Storage = codec
				if poll := h.openai.OnPoll; c.tiles {
					h.openai.OnPoll = func(ctx context.Context, task driver.Task, at driver.Handle, n int) (driver.Update, error) {
						u, err := poll(ctx, task, at, n)
						u.Items = u.Items[:1]
						u.Items[0].Tiles = &driver.Tiles{Columns: 3, Rows: 1}
						return u, err
					}
				}
			})
			d.puts.Store(c.puts)
			d.full.Store(true)
			got := h.must(t, generate.Request{Model: "GPT Image 2", N: 3, Fallback: []string{"Nano Banana Pro"}})
			var reason *generate.SlotError
			for _, s := range got.Slots {
				if reason == nil {
					reason = s.Error
				}
			}
			op := h.log.Operation(got.Operation)
			if got.Status != generate.StatusRunning || len(got.Outputs()) != c.kept || reason == nil || reason.Code != media.CodeDiskFull || !op.FinishedAt.IsZero() {
				t.Fatalf("%+v; %+v", got, op)
			}
			if !strings.Contains(reason.Message, "MiB are needed") || c.kept == 0 && (op.Error == nil || op.Error.Code != media.CodeDiskFull) {
				t.Errorf("%q, %+v", reason.Message, op.Error)
			}
			d.full.Store(false)
			g := h.successor(t, func(conf *gateway.Config) { conf.Fetch, conf.Storage = host.fetch, codec })
			end, err := g.Resume(t.Context(), got.Operation)
			if err != nil || end.Status != generate.StatusSucceeded || len(end.Outputs()) != 3 || len(h.openai.Tasks()) != 1 || len(h.gemini.Tasks()) > 0 {
				t.Errorf("%+v, %v; %d calls", end, err, len(h.openai.Tasks()))
			}
		})
	}
}

// TestAnswerAtOnceOnAFullDisk: if a result that came with its answer could not be stored, the operation waits for a
// decision. The provider is called again only by a decision.
func TestAnswerAtOnceOnAFullDisk(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]int{"none": 0, "one of two": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full := true
			h := build(t, func(h *testGateway, _ *gateway.Config) {
				h.openai.OnStart = func(ctx context.Context, task driver.Task, _ int) (driver.Update, error) {
					u := driver.Update{Done: true, ReportedUSD: "0.04", Usage: generate.Usage{Calls: 1, Images: task.N}}
					for k := range task.N {
						item := driver.Item{Err: media.Errorf(media.CodeDiskFull, "no space left")}
						if !full || k < kept {
							item = h.picture(ctx, t, byte(k))
						}
						u.Items = append(u.Items, item)
					}
					return u, nil
				}
			})
			lose := func() *generate.Result {
				t.Helper()
				full = true
				lost := h.must(t, generate.Request{Model: "GPT Image 2", N: 2, Fallback: []string{"Nano Banana Pro"}})
				e := lost.Slots[1].Error
				if lost.Status != generate.StatusRunning || len(lost.Outputs()) != kept || e == nil || e.Code != media.CodeDiskFull || e.Retryable || !h.log.Operation(lost.Operation).FinishedAt.IsZero() {
					t.Fatalf("%+v", lost)
				}
				for _, part := range []string{"MiB are needed", "cannot be fetched again", "atelier operations retry " + lost.Operation + " --all", "atelier operations cancel " + lost.Operation} {
					if !strings.Contains(e.Message, part) {
						t.Errorf("%q lacks %q", e.Message, part)
					}
				}
				full = false
				return lost
			}
			stands := func(res *generate.Result, err error) {
				t.Helper()
				if err != nil || res.Status != generate.StatusRunning || len(res.Outputs()) != kept || !res.Slots[1].Undecided() || res.Usage.Calls != 1 {
					t.Errorf("%+v, %v", res, err)
				}
			}

			first := lose().Operation
			stands(h.successor(t, nil).PollOnce(t.Context(), first))
			stands(h.successor(t, nil).Resume(t.Context(), first))

			second := lose().Operation
			if _, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: second}); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "--all") {
				t.Errorf("retry of what is safe: %v", err)
			}
			third := lose().Operation
			if res, err := h.Cancel(t.Context(), third); err != nil || res.Status != generate.StatusCancelled || len(res.Outputs()) != kept {
				t.Errorf("cancel: %+v, %v", res, err)
			}
			if n := len(h.openai.Tasks()); n != 3 {
				t.Errorf("%d calls before the decision, want 3", n)
			}
			fourth := lose().Operation
			again, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: fourth, All: true})
			if err != nil || again.Status != generate.StatusSucceeded || len(again.Outputs()) != 2 || len(h.openai.Tasks()) != 5 || len(h.gemini.Tasks()) > 0 {
				t.Errorf("retry of all: %+v, %v; %d calls", again, err, len(h.openai.Tasks()))
			}

			h.log.Fail = func(what string) error {
				if n := len(h.openai.Tasks()); what == "begin" || what == "attempt" && n == 5 {
					return nil
				}
				return media.Errorf(media.CodeDiskFull, "the database has no space either")
			}
			fifth := lose().Operation
			h.log.Fail = nil
			again, err = h.Retry(t.Context(), gateway.RetryOptions{Operation: fifth, All: true})
			if err != nil || again.Status != generate.StatusSucceeded || len(again.Outputs()) != 2 || len(h.openai.Tasks()) != 7 {
				t.Errorf("retry of all that is not journalled: %+v, %v; %d calls", again, err, len(h.openai.Tasks()))
			}
		})
	}
}
