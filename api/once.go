package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"atelier/ledger"
	"atelier/media"
)

// KeyService stores Idempotency-Keys for 24 hours.
type KeyService interface {
	// ClaimKey returns the first claim of a key: this claim or an earlier one. The ID of a claim identifies what the
	// request creates, or the stage of what it changes, so that a retry after a crash does nothing twice. Its Owner is
	// the owner of the request.
	ClaimKey(ctx context.Context, c ledger.Claim) (first ledger.Claim, err error)
	// SettleKey saves the response of a claim.
	SettleKey(ctx context.Context, key string, answer []byte) error
	// ReleaseKey removes the claim of a request that failed.
	ReleaseKey(ctx context.Context, key string) error
	// StageOf identifies the current stage of a run or a generation. Each answer and each retry that takes effect
	// changes the stage durably.
	StageOf(ctx context.Context, of Subject) (string, error)
}

// Subject is what an answer or a retry applies to; one of the ids is set.
type Subject struct{ Run, Generation, Interaction, SubAction string }

// call is the request that a key or a cursor belongs to.
type call struct {
	Name string
	Body any
	// key is the Idempotency-Key of the request; empty for none.
	key string
	// id is the id of the claim.
	id string
}

// keys make requests that cost money idempotent.
type keys struct {
	KeyService // nil: keys are not stored

	inProgress singleflight.Group // equal requests with a key in this process
}

// idempotent executes a request that costs money once per key. A repeated request gets the first response, even if the
// first request is still in progress. Another request with the key is a conflict. An error is not stored.
func idempotent[T any](ctx context.Context, k *keys, key string, c call, do func(ctx context.Context, id string) (T, error)) (*answer[T], error) {
	c.key, c.id = key, uuid.Must(uuid.NewV7()).String()
	return executeClaimed(ctx, k, c, do)
}

// change is a request that changes a run or a generation and creates no new one.
type change[T any] struct {
	call
	subject Subject
	do      func(ctx context.Context) (T, error)
	// respondExisting responds if an earlier attempt took effect, but its process died before it saved a response for
	// the key.
	respondExisting func(ctx context.Context) (T, error)
}

// idempotentChange is [idempotent] for a change.
func idempotentChange[T any](ctx context.Context, k *keys, key string, c change[T]) (*answer[T], error) {
	if key == "" || k.KeyService == nil {
		return executeClaimed(ctx, k, c.call, func(ctx context.Context, _ string) (T, error) { return c.do(ctx) })
	}
	stage, err := k.StageOf(ctx, c.subject)
	if err != nil {
		return nil, err
	}
	own := uuid.Must(uuid.NewV7()).String() + " "
	c.key, c.id = key, own+stage
	return executeClaimed(ctx, k, c.call, func(ctx context.Context, first string) (T, error) {
		if _, before, _ := strings.Cut(first, " "); !strings.HasPrefix(first, own) && before != stage {
			return c.respondExisting(ctx)
		}
		return c.do(ctx)
	})
}

// executeClaimed executes a request with the id of the first claim of its key.
func executeClaimed[T any](ctx context.Context, k *keys, c call, do func(ctx context.Context, id string) (T, error)) (*answer[T], error) {
	// A started request is finished even if the client disconnects: the key must get its response.
	ctx = context.WithoutCancel(ctx)
	if c.key == "" || k.KeyService == nil {
		return found(do(ctx, c.id))
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read the request: %w", err)
	}
	sum := sha256.Sum256(b)
	digest := hex.EncodeToString(sum[:])
	shared, err, _ := k.inProgress.Do(IdentityOf(ctx).Owner+" "+digest+" "+c.key, func() (any, error) {
		first, err := k.ClaimKey(ctx, ledger.Claim{Key: c.key, Digest: digest, ID: c.id})
		switch {
		case err != nil:
			return nil, err
		case first.Digest != digest:
			return nil, newProblem(http.StatusConflict, media.CodeConflict, "this Idempotency-Key was used for another request: use a new one")
		case first.Answer != nil:
			out := &answer[T]{}
			if err := json.Unmarshal(first.Answer, &out.Body); err != nil {
				return nil, media.Errorf(media.CodeCorrupt, "read the first response: %w", err)
			}
			return out, nil
		}
		v, err := do(ctx, first.ID)
		if err != nil {
			if kept := k.ReleaseKey(ctx, c.key); kept != nil { // a repeated request is executed with the same id
				slog.WarnContext(ctx, "claim of a failed request not removed", slog.String("error", media.ErrorText(kept.Error())))
			}
			return nil, err
		}
		saved, err := json.Marshal(v)
		if err != nil {
			return nil, media.Errorf(media.CodeInternal, "write the answer: %w", err)
		}
		return &answer[T]{v}, k.SettleKey(ctx, c.key, saved)
	})
	out, _ := shared.(*answer[T])
	return out, err
}
