package midjourney_test

import (
	"net/http"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/provider/midjourney"
	"atelier/media"
)

// fuzzed returns a driver over a transport.
func fuzzed(tb testing.TB, base http.RoundTripper) *midjourney.Driver {
	tb.Helper()
	d, err := midjourney.New(midjourney.Config{BaseURL: "http://proxy.example", APIKey: "very-secret", Codec: wiretest.NewCodec(tb), Base: base})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func plain() driver.Task {
	return driver.Task{Prompt: "x", N: 1, Model: catalog.Model{
		Provider:     "midjourney",
		Name:         "Midjourney 7",
		APIModel:     "midjourney-v7",
		Modality:     media.ModalityImage,
		SettingRules: catalog.SettingRules{Flags: []catalog.Flag{{Setting: "seed", Flag: "--seed"}}},
	}}
}

// FuzzCallback: a webhook call at most names a task; nothing else of it is trusted.
func FuzzCallback(f *testing.F) {
	service := midjourneysim.New(midjourneysim.Config{Key: "very-secret"})
	d := fuzzed(f, &generatetest.Tape{Simulator: service})
	u, err := d.Start(f.Context(), plain())
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range service.Notifications(u.Task.ID) {
		f.Add(string(n.Body))
	}
	for _, s := range []string{`{"id":"../x","status":"SUCCESS"}`, `{"id":7,"status":"SUCCESS"}`, `{"id":"a b","status":"SUCCESS"}`, `{"id":"1"}`, `null`, `[]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		u, err := d.Notification(t.Context(), driver.Notification{Body: []byte(body)})
		generatetest.Sane(t, u, err, "very-secret")
		if u.Done || len(u.Items) > 0 || (err == nil) == (u.Task.ID == "") {
			t.Errorf("%q is %+v, %v", body, u, err)
		}
	})
}

// FuzzSubmission: whatever a proxy answers to a submission, the driver neither panics nor quotes media or the secret,
// and returns a task, a refusal or an error.
func FuzzSubmission(f *testing.F) {
	service := midjourneysim.New(midjourneysim.Config{Key: "very-secret"})
	tape := &generatetest.Tape{Simulator: service}
	d := fuzzed(f, tape)
	for _, fault := range []sim.Fault{"", sim.FaultModerated, sim.FaultQuota, sim.FaultOverloaded, sim.FaultInvalid} {
		if fault != "" {
			service.Inject(sim.Injection{Fault: fault})
		}
		_, _ = d.Start(f.Context(), plain()) // the injected faults fail
	}
	for _, s := range append(tape.Bodies(), `{"code":21,"result":[],"properties":"x"}`, `{"code":1}`, `{"code":1e99}`, `null`) {
		f.Add(uint16(0), s)
		f.Add(uint16(300), s)
	}
	f.Fuzz(func(t *testing.T, status uint16, body string) {
		u, err := fuzzed(t, generatetest.Answer{Status: 200 + int(status)%400, Body: body}).Start(t.Context(), plain())
		generatetest.Sane(t, u, err, "very-secret")
		if err == nil && u.Task.ID == "" && len(u.Items) == 0 {
			t.Errorf("%q is %+v", body, u)
		}
	})
}
