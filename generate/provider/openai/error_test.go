package openai_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/provider/openai"
	"atelier/internal/sim"
	"atelier/media"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	type inject = sim.Injection
	for name, c := range map[string]struct {
		fault     inject
		code      media.Code
		retryable bool
		after     time.Duration
		says      string
	}{
		"bad key":              {inject{Fault: sim.FaultUnauthorized}, media.CodeUnauthorized, false, 0, "OPENAI_API_KEY"},
		"unverified":           {inject{Fault: sim.FaultForbidden}, media.CodeForbidden, false, 0, "choose Verify Organization"},
		"unverified as 400":    {inject{Fault: sim.FaultForbidden, Variant: 1}, media.CodeForbidden, false, 0, "15 minutes"},
		"dead model":           {inject{Fault: sim.FaultDeadModel}, media.CodeNotFound, false, 0, "atelier models list"},
		"dead model as 404":    {inject{Fault: sim.FaultDeadModel, Variant: 1}, media.CodeNotFound, false, 0, "gpt-image-2"},
		"rate, seconds":        {inject{Fault: sim.FaultRateLimit, RetryAfter: 7 * time.Second}, media.CodeRateLimited, true, 7 * time.Second, "wait"},
		"rate, milliseconds":   {inject{Fault: sim.FaultRateLimit, RetryAfter: 120 * time.Millisecond}, media.CodeRateLimited, true, 120 * time.Millisecond, ""},
		"rate, reset headers":  {inject{Fault: sim.FaultRateLimit, Variant: 1, RetryAfter: 69 * time.Second}, media.CodeRateLimited, true, 69 * time.Second, ""},
		"rate, nothing named":  {inject{Fault: sim.FaultRateLimit}, media.CodeRateLimited, true, 0, ""},
		"no credit":            {inject{Fault: sim.FaultQuota}, media.CodeQuotaExceeded, false, 0, "credit"},
		"server error":         {inject{Fault: sim.FaultServerError}, media.CodeUnavailable, false, 0, "500"},
		"overloaded":           {inject{Fault: sim.FaultOverloaded}, media.CodeUnavailable, true, 0, "overloaded"},
		"page of a proxy":      {inject{Fault: sim.FaultHTML}, media.CodeBadResponse, false, 0, "OPENAI_BASE_URL"},
		"broken JSON":          {inject{Fault: sim.FaultNotJSON}, media.CodeBadResponse, false, 0, "billed"},
		"half a body":          {inject{Fault: sim.FaultHalfBody}, media.CodeBadResponse, false, 0, "billed"},
		"dropped":              {inject{Fault: sim.FaultDropped}, media.CodeUnavailable, false, 0, "may have been billed"},
		"success without item": {inject{Fault: sim.FaultEmpty}, media.CodeBadResponse, false, 0, "without a picture"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, d := simulated(t, c.fault)
			_, err := d.Start(t.Context(), task(nil))
			e, ok := errors.AsType[*media.Error](err)
			if !ok {
				t.Fatalf("error = %v, want a coded one", err)
			}
			if e.Code != c.code || e.Retryable != c.retryable || e.RetryAfter != c.after || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, retryable %v after %s: %v\nwant %s, %v after %s, saying %q", e.Code, e.Retryable, e.RetryAfter, err, c.code, c.retryable, c.after, c.says)
			}
			if n := len(service.Captured()); n != 1 {
				t.Errorf("the provider was called %d times, want once", n)
			}
			if strings.Contains(err.Error(), service.Key()) || strings.Contains(err.Error(), "sk-wrong") {
				t.Errorf("the error shows a key: %v", err)
			}
		})
	}
}

