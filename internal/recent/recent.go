// Package recent caches recently read values, so that a question asked many times a second is
// answered from memory. It imports only the standard library.
package recent

import (
	"sync"
	"time"
)

// Cache caches values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	// For is the lifetime of a value; changes by others become visible after at most this time.
	For time.Duration
	// Limit is the maximum number of values; when it is exceeded, all values are dropped.
	Limit int

	mu     sync.Mutex // guards the fields below
	values map[K]value[V]
	drops  int // number of times all values were dropped
}

// value is a value with the time at which it was read.
type value[V any] struct {
	v  V
	at time.Time
}

// Get returns the value of a key that was read less than For ago, otherwise the result of read. Errors are not cached.
func (c *Cache[K, V]) Get(key K, read func() (V, error)) (V, error) {
	now := time.Now() //nolint:forbidigo // the monotonic clock, by which values age
	c.mu.Lock()
	known, ok := c.values[key]
	drops := c.drops
	c.mu.Unlock()
	if ok && now.Sub(known.at) < c.For {
		return known.v, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if drops != c.drops { // it may predate the change
		return v, nil
	}
	if _, ok := c.values[key]; c.values == nil || !ok && len(c.values) >= c.Limit {
		c.values = map[K]value[V]{}
	}
	c.values[key] = value[V]{v, now}
	return v, nil
}

// Drop discards all values, including those that are being read.
func (c *Cache[K, V]) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values = nil
	c.drops++
}
