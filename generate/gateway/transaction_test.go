package gateway_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/operation"
	"atelier/media"
)

// transactionLog records the saves and marks those within a transaction.
type transactionLog struct {
	*generatetest.Log
	broken bool // the transaction fails

	mu    sync.Mutex // guards saves
	saves []string
}

type transactionKey struct{}

func (c *transactionLog) save(ctx context.Context, what string) {
	if ctx.Value(transactionKey{}) != nil {
		what = "+" + what
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saves = append(c.saves, what)
}

func (c *transactionLog) InTransaction(ctx context.Context, fn func(context.Context)) error {
	fn(context.WithValue(ctx, transactionKey{}, true))
	if c.broken {
		return errors.New("the disk is gone")
	}
	return nil
}

func (c *transactionLog) Attempt(ctx context.Context, a operation.Attempt) error {
	c.save(ctx, "attempt "+string(a.Status))
	return c.Log.Attempt(ctx, a)
}

func (c *transactionLog) SlotDone(ctx context.Context, op string, s generate.Slot) error {
	c.save(ctx, "slot")
	return c.Log.SlotDone(ctx, op, s)
}

func (c *transactionLog) Record(ctx context.Context, o media.Output) (media.Output, error) {
	c.save(ctx, "record")
	o.ID = "recorded"
	return o, nil
}

// TestWhatBelongsTogetherIsOneCommit: a picture's record and its slot are saved in one transaction, with the last
// picture also the call's receipt. If the transaction fails, each is saved separately.
func TestWhatBelongsTogetherIsOneCommit(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		var c *transactionLog
		h := build(t, func(h *testGateway, cfg *gateway.Config) {
			c = &transactionLog{Log: h.log, broken: broken}
			cfg.Operations, cfg.Recorder = c, c
		})
		h.openai.OnStart = func(ctx context.Context, _ driver.Task, _ int) (driver.Update, error) {
			first := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 1))
			second := generatetest.Stored(ctx, t, h.codec, generatetest.PNG(70, 70, 2))
			return driver.Update{Done: true, Items: []driver.Item{{Blob: &first}, {Blob: &second}}}, nil
		}
		got, err := h.Generate(t.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house", N: 2})
		if err != nil || got.Status != generate.StatusSucceeded || got.Slots[1].Output.ID != "recorded" || len(got.Warnings) != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		want := []string{"attempt submitted", "+record", "+slot", "+record", "+slot", "+attempt succeeded"}
		if broken {
			want = []string{"attempt submitted", "+record", "+slot", "record", "slot", "+record", "+slot", "+attempt succeeded", "record", "slot", "attempt succeeded"}
		}
		if !slices.Equal(c.saves, want) {
			t.Errorf("broken %v: %q", broken, c.saves)
		}
	}
}
