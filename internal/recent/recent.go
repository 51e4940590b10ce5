// Package recent keeps values that were read a moment ago, so that the same question asked many times
// a second is answered from memory. It imports the standard library alone.
package recent

import (
	"sync"
	"time"
)

// Cache keeps values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	// For is how long a value counts: what others change shows that much later.
	For time.Duration
	// Limit is how many values are kept; all are dropped when there are more.
	Limit int

	mu     sync.Mutex // guards what follows
	values map[K]value[V]
	drops  int // how often all values were dropped
}

// value is what was read, and when.
type value[V any] struct {
	v  V
	at time.Time
}

// Get returns the value of a key that was read less than For ago, else what read gives. An error is not kept.
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
	if drops != c.drops { // it may be from before the change
		return v, nil
	}
	if _, ok := c.values[key]; c.values == nil || !ok && len(c.values) >= c.Limit {
		c.values = map[K]value[V]{}
	}
	c.values[key] = value[V]{v, now}
	return v, nil
}

// Drop forgets all values, and those that are being read.
func (c *Cache[K, V]) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values = nil
	c.drops++
}
