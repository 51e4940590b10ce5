package openrouter_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/openroutersim"
	"atelier/generate/provider/openrouter"
	"atelier/media"
	"atelier/media/wire"
)

func today() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// newDriver returns a driver on a handler, and the codec of its media.
func newDriver(tb testing.TB, h http.Handler, key string) (*openrouter.Driver, *wire.Codec) {
	tb.Helper()
	base := sim.Serve(tb, h)
	codec := wiretest.NewCodec(tb)
	d, err := openrouter.New(openrouter.Config{APIKey: key, BaseURL: base + "/", Codec: codec, Now: today})
	if err != nil {
		tb.Fatal(err)
	}
	return d, codec
}

func task(change func(*driver.Task)) driver.Task {
	t := driver.Task{
		Method: generate.MethodGenerate, Prompt: "a fox in the snow", N: 1,
		Model: catalog.Model{Provider: "openrouter", APIModel: "google/gemini-3-pro-image-preview", Modality: media.ModalityImage},
	}
	if change != nil {
		change(&t)
	}
	return t
}

// TestRequests: every field of a request is documented.
func TestRequests(t *testing.T) {
	t.Parallel()
	service := openroutersim.New(openroutersim.Config{})
	d, codec := newDriver(t, service, service.Key())
	seed := int64(7)
	picture := media.NewOutput(generatetest.Stored(t.Context(), t, codec, generatetest.PNG(96, 64, 3)), media.Meta{})
	for name, c := range map[string]struct {
		task driver.Task
		want string
	}{
		"bare": {task(nil), `{"model":"google/gemini-3-pro-image-preview","modalities":["image","text"],"messages":[{"role":"user","content":"a fox in the snow"}]}`},
		"all": {task(func(q *driver.Task) {
			q.AspectRatio, q.Tier, q.Seed = "16:9", "2K", &seed
			q.Options = map[string]any{"provider": map[string]any{"sort": "price"}}
		}), `{"model":"google/gemini-3-pro-image-preview","modalities":["image","text"],"messages":[{"role":"user","content":"a fox in the snow"}],
			"image_config":{"aspect_ratio":"16:9","image_size":"2K"},"seed":7,"provider":{"sort":"price"}}`},
		"edit": {task(func(q *driver.Task) {
			q.Method, q.Inputs = generate.MethodEdit, []media.Output{picture}
		}), `{"model":"google/gemini-3-pro-image-preview","modalities":["image","text"],"messages":[{"role":"user","content":[
			{"type":"image_url","image_url":{"url":"PICTURE"}},{"type":"text","text":"a fox in the snow"}]}]}`},
	} {
		ctx := media.WithScope(t.Context(), media.Scope{Owner: "o", Tree: "tree-1"})
		if _, err := d.Start(ctx, c.task); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		calls := service.Captured()
		last := calls[len(calls)-1]
		if last.Path != "/api/v1/chat/completions" || last.Header.Get("Authorization") != "[key]" {
			t.Errorf("%s: %s, %v", name, last.Path, last.Header)
		}
		var got, want any
		if err := errors.Join(json.Unmarshal([]byte(shortened(string(last.Body))), &got), json.Unmarshal([]byte(c.want), &want)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: body (-want +got):\n%s", name, diff)
		}
	}
}

// shortened replaces a data URL with PICTURE.
func shortened(body string) string {
	before, rest, ok := strings.Cut(body, "data:image/png;base64,")
	if !ok {
		return body
	}
	_, after, _ := strings.Cut(rest, `"`)
	return before + `PICTURE"` + after
}

// TestAnswers: one or more pictures as data or links are read, with the reported cost and origin.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]openroutersim.Config{"data": {Pictures: 2}, "links": {Pictures: 2, Links: true}} {
		service := openroutersim.New(c)
		d, _ := newDriver(t, service, service.Key())
		u, err := d.Start(t.Context(), task(nil))
		if err != nil || !u.Done || len(u.Items) != 2 || u.ReportedUSD != "0.0774" || u.Metadata["served_by"] != "Simulated" {
			t.Fatalf("%s: %+v, %v", name, u, err)
		}
		want := generate.Usage{Calls: 1, Images: 2, InputTokens: 4, OutputTokens: 2580, ImageOutputTokens: 2580}
		if diff := cmp.Diff(want, u.Usage); diff != "" {
			t.Errorf("%s: usage (-want +got):\n%s", name, diff)
		}
		for i, it := range u.Items {
			if c.Links && !strings.HasPrefix(it.URL, "http://127.0.0.1") || !c.Links && it.Blob.Digest != service.Sent()[i] {
				t.Errorf("%s: item %d = %+v", name, i, it)
			}
		}
	}
}

