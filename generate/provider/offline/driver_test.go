package offline_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "golang.org/x/image/webp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/provider/offline"
	"atelier/media"
	"atelier/media/imaging"
	"atelier/media/probe"
)

// memoryStore is a store for tests.
type memoryStore struct {
	mu    sync.Mutex // guards blobs
	blobs map[media.Digest][]byte
	fail  error
	after func(n int) // called with the number of blobs
}

func (m *memoryStore) Store(ctx context.Context, r io.Reader, _ string) (media.Blob, error) {
	if m.fail != nil {
		return media.Blob{}, m.fail
	}
	if err := ctx.Err(); err != nil {
		return media.Blob{}, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return media.Blob{}, err
	}
	d := media.DigestOf(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs == nil {
		m.blobs = map[media.Digest][]byte{}
	}
	m.blobs[d] = b
	if m.after != nil {
		m.after(len(m.blobs))
	}
	return media.Blob{Digest: d, SizeBytes: int64(len(b)), Facts: probe.Head(b)}, nil
}

func (m *memoryStore) Open(_ context.Context, d media.Digest) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[d]
	if !ok {
		return nil, media.Errorf(media.CodeNotFound, "no blob %s", d)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func newDriver(t *testing.T, m *memoryStore) *offline.Driver {
	t.Helper()
	d, err := offline.New(offline.Config{Store: m})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func start(t *testing.T, task driver.Task) (driver.Update, *memoryStore) {
	t.Helper()
	m := &memoryStore{}
	up, err := newDriver(t, m).Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return up, m
}

func seed(n int64) *int64 { return &n }

func TestStartDrawsWhatWasAsked(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]driver.Task{
		"png":   {Prompt: "solar panels at sunrise", Width: 200, Height: 120},
		"jpeg":  {Prompt: "lighthouse in a storm", Width: 96, Height: 96, OutputFormat: "jpeg"},
		"webp":  {Prompt: "paper cut hills", Width: 96, Height: 64, OutputFormat: "webp"},
		"least": {Prompt: "a city of the future", Width: 64, Height: 64},
		"wide":  {Prompt: "coal power station at night", Width: 400, Height: 64},
		"tall":  {Prompt: "eco-friendly building", Width: 64, Height: 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, m := start(t, task)
			if !up.Done || len(up.Items) != 1 || up.Items[0].Blob == nil || up.Usage.Images != 1 {
				t.Fatalf("update = %+v", up)
			}
			b := up.Items[0].Blob
			img, format, err := image.Decode(bytes.NewReader(m.blobs[b.Digest]))
			if err != nil {
				t.Fatal(err)
			}
			if img.Bounds().Dx() != task.Width || img.Bounds().Dy() != task.Height {
				t.Errorf("size = %v, want %dx%d", img.Bounds(), task.Width, task.Height)
			}
			want := "png"
			if task.OutputFormat != "" {
				want = task.OutputFormat
			}
			if format != want || b.MIMEType != "image/"+want {
				t.Errorf("format = %s, MIME type %s, want %s", format, b.MIMEType, want)
			}
			if up.Metadata["note"] != offline.Note {
				t.Errorf("metadata = %v", up.Metadata)
			}
		})
	}
}

func TestLabelIsNotThatOfAModel(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"png", "jpeg", "webp"} {
		up, m := start(t, driver.Task{Prompt: "hills", Width: 64, Height: 64, OutputFormat: format})
		l, err := imaging.ReadLabel(bytes.NewReader(m.blobs[up.Items[0].Blob.Digest]))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(l.SourceType, "/algorithmicMedia") || !strings.Contains(l.Description, "not by an AI model") {
			t.Errorf("%s: label = %+v", format, l)
		}
	}
}

func TestSeedsRepeatAndDiffer(t *testing.T) {
	t.Parallel()
	task := driver.Task{Prompt: "wind farm at sunset", Width: 96, Height: 96, N: 3}
	a, _ := start(t, task)
	b, _ := start(t, task)
	seen := map[media.Digest]bool{}
	for i := range a.Items {
		if a.Items[i].Blob.Digest != b.Items[i].Blob.Digest {
			t.Errorf("picture %d differs between equal requests", i+1)
		}
		seen[a.Items[i].Blob.Digest] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different pictures, want 3", len(seen))
	}
	alone, _ := start(t, driver.Task{Prompt: task.Prompt, Width: 96, Height: 96, Seed: a.Items[2].Seed})
	if alone.Items[0].Blob.Digest != a.Items[2].Blob.Digest {
		t.Error("the third picture's seed alone does not give the third picture")
	}
}

func TestPromptAndNegativePromptMatter(t *testing.T) {
	t.Parallel()
	digest := func(prompt, negative string) media.Digest {
		up, _ := start(t, driver.Task{Prompt: prompt, NegativePrompt: negative, Width: 96, Height: 96, Seed: seed(7)})
		return up.Items[0].Blob.Digest
	}
	all := map[media.Digest]string{}
	for _, p := range [][2]string{
		{"wind turbines and solar panels", ""},
		{"wind turbines and solar panels", "turbines"},
		{"wind turbines and solar panels at night", ""},
		{"wind turbines and solar panels, blue", ""},
		{"wind turbines and solar panels, sepia", ""},
	} {
		d := digest(p[0], p[1])
		if other, ok := all[d]; ok {
			t.Errorf("%v looks the same as %v", p, other)
		}
		all[d] = strings.Join(p[:], " − ")
	}
	if digest("wind turbines and solar panels", "turbines") != digest("solar panels without wind turbines", "") {
		t.Error("a negative prompt and a negation in the prompt should leave out the same")
	}
}

