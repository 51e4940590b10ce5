package wire

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"sync"

	"atelier/media"
)

// Lifted is one media item that was found in a stream or a text.
type Lifted struct {
	// Token is the text that replaces the item; a tombstone if Err is set.
	Token string
	// Blob is the stored item, unless Err is set.
	Blob    media.Blob
	Variant Variant
	// Field is the path of the JSON field that contained the item ("data.b64_json"), without array indexes. For nested
	// JSON, it is the path in the inner document. It is empty outside JSON.
	Field string
	// Err is why the item was not stored, such as too_large, disk_full or bad_response.
	Err error
}

// Collector collects the items that are lifted under its context. It is safe for concurrent use, and its zero value is
// ready to use.
type Collector struct {
	mu     sync.Mutex // guards all below
	items  []Lifted
	spared map[string]bool
}

type collectorKey struct{}

// WithCollector returns a context with a new collector. All items that are lifted under this context are reported to
// it.
func WithCollector(ctx context.Context) (context.Context, *Collector) {
	c := &Collector{}
	return context.WithValue(ctx, collectorKey{}, c), c
}

func collectorOf(ctx context.Context) *Collector {
	c, _ := ctx.Value(collectorKey{}).(*Collector)
	return c
}

// Take returns the blob whose token or marker this is. It returns false for a tombstone and for a token that was not
// reported to this collector.
func (c *Collector) Take(token string) (media.Blob, bool) {
	l, ok := c.Lookup(token)
	return l.Blob, ok && l.Err == nil
}

// Lookup is like Take, but returns the whole record, also of an item that failed.
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

// Spare marks an item as a preview, which does not count towards Limits.Items.
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

// counted returns how many of the n items of a stream count towards Limits.Items. emitted counts the stream's tokens.
func (c *Collector) counted(n int, emitted map[string]int) int {
	if c == nil {
		return n
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for token := range c.spared {
		n -= emitted[token]
	}
	return n
}

// All returns a copy of all items, failed ones included, in the order in which they ended.
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
