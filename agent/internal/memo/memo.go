// Package memo records values and errors in the journal, so that a replay returns the same result
// for a step. It may import journal and media.
package memo

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"atelier/journal"
	"atelier/journal/step"
	"atelier/media"
)

// Do executes do as a durable step. New values pass through JSON too. Errors are those of do, which
// are not recorded, and media.CodeCorrupt.
func Do[T any](ctx context.Context, j *journal.Transcript, name step.Name, do func(context.Context) (T, error)) (v T, err error) {
	b, err := j.Step(ctx, name, func(ctx context.Context) ([]byte, error) {
		v, err := do(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, media.Errorf(media.CodeCorrupt, "read journalled step %s: %w", name, err)
	}
	return v, nil
}

// Failure is an error as stored in the journal.
type Failure struct {
	Code       media.Code    `json:"code"`
	Message    string        `json:"message"`
	Retryable  bool          `json:"retryable,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	Valid      []string      `json:"valid,omitempty"`
}

// FailureOf converts an error to the form stored in the journal.
func FailureOf(err error) *Failure {
	f := &Failure{Code: media.CodeOf(err), Message: media.ErrorText(err.Error()), Retryable: media.Retryable(err)}
	var e *media.Error
	if errors.As(err, &e) {
		f.RetryAfter, f.Valid = e.RetryAfter, e.Valid
	}
	return f
}

// Err returns the failure as an error.
func (f *Failure) Err() *media.Error {
	return &media.Error{Code: f.Code, Message: f.Message, Retryable: f.Retryable, RetryAfter: f.RetryAfter, Valid: f.Valid}
}
