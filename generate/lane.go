package generate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"atelier/internal/patience"
	"atelier/media"
)

const (
	// breakerFailures in a row close a provider for breakerRest.
	breakerFailures = 5
	breakerRest     = 30 * time.Second
)

// lane is the way to one provider: how many calls at once, how many a minute, and
// whether it answers at all.
type lane struct {
	all     limit
	rows    map[string]limit // by API model: the limits that a row sets for itself
	breaker *gobreaker.TwoStepCircuitBreaker[any]
	waits   patience.Waits
}

// limit bounds calls: how many at once, and how many a minute.
type limit struct {
	slots *semaphore.Weighted
	rate  *rate.Limiter
}

// newLimit makes a limit; 0 bounds nothing.
func newLimit(concurrency, perMinute int) limit {
	l := limit{semaphore.NewWeighted(int64(cmp.Or(concurrency, math.MaxInt))), rate.NewLimiter(rate.Inf, 1)}
	if perMinute > 0 { // spread evenly: a burst and what follows it would be more than a minute's
		l.rate = rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), 1)
	}
	return l
}

// lane makes the lane of a provider by the catalogue's limits: the highest of its rows for
// all of them, and each row's own for its model.
func (g *Gateway) lane(provider string) *lane {
	most, perMinute := 0, 0
	l := &lane{rows: map[string]limit{}}
	for _, m := range g.config.Catalogue.rows {
		if m.Provider == provider {
			most, perMinute = max(most, m.Concurrency), max(perMinute, m.PerMinute)
			l.rows[m.APIModel] = newLimit(m.Concurrency, m.PerMinute)
		}
	}
	l.all = newLimit(cmp.Or(g.config.Concurrency, most, defaultConcurrency), perMinute)
	l.breaker = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: provider, Timeout: breakerRest,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerFailures },
	})
	return l
}

// limits are those of a model: its own first, so that what waits for it keeps nobody else
// from the provider.
func (l *lane) limits(m Model) []limit {
	if own, ok := l.rows[m.APIModel]; ok {
		return []limit{own, l.all}
	}
	return []limit{l.all}
}

// admit waits until a call of a model may be under way; the caller calls done when it is
// over. The error is ctx's.
func (l *lane) admit(ctx context.Context, m Model) (done func(), err error) {
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

// enter waits for a turn. The error has code media.CodeUnavailable where the provider
// failed too often just now, and ctx's otherwise; without an error the caller calls
// leave with what became of the call.
func (l *lane) enter(ctx context.Context, m Model) (leave func(*media.Error), err *media.Error) {
	for _, next := range l.limits(m) {
		if err := next.rate.Wait(ctx); err != nil {
			if ctx.Err() == nil { // the deadline comes before the turn
				err = context.DeadlineExceeded
			}
			return nil, asError(err)
		}
	}
	done, refused := l.breaker.Allow()
	if refused != nil {
		return nil, media.Errorf(media.CodeUnavailable, "%s failed %d times in a row and is not asked for %s: wait, or use another model", m.Provider, breakerFailures, breakerRest)
	}
	return func(failed *media.Error) {
		done(failed == nil || !outage(failed))
	}, nil
}

// outage tells errors of the provider from errors of the request.
func outage(err *media.Error) bool {
	if errors.Is(err, ErrContested) {
		return false // it answers
	}
	switch err.Code {
	case media.CodeUnavailable, media.CodeDeadline, media.CodeBadResponse:
		return true
	default:
		return false
	}
}