func TestModeration(t *testing.T) {
	t.Parallel()
	for variant, want := range []*generate.Safety{
		{Blocked: true, Stage: "output", Categories: []string{"sexual", "violence"}},
		{Blocked: true, Categories: []string{"sexual"}},
		{Blocked: true},
	} {
		t.Run(fmt.Sprint("shape ", variant), func(t *testing.T) {
			t.Parallel()
			_, d := simulated(t, sim.Injection{Fault: sim.FaultModerated, Variant: variant})
			u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.N = 2 }))
			if err != nil || len(u.Items) != 2 {
				t.Fatalf("items %d, error %v; want two moderated items", len(u.Items), err)
			}
			for _, it := range u.Items {
				if it.Err == nil || it.Err.Code != media.CodeModerated || it.Err.Retryable || it.Blob != nil {
					t.Errorf("item = %+v", it)
				}
				if diff := cmp.Diff(want, it.Safety); diff != "" {
					t.Errorf("safety (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestStrangePictures: the Gateway checks the content of a picture; the driver returns the picture with the facts of
// its bytes, or refuses that item alone.
func TestStrangePictures(t *testing.T) {
	t.Parallel()
	type inject = sim.Injection
	for name, c := range map[string]struct {
		fault inject
		check func(it driver.Item) bool
	}{
		"lying type": {inject{Fault: sim.FaultLyingType}, func(it driver.Item) bool { return it.Blob != nil && it.Blob.MIMEType == "image/jpeg" }},
		"tiny":       {inject{Fault: sim.FaultTinyImage}, func(it driver.Item) bool { return it.Blob != nil && it.Blob.Width == 1 && it.Blob.Height == 1 }},
		"bare text":  {inject{Fault: sim.FaultNotMedia, Variant: 1}, func(it driver.Item) bool { return it.Err != nil && it.Err.Code == media.CodeBadResponse }},
		"text in base64": {inject{Fault: sim.FaultNotMedia}, func(it driver.Item) bool {
			return it.Err != nil && it.Err.Code == media.CodeBadResponse || it.Blob != nil && !strings.HasPrefix(it.Blob.MIMEType, "image/")
		}},
		"private link":   {inject{Fault: sim.FaultPrivateURL}, func(it driver.Item) bool { return strings.HasPrefix(it.URL, "http://169.254.169.254/") }},
		"private link 2": {inject{Fault: sim.FaultPrivateURL, Variant: 1}, func(it driver.Item) bool { return strings.HasPrefix(it.URL, "http://10.0.0.1/") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, d := simulated(t, c.fault)
			u, err := d.Start(t.Context(), task(nil))
			if err != nil || len(u.Items) != 1 || !c.check(u.Items[0]) {
				t.Errorf("error %v, items %+v", err, u.Items)
			}
		})
	}
}

func TestHugeHeaderIsTooLarge(t *testing.T) {
	t.Parallel()
	_, d := simulated(t, sim.Injection{Fault: sim.FaultHugeHeader})
	u, err := d.Start(t.Context(), task(nil))
	if err == nil && len(u.Items) == 1 && u.Items[0].Err != nil {
		err = u.Items[0].Err
	}
	if media.CodeOf(err) != media.CodeTooLarge || media.Retryable(err) {
		t.Errorf("error %v, items %+v; want too_large", err, u.Items)
	}
}

func TestFewerThanAsked(t *testing.T) {
	t.Parallel()
	_, d := simulated(t, sim.Injection{Fault: sim.FaultPartialN})
	u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.N = 3 }))
	if err != nil || len(u.Items) != 2 || u.Usage.Images != 2 {
		t.Errorf("error %v, %d items", err, len(u.Items))
	}
}

func TestHalfAnAnswerKeepsWhatCame(t *testing.T) {
	t.Parallel()
	for name, partial := range map[string]func(int, media.Blob){"plain": nil, "streamed": func(int, media.Blob) {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, d := simulated(t, sim.Injection{Fault: sim.FaultHalfBody})
			u, err := d.Start(t.Context(), task(func(q *driver.Task) { q.N, q.Partial = 2, partial }))
			if media.CodeOf(err) != media.CodeBadResponse || media.Retryable(err) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error = %v", err)
			}
			if partial != nil { // the simulator truncates the first picture of a stream
				return
			}
			if len(u.Items) != 1 || u.Items[0].Blob == nil || u.Items[0].Blob.Digest != service.Sent()[0] {
				t.Errorf("items = %+v, want the first picture kept", u.Items)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	service, d := simulated(t, sim.Injection{Fault: sim.FaultSlow})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- second(d.Start(ctx, task(nil))) }()
	for len(service.Captured()) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; media.CodeOf(err) != media.CodeCancelled || media.Retryable(err) {
		t.Errorf("error = %v", err)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	_, d := simulated(t, sim.Injection{Fault: sim.FaultSlow})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := second(d.Start(ctx, task(nil))); media.CodeOf(err) != media.CodeDeadline || media.Retryable(err) {
		t.Errorf("error = %v", err)
	}
}

func TestUnreachableIsSafeToRepeat(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	d, err := openai.New(openai.Config{APIKey: "k", BaseURL: srv.URL + "/v1", Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := second(d.Start(t.Context(), task(nil))); media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("error = %v", err)
	}
}

// TestDroppedOnAKeptConnection: net/http repeats a request when a kept-alive connection drops, unless it must not; a
// billed POST must not be repeated.
func TestDroppedOnAKeptConnection(t *testing.T) {
	t.Parallel()
	service, d := simulated(t, sim.Injection{}, sim.Injection{Fault: sim.FaultDropped})
	if err := second(d.Start(t.Context(), task(nil))); err != nil {
		t.Fatal(err)
	}
	if err := second(d.Start(t.Context(), task(nil))); media.CodeOf(err) != media.CodeUnavailable || media.Retryable(err) {
		t.Errorf("error = %v", err)
	}
	if n := len(service.Captured()); n != 2 {
		t.Errorf("the provider was called %d times, want twice", n)
	}
}

// answer serves one fixed answer and counts the calls.
func answer(status int, header map[string]string, body string) (http.Handler, *atomic.Int32) {
	var calls atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}), &calls
}

func TestOtherAnswers(t *testing.T) {
	t.Parallel()
	html := map[string]string{"Content-Type": "text/html"}
	for name, c := range map[string]struct {
		status    int
		header    map[string]string
		body      string
		code      media.Code
		retryable bool
	}{
		"502 page":                 {502, html, "<html>Bad gateway</html>", media.CodeUnavailable, false},
		"503 page":                 {503, html, "<html>down</html>", media.CodeUnavailable, false},
		"429 page":                 {429, html, "<html>slow down</html>", media.CodeRateLimited, true},
		"403 page":                 {403, html, "<html>blocked</html>", media.CodeForbidden, false},
		"404 page":                 {404, html, "<html>not here</html>", media.CodeBadResponse, false},
		"504 with envelope":        {504, nil, `{"error":{"message":"timeout"}}`, media.CodeUnavailable, false},
		"500 that must not repeat": {500, map[string]string{"X-Should-Retry": "false"}, `{"error":{"message":"x"}}`, media.CodeUnavailable, false},
		"504 that may":             {504, map[string]string{"X-Should-Retry": "true"}, `{"error":{"message":"x"}}`, media.CodeUnavailable, true},
		"conflict":                 {409, nil, `{"error":{"message":"x"}}`, media.CodeUnavailable, true},
		"number as code":           {400, nil, `{"error":{"message":"bad","code":400,"param":""}}`, media.CodeInvalid, false},
		"no access":                {403, nil, `{"error":{"message":"Project does not have access","param":null,"code":null}}`, media.CodeForbidden, false},
		"country":                  {403, nil, `{"error":{"message":"Country not supported","code":"unsupported_country_region_territory"}}`, media.CodeForbidden, false},
		"redirect":                 {307, map[string]string{"Location": "/elsewhere"}, "", media.CodeBadResponse, false},
		"empty body":               {200, nil, "", media.CodeBadResponse, false},
		"body that ends cleanly":   {200, nil, `{"created":1,"data":[{"b64_json":`, media.CodeBadResponse, false},
		"unknown parameter":        {400, nil, `{"error":{"message":"Unknown parameter: 'x'.","param":"x","code":"unknown_parameter"}}`, media.CodeInvalid, false},
		"billing hard limit":       {400, nil, `{"error":{"message":"Billing hard limit has been reached","code":"billing_hard_limit_reached"}}`, media.CodeQuotaExceeded, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, calls := answer(c.status, c.header, c.body)
			err := second(newDriver(t, h, "k").Start(t.Context(), task(nil)))
			if media.CodeOf(err) != c.code || media.Retryable(err) != c.retryable || calls.Load() != 1 {
				t.Errorf("%s, retryable %v, %d calls: %v", media.CodeOf(err), media.Retryable(err), calls.Load(), err)
			}
		})
	}
}

// TestShapesOfResults: results in the forms of other servers of this protocol are read.
func TestShapesOfResults(t *testing.T) {
	t.Parallel()
	var picture sim.Body
	picture.Picture(sim.Tiny(1))
	h, _ := answer(200, nil, `{"data":[{"url":"data:image/png;base64,`+picture.String()+`"},{"url":"https://example.org/a.png","revised_prompt":"a red fox"},{}],
		"usage":{"input_tokens":9,"output_tokens":1056,"input_tokens_details":{"image_tokens":2}}}`)
	u, err := newDriver(t, h, "k").Start(t.Context(), task(func(q *driver.Task) { q.N = 3 }))
	if err != nil || len(u.Items) != 3 {
		t.Fatalf("error %v, items %+v", err, u.Items)
	}
	if b := u.Items[0].Blob; b == nil || b.Digest != sim.Tiny(1).Digest() {
		t.Errorf("inline link: %+v", u.Items[0])
	}
	if it := u.Items[1]; it.URL != "https://example.org/a.png" || it.RevisedPrompt != "a red fox" {
		t.Errorf("link: %+v", it)
	}
	if it := u.Items[2]; it.Err == nil || it.Err.Code != media.CodeBadResponse {
		t.Errorf("empty result: %+v", it)
	}
	want := generate.Usage{Calls: 1, Images: 2, InputTokens: 9, OutputTokens: 1056, ImageInputTokens: 2, ImageOutputTokens: 1056}
	if diff := cmp.Diff(want, u.Usage); diff != "" || u.Metadata != nil {
		t.Errorf("metadata %v, usage (-want +got):\n%s", u.Metadata, diff)
	}
}

func TestRetryAfterDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	h, _ := answer(429, map[string]string{"Retry-After": now.Add(90 * time.Second).Format(http.TimeFormat)}, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	d, err := openai.New(openai.Config{APIKey: "k", BaseURL: srv.URL + "/v1", Codec: wiretest.NewCodec(t), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	e, ok := errors.AsType[*media.Error](second(d.Start(t.Context(), task(nil))))
	if !ok || e.RetryAfter != 90*time.Second {
		t.Errorf("error = %+v", e)
	}
}

func TestErrorInAStream(t *testing.T) {
	t.Parallel()
	sse := map[string]string{"Content-Type": "text/event-stream"}
	for name, c := range map[string]struct {
		body string
		code media.Code
		item bool
	}{
		"moderated":   {`{"type":"error","error":{"message":"no","code":"moderation_blocked","moderation_details":{"moderation_stage":"output","categories":["violence"]}}}`, media.CodeModerated, true},
		"flat":        {`{"type":"error","message":"gone","code":"server_error"}`, media.CodeUnavailable, false},
		"rate":        {`{"type":"error","error":{"message":"slow","code":"rate_limit_exceeded"}}`, media.CodeRateLimited, false},
		"not JSON":    {`{`, media.CodeBadResponse, false},
		"ends early":  {`{"type":"image_generation.waiting"}`, media.CodeBadResponse, false},
		"no verified": {`{"type":"error","error":{"message":"Your organization must be verified to stream this model."}}`, media.CodeForbidden, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := answer(200, sse, "event: x\ndata: "+c.body+"\n\n")
			u, err := newDriver(t, h, "k").Start(t.Context(), task(func(q *driver.Task) { q.Partial = func(int, media.Blob) {} }))
			if c.item {
				if err != nil || len(u.Items) != 1 || u.Items[0].Safety == nil {
					t.Fatalf("error %v, items %+v", err, u.Items)
				}
				err = u.Items[0].Err
			}
			if media.CodeOf(err) != c.code {
				t.Errorf("error = %v, want %s", err, c.code)
			}
		})
	}
}

// TestErrorsCarryNoMedia echoes a picture in every field of an answer that can reach an error.
func TestErrorsCarryNoMedia(t *testing.T) {
	t.Parallel()
	canary := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(canary)
	copy(canary, "\x89PNG\r\n\x1a\n")
	text := base64.StdEncoding.EncodeToString(canary)
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
	}{
		"whole echo":     {400, nil, `{"error":{"message":"cannot read ` + text + `"}}`},
		"cut echo":       {422, nil, `{"error":{"message":"cannot read data:image/png;base64,` + text[:300] + `"}}`},
		"echo in param":  {400, nil, `{"error":{"message":"x","param":"` + text[:300] + `"}}`},
		"echo as text":   {400, map[string]string{"Content-Type": "text/plain"}, text},
		"echo in safety": {400, nil, `{"error":{"message":"x","code":"moderation_blocked","moderation_details":{"categories":["` + text[:300] + `"]}}}`},
		"echo in header": {200, map[string]string{"Content-Type": "text/" + text[:300]}, "x"},
		"echo as page":   {500, map[string]string{"Content-Type": "text/html"}, "<p>" + text + "</p>"},
		"half a picture": {200, map[string]string{"Content-Length": "99999999"}, `{"data":[{"b64_json":"` + text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := answer(c.status, c.header, c.body)
			u, err := newDriver(t, h, "k").Start(t.Context(), task(nil))
			said := fmt.Sprintf("%v %+v", err, u)
			for _, it := range u.Items {
				said += fmt.Sprintf(" %v %+v", it.Err, it.Safety)
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				said += fmt.Sprintf(" %v %+v", e, e)
			}
			for i := 0; i+48 <= len(text); i += 16 {
				if strings.Contains(said, text[i:i+48]) {
					t.Fatalf("the error carries base64: %.300s", said)
				}
			}
			for i := 0; i+32 <= len(canary); i += 16 {
				if bytes.Contains([]byte(said), canary[i:i+32]) {
					t.Fatalf("the error carries bytes: %.300q", said)
				}
			}
			if err == nil && len(u.Items) == 0 {
				t.Error("neither an error nor an item")
			}
		})
	}
}

func TestOwnedOptionsAreRefusedBeforeTheCall(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"response_format", "model", "n", "stream", "prompt", "image[]", "mask"} {
		service, d := simulated(t)
		err := second(d.Start(t.Context(), task(func(q *driver.Task) { q.Options = map[string]any{name: "x"} })))
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "openai."+name) || len(service.Captured()) != 0 {
			t.Errorf("%s: %v after %d calls", name, err, len(service.Captured()))
		}
	}
	service, d := simulated(t)
	for method, want := range map[generate.Method]media.Code{generate.MethodEdit: media.CodeInvalid, generate.MethodVariation: media.CodeUnsupported} {
		err := second(d.Start(t.Context(), task(func(q *driver.Task) { q.Method = method })))
		if media.CodeOf(err) != want || len(service.Captured()) != 0 {
			t.Errorf("%s: %v after %d calls", method, err, len(service.Captured()))
		}
	}
}
