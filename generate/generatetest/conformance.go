package generatetest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/wire"
)

// Harness describes to [Run] how to set up the driver under test.
type Harness struct {
	// Name distinguishes the harnesses of one model; empty if there is only one.
	Name string
	// Model is the display name of the model to call; it must be active in the shipped
	// catalogue, or in Catalogue.
	Model string
	// Catalogue is a user's catalogue file to read in addition, in YAML; may be empty.
	Catalogue string
	// Simulator returns the provider; nil for a driver that calls none.
	Simulator func() Simulator
	// Driver returns the driver for the server's URL, with the codec for its media. An
	// empty key means that no key is set. Without a simulator, base and key are
	// empty.
	Driver func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver
	// PerCall is how many results every call makes, whatever number is requested; 0 means
	// the requested number.
	PerCall int
	// CutsGrid means that every call makes one grid, which the Gateway cuts.
	CutsGrid bool
	// Masked, if not nil, is the request that edits a picture of the provider before a mask is
	// applied to the result: such a provider accepts masks for no other pictures.
	Masked *generate.Request
	// CannotCancel means that the provider cannot stop a task.
	CannotCancel bool
	// NotifySecret is the secret that signs the provider's notifications or is sent in them;
	// empty if they are unsigned.
	NotifySecret string
	// NoKeyReason says why the driver needs no key; empty if it needs one.
	NoKeyReason string
	// ScriptedReason says why the driver ignores the requests; empty if it is a real one.
	ScriptedReason string
}

// bench is a driver with everything that it needs.
type bench struct {
	sim      Simulator
	driver   driver.Driver
	model    catalog.Model
	codec    *wire.Codec
	gateway  *gateway.Gateway
	log      *Log
	recorder *Recorder
	journal  *Journal
	traffic  *traffic
	money    *countingBudget
	fetch    gateway.Fetch
	// catalogue is nil for the shipped one.
	catalogue *catalog.Catalog
}

// now returns the date of every scenario.
func now() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// newBench builds a new bench; change, if not nil, may modify the gateway's configuration last. At
// the end of the test, every captured call must follow the provider's documented schema.
func (h Harness) newBench(t *testing.T, change func(*bench, *gateway.Config)) *bench {
	t.Helper()
	b := &bench{codec: wiretest.NewCodec(t), log: &Log{}, recorder: &Recorder{}, journal: &Journal{}, traffic: &traffic{}, money: &countingBudget{}}
	base, key := "", ""
	if h.Simulator != nil {
		b.sim = h.Simulator()
		b.traffic.inner = b.sim
		server := httptest.NewServer(b.traffic)
		t.Cleanup(server.Close)
		t.Cleanup(func() { checkDocumented(t, b.sim) })
		base, key = server.URL, b.sim.Key()
	}
	b.driver, b.fetch = h.Driver(t, base, key, b.codec), b.traffic.fetch(base)
	c := gateway.Config{
		Drivers: []driver.Driver{b.driver}, Storage: b.codec, Recorder: b.recorder, Journal: b.journal,
		Operations: b.log, Now: now, Concurrency: 8, Fetch: b.fetch, Budget: b.money,
	}
	var err error
	if h.Catalogue != "" {
		if c.Catalogue, err = catalog.Load(strings.NewReader(h.Catalogue)); err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		change(b, &c)
	}
	b.catalogue = c.Catalogue
	if b.gateway, err = gateway.New(c); err != nil {
		t.Fatalf("make gateway: %v", err)
	}
	if b.model, err = b.gateway.Lookup(h.Model); err != nil {
		t.Fatal(err)
	}
	return b
}

// checkDocumented checks that the calls follow the provider's documented schema.
func checkDocumented(t *testing.T, service Simulator) {
	t.Helper()
	for _, c := range service.Captured() {
		if err := service.Violation(c); err != nil {
			t.Errorf("%s %s is not as documented: %v", c.Method, c.Path, err)
		}
	}
}

// traffic counts the concurrent calls to a provider; it does not count downloads of results.
type traffic struct {
	inner http.Handler

	mu             sync.Mutex // guards all below
	inFlight, peak int
	links          []string // those fetched
}

// ServeHTTP forwards a call.
func (r *traffic) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if !r.fetched(q) {
		r.count(1)
		defer r.count(-1)
	}
	r.inner.ServeHTTP(w, q)
}

// fetched reports whether a request is for the link of a result.
func (r *traffic) fetched(q *http.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.links, func(link string) bool { return strings.HasSuffix(link, q.Host+q.URL.RequestURI()) })
}

func (r *traffic) count(change int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight += change
	r.peak = max(r.peak, r.inFlight)
}

