// Package gateway turns requests into results. The [Gateway] chooses the model, fits the settings to it, reserves the
// money, journals and makes the provider calls, repeats them if a repeat cannot be billed twice, fetches and records
// the results, and continues the unfinished work of another process. Logic that all providers share is here, once.
//
// Errors are media.Error values. Images are passed as media.Output; bytes are streamed from the provider's HTTP body
// into the blob store (package wire). Package operation has the table of an operation's events and transitions.
//
// It may import media, journal, blob, probe, wire, imaging, internal/safehttp, internal/patience and the other packages
// of generate except drivers. It contains no HTTP routes, no SQL, and no durable engine.
package gateway

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/internal/lane"
	"atelier/generate/operation"
	"atelier/generate/plan"
	"atelier/internal/safehttp"
	"atelier/journal"
	"atelier/media"
)

// Dropper is an optional interface of a [generate.Storage]: previews are dropped when their picture is stored or does
// not arrive. *wire.Codec implements it; it is an interface because a Storage is one, and gateway does not import wire.
type Dropper interface {
	// Drop deletes bytes that no record, no result, and no operation except that of ctx's scope refers to. Bytes that
	// are referred to are kept, without an error.
	Drop(ctx context.Context, d media.Digest) error
}

// Fetch downloads a result that a provider returned as a link. It guards the address (media.CodeBlockedAddress) and
// limits size and time; the caller closes the body.
type Fetch func(ctx context.Context, url string) (body io.ReadCloser, contentType string, err error)

// Config sets up a [Gateway].
type Config struct {
	// Drivers connect to the providers; at least one is required. A driver without a key is allowed: its models are
	// listed, and requests for them return an error that names the key.
	Drivers []driver.Driver
	// Catalogue describes the models; default is the shipped one.
	Catalogue *catalog.Catalog
	// Storage stores converted pictures and results that come by link. Without it such slots fail, and formats are not
	// converted.
	Storage generate.Storage
	// Fetch downloads results that come by link; default is a guarded one: public addresses and the provider's own
	// origin, within 64 MiB and a minute.
	Fetch Fetch
	// Origins are the configured API addresses by provider. Links of that provider, and of no other, may lead to them,
	// whatever they resolve to.
	Origins map[string]string
	// Recorder stores the record of every result before the result is shown; default none.
	Recorder media.Recorder
	// Journal records provider calls durably; default journal.Memory.
	Journal journal.Journal
	// Operations records the intent and receipt of every call; default [operation.NopLog].
	Operations operation.Log
	// Budget limits what operations make and cost; default [generate.InMemory].
	Budget generate.Budget
	// Events receives the events of operations, from several goroutines; default none. It must not block.
	Events func(ctx context.Context, e generate.Event)
	// DefaultModel answers requests that name no model, if it supports the request's modality (ATELIER_IMAGE_MODEL);
	// default is the agent's preference, then the first provider that is ready.
	DefaultModel string
	// Fallback is the Fallback of requests that name neither a model nor a fallback (ATELIER_IMAGE_FALLBACK); default
	// none.
	Fallback []string
	// Notify returns the URL for a provider's notifications, and the secret that they are signed with or carry; see
	// [Gateway.Notify]. The URL gets a query parameter "call", which identifies a task whose id was lost. Default none:
	// tasks are polled.
	Notify func(provider string) (url, secret string)
	// Partials requests preview frames: each result then has a disposition "partials", and strict requests are refused
	// if the model has none. Some providers bill them; default off.
	Partials bool
	// Concurrency is the number of concurrent calls per provider; 0 means the catalogue's, or 4.
	Concurrency int
	// MaxAttempts is how often a call is made if its failures are safe to repeat; default 3.
	MaxAttempts int
	// MinFree is how many bytes a billable call must leave free if Storage is a [Reserver], besides the space for its
	// results. Default 32 MiB; negative means none.
	MinFree int64
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Rand returns the jitter of waits, 0 to 1; default math/rand.
	Rand func() float64
	// NewID returns ids of operations and attempts; default UUIDv7.
	NewID func() string
}

// Defaults of Config and catalogue rows.
const (
	defaultConcurrency = 4
	defaultAttempts    = 3
	defaultTimeout     = 300 * time.Second
	defaultPoll        = 2 * time.Second
	defaultWait        = 120 * time.Second
)

// Gateway is the single entry point to all providers. It is safe for concurrent use.
//
// It has the planner's methods: [plan.Planner.Plan], which spends nothing, and the lists of models and providers.
type Gateway struct {
	*plan.Planner

	config  Config
	lanes   map[string]*lane.Lane // by provider
	notices notices
	busy    sync.Map          // ids of the operations that callers of this gateway work on; they share its lease
	holder  string            // identifies this gateway among those that share a ledger
	resumer operation.Resumer // the log; nil if it cannot resume operations
}

