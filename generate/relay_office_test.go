package generate_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/generate/openai"
	"atelier/media"
)

// office is a house on the state of a process that died over its first call, "a", of OpenAI. What
// became of the call is with the relay.
type office struct {
	*house
	relay *generatetest.Relay
	sent  atomic.Int32 // requests that came to the provider
	money *ledgerBudget
	tasks func(*generate.Config) // sets up a provider with tasks, see polled
}

// tripper is a round tripper.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// posted makes an office and what the dead process left in it.
func posted(t *testing.T, r generate.Request, a generate.Attempt) (*office, string) {
	t.Helper()
	o := &office{house: build(t, nil), relay: &generatetest.Relay{}, money: &ledgerBudget{}}
	if r.Prompt = "a house"; r.Model == "" {
		r.Model = "gpt-image-2"
	}
	a.ID, a.Call, a.Number, a.Status = "a", max(a.Call, 1), max(a.Number, 1), generate.StatusSubmitted
	o.gemini.OnStart = func(context.Context, generate.Task, int) (generate.Update, error) {
		return generate.Update{}, media.Errorf(media.CodeQuotaExceeded, "no credit")
	}
	op := left(t, o.house, r, a)
	o.Gateway = o.next(t, nil)
	return o, op
}

// next is another process, whose calls the relay carries.
func (o *office) next(t *testing.T, change func(*generate.Config)) *generate.Gateway {
	t.Helper()
	base := tripper(func(r *http.Request) (*http.Response, error) {
		return answering(r, drawn(byte(100+o.sent.Add(1)))), nil
	})
	return o.heir(t, func(c *generate.Config) {
		c.Drivers[0], c.Budget, c.Journal = o.driver(t, base), o.money, o.journal
		c.Rand = func() float64 { return 1 }
		if o.tasks != nil {
			o.tasks(c)
		}
		if change != nil {
			change(c)
		}
	})
}

// drawn is OpenAI's answer with a picture of each shade.
func drawn(shades ...byte) generatetest.Kept {
	var data []map[string]string
	for _, shade := range shades {
		data = append(data, map[string]string{"b64_json": base64.StdEncoding.EncodeToString(generatetest.PNG(70, 70, shade))})
	}
	b, err := json.Marshal(map[string]any{"created": 1, "data": data, "usage": map[string]int{"input_tokens": 10, "output_tokens": 100}})
	if err != nil {
		panic(err) // such values can be written
	}
	return generatetest.Kept{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: b}
}

// refusal is OpenAI's error answer.
func refusal(status int, code string) generatetest.Kept {
	return generatetest.Kept{
		Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"error":{"message":"no","type":"x","code":"` + code + `"}}`),
	}
}

// cut is an answer that ends early, in the middle of its last picture.
func cut(k generatetest.Kept) generatetest.Kept {
	k.Body, k.Cut = k.Body[:len(k.Body)-100], true
	return k
}

// outcome is what has to become of a call.
type outcome struct {
	status generate.Status
	code   media.Code // of the last slot
	// outputs are there, asked is how many requests came to the provider.
	outputs, asked, unsettled int
}

// ends resumes an operation, twice, and proves what became of it.
func (o *office) ends(t *testing.T, op string, want outcome) *generate.Result {
	t.Helper()
	got, err := o.Resume(t.Context(), op)
	if err != nil {
		t.Fatalf("Resume: %v", err)
	}
	o.proves(t, got, want)
	if again, err := o.Resume(t.Context(), op); err != nil || again.Status != got.Status || int(o.sent.Load()) != want.asked {
		t.Errorf("once more: %+v, %v", again, err)
	}
	for _, c := range o.money.settled {
		if diff := cmp.Diff(o.money.settled[0], c); diff != "" {
			t.Errorf("settled otherwise the second time: %s", diff)
		}
	}
	if known := o.relay.Known(); want.unsettled == 0 && len(known) > 0 {
		t.Errorf("the relay still has %q", known)
	}
	return got
}

// proves compares a result.
func (o *office) proves(t *testing.T, got *generate.Result, want outcome) {
	t.Helper()
	have := outcome{status: got.Status, outputs: len(got.Outputs()), asked: int(o.sent.Load()), unsettled: got.Usage.Unsettled}
	if e := got.Slots[len(got.Slots)-1].Error; e != nil {
		have.code = e.Code
	}
	if have != want || len(o.recorder.Records()) != want.outputs {
		t.Errorf("%+v with %d records, want %+v; %+v", have, len(o.recorder.Records()), want, got.Err())
	}
}

// keyless is the driver without its key.
func keyless(t *testing.T, o *office) generate.Driver {
	t.Helper()
	d, err := openai.New(openai.Config{Codec: o.codec, Base: o.relay.Transport(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// driver is OpenAI's over the relay and base.
func (o *office) driver(t *testing.T, base http.RoundTripper) generate.Driver {
	t.Helper()
	d, err := openai.New(openai.Config{APIKey: "a key", Codec: o.codec, Base: o.relay.Transport(base)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// answering is an answer to a request.
func answering(r *http.Request, k generatetest.Kept) *http.Response {
	return &http.Response{StatusCode: k.Status, Header: k.Header, Body: io.NopCloser(bytes.NewReader(k.Body)), Request: r}
}

// gone tells whoever watches a request that it was sent.
func gone(r *http.Request) { httptrace.ContextClientTrace(r.Context()).WroteHeaders() }
