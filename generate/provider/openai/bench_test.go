package openai_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/gateway"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
	"atelier/media/blob/fileblob"
)

// BenchmarkGateway64 makes 64 pictures of 2 MB concurrently, end to end: the simulator's answers are lifted, hashed,
// stored in files and recorded. One iteration is 64 pictures; images/s and the process's peak memory are reported. The
// simulator runs in the same process and counts in both.
func BenchmarkGateway64(b *testing.B) {
	const pictures, size = 64, 2 << 20
	server := httptest.NewServer(openaisim.New(openaisim.Config{PictureBytes: size}))
	defer server.Close()
	drv, err := fileblob.New(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	codec := wiretest.NewCodecOn(b, drv)
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = pictures
	d, err := openai.New(openai.Config{APIKey: "sk-simulated-openai", BaseURL: server.URL + "/v1", Codec: codec, Base: base})
	if err != nil {
		b.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{
		Drivers: []driver.Driver{d}, Storage: codec, Recorder: &generatetest.Recorder{}, Operations: &generatetest.Log{},
		Concurrency: pictures,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(pictures * size)
	b.ReportAllocs()
	for b.Loop() {
		var all sync.WaitGroup
		for range pictures {
			all.Go(func() {
				r, err := g.Generate(b.Context(), generate.Request{Model: "gpt-image-2", Prompt: "a house"})
				if err != nil || r.Err() != nil {
					b.Errorf("Generate: %v, %v", err, r.Err())
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(float64(pictures*b.N)/b.Elapsed().Seconds(), "images/s")
	b.ReportMetric(peakMiB(b), "peak-MiB")
}

// peakMiB returns the process's peak memory as the kernel counts it.
func peakMiB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.Sys) / (1 << 20)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