// New creates a gateway. Its error has code media.CodeInvalid and names the setting.
func New(c Config) (*Gateway, error) {
	if c.Catalogue == nil {
		var err error
		if c.Catalogue, err = catalog.Load(); err != nil {
			return nil, err
		}
	}
	c.fill()
	planner, err := plan.New(plan.Config{
		Drivers: c.Drivers, Catalogue: c.Catalogue, DefaultModel: c.DefaultModel, Fallback: c.Fallback,
		Partials: c.Partials, Storage: c.Storage, Now: c.Now,
	})
	if err != nil {
		return nil, err
	}
	g := &Gateway{Planner: planner, config: c, lanes: map[string]*lane.Lane{}, holder: c.NewID()}
	g.resumer, _ = c.Operations.(operation.Resumer)
	for _, d := range c.Drivers {
		g.lanes[d.Provider()] = lane.New(d.Provider(), c.Catalogue.Models(), c.Concurrency, defaultConcurrency)
	}
	return g, nil
}

func (c *Config) fill() {
	c.Journal = cmp.Or[journal.Journal](c.Journal, journal.Memory{})
	c.Operations = cmp.Or[operation.Log](c.Operations, operation.NopLog{})
	c.Budget = cmp.Or[generate.Budget](c.Budget, generate.InMemory{})
	if c.Fetch == nil {
		c.Fetch = safehttp.New(safehttp.Config{}).Fetch
	}
	if c.Events == nil {
		c.Events = func(context.Context, generate.Event) {}
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // The default clock.
	}
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	c.MinFree = max(0, cmp.Or(c.MinFree, DefaultMinFree))
	c.MaxAttempts = cmp.Or(c.MaxAttempts, defaultAttempts)
}

// Generate executes the request and waits for its results.
//
// It returns an error only if no call was made: the errors of [Gateway.Plan] and of Request.Accept, an intent that
// could not be journalled, or a ctx that had ended. With Request.Adopt such a ctx ends what an earlier process left,
// and that is the result. In strict mode the result accompanies the error and shows the refused settings. After the
// first call the result is complete: every slot has its own status and error, see [generate.Result.Err]. Finished
// results are recorded even when ctx ends; unfinished ones are cancelled, unless the cause of ctx is [ErrHandedOver] or
// [ErrCancelled]. A call that begins a task is then awaited for up to 10 seconds, because a task without its id is lost.
// A provider that exceeds its wait leaves the operation running.
func (g *Gateway) Generate(ctx context.Context, r generate.Request) (*generate.Result, error) {
	p, err := g.First(r, false)
	if err != nil {
		return p.Refused(), err
	}
	if ctx.Err() != nil {
		return g.abandon(ctx, r)
	}
	if known, err := g.recall(ctx, r); known != nil || err != nil {
		return known, err
	}
	if err := g.Prepare(ctx, p); err != nil {
		return nil, err
	}
	if r.Strict {
		if err := p.Refuse(); err != nil {
			return p.Refused(), err
		}
	}
	x, ctx, err := g.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	leave, err := g.markBusy(x.op.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	return x.work(ctx), nil
}

// recall returns the result that an idempotency key has already made, or continues its operation.
func (g *Gateway) recall(ctx context.Context, r generate.Request) (*generate.Result, error) {
	if r.IdempotencyKey == "" || g.resumer == nil {
		return nil, nil
	}
	id, err := g.resumer.OperationOf(ctx, r.IdempotencyKey)
	if media.CodeOf(err) == media.CodeNotFound {
		return nil, nil
	}
	var saved *operation.Saved
	if err == nil {
		saved, err = g.resumer.Saved(ctx, id)
	}
	if err != nil {
		return nil, fault.Wrap("look up idempotency key", err)
	}
	known := saved.Result()
	switch finished := !saved.Operation.FinishedAt.IsZero(); {
	case finished && !r.Adopt:
		return known, nil
	case !finished && !r.Adopt: // its provider may already have been paid
		return nil, media.Errorf(media.CodeConflict, "operation %s with this idempotency key is still %s: wait for it, or use another key to pay for a new one", id, known.Status)
	case !finished:
		res, err := g.Resume(ctx, id)
		if err != nil && ctx.Err() != nil {
			return g.abandon(ctx, r)
		}
		return res, err
	}
	again, err := g.withClaim(ctx, id, operation.EventRejoin, func(c *claim) (*generate.Result, error) { return c.rejoin(ctx) })
	if err != nil {
		known.Warnings = append(known.Warnings, "what was cut off could not be continued: "+fault.Of(err).Message)
		return known, nil
	}
	return again, nil
}