// maxConcurrent returns the maximum number of concurrent calls.
func (r *traffic) maxConcurrent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.peak
}

// fetch downloads results by link, guarded as in the program: of the private addresses, it
// trusts only the provider's own origin.
func (r *traffic) fetch(origin string) gateway.Fetch {
	guarded := safehttp.New(safehttp.Config{TrustedPaths: []string{origin}}).Fetch
	return func(ctx context.Context, link string) (io.ReadCloser, string, error) {
		r.mu.Lock()
		r.links = append(r.links, link)
		r.mu.Unlock()
		return guarded(ctx, link)
	}
}

// request returns a valid request for n results of the model, by a method that it has. For
// a model that only edits, it has a picture, and a mask if the model accepts one.
func (b *bench) request(t *testing.T, n int) generate.Request {
	t.Helper()
	r := generate.Request{Model: b.model.Name, Prompt: "A lighthouse on a cliff at dusk", N: n}
	if b.sim == nil && b.model.Modality == media.ModalityImage {
		r.Size = "256x256" // the driver draws the picture itself: a small one takes a tenth of the work
	}
	if slices.Contains(b.model.Methods, generate.MethodGenerate) {
		return r
	}
	r.Method, r.Inputs = generate.MethodEdit, []media.Output{b.input(t, 0)}
	if masks(b.model) {
		r.Mask = b.mask(t, r.Inputs[0])
	}
	return r
}

// scoped adds the scope of a run: pictures are sent only within a run.
func scoped(ctx context.Context) context.Context { return media.WithScope(ctx, scope) }

// mustGenerate generates and checks what holds for every result.
func (b *bench) mustGenerate(t *testing.T, r generate.Request) *generate.Result {
	t.Helper()
	got, err := b.gateway.Generate(scoped(t.Context()), r)
	if err != nil {
		t.Fatalf("Generate: %v", err)
	}
	b.checkNoLeaks(t, got)
	return got
}

// mustGenerateN is must for n results of a valid request.
func (b *bench) mustGenerateN(t *testing.T, n int) *generate.Result {
	t.Helper()
	return b.mustGenerate(t, b.request(t, n))
}

// checkNoLeaks checks that a result, its journal and its records contain no media and no key, and
// that its money was reserved and, unless it is still running, settled once.
func (b *bench) checkNoLeaks(t *testing.T, r *generate.Result) {
	t.Helper()
	if r.Status == generate.StatusRunning {
		if b.money.counts(r.Operation) != [2]int{1, 0} {
			t.Errorf("the money of an operation that goes on is not reserved")
		}
	} else if !b.money.once(r.Operation) {
		t.Errorf("the money of the operation was not reserved and settled once")
	}
	for name, v := range map[string]any{"result": r, "attempts": b.log.Attempts(), "operation": b.log.Operation(r.Operation), "records": b.recorder.Records()} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("marshal %s: %v", name, err)
		}
		text := string(raw)
		for _, d := range b.recorder.Records() {
			text = strings.ReplaceAll(text, d.Digest.Hex(), "")
		}
		if wire.NameMedia(text) != text {
			t.Errorf("%s holds what looks like base64: %s", name, media.ErrorText(text))
		}
		if b.sim != nil && strings.Contains(text, b.sim.Key()) {
			t.Errorf("%s holds the key", name)
		}
	}
}

// Run tests the driver against every clause of [Clauses], each variant in its own subtest.
// It omits what a provider cannot simulate, for the reason that the clause gives.
func Run(t *testing.T, h Harness) {
	t.Helper()
	Record(t, h, func(Clause) {})
}

// Record is [Run] with a callback for every variant that passed, called from several
// goroutines. Variants that failed or did not run are not reported. All calls have been made
// when the test of t ends.
func Record(t *testing.T, h Harness, passed func(Clause)) {
	t.Helper()
	if h.Model == "" || h.Driver == nil {
		t.Fatal("the harness has no model or no driver")
	}
	for _, c := range Clauses(t, h) {
		if (c.Variants == 0) != (c.Absent != "") {
			t.Errorf("%s has %d variants, and the reason for none is %q", c.Name, c.Variants, c.Absent)
		}
		for variant := range c.Variants {
			t.Run(c.title(variant), func(t *testing.T) {
				t.Parallel()
				t.Cleanup(func() {
					if !t.Failed() && !t.Skipped() {
						passed(c)
					}
				})
				c.play(t, h, variant)
			})
		}
	}
}

// FirstCall returns the call that a valid request makes, and the simulator that received it.
func FirstCall(t *testing.T, h Harness) (sim.Captured, Simulator) {
	t.Helper()
	b := h.newBench(t, nil)
	b.mustGenerateN(t, 1)
	return b.sim.Captured()[0], b.sim
}
