package ledger

import (
	"context"
	"time"
)

// Claim is the record of an Idempotency-Key.
type Claim struct {
	Owner string
	Key   string
	// Digest is the digest of the request with the key.
	Digest string
	// ID is the id of what the request creates.
	ID string
	// Answer is the first answer; nil until there is one.
	Answer []byte
}

// Keys stores the Idempotency-Keys of requests.
type Keys interface {
	// ClaimKey saves a claim and returns it. If a claim with its owner and key was saved since the given time, ClaimKey
	// returns that one and changes nothing; older claims are removed. Of several concurrent claims, one is saved.
	// Owner, Key, Digest and ID are required.
	ClaimKey(ctx context.Context, c Claim, since time.Time) (first Claim, err error)
	// SettleKey saves the answer of a claim. For an unknown claim, the error has code media.CodeNotFound.
	SettleKey(ctx context.Context, owner, key string, answer []byte) error
	// ReleaseKey removes a claim without an answer. If there is none, it does nothing.
	ReleaseKey(ctx context.Context, owner, key string) error
}
