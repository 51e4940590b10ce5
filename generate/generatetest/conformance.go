package generatetest

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/generate"
	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/wire"
)

// Harness tells [Run] how to set up the driver under test.
type Harness struct {
	// Model is the display name of the model that calls go to; it must be alive in the
	// shipped catalogue.
	Model string
	// Simulator makes the provider; nil for a driver that speaks to nobody.
	Simulator func() Simulator
	// Driver makes the driver against the server's URL, with the codec that its media
	// go through. An empty key stands for "no key is set". Without a simulator, base
	// and key are empty.
	Driver func(tb testing.TB, base, key string, codec *wire.Codec) generate.Driver
	// PerCall is how many results every call gives, whatever it is asked for; 0 means as
	// many as it is asked for.
	PerCall int
	// NoKey says why the driver needs no key; empty if it needs one.
	NoKey string
}

// bench is one driver with all that stands around it.
type bench struct {
	sim      Simulator
	driver   generate.Driver
	codec    *wire.Codec
	gateway  *generate.Gateway
	log      *Log
	recorder *Recorder
	journal  *Journal
	// modality is what the model makes.
	modality media.Modality
}

// now is the day on which every scenario plays.
func now() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// set builds a fresh bench.
func (h Harness) set(t *testing.T) *bench {
	t.Helper()
	b := &bench{codec: NewCodec(t), log: &Log{}, recorder: &Recorder{}, journal: &Journal{}}
	base, key := "", ""
	if h.Simulator != nil {
		b.sim = h.Simulator()
		server := httptest.NewServer(b.sim)
		t.Cleanup(server.Close)
		base, key = server.URL, b.sim.Key()
	}
	b.driver = h.Driver(t, base, key, b.codec)
	var err error
	b.gateway, err = generate.NewGateway(generate.Config{
		Drivers: []generate.Driver{b.driver}, Storage: b.codec, Recorder: b.recorder, Journal: b.journal,
		Operations: b.log, Now: now, Concurrency: 8, Fetch: fetch(base),
	})
	if err != nil {
		t.Fatalf("make gateway: %v", err)
	}
	m, err := b.gateway.Lookup(h.Model)
	if err != nil {
		t.Fatal(err)
	}
	b.modality = m.Modality
	return b
}

// fetch gets results that come by link, guarded as in the program: of the private
// addresses it trusts the provider's own origin alone.
func fetch(origin string) generate.Fetch {
	client := safehttp.New(safehttp.Config{TrustedOrigins: []string{origin}})
	return func(ctx context.Context, url string) (io.ReadCloser, string, error) {
		res, err := client.Get(ctx, url)
		if err != nil {
			return nil, "", err
		}
		return res.Body, res.ContentType, nil
	}
}

// ask generates n results and checks what every result has to keep.
func (b *bench) ask(t *testing.T, h Harness, r generate.Request) *generate.Result {
	t.Helper()
	r.Model = h.Model
	if r.Prompt == "" {
		r.Prompt = "A lighthouse on a cliff at dusk"
	}
	got, err := b.gateway.Generate(t.Context(), r)
	if err != nil {
		t.Fatalf("Generate: %v", err)
	}
	b.clean(t, got)
	return got
}

// clean proves that a result, its journal and its records hold no media and no key.
func (b *bench) clean(t *testing.T, r *generate.Result) {
	t.Helper()
	for name, v := range map[string]any{"result": r, "attempts": b.log.Attempts(), "operation": b.log.Operation(r.Operation), "records": b.recorder.Records()} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("marshal %s: %v", name, err)
		}
		text := string(raw)
		for _, d := range b.recorder.Records() {
			text = strings.ReplaceAll(text, d.Digest.Hex(), "")
		}
		if media.Scrub(text) != text {
			t.Errorf("%s holds what looks like base64: %s", name, media.Scrub(text))
		}
		if b.sim != nil && strings.Contains(text, b.sim.Key()) {
			t.Errorf("%s holds the key", name)
		}
	}
}

// Run plays every scenario against the driver. A scenario that a provider cannot
// play is left out, but only if the simulator says why.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for name, play := range map[string]func(*testing.T, Harness){
		"ready": ready, "one": one, "several": several, "sequential calls are independent": independent,
		"poll": pollUnsupported, "cancel is idempotent": cancelTwice, "ended context": ended, "many at once": many,
		"edit": edit, "edit of what is not there": lost,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, h)
		})
	}
	if h.Simulator == nil {
		return
	}
	t.Run("bytes are the provider's", func(t *testing.T) {
		t.Parallel()
		exact(t, h)
	})
	for _, f := range Faults() {
		sim := h.Simulator()
		if why := sim.Absent(f); (sim.Variants(f) == 0) != (why != "") {
			t.Errorf("%T has %d variants of %s, and the reason for none is %q", sim, sim.Variants(f), f, why)
		}
		for variant := range h.Simulator().Variants(f) {
			t.Run(scenarioName(f, variant), func(t *testing.T) {
				t.Parallel()
				faulty(t, h, Injection{Fault: f, Variant: variant})
			})
		}
	}
}
