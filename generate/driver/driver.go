// Package driver is the contract between the gateway and the drivers of providers: a [Driver] converts a planned [Task]
// to its provider's request, and the answer to an [Update]. Features of only some providers are optional interfaces:
// [Notified] for webhooks, [Listed] for lists of tasks, [Reviewed] for settings that exclude each other.
//
// Errors are media.Error values, as described at [Driver]. It may import media, wire, generate and generate/catalog;
// drivers import it and never each other.
package driver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/media"
	"atelier/media/wire"
)

// Driver connects to one provider. It converts a planned [Task] to the provider's request, and the provider's answer to
// an [Update]; it does not retry, split, price, validate geometry, record or wait. Implementations are safe for
// concurrent use.
//
// Errors are media.Error values with the code that corresponds to the provider's answer, and Retryable and RetryAfter
// set by the provider's own rules. The Gateway repeats a call if and only if its error is Retryable and no item came
// with it, so a driver sets Retryable only if a repeat cannot be billed twice: the request was never sent, or the
// provider itself says that nothing was made. A conflict at the provider is [ErrContested] with media.CodeUnavailable:
// media.CodeConflict is reserved for this program. An exhausted daily quota is media.CodeQuotaExceeded, Retryable if
// the provider says when it ends: the Gateway waits once. Moderation refusals are media.CodeModerated errors, or
// per-item results with a Safety verdict.
type Driver interface {
	// Provider returns the provider's key in the catalogue: openai, gemini, offline.
	Provider() string
	// Ready returns nil if the driver can be used, else an error with code media.CodeMissingKey whose message names the
	// variable to set.
	Ready() error
	// Start makes the provider call. For synchronous providers it returns all items; for asynchronous ones it returns a
	// task's Handle at once. The transport has lifted media in the answer into the blob store; items refer to it by
	// media.Blob. When ctx ends, Start returns promptly, with the items that it already has.
	Start(ctx context.Context, t Task) (Update, error)
	// Poll returns the state of a task that Start returned, perhaps in another process. Polls are free. A failed poll
	// is media.CodeUnavailable or another retryable error and says nothing about the task; a task that the provider
	// does not know is media.CodeNotFound; a failed task is Done with an Err item for each result. Synchronous drivers
	// return media.CodeUnsupported.
	Poll(ctx context.Context, t Task, h Handle) (Update, error)
	// Cancel asks the provider to stop a task; it is best effort and idempotent. An error means that the task may
	// continue and be billed: media.CodeUnsupported if the provider cannot stop tasks, media.CodeUnavailable if it
	// could not be reached.
	Cancel(ctx context.Context, h Handle) error
}

// Config says how a driver reaches its provider. A driver uses the fields that concern its provider.
type Config struct {
	// APIKey is the key or the secret of the account. Without one that the provider requires, the driver is not ready.
	APIKey string
	// BaseURL is the address of the API; empty means the provider's own.
	BaseURL string
	// NotifySecret is what webhook calls are signed with ([Task.NotifySecret]) or carry. Without it no call is trusted.
	NotifySecret string
	// Codec puts media into requests and lifts it out of answers; required.
	Codec *wire.Codec
	// Base is the transport of the calls, Uploads that of pictures to the storage host that an API names. nil means
	// guarded connections; those of Uploads reach only public addresses and the API's own.
	Base, Uploads http.RoundTripper
	// Now is the clock for dates in answers; nil means time.Now.
	Now func() time.Time
}

// Synchronous is embedded by drivers whose calls are answered at once: there is nothing to poll, and ending the context
// of Start cancels the call.
type Synchronous struct{}

// Poll returns media.CodeUnsupported.
func (Synchronous) Poll(context.Context, Task, Handle) (Update, error) {
	return Update{}, media.Errorf(media.CodeUnsupported, "this provider answers calls at once: there is nothing to poll")
}

// Cancel does nothing.
func (Synchronous) Cancel(context.Context, Handle) error { return nil }

// Handle identifies an asynchronous task at its provider. The ledger stores it, so that another process can continue
// the task; it contains no secret.
type Handle struct {
	// ID is the provider's id of the task; its notifications name it.
	ID string `json:"id,omitempty"`
	// URL is where to poll the task, if the provider named one. It may be on another host than the API; the driver
	// checks that before it sends its key there.
	URL string `json:"url,omitempty"`
}

// Notified is a [Driver] whose provider calls a URL when the state of a task changes.
type Notified interface {
	Driver
	// Notification verifies a webhook call and decodes it like the answer of a poll; the Update's Task identifies the
	// task. Errors: media.CodeUnauthorized for a call that the provider did not sign, media.CodeInvalid for one that
	// cannot be decoded. Unsigned calls are not trusted: if the provider signs nothing, the driver returns the task's
	// handle in an otherwise empty Update, and the Gateway polls.
	Notification(ctx context.Context, n Notification) (Update, error)
}

// Notification is one call of a webhook.
type Notification struct {
	// Header has canonical names, as in net/http.
	Header map[string][]string
	// Query is the URL's query. The URL is [Task.NotifyURL] if the provider was given that; the query names the call.
	Query map[string][]string
	// Body is the unmodified body, at most 1 MiB.
	Body []byte
}

