package generate

import (
	"context"
	"errors"

	"atelier/media"
)

// Driver speaks to one provider. It maps a planned [Task] to the provider's
// request, and the provider's answer to an [Update]; it does not retry, split,
// price, validate geometry, record or wait. Implementations are safe for concurrent
// use.
//
// Errors are media.Error values with the code that the provider's answer means,
// Retryable and RetryAfter set by the provider's own rules. The Gateway repeats a call
// if and only if its error is Retryable and no item came with it, so a driver sets
// Retryable only where a repeat cannot be paid twice: the request never left, or the
// provider says in its own words that nothing was made. Moderation refusals are
// media.CodeModerated errors, or per-item results with a Safety verdict.
type Driver interface {
	// Provider is the provider's key in the catalogue: openai, gemini, offline.
	Provider() string
	// Ready reports whether the driver can be used: nil, or an error with code
	// media.CodeMissingKey whose message names the variable to set.
	Ready() error
	// Start makes the provider call. Synchronous providers finish in it and return
	// every item; asynchronous ones return a TaskID at once. Media in the answer has
	// been lifted into the blob store by the transport; items name it by media.Blob.
	// When ctx ends, Start returns promptly, with the items that it already has.
	Start(ctx context.Context, t Task) (Update, error)
	// Poll asks for the state of a task that Start returned. Synchronous drivers
	// return media.CodeUnsupported.
	Poll(ctx context.Context, t Task, taskID string) (Update, error)
	// Cancel asks the provider to stop; best effort, idempotent.
	Cancel(ctx context.Context, taskID string) error
}

// ErrUnsettled is wrapped by the error of a call that was sent and not answered
// whole: nobody knows whether the provider bills it. Such a call is never repeated,
// and the ledger says that its cost is unknown.
var ErrUnsettled = errors.New("sent and not answered")

// Task is one provider call, planned by the Gateway: every setting in it is one
// that the model takes, in the provider's own vocabulary.
type Task struct {
	// Key is the idempotency key of this call, for providers that take one.
	Key    string
	Method Method
	// Model is the catalogue row; Model.APIModel is what the provider calls it.
	Model  Model
	Prompt string
	// NegativePrompt is set only for models that take one.
	NegativePrompt string
	// N is at most Model.MaxN.
	N int
	// Width and Height are set for models sized in pixels; 0 means the provider decides.
	Width, Height int
	// AspectRatio and Tier ("1K") are set for models sized so.
	AspectRatio, Tier string
	Quality           string
	Style             string
	Background        string
	Seed              *int64
	OutputFormat      string
	Compression       *int
	Inputs            []media.Output
	Mask              *media.Output
	Moderation        string
	// Options are the options under this provider's key, checked against the catalogue row.
	Options map[string]any
	// Partial, if not nil, receives preview frames; slot counts from 1 within this
	// call. Frames are temporary. It may be called from several goroutines.
	Partial func(slot int, b media.Blob)
}

// Update is what a provider call has given so far.
type Update struct {
	// TaskID is the provider's id of an asynchronous task; empty for synchronous calls.
	TaskID string
	// Done says that no more items will come.
	Done bool
	// Progress is 0 to 1; negative if unknown.
	Progress float64
	// Items are the results, in the provider's order; failed ones included.
	Items []Item
	Usage Usage
	// ReportedUSD is the cost that the provider itself names, as decimal text.
	ReportedUSD string
	// Metadata is small and free of media.
	Metadata map[string]any
}

// Item is one result of a provider call: exactly one of Blob, URL and Err is set.
type Item struct {
	// Blob is media that the transport lifted from the answer.
	Blob *media.Blob
	// URL is a link that the Gateway fetches at once, guarded.
	URL string
	// DeclaredMIME is the type that the answer declared, if it did; only compared
	// with the sniffed one.
	DeclaredMIME  string
	Err           *media.Error
	RevisedPrompt string
	Seed          *int64
	Safety        *Safety
}