// fixedAnswer serves one fixed answer.
func fixedAnswer(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// TestOtherAnswers: errors in unusual places, and calls that may have been billed, are recognized.
func TestOtherAnswers(t *testing.T) {
	t.Parallel()
	const big = `{"choices":[{"finish_reason":"length","message":{"content":null}}],"usage":{"cost":`
	for name, c := range map[string]struct {
		status      int
		body        string
		code        media.Code
		retry, paid bool
	}{
		"an error inside of a success":              {200, `{"error":{"code":502,"message":"Upstream died","metadata":{"provider_name":"X","raw":"boom"}}}`, media.CodeUnavailable, false, true},
		"an error inside of a choice":               {200, `{"choices":[{"finish_reason":"error","error":{"code":429,"message":"slow down"}}]}`, media.CodeRateLimited, true, false},
		"a word for a code":                         {200, `{"error":{"code":"server_error","message":"x"}}`, media.CodeUnavailable, false, true},
		"a provider that failed":                    {502, `{"error":{"code":502,"message":"Provider returned error"}}`, media.CodeUnavailable, false, true},
		"a provider that took too long":             {408, `{"error":{"code":408,"message":"timed out"}}`, media.CodeUnavailable, false, true},
		"too large":                                 {413, `{"error":{"code":413,"message":"too large"}}`, media.CodeTooLarge, false, false},
		"an error without an envelope":              {500, `{"detail":"x"}`, media.CodeUnavailable, false, true},
		"no choices":                                {200, `{"choices":[]}`, media.CodeBadResponse, false, true},
		"no picture and no words":                   {200, big + `1e-7}}`, media.CodeBadResponse, false, false},
		"content in parts, a picture without a url": {200, `{"choices":[{"finish_reason":"x","message":{"content":[{"type":"text","text":"hm"}],"images":[{"type":"image_url"}]}}]}`, media.CodeBadResponse, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := newDriver(t, fixedAnswer(c.status, c.body), "k")
			_, err := d.Start(t.Context(), task(nil))
			if media.CodeOf(err) != c.code || media.Retryable(err) != c.retry || errors.Is(err, driver.ErrUnsettled) != c.paid {
				t.Errorf("code %s, retryable %v, unsettled %v: %v", media.CodeOf(err), media.Retryable(err), errors.Is(err, driver.ErrUnsettled), err)
			}
		})
	}
}

// TestNamesOfLimitsStayWhole: the name of a limit in an error is kept whole, although it looks like encoded data.
func TestNamesOfLimitsStayWhole(t *testing.T) {
	t.Parallel()
	service := openroutersim.New(openroutersim.Config{Now: today})
	d, _ := newDriver(t, service, service.Key())
	service.Inject(sim.Injection{Fault: sim.FaultRateLimit, Variant: 1, RetryAfter: 2 * time.Second})
	_, err := d.Start(t.Context(), task(nil))
	if media.CodeOf(err) != media.CodeRateLimited || !strings.Contains(media.ErrorText(err.Error()), "limit_rpm/google/gemini-3-pro-image-preview/a4f5d9d2-9f4e-4d57-8b67-2f5ac3f5a1f0") {
		t.Errorf("%v", err)
	}
}

// TestCosts: amounts are exact decimals; invalid ones are ignored.
func TestCosts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0.0387": "0.0387", "2.4e-06": "0.0000024", "1E2": "100", "0": "0", "-1": "", "1e999999999": "", "null": "", `"0.5"`: "0.5",
	} {
		d, _ := newDriver(t, fixedAnswer(200, `{"choices":[{"finish_reason":"stop","message":{"images":[{"image_url":{"url":"https://example.com/a.png"}}]}}],"usage":{"cost":`+in+`}}`), "k")
		u, err := d.Start(t.Context(), task(nil))
		if err != nil || u.ReportedUSD != want {
			t.Errorf("cost %s: %q, %v; want %q", in, u.ReportedUSD, err, want)
		}
	}
}

// TestUnusableTasks: a task that cannot be requested costs nothing.
func TestUnusableTasks(t *testing.T) {
	t.Parallel()
	d, _ := newDriver(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the provider was called") }), "k")
	for name, change := range map[string]func(*driver.Task){
		"two": func(q *driver.Task) { q.N = 2 }, "variation": func(q *driver.Task) { q.Method = generate.MethodVariation },
		"edit of nothing": func(q *driver.Task) { q.Method = generate.MethodEdit }, "mask": func(q *driver.Task) { q.Mask = &media.Output{} },
		"owned option": func(q *driver.Task) { q.Options = map[string]any{"messages": "x"} },
	} {
		if _, err := d.Start(t.Context(), task(change)); media.CodeOf(err) != media.CodeUnsupported && media.CodeOf(err) != media.CodeInvalid && name != "edit of nothing" {
			t.Errorf("%s: %v", name, err)
		} else if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := openrouter.New(openrouter.Config{}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("no codec: %v", err)
	}
	if _, err := openrouter.New(openrouter.Config{Codec: wiretest.NewCodec(t), BaseURL: "openrouter.ai"}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("no scheme: %v", err)
	}
}

// transport answers without a network.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func fixedTransport(status int, body string) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
		}, nil
	}
}

// FuzzAnswer: no answer breaks the driver, and no error contains media or the key.
func FuzzAnswer(f *testing.F) {
	f.Add(uint16(0), `{"choices":[{"message":{"images":[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}}],"usage":{"cost":1e-5}}`)
	f.Add(uint16(203), `{"error":{"code":403,"message":"flagged","metadata":{"reasons":["x"],"flagged_input":"y"}}}`)
	f.Add(uint16(229), `{"error":{"code":"429","metadata":{"headers":{"X-RateLimit-Reset":"99999999999999999"}}}}`)
	f.Add(uint16(0), `{"data":[{"b64_json":"iVBORw0KGgo=","media_type":"image/png"},null],"usage":{"cost":"x"}}`)
	f.Add(uint16(0), "\n \n{\"error\":{\"code\":null,\"metadata\":{\"raw\":{}}}}")
	f.Fuzz(func(t *testing.T, status uint16, body string) {
		d, err := openrouter.New(openrouter.Config{APIKey: "sk-or-very-secret", Codec: wiretest.NewCodec(t), Base: fixedTransport(200+int(status)%400, body)})
		if err != nil {
			t.Fatal(err)
		}
		for _, via := range []string{"", "images"} {
			u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.Model.Via = via }))
			if err != nil && (media.ErrorText(err.Error()) != err.Error() || strings.Contains(err.Error(), "very-secret")) {
				t.Errorf("error %q", err)
			}
			if err == nil && len(u.Items) == 0 {
				t.Error("neither an item nor an error")
			}
		}
	})
}
