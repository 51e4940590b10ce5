// Package driver is the contract between the gateway and the drivers of providers: a [Driver] turns a planned [Task]
// into its provider's request, and the answer into an [Update]. What only some providers have are optional interfaces:
// [Notified] for webhooks, [Listed] for lists of tasks, [Reviewed] for settings that exclude each other.
//
// Errors are media.Error values, as [Driver] says. It may import media, wire, generate and
// generate/catalog; drivers import it and never each other.
package driver

import (
	"context"
	"errors"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/media"
)

// Driver speaks to one provider. It maps a planned [Task] to the provider's request, and the provider's answer to an
// [Update]; it does not retry, split, price, validate geometry, record or wait. Implementations are safe for concurrent
// use.
//
// Errors are media.Error values with the code that the provider's answer means, Retryable and RetryAfter set by the
// provider's own rules. The Gateway repeats a call if and only if its error is Retryable and no item came with it, so a
// driver sets Retryable only where a repeat cannot be paid twice: the request never left, or the provider says in its
// own words that nothing was made. A conflict there is [ErrContested] with media.CodeUnavailable: media.CodeConflict is
// this program's own. A quota of a day is media.CodeQuotaExceeded, Retryable where the provider says after which time:
// the Gateway waits once. Moderation refusals are media.CodeModerated errors, or per-item results with a Safety
// verdict.
type Driver interface {
	// Provider is the provider's key in the catalogue: openai, gemini, offline.
	Provider() string
	// Ready reports whether the driver can be used: nil, or an error with code
	// media.CodeMissingKey whose message names the variable to set.
	Ready() error
	// Start makes the provider call. Synchronous providers finish in it and return every item; asynchronous ones return
	// a task's Handle at once. Media in the answer has been lifted into the blob store by the transport; items name it
	// by media.Blob. When ctx ends, Start returns promptly, with the items that it already has.
	Start(ctx context.Context, t Task) (Update, error)
	// Poll asks for the state of a task that Start returned, perhaps in another process. Polls are free: a poll that
	// fails is media.CodeUnavailable or another retryable error and says nothing about the task; a task that the
	// provider does not know is media.CodeNotFound; a failed task is Done with an Err item for each result. Synchronous
	// drivers return media.CodeUnsupported.
	Poll(ctx context.Context, t Task, h Handle) (Update, error)
	// Cancel asks the provider to stop; best effort, idempotent. An error says that the task
	// may go on and be billed: media.CodeUnsupported where the provider has no way to stop
	// one, media.CodeUnavailable where it could not be asked.
	Cancel(ctx context.Context, h Handle) error
}

// Synchronous is embedded by drivers whose calls are answered at once: there is nothing to
// poll, and ending the context of Start is all that cancels.
type Synchronous struct{}

// Poll is media.CodeUnsupported.
func (Synchronous) Poll(context.Context, Task, Handle) (Update, error) {
	return Update{}, media.Errorf(media.CodeUnsupported, "this provider answers calls at once: there is nothing to poll")
}

// Cancel does nothing.
func (Synchronous) Cancel(context.Context, Handle) error { return nil }

// Handle names an asynchronous task at its provider. The ledger keeps it, so that
// another process can go on; it holds no secret.
type Handle struct {
	// ID is the provider's id of the task; its notifications name it.
	ID string `json:"id,omitempty"`
	// URL is where to ask for the task, if the provider told; it can be on another host
	// than the API, and the driver checks that before it sends its key there.
	URL string `json:"url,omitempty"`
}

// Notified is a [Driver] whose provider calls a URL when the state of a task changes.
type Notified interface {
	Driver
	// Notification verifies a call of the webhook and reads it like the answer of a poll; the Update's Task names the
	// task. Errors: media.CodeUnauthorized for a call that the provider did not sign, media.CodeInvalid for one that
	// cannot be read. A provider that signs nothing is not believed: the driver returns the task's handle in an empty
	// Update, and the Gateway polls.
	Notification(ctx context.Context, n Notification) (Update, error)
}

// Notification is one call of a webhook.
type Notification struct {
	// Header has canonical names, as net/http has them.
	Header map[string][]string
	// Query is that of the URL, which is [Task.NotifyURL] where the provider was given it: it names the call.
	Query map[string][]string
	// Body is the body as it came, at most 1 MiB.
	Body []byte
}

// ErrUnsettled is wrapped by the error of a call that was sent and not answered whole: it is unknown whether the
// provider bills it. Such a call is never repeated, and the ledger says that its cost is unknown.
var ErrUnsettled = errors.New("sent and not answered")

