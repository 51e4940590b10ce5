package openai_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/provider/openai"
	"atelier/media"
)

// fuzzed returns a driver over a transport.
func fuzzed(tb testing.TB, base http.RoundTripper) *openai.Driver {
	tb.Helper()
	d, err := openai.New(openai.Config{APIKey: "sk-very-secret", Codec: wiretest.NewCodec(tb), Base: base})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// simulatedAnswers returns the simulator's answers to a request for two pictures, with or without previews.
func simulatedAnswers(f *testing.F, stream bool, faults ...sim.Fault) []string {
	f.Helper()
	service := openaisim.New(openaisim.Config{Key: "sk-very-secret"})
	tape := &generatetest.Tape{Simulator: service}
	d := fuzzed(f, tape)
	for _, fault := range append([]sim.Fault{""}, faults...) {
		if fault != "" {
			service.Inject(sim.Injection{Fault: fault})
		}
		q := task(func(q *driver.Task) { q.N = 2 })
		if stream {
			q.Partial = func(int, media.Blob) {}
		}
		_, _ = d.Start(f.Context(), q) // the injected faults fail
	}
	return tape.Bodies()
}

// FuzzStream: whatever a stream holds, the driver neither panics nor quotes media or the key, shows previews of
// existing slots only, and returns items or an error.
func FuzzStream(f *testing.F) {
	for _, s := range simulatedAnswers(f, true, sim.FaultPartialsThenError, sim.FaultModerated) {
		f.Add(s)
	}
	for _, s := range []string{
		"data: [DONE]\n\n", "data:\n\n", "data: null\n\n", "data: {\"type\":\"error\"}\n\n", "data: {\"error\":null,\"type\":7}\n\n",
		"event: x\r\ndata: {\"type\":\"a.completed\",\"b64_json\":\"AAAA\",\"usage\":{\"input_tokens\":-1}}\r\n\r\n",
		"data: {\"type\":\"a.partial_image\",\"partial_image_index\":-9}\n\ndata: {\"type\":\"err", "data: " + strings.Repeat("[", 5000) + "\n\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		d := fuzzed(t, generatetest.Answer{Status: http.StatusOK, Type: "text/event-stream", Body: body})
		var mu sync.Mutex
		u, err := d.Start(t.Context(), task(func(q *driver.Task) {
			q.N = 2
			q.Partial = func(slot int, _ media.Blob) {
				mu.Lock()
				defer mu.Unlock()
				if slot < 1 || slot > 2 {
					t.Errorf("a preview of slot %d", slot)
				}
			}
		}))
		generatetest.Sane(t, u, err, "very-secret")
		if err == nil && len(u.Items) == 0 {
			t.Error("neither an item nor an error")
		}
	})
}

// FuzzAnswer: whatever an answer in one piece holds, of any status, the same is true.
func FuzzAnswer(f *testing.F) {
	for _, s := range simulatedAnswers(f, false, sim.FaultModerated, sim.FaultQuota, sim.FaultEmpty, sim.FaultHalfBody) {
		f.Add(uint16(0), s)
		f.Add(uint16(229), s)
	}
	f.Add(uint16(200), `{"error":{"message":7,"code":[],"moderation_details":{"categories":[null]}}}`)
	f.Fuzz(func(t *testing.T, status uint16, body string) {
		u, err := fuzzed(t, generatetest.Answer{Status: 200 + int(status)%400, Body: body}).Start(t.Context(), task(nil))
		generatetest.Sane(t, u, err, "very-secret")
		if err == nil && len(u.Items) == 0 {
			t.Error("neither an item nor an error")
		}
	})
}
