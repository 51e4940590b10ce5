package gateway_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
	"atelier/media/wire"
)

// memoryJournal is a journal that keeps its steps, as an engine does across a restart.
type memoryJournal struct {
	mu    sync.Mutex // guards steps
	steps map[string][]byte
	name  string
	root  *memoryJournal
}

func (d *memoryJournal) Step(ctx context.Context, name step.Name, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	key := d.name + "/" + name.String()
	d.root.mu.Lock()
	known, ok := d.root.steps[key]
	d.root.mu.Unlock()
	if ok {
		return known, nil
	}
	out, err := fn(ctx)
	if err != nil {
		return nil, err
	}
	d.root.mu.Lock()
	defer d.root.mu.Unlock()
	d.root.steps[key] = out
	return out, nil
}

func (d *memoryJournal) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func (d *memoryJournal) Child(_ context.Context, name step.Name) (journal.Journal, error) {
	return &memoryJournal{name: name.String(), root: d.root}, nil
}

// TestReplayMakesNoSecondCall: a request whose process died after its calls, before it saved anything, is replayed on
// the same journal and gives the same result without new calls.
func TestReplayMakesNoSecondCall(t *testing.T) {
	t.Parallel()
	j := &memoryJournal{steps: map[string][]byte{}}
	j.root = j
	h := build(t, func(_ *testGateway, c *gateway.Config) {
		c.Journal, c.Operations = j, operation.NopLog{}
	})
	var calls atomic.Int32
	h.gemini.OnStart = func(ctx context.Context, task driver.Task, _ int) (driver.Update, error) {
		calls.Add(1)
		if strings.HasSuffix(task.Key, "-2") {
			e := media.Errorf(media.CodeModerated, "refused")
			return driver.Update{Done: true, Items: []driver.Item{{Err: e, Safety: &generate.Safety{Blocked: true}}}}, nil
		}
		b := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
		return driver.Update{Done: true, Items: []driver.Item{{Blob: &b, Seed: number(int64(5))}}}, nil
	}
	r := generate.Request{Model: "Nano Banana Pro", N: 2, IdempotencyKey: "k"}
	first := h.must(t, r)
	again := h.must(t, r)
	if calls.Load() != 2 {
		t.Errorf("%d calls, want 2", calls.Load())
	}
	if again.Status != generate.StatusPartial || again.Slots[0].Output.Digest != first.Slots[0].Output.Digest ||
		*again.Slots[0].Seed != 5 || again.Slots[1].Error.Code != media.CodeModerated || !again.Slots[1].Safety.Blocked {
		t.Errorf("replayed result %+v", again)
	}
	for name, b := range j.steps {
		if wire.NameMedia(string(b)) != string(b) {
			t.Errorf("step %s contains base64", name)
		}
	}
}