// ErrContested is wrapped by the retryable error of a call that its provider stopped because another request was in its
// way. What is in the way may stay there, so the Gateway repeats such a call once, not more.
var ErrContested = errors.New("another request was in the way")

// Task is one provider call, planned by the Gateway: every setting in it is one
// that the model takes, in the provider's own vocabulary.
type Task struct {
	// Key is the idempotency key of this call, for providers that take one or show it in their lists: unique among the
	// calls of all owners, the same for repeats of the call, at most 60 bytes, without a word of the caller's.
	Key    string
	Method generate.Method
	// Model is the catalogue row; Model.APIModel is what the provider calls it.
	Model  catalog.Model
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
	// Voice and Speed are of speech; empty and 0 leave them to the provider.
	Voice      string
	Speed      float64
	Inputs     []media.Output
	Mask       *media.Output
	Moderation string
	// Options are the options under this provider's key, checked against the catalogue row.
	Options map[string]any
	// NotifyURL is the URL that the provider notifies of the task of this call; empty means
	// nowhere. Secret is what its calls are to be signed with or to carry.
	NotifyURL, NotifySecret string `json:"-"`
	// Partial, if not nil, receives preview frames; slot counts from 1 within this
	// call. Frames are temporary. It may be called from several goroutines.
	Partial func(slot int, b media.Blob) `json:"-"`
}

// Update is what a provider call has given so far.
type Update struct {
	// Task names an asynchronous task; zero for synchronous calls.
	Task Handle
	// Done says that no more items will come.
	Done bool
	// Progress is 0 to 1; negative if unknown.
	Progress float64
	// Preview is a link to how the first result of a task that goes on looks so far, or a grid of all of them. Where
	// previews are asked for, the Gateway fetches and shows each link once; one that cannot be fetched costs nothing.
	Preview string
	// Items are the results, in the provider's order; failed ones included.
	Items []Item
	Usage generate.Usage
	// ReportedUSD is the cost that the provider itself names, as decimal text.
	ReportedUSD string
	// ReportedCredits is the cost in the provider's own unit, as decimal text, for
	// providers that name no dollars; the catalogue's price of a credit makes it money.
	ReportedCredits string
	// Metadata is small and free of media.
	Metadata map[string]any
}

// Item is one result of a provider call: exactly one of Blob, URL, Text and Err is set.
type Item struct {
	// Blob is media that the transport lifted from the answer.
	Blob *media.Blob
	// URL is a link that the Gateway fetches at once, guarded.
	URL string
	// Text is a result in words, a document that the Gateway keeps.
	Text string
	// DeclaredMIME is the type that the answer declared, if it did; only compared with the sniffed one.
	DeclaredMIME string
	Err          *media.Error
	// Unbilled says, with Err, that the provider made nothing for this result, does not
	// bill it, and may be asked for it again: the Gateway does so.
	Unbilled      bool
	RevisedPrompt string
	Seed          *int64
	Safety        *generate.Safety
	// Tiles, if set, says that the picture is a grid of results: the Gateway keeps it
	// and cuts it, row by row, into that many slots.
	Tiles *Tiles
	// Metadata is what the provider says of this item alone (its id), small and free of media. It becomes part of the
	// output's metadata, where later edits of it find it. Under "unknown_words" a driver lists the words of the prompt
	// that name what the result does not show; the Gateway warns of them.
	Metadata map[string]any
	// Offers are what the provider offers to do next with the item; the output's metadata
	// keeps the first 40 of those that are at most 200 bytes long.
	Offers []catalog.Offer

	// Parent is the grid that the Gateway cut it from; drivers leave it empty.
	Parent *media.Parent `json:"-"`
}

// Tiles is the layout of a grid; both at least 1, at most 16 tiles.
type Tiles struct{ Columns, Rows int }

// Reviewed is a [Driver] that looks at a whole task while it is planned, because
// what it can do depends on the settings together: pictures are mixed in some shapes only.
type Reviewed interface {
	Driver
	// Review tells what becomes of settings that the model takes, but not in this task: each disposition stands in the
	// place of the one for the same setting, and those for settings that nobody asked for are passed over. One for "n"
	// names how many results a call gives, where that is not what the catalogue says. A prompt has a disposition only
	// if one is here: it is sent otherwise. It makes no call. Its error refuses the task before anything is journalled:
	// media.CodeInvalid for options that make no sense, media.CodeUnsupported for what the provider cannot do.
	Review(t Task) ([]generate.Disposition, error)
}
