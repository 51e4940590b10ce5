package ledger

import "context"

type relaxedKey struct{}

// Relaxed marks saves that a crash of the process must not lose, and a loss of power may: what
// a run did, beside an engine whose steps are saved so as well, and what a synced save follows, or
// makes up for, anyway. On SQLite their commits are
// not synced by themselves; the next one that is takes them along. Other databases sync them as all.
func Relaxed(ctx context.Context) context.Context { return context.WithValue(ctx, relaxedKey{}, true) }

// IsRelaxed tells saves so marked.
func IsRelaxed(ctx context.Context) bool { return ctx.Value(relaxedKey{}) != nil }
