// Package failure keeps errors in the journal and gives them back. It may import media.
package failure

import (
	"errors"
	"time"

	"atelier/media"
)

// Record is an error as the journal remembers it.
type Record struct {
	Code       media.Code    `json:"code"`
	Message    string        `json:"message"`
	Retryable  bool          `json:"retryable,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	Valid      []string      `json:"valid,omitempty"`
}

// Of is the record of an error.
func Of(err error) *Record {
	f := &Record{Code: media.CodeOf(err), Message: media.ErrorText(err.Error()), Retryable: media.Retryable(err)}
	var e *media.Error
	if errors.As(err, &e) {
		f.RetryAfter, f.Valid = e.RetryAfter, e.Valid
	}
	return f
}

// Err gives the error back.
func (f *Record) Err() *media.Error {
	return &media.Error{Code: f.Code, Message: f.Message, Retryable: f.Retryable, RetryAfter: f.RetryAfter, Valid: f.Valid}
}
