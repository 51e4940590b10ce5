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

// Harness tells [Run] how to set up the driver under test.
type Harness struct {
	// Name tells apart the harnesses of one model; empty if there is one.
	Name string
	// Model is the display name of the model that calls go to; it must be alive in the
	// shipped catalogue, or in Catalogue.
	Model string
	// Catalogue is a user's file that is read besides, in YAML; empty if none is.
	Catalogue string
	// Simulator makes the provider; nil for a driver that speaks to nobody.
	Simulator func() Simulator
	// Driver makes the driver against the server's URL, with the codec that its media
	// go through. An empty key stands for "no key is set". Without a simulator, base
	// and key are empty.
	Driver func(tb testing.TB, base, key string, codec *wire.Codec) driver.Driver
	// PerCall is how many results every call gives, whatever it is asked for; 0 means as
	// many as it is asked for.
	PerCall int
	// Cut says that every call gives one grid, which the Gateway cuts.
	Cut bool
	// Masked, if not nil, is asked of a picture that the provider made before a mask is
	// laid on it: such a provider takes masks for no other pictures.
	Masked *generate.Request
	// Unstoppable says that the provider has no way to stop a task.
	Unstoppable bool
	// NotifySecret is what the provider's notifications are signed with or carry; empty
	// if it signs none.
	NotifySecret string
	// NoKey says why the driver needs no key; empty if it needs one.
	NoKey string
	// Scripted says why the driver looks at no request; empty if it is a real one.
	Scripted string
}

// bench is one driver with all that stands around it.
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
	money    *purse
	fetch    gateway.Fetch
	// catalogue is nil for the shipped one.
	catalogue *catalog.Catalog
}

// now is the day on which every scenario plays.
func now() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// set builds a fresh bench; change, if not nil, has the last word on the gateway. When
// the test ends, every call that came has to follow the provider's documented schema.
func (h Harness) set(t *testing.T, change func(*bench, *gateway.Config)) *bench {
	t.Helper()
	b := &bench{codec: wiretest.NewCodec(t), log: &Log{}, recorder: &Recorder{}, journal: &Journal{}, traffic: &traffic{}, money: &purse{}}
	base, key := "", ""
	if h.Simulator != nil {
		b.sim = h.Simulator()
		b.traffic.inner = b.sim
		server := httptest.NewServer(b.traffic)
		t.Cleanup(server.Close)
		t.Cleanup(func() { documented(t, b.sim) })
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

// documented proves that the calls follow the provider's documented schema.
func documented(t *testing.T, service Simulator) {
	t.Helper()
	for _, c := range service.Captured() {
		if err := service.Violation(c); err != nil {
			t.Errorf("%s %s is not as documented: %v", c.Method, c.Path, err)
		}
	}
}

// traffic counts the calls that are under way at a provider; downloads of results are none.
type traffic struct {
	inner http.Handler

	mu         sync.Mutex // guards all below
	under, top int
	links      []string // that were fetched
}

// ServeHTTP passes a call on.
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
	r.under += change
	r.top = max(r.top, r.under)
}

// most is how many calls were under way at once.
func (r *traffic) most() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.top
}

// fetch gets results that come by link, guarded as in the program: of the private
// addresses it trusts the provider's own origin alone.
func (r *traffic) fetch(origin string) gateway.Fetch {
	guarded := safehttp.New(safehttp.Config{TrustedOrigins: []string{origin}}).Fetch
	return func(ctx context.Context, link string) (io.ReadCloser, string, error) {
		r.mu.Lock()
		r.links = append(r.links, link)
		r.mu.Unlock()
		return guarded(ctx, link)
	}
}

// request is a good request: for n results of the model, by the method that it has. A
// model that only edits gets a picture, and a mask where it wants one.
func (b *bench) request(t *testing.T, n int) generate.Request {
	t.Helper()
	r := generate.Request{Model: b.model.Name, Prompt: "A lighthouse on a cliff at dusk", N: n}
	if b.sim == nil && b.model.Modality == media.ModalityImage {
		r.Size = "256x256" // the driver draws it here: a small one is a tenth of the work
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

// scoped has the scope of a run: pictures are sent within a run only.
func scoped(ctx context.Context) context.Context { return media.WithScope(ctx, scope) }

// must generates and checks what every result has to keep.
func (b *bench) must(t *testing.T, r generate.Request) *generate.Result {
	t.Helper()
	got, err := b.gateway.Generate(scoped(t.Context()), r)
	if err != nil {
		t.Fatalf("Generate: %v", err)
	}
	b.clean(t, got)
	return got
}

// ask is must for n results of a good request.
func (b *bench) ask(t *testing.T, n int) *generate.Result {
	t.Helper()
	return b.must(t, b.request(t, n))
}

// clean proves that a result, its journal and its records hold no media and no key, and
// that its money was reserved and, unless it continues, settled once.
func (b *bench) clean(t *testing.T, r *generate.Result) {
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

// Run plays every clause of [Clauses] against the driver, each variant in a subtest of
// its own. What a provider cannot play is left out, for the reason that the clause gives.
func Run(t *testing.T, h Harness) {
	t.Helper()
	Record(t, h, func(Clause) {})
}

// Record is [Run] that tells of every variant that passed, from several goroutines: one
// that failed, or did not run, is not told. All have been told when the test is over that
// t is of.
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

// FirstCall gives the call that a good request makes, and the simulator that got it.
func FirstCall(t *testing.T, h Harness) (sim.Captured, Simulator) {
	t.Helper()
	b := h.set(t, nil)
	b.ask(t, 1)
	return b.sim.Captured()[0], b.sim
}
