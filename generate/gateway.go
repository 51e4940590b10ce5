package generate

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"atelier/imaging"
	"atelier/internal/safehttp"
	"atelier/journal"
	"atelier/media"
)

// Storage keeps and gives media bytes; *wire.Codec is one.
type Storage interface {
	// Store keeps what r holds and tells digest, size and sniffed facts. Errors have
	// codes: media.CodeTooLarge, media.CodeDiskFull.
	Store(ctx context.Context, r io.Reader, declaredMIME string) (media.Blob, error)
	// Open gives the bytes; the caller closes them.
	Open(ctx context.Context, d media.Digest) (io.ReadCloser, error)
}

// Dropper is an optional ability of a [Storage]: previews are dropped when their picture is stored
// or does not come.
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
	Drivers []Driver
	// Catalogue knows the models; default is the shipped one.
	Catalogue *Catalogue
	// Storage keeps results that come by link and converted pictures. Without it such
	// slots fail, and formats are not converted.
	Storage Storage
	// Fetch gets results that come by link; default is a guarded one: public addresses
	// and the provider's own origin, within 64 MiB and a minute.
	Fetch Fetch
	// Origins are, by provider, the addresses that the operator configured for its API. Links
	// of that provider, and of no other, may lead to them wherever they resolve to.
	Origins map[string]string
	// Recorder stores the record of every result before anybody sees it; default none.
	Recorder media.Recorder
	// Journal remembers provider calls across a crash; default journal.Memory.
	Journal journal.Journal
	// Operations keeps intent and receipt of every call; default [NopLog].
	Operations OperationLog
	// Budget bounds what operations make and cost; default [InMemory].
	Budget Budget
	// Events is told how operations go on, from several goroutines; default nobody. It
	// must not block.
	Events func(ctx context.Context, e Event)
	// DefaultModel answers requests that name no model, where it makes what is asked for
	// (ATELIER_IMAGE_MODEL); default is what the agent prefers, then the first provider that is ready.
	DefaultModel string
	// Fallback is the Fallback of requests that name neither a model nor a chain of their
	// own (ATELIER_IMAGE_FALLBACK); default none.
	Fallback []string
	// Notify gives the URL that a provider's notifications are to come to, and the secret
	// that they are to be signed with or to carry; see [Gateway.Notify]. The URL gets a query
	// parameter "call", so that a task is known whose name was lost. Default nobody: tasks are polled.
	Notify func(provider string) (url, secret string)
	// Partials asks for preview frames: each result then has a disposition "partials",
	// and strict requests are refused where the model has none. Some providers bill them;
	// default off.
	Partials bool
	// Concurrency is how many calls run at once per provider; 0 means the catalogue's, or 4.
	Concurrency int
	// MaxAttempts is how often a call is made while it fails in a way that is safe to
	// repeat; default 3.
	MaxAttempts int
	// MaxRetryWait is the longest wait before a repeat; a provider that asks for more
	// fails the call. Default 60 s.
	MaxRetryWait time.Duration
	// MinFree is how many bytes a billable call has to leave free where Storage is [Spacious], beside
	// the room for its results. Default 32 MiB; negative means none.
	MinFree int64
	// Limits bound a result; the zero value means imaging's defaults, 100 megapixels
	// and 200 frames.
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
type Gateway struct {
	config  Config
	drivers map[string]Driver
	lanes   map[string]*lane // by provider
	notices notices
	here    here
	holder  string // names this gateway among those that work on one ledger

	expected atomic.Int64 // bytes of results that calls under way may need
}

// NewGateway makes a gateway. Its error has code media.CodeInvalid and names the
// setting.
func NewGateway(c Config) (*Gateway, error) {
	if len(c.Drivers) == 0 {
		return nil, media.Errorf(media.CodeInvalid, "generate.Config.Drivers is empty: give at least one driver")
	}
	if c.Catalogue == nil {
		var err error
		if c.Catalogue, err = LoadCatalogue(); err != nil {
			return nil, err
		}
	}
	c.fill()
	g := &Gateway{config: c, drivers: map[string]Driver{}, lanes: map[string]*lane{}, holder: c.NewID()}
	for _, d := range c.Drivers {
		p := d.Provider()
		if _, twice := g.drivers[p]; twice {
			return nil, media.Errorf(media.CodeInvalid, "generate.Config.Drivers has two drivers for %s: leave one out", p)
		}
		g.drivers[p] = d
		g.lanes[p] = g.lane(p)
	}
	return g, nil
}