// ErrUnsettled is wrapped by the error of a call that was sent and returned neither a complete result nor its usage: it
// is unknown whether the provider bills it. Such a call is never repeated, and the ledger records its cost as unknown.
var ErrUnsettled = errors.New("sent and not answered")

// ErrContested is wrapped by the retryable error of a call that its provider stopped because another request conflicted
// with it. The conflict may persist, so the Gateway repeats such a call only once.
var ErrContested = errors.New("another request was in the way")

// Task is one provider call, planned by the Gateway: the model accepts every setting in it, in the provider's own
// vocabulary.
type Task struct {
	// Key is the idempotency key of this call, for providers that take one or show it in their lists: unique among the
	// calls of all owners, the same for repeats of the call, at most 60 bytes, without text from the caller.
	Key    string
	Method generate.Method
	// Model is the catalogue row; Model.APIModel is the provider's name of the model.
	Model  catalog.Model
	Prompt string
	// NegativePrompt is set only for models that take one.
	NegativePrompt string
	// N is at most Model.MaxN.
	N int
	// Slots are the positions of the results in the request, from 1 and in order; empty means 1 to N.
	Slots []int `json:"-"`
	// Width and Height are set for models sized in pixels; 0 means the provider decides.
	Width, Height int
	// AspectRatio and Tier ("1K") are set for models sized by ratio.
	AspectRatio, Tier string
	Quality           string
	Style             string
	Background        string
	Seed              *int64
	OutputFormat      string
	Compression       *int
	// Voice and Speed apply to speech; empty and 0 leave them to the provider.
	Voice      string
	Speed      float64
	Inputs     []media.Output
	Mask       *media.Output
	Moderation string
	// Options are the options under this provider's key, checked against the catalogue row.
	Options map[string]any
	// NotifyURL is the URL for the provider's notifications about this call's task; empty means none. NotifySecret is
	// the secret that the notifications are signed with or carry.
	NotifyURL, NotifySecret string `json:"-"`
	// Partial, if not nil, receives preview frames; slot counts from 1 within this call. Frames are temporary. It may
	// be called from several goroutines.
	Partial func(slot int, b media.Blob) `json:"-"`
}

// Update is the state of a provider call.
type Update struct {
	// Task identifies an asynchronous task; zero for synchronous calls.
	Task Handle
	// Done says that no more items will come.
	Done bool
	// Progress is 0 to 1; negative if unknown.
	Progress float64
	// Preview links to a preview of the first result of a task in progress, or of a grid of all results. If previews
	// are requested, the Gateway fetches and shows each link once; a failed download costs nothing.
	Preview string
	// Items are the results, in the provider's order, including failed ones.
	Items []Item
	Usage generate.Usage
	// ReportedUSD is the cost that the provider reports, as decimal text.
	ReportedUSD string
	// ReportedCredits is the cost in the provider's own unit, as decimal text, for providers that report no dollars;
	// the catalogue's price of a credit converts it.
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
	// Text is a textual result, a document that the Gateway stores.
	Text string
	// DeclaredMIME is the type that the answer declared, if any; it is only compared with the sniffed one.
	DeclaredMIME string
	Err          *media.Error
	// Unbilled reports, with Err, that the provider made nothing for this result, does not bill it, and can be asked
	// for it again, which the Gateway does.
	Unbilled      bool
	RevisedPrompt string
	Seed          *int64
	Safety        *generate.Safety
	// Tiles, if set, means that the picture is a grid of results: the Gateway keeps it and cuts it, row by row, into
	// that many slots.
	Tiles *Tiles
	// Metadata is the provider's data about this item alone (its id), small and free of media. It becomes part of the
	// output's metadata, for later edits of the output. Under "unknown_words" a driver lists the words of the prompt
	// that name what the result does not show; the Gateway warns about them.
	Metadata map[string]any
	// Offers are the follow-ups that the provider offers for the item; the output's metadata keeps the first 40 of
	// those that are at most 200 bytes long.
	Offers []catalog.Offer

	// Parent is the grid that the Gateway cut the item from; drivers leave it empty.
	Parent *media.Parent `json:"-"`
}

// Tiles is the layout of a grid; both fields are at least 1, for at most 16 tiles.
type Tiles struct{ Columns, Rows int }

// Reviewed is a [Driver] that reviews a whole task during planning, because its abilities depend on combinations of
// settings: pictures are blended in some shapes only.
type Reviewed interface {
	Driver
	// Review returns dispositions of settings that the model accepts, but not in this task. Each replaces the one for
	// the same setting; those for settings that were not requested are ignored. One for "n" gives the number of results
	// per call if it differs from the catalogue. The prompt only has a disposition if Review returns one; otherwise it
	// is sent. Review makes no call. Its error rejects the task before anything is journalled: media.CodeInvalid for
	// invalid options, media.CodeUnsupported for what the provider cannot do.
	Review(t Task) ([]generate.Disposition, error)
}
