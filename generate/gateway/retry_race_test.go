package gateway_test

import (
	"context"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/media"
)

// racingLog is a log in which another process works between a read and the hold that follows it.
type racingLog struct {
	*generatetest.Log
	once  sync.Once
	other func()
}

// Hold lets the other process work first.
func (l *racingLog) Hold(ctx context.Context, operation, holder string) error {
	l.once.Do(l.other)
	return l.Log.Hold(ctx, operation, holder)
}

// TestRetryOfWhatAnotherEnded: Retry returns the operation as another process ended it.
func TestRetryOfWhatAnotherEnded(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	healed := h.failing(t, failure(media.CodeQuotaExceeded))
	first := h.must(t, threeImages())
	healed.Store(true)
	log := &racingLog{Log: h.log}
	log.other = func() {
		if got, err := h.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation}); err != nil || got.Status != generate.StatusSucceeded {
			t.Errorf("the other: %+v, %v", got, err)
		}
	}
	late := h.successor(t, func(c *gateway.Config) { c.Operations = log })
	got, err := late.Retry(t.Context(), gateway.RetryOptions{Operation: first.Operation})
	if err != nil || got.Status != generate.StatusSucceeded || len(got.Outputs()) != 3 || len(h.gemini.Tasks()) != 4 {
		t.Errorf("%+v, %v after %d calls", got, err, len(h.gemini.Tasks()))
	}
}