// fill sets the defaults.
func (c *Config) fill() {
	if c.Journal == nil {
		c.Journal = journal.Memory{}
	}
	if c.Operations == nil {
		c.Operations = NopLog{}
	}
	if c.Budget == nil {
		c.Budget = InMemory{}
	}
	if c.Fetch == nil {
		c.Fetch = safehttp.New(safehttp.Config{}).Fetch
	}
	if c.Events == nil {
		c.Events = func(context.Context, Event) {}
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
	c.MaxAttempts = cmp.Or(c.MaxAttempts, defaultAttempts)
	c.MaxRetryWait = cmp.Or(c.MaxRetryWait, defaultRetryWait)
}

// Models lists the catalogue, retired models included, in the order of preference.
func (g *Gateway) Models() []Model { return g.inOrder() }

// Lookup finds a model by display name, API id or alias. The error has code
// media.CodeInvalid and lists names that come near.
func (g *Gateway) Lookup(name string) (Model, error) {
	m, ok := g.config.Catalogue.Lookup(name)
	if !ok {
		return Model{}, g.unknown(name)
	}
	return m, nil
}

// Provider reports whether a provider can be used.
type Provider struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// Reason says what to do; empty if ready.
	Reason string `json:"reason,omitempty"`
	// Models are the display names of its living models.
	Models []string `json:"models"`
}

// Providers lists the providers of the program in the order of preference.
func (g *Gateway) Providers() []Provider {
	var out []Provider
	at := func(name string) int {
		return slices.IndexFunc(out, func(p Provider) bool { return p.Name == name })
	}
	add := func(name string) {
		p := Provider{Name: name, Ready: true}
		if err := g.drivers[name].Ready(); err != nil {
			p.Ready, p.Reason = false, err.Error()
		}
		out = append(out, p)
	}
	for _, m := range g.inOrder() {
		if _, ok := g.drivers[m.Provider]; !ok {
			continue
		}
		if at(m.Provider) < 0 {
			add(m.Provider)
		}
		if m.Alive(g.config.Now()) {
			p := &out[at(m.Provider)]
			p.Models = append(p.Models, m.Name)
		}
	}
	for _, d := range g.config.Drivers {
		if at(d.Provider()) < 0 {
			add(d.Provider())
		}
	}
	return out
}

// Generate makes what is asked and waits for it.
//
// It returns an error only where no call was made: the errors of [Gateway.Plan] and of
// Request.Accept, an intent that could not be journalled, or a ctx that had ended. With
// Request.TakeUp such a ctx ends what an earlier process left, and that is the result. In strict mode the
// result comes with the error and shows the refused settings. After the first call
// the result tells everything: every slot has its own status and error, see
// [Result.Err]. What was made is recorded even when ctx ends; what was not is
// cancelled, unless the cause of ctx is [ErrLeft] or [ErrLetGo]. A provider that works
// past its wait leaves the operation running.
func (g *Gateway) Generate(ctx context.Context, r Request) (*Result, error) {
	p, err := g.first(ctx, r)
	if err != nil {
		return p.refused(), err
	}
	if ctx.Err() != nil {
		return g.abandon(ctx, r)
	}
	if known, err := g.recall(ctx, r); known != nil || err != nil {
		return known, err
	}
	if err := g.prepare(ctx, p); err != nil {
		return nil, err
	}
	if r.Strict {
		if err := p.refuse(); err != nil {
			return p.refused(), err
		}
	}
	x, ctx, err := g.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := g.here.enter(x.op.ID); err != nil {
		return nil, err
	}
	defer g.here.leave(x.op.ID)
	return x.work(ctx), nil
}

// first is the plan by the first model of the request, or of the gateway's chain, that can
// be asked at all.
func (g *Gateway) first(ctx context.Context, r Request) (*Plan, error) {
	if r.Model == "" && len(r.Fallback) == 0 {
		r.Fallback = g.config.Fallback
		for _, name := range r.Fallback {
			if _, ok := g.config.Catalogue.Lookup(name); !ok {
				return nil, wrap("ATELIER_IMAGE_FALLBACK", g.unknown(name))
			}
		}
	}
	r.OptionsFor = g.optionsFor(r)
	return g.planAny(ctx, r)
}

// recall finds what an idempotency key has already made, or goes on with it.
func (g *Gateway) recall(ctx context.Context, r Request) (*Result, error) {
	log, ok := g.config.Operations.(Recaller)
	if r.IdempotencyKey == "" || !ok {
		return nil, nil
	}
	known, err := log.Recall(ctx, r.IdempotencyKey)
	if finder, ok := log.(Finder); ok && r.TakeUp && media.CodeOf(err) == media.CodeConflict {
		operation, err := finder.OperationOf(ctx, r.IdempotencyKey)
		if err != nil {
			return nil, wrap("look up idempotency key", err)
		}
		res, err := g.Resume(ctx, operation)
		if err != nil && ctx.Err() != nil {
			return g.abandon(ctx, r)
		}
		return res, err
	}
	if err != nil {
		return nil, wrap("look up idempotency key", err)
	}
	if known == nil || !r.TakeUp {
		return known, nil
	}
	again, err := g.rejoin(ctx, known.Operation)
	if err != nil {
		known.Warnings = append(known.Warnings, "what was cut off could not be gone on with: "+asError(err).Message)
	}
	return cmp.Or(again, known), nil
}
