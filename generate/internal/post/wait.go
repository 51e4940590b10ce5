package post

import (
	"net/http"
	"strconv"
	"time"
)

// LongestWait is the longest wait that is believed; a provider that asks for more
// says nothing.
const LongestWait = 24 * time.Hour

// wait reads how long the provider asks to wait: Retry-After-Ms, Retry-After in seconds or
// as a date, the reset of a limit that is used up; 0 if it does not say.
func (p *Provider) wait(h http.Header) time.Duration {
	for _, read := range []func(http.Header, time.Time) time.Duration{milliseconds, seconds, date, limits, reset} {
		if wait := read(h, p.config.Now()); wait > 0 && wait <= LongestWait {
			return wait
		}
	}
	return 0
}

// Seconds is a wait of so many seconds; 0 for what is none.
func Seconds(s string) time.Duration { return span(s, time.Second) }

// span is a number of units.
func span(s string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0) || n > float64(LongestWait/unit) {
		return 0
	}
	return time.Duration(n * float64(unit))
}

func milliseconds(h http.Header, _ time.Time) time.Duration {
	return span(h.Get("Retry-After-Ms"), time.Millisecond)
}

func seconds(h http.Header, _ time.Time) time.Duration { return Seconds(h.Get("Retry-After")) }

func date(h http.Header, now time.Time) time.Duration {
	at, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	return at.Sub(now)
}

// limits reads the resets of OpenAI's limits: the longest of those that are used up.
func limits(h http.Header, _ time.Time) time.Duration {
	var longest time.Duration
	for _, limit := range []string{"Requests", "Tokens", "Input-Images"} {
		if wait, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + limit)); err == nil && h.Get("X-Ratelimit-Remaining-"+limit) == "0" {
			longest = max(longest, wait)
		}
	}
	return longest
}

// reset reads the moment, in milliseconds since 1970, at which OpenRouter's limit ends.
func reset(h http.Header, now time.Time) time.Duration {
	ms, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil {
		return 0
	}
	return time.UnixMilli(ms).Sub(now)
}
