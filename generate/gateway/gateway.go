// Package gateway turns requests into results: the [Gateway] chooses the model, fits the settings to
// it, reserves the money, journals and makes the provider calls, repeats them where a repeat
// cannot be paid twice, fetches and records what they give, and continues in another process what
// one left unfinished. What providers have in common is done here, once.
//
// Errors are media.Error values. Images travel as media.Output; bytes go from the provider's HTTP body straight into
// the blob store (package wire). What can happen to an operation, and what follows, is the table of package operation.
//
// It may import media, journal, blob, probe, wire, imaging, internal/safehttp, internal/patience
// and the other packages of generate but drivers. No HTTP routes, no SQL, and no durable engine here.
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
	"atelier/media/imaging"
)

// Dropper is an optional ability of a [generate.Storage]: previews are dropped when their picture is stored or does not
// come. *wire.Codec has it; it is an interface because a Storage is one, and package gateway does not import wire.
type Dropper interface {
	// Drop deletes bytes that nothing names: no record, no result, no operation but that of the
	// scope of ctx. What is named stays, without an error.
	Drop(ctx context.Context, d media.Digest) error
}

// Fetch gets a result that a provider gave as a link. It guards the address
// (media.CodeBlockedAddress), and bounds size and time; the caller closes the body.
type Fetch func(ctx context.Context, url string) (body io.ReadCloser, contentType string, err error)

// Config sets up a [Gateway].
type Config struct {
	// Drivers speak to the providers; at least one. A driver without a key is welcome:
	// its models are listed, and asking for them names the key.
	Drivers []driver.Driver
	// Catalogue knows the models; default is the shipped one.
	Catalogue *catalog.Catalog
	// Storage keeps results that come by link and converted pictures. Without it such
	// slots fail, and formats are not converted.
	Storage generate.Storage
	// Fetch gets results that come by link; default is a guarded one: public addresses
	// and the provider's own origin, within 64 MiB and a minute.
	Fetch Fetch
	// Origins are, by provider, the addresses that the operator configured for its API. Links
	// of that provider, and of no other, may lead to them wherever they resolve to.
	Origins map[string]string
	// Recorder stores the record of every result before the result is shown; default none.
	Recorder media.Recorder
	// Journal remembers provider calls across a crash; default journal.Memory.
	Journal journal.Journal
	// Operations keeps intent and receipt of every call; default [operation.NopLog].
	Operations operation.Log
	// Budget bounds what operations make and cost; default [generate.InMemory].
	Budget generate.Budget
	// Events receives the events of operations, from several goroutines; default none. It must not block.
	Events func(ctx context.Context, e generate.Event)
	// DefaultModel answers requests that name no model, where it makes what is asked for
	// (ATELIER_IMAGE_MODEL); default is what the agent prefers, then the first provider that is ready.
	DefaultModel string
	// Fallback is the Fallback of requests that name neither a model nor a chain of their
	// own (ATELIER_IMAGE_FALLBACK); default none.
	Fallback []string
	// Notify gives the URL that a provider's notifications are to come to, and the secret
	// that they are to be signed with or to carry; see [Gateway.Notify]. The URL gets a query
	// parameter "call", so that a task is known whose name was lost. Default none: tasks are polled.
	Notify func(provider string) (url, secret string)
	// Partials asks for preview frames: each result then has a disposition "partials", and strict requests are refused
	// where the model has none. Some providers bill them; default off.
	Partials bool
	// Concurrency is how many calls run at once per provider; 0 means the catalogue's, or 4.
	Concurrency int
	// MaxAttempts is how often a call is made while it fails in a way that is safe to repeat; default 3.
	MaxAttempts int
	// MaxRetryWait is the longest wait before a repeat; a provider that asks for more fails the call. Default 60 s.
	MaxRetryWait time.Duration
	// MinFree is how many bytes a billable call has to leave free where Storage is a [Reserver], beside
	// the room for its results. Default 32 MiB; negative means none.
	MinFree int64
	// Limits bound a result; the zero value means imaging's defaults, 100 megapixels and 200 frames.
	Limits imaging.Limits
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Rand gives the jitter of waits, 0 to 1; default math/rand.
	Rand func() float64
	// NewID makes the ids of operations and attempts; default UUIDv7.
	NewID func() string
}

