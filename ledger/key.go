package ledger

import (
	"context"
	"time"
)

// Claim is what is known of an Idempotency-Key.
type Claim struct {
	Owner string
	Key   string
	// Digest is that of what was asked under it.
	Digest string
	// ID is the id of what it makes.
	ID string
	// Answer is the first answer, nil until there is one.
	Answer []byte
}

// Keys keeps the Idempotency-Keys of requests.
type Keys interface {
	// ClaimKey saves a claim and gives it back, or gives the one that has its owner and key
	// since a time, and changes nothing; those before that time are forgotten. Of several at once one
	// is saved. Owner, Key, Digest and ID are required.
	ClaimKey(ctx context.Context, c Claim, since time.Time) (first Claim, err error)
	// SettleKey saves the answer of a claim; an unknown one is media.CodeNotFound.
	SettleKey(ctx context.Context, owner, key string, answer []byte) error
	// ReleaseKey forgets a claim without an answer. Forgetting none is no error.
	ReleaseKey(ctx context.Context, owner, key string) error
}
