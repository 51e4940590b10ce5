package post

import (
	"strconv"
	"time"
)

// LongestWait is the longest wait that is believed; a provider that asks for more
// says nothing.
const LongestWait = 24 * time.Hour

// Wait reads how long the provider asks to wait, from a Retry-After in seconds; 0 if
// it does not say, or not so.
func (a *Answer) Wait() time.Duration {
	s, err := strconv.ParseFloat(a.Header.Get("Retry-After"), 64)
	if err != nil || !(s > 0) || s > LongestWait.Seconds() {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
