package generate

import (
	"cmp"
	"context"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

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
	slots   *semaphore.Weighted
	rate    *rate.Limiter
	breaker *gobreaker.TwoStepCircuitBreaker[any]
}

// lane makes the lane of a provider by the catalogue's limits.
func (g *Gateway) lane(provider string) *lane {
	concurrency, perMinute := g.config.Concurrency, 0
	most := 0
	for _, m := range g.config.Catalogue.rows {
		if m.Provider == provider {
			most, perMinute = max(most, m.Concurrency), max(perMinute, m.PerMinute)
		}
	}
	concurrency = cmp.Or(concurrency, most, defaultConcurrency)
	l := &lane{slots: semaphore.NewWeighted(int64(concurrency)), rate: rate.NewLimiter(rate.Inf, 1)}
	if perMinute > 0 { // spread evenly: a burst and what follows it would be more than a minute's
		l.rate = rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), 1)
	}
	l.breaker = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: provider, Timeout: breakerRest,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakerFailures },
	})
	return l
}

// enter waits for a turn. The error has code media.CodeUnavailable where the provider
// failed too often just now, and ctx's otherwise; without an error the caller calls
// leave with what became of the call.
func (l *lane) enter(ctx context.Context, provider string) (leave func(*media.Error), err *media.Error) {
	if err := l.rate.Wait(ctx); err != nil {
		if ctx.Err() == nil { // the deadline comes before the turn
			err = context.DeadlineExceeded
		}
		return nil, asError(err)
	}
	done, refused := l.breaker.Allow()
	if refused != nil {
		return nil, media.Errorf(media.CodeUnavailable, "%s failed %d times in a row and is not asked for %s: wait, or use another model", provider, breakerFailures, breakerRest)
	}
	return func(failed *media.Error) {
		done(failed == nil || !outage(failed))
	}, nil
}

// outage tells errors of the provider from errors of the request.
func outage(err *media.Error) bool {
	switch err.Code {
	case media.CodeUnavailable, media.CodeDeadline, media.CodeBadResponse:
		return true
	default:
		return false
	}
}