func TestBadTasks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task driver.Task
		code media.Code
		says string
	}{
		"too small":  {driver.Task{Width: 63, Height: 64}, media.CodeInvalid, "64 to 4096"},
		"too large":  {driver.Task{Width: 4097, Height: 64}, media.CodeInvalid, "64 to 4096"},
		"negative":   {driver.Task{Width: -1, Height: 64}, media.CodeInvalid, "64 to 4096"},
		"format":     {driver.Task{OutputFormat: "gif"}, media.CodeUnsupported, "png, jpeg and webp"},
		"edit":       {driver.Task{Method: generate.MethodEdit}, media.CodeInvalid, "input picture"},
		"options":    {driver.Task{Options: map[string]any{"delay_ms": "soon"}}, media.CodeInvalid, "offline options"},
		"delay":      {driver.Task{Options: map[string]any{"delay_ms": -1}}, media.CodeInvalid, "delay_ms"},
		"told to":    {driver.Task{Options: map[string]any{"fail": "rate_limited"}}, media.CodeRateLimited, "told to fail"},
		"full store": {driver.Task{Width: 64, Height: 64}, media.CodeDiskFull, "store image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &memoryStore{fail: media.Errorf(media.CodeDiskFull, "no space")}
			_, err := newDriver(t, m).Start(t.Context(), c.task)
			if media.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error = %v (%s), want %s with %q", err, media.CodeOf(err), c.code, c.says)
			}
		})
	}
	if _, err := offline.New(offline.Config{}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("no store: %v", err)
	}
}

func TestScriptedSlots(t *testing.T) {
	t.Parallel()
	var frames []int
	up, _ := start(t, driver.Task{
		Prompt: "a forest", Width: 64, Height: 64, N: 3,
		Options: map[string]any{"fail_slots": []any{2}, "moderate_slots": []any{float64(3)}, "partials": 2},
		Partial: func(slot int, b media.Blob) {
			if b.Digest.IsZero() {
				t.Error("a preview without bytes")
			}
			frames = append(frames, slot)
		},
	})
	if len(frames) != 2 || frames[0] != 1 || frames[1] != 1 {
		t.Errorf("previews of slots %v, want two of slot 1", frames)
	}
	if up.Items[0].Blob == nil || up.Usage.Images != 1 {
		t.Error("the first picture is lost")
	}
	if e := up.Items[1].Err; e == nil || e.Code != media.CodeUnavailable || !e.Retryable {
		t.Errorf("slot 2: %v", e)
	}
	if e := up.Items[2].Err; e == nil || e.Code != media.CodeModerated || up.Items[2].Safety == nil || !up.Items[2].Safety.Blocked {
		t.Errorf("slot 3: %v", e)
	}
}

func TestCancelKeepsFinishedPictures(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := &memoryStore{after: func(n int) {
		if n == 2 {
			cancel()
		}
	}}
	up, err := newDriver(t, m).Start(ctx, driver.Task{Prompt: "dunes", Width: 64, Height: 64, N: 50})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if len(up.Items) != 2 || up.Items[1].Blob == nil {
		t.Errorf("%d items, want the 2 that were finished", len(up.Items))
	}
}

func TestDelayWaitsAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDriver(t, &memoryStore{})
		task := driver.Task{Prompt: "x", Width: 64, Height: 64, Options: map[string]any{"delay_ms": 5000}}
		begin := time.Now()
		if _, err := d.Start(t.Context(), task); err != nil || time.Since(begin) != 5*time.Second {
			t.Errorf("error %v after %v, want none after 5s", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		if _, err := d.Start(ctx, task); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("error %v after %v, want a deadline after 1s", err, time.Since(begin))
		}
	})
}

func TestConcurrentStarts(t *testing.T) {
	t.Parallel()
	m := &memoryStore{}
	d := newDriver(t, m)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := d.Start(context.Background(), driver.Task{Prompt: "sea", Width: 64, Height: 64, Seed: seed(int64(i))}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(m.blobs) != 8 {
		t.Errorf("%d pictures, want 8", len(m.blobs))
	}
}

func TestSynchronousContract(t *testing.T) {
	t.Parallel()
	d := newDriver(t, &memoryStore{})
	if d.Provider() != offline.Provider || d.Ready() != nil {
		t.Error("the offline driver is always ready")
	}
	if _, err := d.Poll(t.Context(), driver.Task{}, driver.Handle{ID: "x"}); media.CodeOf(err) != media.CodeUnsupported {
		t.Errorf("poll: %v", err)
	}
	if err := d.Cancel(t.Context(), driver.Handle{ID: "x"}); err != nil {
		t.Errorf("cancel: %v", err)
	}
}

func TestAspectRatio(t *testing.T) {
	t.Parallel()
	up, _ := start(t, driver.Task{Prompt: "tiles, bauhaus", AspectRatio: "16:9"})
	b := up.Items[0].Blob
	if r := float64(b.Width) / float64(b.Height); r < 1.7 || r > 1.85 {
		t.Errorf("%dx%d is not 16:9", b.Width, b.Height)
	}
}
