package wire

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"sync"

	"atelier/media"
)

// Lifted is one media item that was found in a stream.
type Lifted struct {
	// Token stands in the stream where the item was; a tombstone if Err is set.
	Token string
	// Blob is the item, stored, unless Err is set.
	Blob    media.Blob
	Variant Variant
	// Field is the path of the JSON field that held it ("data.b64_json"), array
	// indexes omitted; empty outside JSON.
	Field string
	// Err says why the item was not taken: too_large, disk_full, bad_response.
	Err error
}

// Collector gathers what was lifted from the answers to requests with its context.
// It is safe for concurrent use; the zero value is ready.
type Collector struct {
	mu     sync.Mutex // guards all below
	items  []Lifted
	spared map[string]bool
}

type collectorKey struct{}

// WithCollector returns a context whose requests report what they lift.
func WithCollector(ctx context.Context) (context.Context, *Collector) {
	c := &Collector{}
	return context.WithValue(ctx, collectorKey{}, c), c
}

func collectorOf(ctx context.Context) *Collector {
	c, _ := ctx.Value(collectorKey{}).(*Collector)
	return c
}

// Take returns the blob that was lifted as token, in token or marker form. It
// reports false for a token that these requests did not bring, and for a tombstone.
func (c *Collector) Take(token string) (media.Blob, bool) {
	l, ok := c.Lookup(token)
	return l.Blob, ok && l.Err == nil
}

// Lookup is Take with everything known, failures included.
func (c *Collector) Lookup(token string) (Lifted, bool) {
	if strings.HasPrefix(token, magic) || strings.HasPrefix(token, noneMagic) {
		token = base64.StdEncoding.EncodeToString([]byte(padded(token)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.items, func(l Lifted) bool { return l.Token == token })
	if i < 0 {
		return Lifted{}, false
	}
	return c.items[i], true
}

// Spare says that an item is temporary, a preview: it does not count for Limits.Items.
func (c *Collector) Spare(token string) {
	l, ok := c.Lookup(token)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spared == nil {
		c.spared = map[string]bool{}
	}
	if ok {
		c.spared[l.Token] = true
	}
}

// counted is how many of n items count.
func (c *Collector) counted(n int) int {
	if c == nil {
		return n
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return n - len(c.spared)
}

// All copies every item in the order in which they ended, failures included.
func (c *Collector) All() []Lifted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.items)
}

func (c *Collector) add(l Lifted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = append(c.items, l)
}
