package run_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
	"atelier/internal/goruntime"
	"atelier/ledger/sqlite"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/fileblob"
	"atelier/media/wire"
	"atelier/run/operations"
)

// gatewayBench is the gateway as in the product, in front of a simulator in the same process: pictures of 2 MB are
// lifted, hashed and synced to files, and every phase is a commit of the ledger.
type gatewayBench struct {
	gateway *gateway.Gateway
	base    *http.Transport
	url     string
}

func newGatewayBench(b *testing.B, inFlight int) *gatewayBench {
	b.Helper()
	server := httptest.NewServer(openaisim.New(openaisim.Config{PictureBytes: 2 << 20}))
	b.Cleanup(server.Close)
	store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "a.db")})
	mustBench(b, err)
	b.Cleanup(func() { mustBench(b, store.Close()) })
	drv, err := fileblob.New(b.TempDir())
	mustBench(b, err)
	blobs, err := blob.New(blob.Config{Driver: drv})
	mustBench(b, err)
	codec, err := wire.NewCodec(wire.Config{
		Blobs: blobs, Keys: []wire.Key{{ID: "bench", Secret: []byte("a secret of thirty-two bytes .. ")}}, Register: store.RegisterBlob,
	})
	mustBench(b, err)
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = inFlight
	b.Cleanup(base.CloseIdleConnections)
	d, err := openai.New(openai.Config{APIKey: "sk-simulated-openai", BaseURL: server.URL + "/v1", Codec: codec, Base: base})
	mustBench(b, err)
	g, err := gateway.New(gateway.Config{
		Drivers: []driver.Driver{d}, Storage: codec, Recorder: store, Operations: operations.NewLog(store, nil), Concurrency: inFlight,
	})
	mustBench(b, err)
	return &gatewayBench{gateway: g, base: base, url: server.URL}
}

func (g *gatewayBench) generate(b *testing.B) {
	b.Helper()
	ctx := media.WithScope(b.Context(), media.Scope{Owner: "ann", Tree: "bench"})
	r, err := g.gateway.Generate(ctx, generate.Request{Model: "gpt-image-2", Prompt: "a house"})
	if err != nil || r.Err() != nil {
		b.Errorf("Generate: %v, %v", err, r.Err())
	}
}

// discard requests the same picture from the simulator and discards the body.
func (g *gatewayBench) discard(b *testing.B) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, g.url+"/v1/images/generations",
		bytes.NewReader([]byte(`{"model":"gpt-image-2","prompt":"a house","n":1}`)))
	mustBench(b, err)
	req.Header.Set("Authorization", "Bearer sk-simulated-openai")
	req.Header.Set("Content-Type", "application/json")
	res, err := g.base.RoundTrip(req)
	mustBench(b, err)
	n, err := io.Copy(io.Discard, res.Body)
	if err != nil || n < 2<<20 || res.StatusCode != http.StatusOK {
		b.Fatalf("status %d, %d bytes, %v", res.StatusCode, n, err)
	}
	mustBench(b, res.Body.Close())
}

func mustBench(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkGateway64 makes 64 pictures at once; one operation is all 64. The process's peak memory includes the
// simulator.
func BenchmarkGateway64(b *testing.B) {
	const inFlight = 64
	goruntime.Tune()
	g := newGatewayBench(b, inFlight)
	b.SetBytes(inFlight * 2 << 20)
	b.ReportAllocs()
	before, n := processorTime(b), 0
	for b.Loop() {
		n += inFlight
		var all sync.WaitGroup
		for range inFlight {
			all.Go(func() { g.generate(b) })
		}
		all.Wait()
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(n)/1e6, "cpu-ms/image")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "images/s")
	b.ReportMetric(peakMiB(b), "peak-MiB")
}

// BenchmarkGatewayAlone makes one picture after the other, each followed by a discarded download of the same picture,
// and reports what the gateway adds.
func BenchmarkGatewayAlone(b *testing.B) {
	g := newGatewayBench(b, 1)
	var with, without []time.Duration
	for b.Loop() {
		start := time.Now()
		g.generate(b)
		middle := time.Now()
		g.discard(b)
		with, without = append(with, middle.Sub(start)), append(without, time.Since(middle))
	}
	sort.Slice(with, func(i, j int) bool { return with[i] < with[j] })
	sort.Slice(without, func(i, j int) bool { return without[i] < without[j] })
	p50 := func(d []time.Duration) float64 { return d[len(d)/2].Seconds() * 1000 }
	b.ReportMetric(p50(with), "p50-ms")
	b.ReportMetric(p50(with)-p50(without), "added-ms")
}

// peakMiB returns the process's peak memory as the kernel counts it; 0 if the kernel does not report it.
func peakMiB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	mustBench(b, err)
	return kib / 1024
}
