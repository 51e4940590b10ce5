package chat

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"atelier/media"
)

// RetryPolicy says how often a call that was refused without being billed is
// repeated.
type RetryPolicy struct {
	// Tries is the number of calls in all; 0 means 4.
	Tries int
	// First is the first wait; 0 means 500 ms. It doubles, with jitter, up to 30 s;
	// a longer wait asked for by the provider wins, up to Longest.
	First time.Duration
	// Longest is the most that a provider's Retry-After is honoured; 0 means 60 s. A
	// provider that asks for more fails at once.
	Longest time.Duration
	// Sleep waits; nil means a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	if p.Tries == 0 {
		p.Tries = 4
	}
	if p.First == 0 {
		p.First = 500 * time.Millisecond
	}
	if p.Longest == 0 {
		p.Longest = time.Minute
	}
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	return p
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retrying repeats refused calls.
type retrying struct {
	Model
	policy RetryPolicy
}

// Generate implements [Model].
func (r retrying) Generate(ctx context.Context, req Request) (Response, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = r.policy.First, 30*time.Second
	for try := 1; ; try++ {
		res, err := r.Model.Generate(ctx, req)
		var e *media.Error
		if err == nil || !errors.As(err, &e) || !e.Retryable || try >= r.policy.Tries || e.RetryAfter > r.policy.Longest {
			return res, err
		}
		if err := r.policy.Sleep(ctx, max(wait.NextBackOff(), e.RetryAfter)); err != nil {
			return Response{}, err
		}
	}
}
