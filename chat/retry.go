package chat

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"

	"atelier/internal/patience"
	"atelier/media"
)

// RetryPolicy says how often a call is retried that was refused without being billed.
type RetryPolicy struct {
	// MaxAttempts is the maximum number of calls in total; 0 means 4.
	MaxAttempts int
	// First is the first wait; 0 means 500 ms. It grows by half with each retry, with jitter, up to 30 s. A longer wait
	// that the provider requests is used, up to MaxDelay.
	First time.Duration
	// MaxDelay is the maximum Retry-After that is honoured; 0 means 60 s. If a provider requests more, the call fails
	// at once, as do other calls of the model until then, for at most an hour.
	MaxDelay time.Duration
	// Sleep waits for d; nil means a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the clock; nil means time.Now. Rand returns a number from 0 to 1 that spreads calls which waited for the
	// same time; nil means math/rand.
	Now  func() time.Time
	Rand func() float64
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	p.MaxAttempts, p.First, p.MaxDelay = cmp.Or(p.MaxAttempts, 4), cmp.Or(p.First, 500*time.Millisecond), cmp.Or(p.MaxDelay, time.Minute)
	if p.Sleep == nil {
		p.Sleep = func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if p.Now == nil {
		p.Now = time.Now //nolint:forbidigo // the default clock
	}
	if p.Rand == nil {
		p.Rand = rand.Float64
	}
	return p
}

// ErrDailyQuota is wrapped by the error of a call that a daily quota refused.
var ErrDailyQuota = errors.New("the daily quota is used up")

// retrying retries refused calls. If the provider asks one call to wait, the other calls of the model wait as well:
// they would hit the same limit.
type retrying struct {
	Model
	policy RetryPolicy
	waits  *patience.Waits
}

// Generate implements [Model].
func (r retrying) Generate(ctx context.Context, req Request) (Response, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = r.policy.First, 30*time.Second
	var waited time.Time
	day := false // a wait for a daily quota has ended
	for try := 1; ; try++ {
		if err := r.turn(ctx, waited); err != nil {
			return Response{}, err
		}
		res, err := r.Model.Generate(ctx, req)
		e, ok := errors.AsType[*media.Error](err)
		if !ok {
			return res, err
		}
		if e.RetryAfter > 0 && (e.Code == media.CodeRateLimited || e.Code == media.CodeUnavailable) { // not if credit or size is the reason
			r.waits.Ask("", r.policy.Now(), e.RetryAfter)
		}
		daily := errors.Is(err, ErrDailyQuota)
		if daily && (day || e.RetryAfter == 0 || e.RetryAfter > r.policy.MaxDelay) { // no wait within a run helps
			e.Code, e.Retryable = media.CodeQuotaExceeded, false
		}
		day = day || daily
		if !e.Retryable || try >= r.policy.MaxAttempts || e.RetryAfter > r.policy.MaxDelay {
			return res, err
		}
		pause := max(wait.NextBackOff(), e.RetryAfter)
		if requested, until := r.waits.Remaining("", r.policy.Now(), time.Time{}); requested <= r.policy.MaxDelay { // another call may have a longer wait
			pause, waited = max(pause, requested), until
		}
		if err := r.policy.Sleep(ctx, pause); err != nil {
			return Response{}, err
		}
	}
}

// turn waits as long as the provider asked other calls of the model to wait, unless this call has already waited until
// then. The error has code media.CodeRateLimited if the wait exceeds MaxDelay. If ctx ends, turn returns the error of
// ctx.
func (r retrying) turn(ctx context.Context, waited time.Time) error {
	for {
		wait, until := r.waits.Remaining("", r.policy.Now(), waited)
		if wait == 0 {
			return nil
		}
		if wait > r.policy.MaxDelay {
			e := media.Errorf(media.CodeRateLimited, "%s is rate-limited: %s remain", r.Profile(), wait.Round(time.Second))
			e.RetryAfter = wait
			return e
		}
		// Calls must not all continue at once when the wait has ended.
		wait += time.Duration(r.policy.Rand() * float64(min(wait, time.Second)))
		if err := r.policy.Sleep(ctx, wait); err != nil {
			return err
		}
		waited = until
	}
}
