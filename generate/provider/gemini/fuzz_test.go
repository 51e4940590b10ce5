package gemini_test

import (
	"net/http"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/provider/gemini"
	"atelier/media"
)

// fuzzed returns a driver over a transport.
func fuzzed(tb testing.TB, base http.RoundTripper) *gemini.Driver {
	tb.Helper()
	d, err := gemini.New(gemini.Config{APIKey: "AIza-very-secret", Codec: wiretest.NewCodec(tb), Base: base})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// FuzzAnswer: whatever an answer holds, truncated anywhere, the driver neither panics nor quotes media or the key, and
// returns an item or an error.
func FuzzAnswer(f *testing.F) {
	service := geminisim.New(geminisim.Config{Key: "AIza-very-secret"})
	tape := &generatetest.Tape{Simulator: service}
	d := fuzzed(f, tape)
	for _, fault := range []sim.Fault{"", sim.FaultModerated, sim.FaultQuota, sim.FaultEmpty, sim.FaultHalfBody} {
		variants := 1
		if fault != "" {
			variants = service.Variants(fault)
		}
		for v := range variants {
			if fault != "" {
				service.Inject(sim.Injection{Fault: fault, Variant: v})
			}
			_, _ = d.Start(f.Context(), task(nil)) // the injected faults fail
		}
	}
	for _, s := range tape.Bodies() {
		f.Add(uint16(0), false, s)
		f.Add(uint16(0), true, s[:len(s)/2])
		f.Add(uint16(229), false, s)
	}
	f.Add(uint16(0), false, `{"candidates":[{"content":{"parts":[{"thought":true,"inlineData":{"data":"iVBORw0KGgo="}},{"inlineData":null},{"text":"\u0000"}]}}]}`)
	f.Add(uint16(0), false, `{"candidates":[null],"promptFeedback":null,"usageMetadata":{"promptTokenCount":-5,"thoughtsTokenCount":9223372036854775807}}`)
	f.Add(uint16(203), false, `[{"error":{"details":[null,{"retryDelay":"-1s"},{"violations":[{}]}]}}]`)
	f.Fuzz(func(t *testing.T, status uint16, speech bool, body string) {
		q := task(func(q *driver.Task) {
			if speech {
				q.Model.Modality = media.ModalityAudio
			}
		})
		u, err := fuzzed(t, generatetest.Answer{Status: 200 + int(status)%400, Body: body}).Start(t.Context(), q)
		generatetest.Sane(t, u, err, "very-secret")
		if err == nil && len(u.Items) == 0 {
			t.Error("neither an item nor an error")
		}
	})
}