// Defaults of Config and of catalogue rows.
const (
	defaultConcurrency = 4
	defaultAttempts    = 3
	defaultRetryWait   = 60 * time.Second
	defaultTimeout     = 300 * time.Second
	defaultPoll        = 2 * time.Second
	defaultWait        = 120 * time.Second
)

// Gateway is the one door to every provider. It is safe for concurrent use.
//
// The planner's verbs are its own: [plan.Planner.Plan], which spends nothing, and the lists of models and providers.
type Gateway struct {
	*plan.Planner

	config  Config
	lanes   map[string]*lane.Lane // by provider
	notices notices
	busy    sync.Map          // the ids of the operations that callers of this gateway work on, which share its lease
	holder  string            // names this gateway among those that work on one ledger
	resumer operation.Resumer // the log; nil where it cannot resume operations
}

// New makes a gateway. Its error has code media.CodeInvalid and names the setting.
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
		Partials: c.Partials, Storage: c.Storage, Limits: c.Limits, Now: c.Now,
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
	if c.Journal == nil {
		c.Journal = journal.Memory{}
	}
	if c.Operations == nil {
		c.Operations = operation.NopLog{}
	}
	if c.Budget == nil {
		c.Budget = generate.InMemory{}
	}
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
	c.MinFree = max(0, cmp.Or(c.MinFree, defaultMinFree))
	c.MaxAttempts = cmp.Or(c.MaxAttempts, defaultAttempts)
	c.MaxRetryWait = cmp.Or(c.MaxRetryWait, defaultRetryWait)
}

// Generate makes what is asked and waits for it.
//
// It returns an error only where no call was made: the errors of [Gateway.Plan] and of Request.Accept, an intent that
// could not be journalled, or a ctx that had ended. With Request.TakeUp such a ctx ends what an earlier process left,
// and that is the result. In strict mode the result comes with the error and shows the refused settings. After the
// first call the result tells everything: every slot has its own status and error, see [generate.Result.Err]. What was
// made is recorded even when ctx ends; what was not is cancelled, unless the cause of ctx is [ErrHandedOver] or
// [ErrLetGo]. A provider that works past its wait leaves the operation running.
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
	leave, err := g.occupy(x.op.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	return x.work(ctx), nil
}

// recall finds what an idempotency key has already made, or continues it.
func (g *Gateway) recall(ctx context.Context, r generate.Request) (*generate.Result, error) {
	log, ok := g.config.Operations.(operation.Recaller)
	if r.IdempotencyKey == "" || !ok {
		return nil, nil
	}
	known, err := log.Recall(ctx, r.IdempotencyKey)
	if r.TakeUp && media.CodeOf(err) == media.CodeConflict {
		id, err := log.OperationOf(ctx, r.IdempotencyKey)
		if err != nil {
			return nil, fault.Wrap("look up idempotency key", err)
		}
		res, err := g.Resume(ctx, id)
		if err != nil && ctx.Err() != nil {
			return g.abandon(ctx, r)
		}
		return res, err
	}
	if err != nil {
		return nil, fault.Wrap("look up idempotency key", err)
	}
	if known == nil || !r.TakeUp || g.resumer == nil {
		return known, nil
	}
	again, err := g.enter(ctx, known.Operation, operation.EventRejoin, func(c *claim) (*generate.Result, error) { return c.rejoin(ctx) })
	if err != nil {
		known.Warnings = append(known.Warnings, "what was cut off could not be continued: "+fault.Of(err).Message)
		return known, nil
	}
	return again, nil
}
