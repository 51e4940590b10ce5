package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/api"
)

// run runs an agent to its end.
func (s *server) run(b *testing.B, r api.NewRun) {
	b.Helper()
	run, err := s.Runs.StartRun(b.Context(), "", r)
	if err != nil {
		b.Fatal(err)
	}
	for e, err := range s.Events.Follow(b.Context(), run.ID, 0) {
		if err != nil {
			b.Fatal(err)
		}
		if e.Ends(run.ID) {
			return
		}
	}
}

// BenchmarkEvents measures the delay from an event to each of 1,000 readers of all events. The readers run in the
// benchmark's process and use part of the processors. The server paints the picture itself, unlike with a provider.
func BenchmarkEvents(b *testing.B) {
	for _, row := range []struct{ name, message string }{{"text", "Hello"}, {"picture", "Draw a lighthouse"}} {
		b.Run(row.name, func(b *testing.B) { deliver(b, api.NewRun{Agent: "sage", Message: row.message}) })
	}
}

// deliver measures the delivery of the events of runs.
func deliver(b *testing.B, r api.NewRun) {
	b.Helper()
	const readers = 1000
	s := serve(b, b.TempDir())
	ctx, stop := context.WithCancel(b.Context())
	var mu sync.Mutex // guards times
	var times []time.Duration
	var all sync.WaitGroup
	var ended atomic.Int64
	for range readers {
		all.Go(func() {
			listen(ctx, s.url+"/api/events", func(data []byte, now time.Time) {
				_, rest, _ := bytes.Cut(data, []byte(`"at":"`))
				text, _, _ := bytes.Cut(rest, []byte(`"`))
				at, err := time.Parse(time.RFC3339Nano, string(text))
				if err != nil {
					b.Error(err)
				}
				mu.Lock()
				times = append(times, now.Sub(at))
				mu.Unlock()
				if bytes.Contains(data, []byte("\nevent: run-succeeded\n")) {
					ended.Add(1)
				}
			})
		})
	}
	for ended.Load() < readers { // until all readers are connected
		s.run(b, r)
		time.Sleep(500 * time.Millisecond)
	}
	mu.Lock()
	times = nil
	mu.Unlock()
	before := s.worked(b)
	for b.Loop() {
		ended.Store(0)
		s.run(b, r)
		for ended.Load() < readers {
			time.Sleep(time.Millisecond)
		}
	}
	mu.Lock()
	report(b, times)
	b.ReportMetric((s.worked(b)-before).Seconds()*1e6/float64(len(times)), "cpu-us/delivery")
	mu.Unlock()
	b.ReportMetric(s.resident(b), "MiB")
	stop()
	all.Wait()
}

// listen passes the saved events of a stream to seen as they arrive, with little work of its own.
func listen(ctx context.Context, url string, seen func(event []byte, now time.Time)) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return
	}
	defer res.Body.Close()
	var rest []byte
	buf := make([]byte, 16<<10)
	for {
		n, err := res.Body.Read(buf)
		if err != nil {
			return
		}
		now := time.Now()
		rest = append(rest, buf[:n]...)
		for {
			event, more, whole := bytes.Cut(rest, []byte("\n\n"))
			if !whole {
				break
			}
			if bytes.HasPrefix(event, []byte("id: ")) && bytes.Contains(event, []byte("\nevent: ")) {
				seen(event, now)
			}
			rest = more
		}
	}
}

// BenchmarkFirstDelta measures the delay from the first part of a message that a chat model sends to the message-delta
// that a reader gets.
func BenchmarkFirstDelta(b *testing.B) {
	sent := make(chan time.Time, 1)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		part := func(text string) {
			chunk := map[string]any{
				"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
				"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": text}}},
			}
			j, _ := json.Marshal(chunk) // strings always marshal
			_, _ = w.Write(append(append([]byte("data: "), j...), "\n\n"...))
			_ = out.Flush() // the reader may be gone
		}
		part(`{"reasoning":"short","message":"`)
		time.Sleep(50 * time.Millisecond)
		sent <- time.Now()
		part("The first words of an answer")
		time.Sleep(300 * time.Millisecond)
		part(`","done":true}`)
		_, _ = w.Write([]byte(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
	}))
	defer model.Close()
	s := serve(b, b.TempDir(), "OPENAI_API_KEY=sk-bench", "OPENAI_BASE_URL="+model.URL+"/v1")
	var times []time.Duration
	for b.Loop() {
		run, err := s.Runs.StartRun(b.Context(), "", api.NewRun{Agent: "sage", Message: "Say something."})
		if err != nil {
			b.Fatal(err)
		}
		first := true
		for e, err := range s.Events.Follow(b.Context(), run.ID, 0) {
			if err != nil {
				b.Fatal(err)
			}
			if first && e.Kind == "message-delta" && bytes.Contains(e.Data, []byte("first words")) {
				times, first = append(times, time.Since(<-sent)), false
			}
			if e.Ends(run.ID) {
				if first {
					b.Fatalf("%s without a message-delta: %s", e.Kind, e.Data)
				}
				break
			}
		}
	}
	if len(times) == 0 || slices.Max(times) < 0 {
		b.Fatal("nothing was measured")
	}
	report(b, times)
}
