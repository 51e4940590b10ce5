// Package lane limits the calls to one provider: how many run concurrently, how many begin per minute, and whether the
// provider is called at all after several failures in a row.
//
// Errors are media.Error values: media.CodeUnavailable while a provider is not called, and those of an ended context.
//
// It may import media, catalog, driver, fault and internal/patience.
package lane

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/internal/patience"
	"atelier/media"
)

const (
	// After breakerFailures failures in a row a provider is not called for breakerRest.
	breakerFailures = 5
	breakerRest     = 30 * time.Second
)

// Lane holds the limits of one provider. It is safe for concurrent use.
type Lane struct {
	// Waits are the waits that the provider requested; see package patience.
	Waits patience.Waits

	all     limit
	rows    map[string]limit // by API model: a row's own limits
	breaker *gobreaker.TwoStepCircuitBreaker[any]
}

type limit struct {
	slots *semaphore.Weighted
	rate  *rate.Limiter
}

// newLimit creates a limit; 0 means no limit.
func newLimit(concurrency, perMinute int) limit {
	l := limit{semaphore.NewWeighted(int64(cmp.Or(concurrency, math.MaxInt))), rate.NewLimiter(rate.Inf, 1)}
	if perMinute > 0 { // evenly spread, because a burst and the calls after it would exceed a minute's limit
		l.rate = rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), 1)
	}
	return l
}

// New creates the lane of a provider. Its concurrency is concurrency, else the highest of the provider's models, else
// usual; each model also has its own limits.
func New(provider string, models []catalog.Model, concurrency, usual int) *Lane {
	most, perMinute := 0, 0
	l := &Lane{rows: map[string]limit{}}
	for _, m := range models {
		if m.Provider == provider {
			most, perMinute = max(most, m.Concurrency), max(perMinute, m.PerMinute)
			l.rows[m.APIModel] = newLimit(m.Concurrency, m.PerMinute)
		}
	}
	l.all = newLimit(cmp.Or(concurrency, most, usual), perMinute)
	l.breaker = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: provider, Timeout: breakerRest,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerFailures },
		IsExcluded:  func(err error) bool { return errors.Is(err, ErrUnknown) },
		// An outage is the provider's error rather than the request's; a provider that reports a contested request answers.
		IsSuccessful: func(err error) bool {
			outages := []media.Code{media.CodeUnavailable, media.CodeDeadline, media.CodeBadResponse}
			return err == nil || errors.Is(err, driver.ErrContested) || !slices.Contains(outages, media.CodeOf(err))
		},
	})
	return l
}

// limits returns the limits of a model: its own first, so that calls that wait for it do not block other models.
func (l *Lane) limits(m catalog.Model) []limit {
	if own, ok := l.rows[m.APIModel]; ok {
		return []limit{own, l.all}
	}
	return []limit{l.all}
}

// Admit waits until a call of a model may run; the caller calls done when it is over. The error is ctx's.
func (l *Lane) Admit(ctx context.Context, m catalog.Model) (done func(), err error) {
	var held []limit
	done = func() {
		for _, h := range held {
			h.slots.Release(1)
		}
	}
	for _, next := range l.limits(m) {
		if err := next.slots.Acquire(ctx, 1); err != nil {
			done()
			return func() {}, err
		}
		held = append(held, next)
	}
	return done, nil
}

// ErrUnknown is the outcome of a call that its caller left, or did not make: it says nothing about the provider.
var ErrUnknown = errors.New("the outcome is unknown")

// Enter waits for a turn. The error has code media.CodeUnavailable if the provider has just failed too often, and is
// ctx's otherwise; without an error the caller calls leave with the outcome of the call.
func (l *Lane) Enter(ctx context.Context, m catalog.Model) (leave func(error), err *media.Error) {
	for _, next := range l.limits(m) {
		if err := next.rate.Wait(ctx); err != nil {
			if ctx.Err() == nil { // the deadline is before the turn
				err = context.DeadlineExceeded
			}
			return nil, fault.Of(err)
		}
	}
	leave, refused := l.breaker.Allow()
	if refused != nil {
		return nil, media.Errorf(media.CodeUnavailable, "%s failed %d times in a row and is not called for %s: wait, or use another model", m.Provider, breakerFailures, breakerRest)
	}
	return leave, nil
}
