package journal

import (
	"context"
	"sync/atomic"
)

// Relay carries calls that may be billed in a process of its own, so that an answer outlives
// the process that asked for it: the next one fetches the answer instead of asking, and paying,
// again. It is for providers that give no other way to that: no idempotency key, no list of
// calls.
//
// A call has an id that no other call ever has. What is sent as [Carried] through the transport
// of a relay is that call. Implementations are safe for concurrent use.
type Relay interface {
	// Prepare notes a call that has not begun. Then it is sent at most once, whoever dies, and
	// when the process ends that sends it, it goes on. The end of the context that it
	// is sent with stops it, but where that is [Left]: then it goes on too. After an error the call
	// can be made without the relay; it is fs.ErrExist where there is such a call that was not
	// given up.
	Prepare(id string) error
	// Fate tells what became of a call that this process prepared, or another one. While it is
	// under way it waits for it, until ctx ends.
	Fate(ctx context.Context, id string) Fate
	// Forget releases a call, whose outcome is saved elsewhere by now.
	Forget(id string)
}

// Fate is what became of a call.
type Fate int

const (
	// FateUnknown is that of a call that the relay does not know, or whose answer it lost: it may
	// have been sent.
	FateUnknown Fate = iota
	// FateUnsent is that of a call that was never sent, and is given up: it is not sent unless it is
	// prepared anew.
	FateUnsent
	// FateUnderWay is that of a call that was sent and is waited for.
	FateUnderWay
	// FateAnswered is that of a call whose answer, or failure, is kept.
	FateAnswered
)

// Carried says how the transport of a relay is to treat what is sent with a context. A call is
// one request that may be billed, or several, in the same order whenever it is made or recalled.
type Carried struct {
	// ID is the call's.
	ID string
	// Recalled says that the call was made: its answers, or its failure, are given once more.
	// Only what was not sent then is sent, and never the first.
	Recalled bool

	requests atomic.Int32
}

// Next numbers a request of the call that is about to be sent, from 1.
func (c *Carried) Next() int { return int(c.requests.Add(1)) }

// Used reports whether there was one.
func (c *Carried) Used() bool { return c.requests.Load() > 0 }

type carriedKey struct{}

// WithCarried gives the context of a call; with nil that of a request beside it, which costs nothing.
func WithCarried(ctx context.Context, c *Carried) context.Context {
	return context.WithValue(ctx, carriedKey{}, c)
}

// CarriedOf is nil where nothing is carried.
func CarriedOf(ctx context.Context) *Carried {
	c, _ := ctx.Value(carriedKey{}).(*Carried)
	return c
}

// Recalled reports whether an answer is only given once more, so that nothing has to be prepared for
// the call.
func Recalled(ctx context.Context) bool {
	c := CarriedOf(ctx)
	return c != nil && c.Recalled
}

// RelayOf is the relay of a transport, or of whatever else says that it has one; nil if it has none.
func RelayOf(v any) Relay {
	if r, ok := v.(interface{ Relay() Relay }); ok {
		return r.Relay()
	}
	return nil
}
