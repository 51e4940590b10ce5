package ledger

import "context"

type relaxedKey struct{}

// Relaxed returns a context for saves that must survive a crash of the process but not a power failure: records of a
// run whose engine saves its steps in the same way, and saves that a later synced save includes or can replace. On
// SQLite, their commits are not synced; the next synced commit includes them. Other databases sync every commit.
func Relaxed(ctx context.Context) context.Context { return context.WithValue(ctx, relaxedKey{}, true) }

// IsRelaxed reports whether a context is marked by [Relaxed].
func IsRelaxed(ctx context.Context) bool { return ctx.Value(relaxedKey{}) != nil }
