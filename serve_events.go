package atelier

import (
	"context"
	"strconv"
	"time"

	"atelier/api"
	"atelier/ledger"
	"atelier/media"
)

// servedEvents is the event source of one owner's streams.
type servedEvents struct {
	*Atelier
	streamOwner string
	// multiTenant means that there may be other owners, whose events these streams must not deliver.
	multiTenant bool
}

// EventsAfter lists saved events.
func (s servedEvents) EventsAfter(ctx context.Context, run string, after int64, limit int) ([]ledger.Event, error) {
	events, err := s.Ledger.EventsAfter(ctx, s.streamOwner, run, after, limit)
	return events, describeNotFound(err, "run", run)
}

// LastPosition returns the position of the newest event.
func (s servedEvents) LastPosition(ctx context.Context) (int64, error) {
	return s.Ledger.LastPosition(ctx)
}

// Subscribe delivers new events of this process.
func (s servedEvents) Subscribe() (<-chan ledger.Event, func()) { return s.observer.Subscribe("") }

// servedKeys stores Idempotency-Keys.
type servedKeys struct{ *Atelier }

// idempotencyKeyTTL is how long a key is stored.
const idempotencyKeyTTL = 24 * time.Hour

// ClaimKey returns the first claim of a key.
func (s servedKeys) ClaimKey(ctx context.Context, c ledger.Claim) (ledger.Claim, error) {
	c.Owner = s.owner(ctx)
	return s.Ledger.ClaimKey(ctx, c, now().Add(-idempotencyKeyTTL))
}

// SettleKey saves the response of a claim.
func (s servedKeys) SettleKey(ctx context.Context, key string, answer []byte) error {
	return s.Ledger.SettleKey(ctx, s.owner(ctx), key, answer)
}

// ReleaseKey removes a claim whose request failed.
func (s servedKeys) ReleaseKey(ctx context.Context, key string) error {
	return s.Ledger.ReleaseKey(ctx, s.owner(ctx), key)
}

// StageOf returns the stage of a run, or the number of calls of a generation. An interaction has the stage of its run, a
// sub-action that of its generation.
func (s servedKeys) StageOf(ctx context.Context, of api.Subject) (string, error) {
	if of.Interaction != "" {
		i, err := s.Ledger.Interaction(ctx, s.owner(ctx), of.Interaction)
		if err != nil {
			return "", describeNotFound(err, "interaction", of.Interaction)
		}
		of.Run = i.WorkflowRunID
	}
	if of.SubAction != "" {
		row, _, err := s.Ledger.ContentGeneration(ctx, s.owner(ctx), of.SubAction)
		if err != nil || row.OperationID == "" {
			return "0", describeNotFound(err, "sub-action", of.SubAction)
		}
		of.Generation = row.OperationID
	}
	if of.Generation != "" {
		_, _, calls, err := s.Ledger.Operation(ctx, s.owner(ctx), of.Generation)
		return strconv.Itoa(len(calls)), describeNotFound(err, "generation", of.Generation)
	}
	row, err := s.row(ctx, of.Run)
	if err != nil {
		return "", err
	}
	st, err := s.Ledger.RunState(ctx, row.Owner, row.Tree)
	if media.CodeOf(err) == media.CodeNotFound {
		return "0", nil
	}
	// The state of a stage that ends is saved after the run's row, but does not change the result.
	return strconv.Itoa(st.Number) + " " + strconv.FormatInt(st.AnsweredAt.UnixMicro(), 10), err
}
