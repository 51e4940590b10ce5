// Package patience reads how long a provider asks to wait, and tracks until when it asked not to be called. A wait that
// one call is asked for applies to other calls as well, so that they do not run into the same limit one by one.
// The gateway's calls and those of chat models share only this implementation, not the waits.
//
// It has no errors and imports only the standard library.
package patience

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// maxWait is the maximum time for which a provider's request applies to other calls: after that,
// one of them tries again.
const maxWait = time.Hour

// dayText matches the name of a daily quota.
var dayText = regexp.MustCompile(`(?i)\bper[ _-]?day\b|PerDay|\b[RT]PD\b|\bdaily (limit|quota)`)

// Daily reports whether a provider's message says that a daily quota is used up. Such a request to
// wait is followed at most once, because providers name seconds there too.
func Daily(message string) bool { return dayText.MatchString(message) }

// maxSpan is longer than any real wait and does not overflow.
const maxSpan = 10_000 * time.Hour

// Seconds converts seconds to a duration, limited to maxSpan; 0 for anything but a positive number.
func Seconds(n float64) time.Duration {
	if math.IsNaN(n) || n <= 0 {
		return 0
	}
	return time.Duration(min(n, maxSpan.Seconds()) * float64(time.Second))
}

// Requested returns how long the headers of an answer ask to wait: the longest of Retry-After, in seconds or as a date,
// and Retry-After-Ms; if there is none, the longest reset time of OpenAI's exhausted limits; if there is none,
// OpenRouter's X-RateLimit-Reset in Unix milliseconds.
func Requested(h http.Header, now time.Time) (wait time.Duration) {
	after := h.Get("Retry-After")
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = Seconds(ms / 1000)
	}
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		wait = max(wait, Seconds(s))
	} else if at, err := http.ParseTime(after); err == nil {
		wait = max(wait, at.Sub(now))
	}
	if wait > 0 {
		return wait
	}
	for _, limit := range []string{"Requests", "Tokens", "Input-Images"} {
		if reset, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + limit)); err == nil && h.Get("X-Ratelimit-Remaining-"+limit) == "0" {
			wait = max(wait, reset)
		}
	}
	if ms, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && wait == 0 {
		wait = max(0, time.UnixMilli(ms).Sub(now))
	}
	return wait
}

// Waits holds the times until which a provider asked not to be called. The zero value is ready to
// use and has no waits. It is safe for concurrent use.
type Waits struct {
	mu    sync.Mutex // guards until
	until map[string]time.Time
}

// Ask records that a model, or all models of the provider if the name is empty, must not be called
// for some time, at most an hour. A longer earlier wait stays in effect.
func (w *Waits) Ask(model string, now time.Time, d time.Duration) {
	end := now.Add(min(d, maxWait))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.until == nil {
		w.until = map[string]time.Time{}
	}
	if w.until[model].Before(end) {
		w.until[model] = end
	}
}

// End returns when a model may be called; the zero time if there is no wait.
func (w *Waits) End(model string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, own := w.until[""], w.until[model]
	if own.After(all) {
		return own
	}
	return all
}

// Remaining returns how long a call of a model still has to wait, and until when. It returns 0 for
// a call that has already waited until that time.
func (w *Waits) Remaining(model string, now, waited time.Time) (remaining time.Duration, until time.Time) {
	until = w.End(model)
	if until.Equal(waited) {
		return 0, until
	}
	return max(0, until.Sub(now)), until
}
