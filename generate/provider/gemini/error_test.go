package gemini_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/provider/gemini"
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
		"bad key is 400":       {inject{Fault: sim.FaultUnauthorized}, media.CodeUnauthorized, false, 0, "GEMINI_API_KEY"},
		"bad key is 401":       {inject{Fault: sim.FaultUnauthorized, Variant: 1}, media.CodeUnauthorized, false, 0, "GEMINI_API_KEY"},
		"leaked key":           {inject{Fault: sim.FaultForbidden}, media.CodeForbidden, false, 0, "leaked"},
		"country":              {inject{Fault: sim.FaultForbidden, Variant: 1}, media.CodeForbidden, false, 0, "supported country"},
		"dead model":           {inject{Fault: sim.FaultDeadModel}, media.CodeNotFound, false, 0, "atelier models list"},
		"rate limit":           {inject{Fault: sim.FaultRateLimit, RetryAfter: 34400 * time.Millisecond}, media.CodeRateLimited, true, 34400 * time.Millisecond, "GenerateContentInputTokensPerModelPerMinute-FreeTier of 250000"},
		"rate, nothing named":  {inject{Fault: sim.FaultRateLimit}, media.CodeRateLimited, true, 0, ""},
		"daily quota":          {inject{Fault: sim.FaultQuota}, media.CodeQuotaExceeded, true, 36 * time.Second, "GenerateRequestsPerDayPerProjectPerModel-FreeTier of 250"},
		"zero quota":           {inject{Fault: sim.FaultQuota, Variant: 1}, media.CodeQuotaExceeded, false, 0, "billing"},
		"internal":             {inject{Fault: sim.FaultServerError}, media.CodeUnavailable, false, 0, "500"},
		"deadline there":       {inject{Fault: sim.FaultServerError, Variant: 1}, media.CodeUnavailable, true, 0, "504"},
		"overloaded":           {inject{Fault: sim.FaultOverloaded}, media.CodeUnavailable, true, 0, "overloaded"},
		"page of a proxy":      {inject{Fault: sim.FaultHTML}, media.CodeBadResponse, false, 0, "GEMINI_BASE_URL"},
		"broken JSON":          {inject{Fault: sim.FaultNotJSON}, media.CodeBadResponse, false, 0, "billed"},
		"half a body":          {inject{Fault: sim.FaultHalfBody}, media.CodeBadResponse, false, 0, "billed"},
		"dropped":              {inject{Fault: sim.FaultDropped}, media.CodeUnavailable, false, 0, "may have been billed"},
		"success without item": {inject{Fault: sim.FaultEmpty}, media.CodeBadResponse, false, 0, "without a picture"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, d := simulated(t, geminisim.Config{}, c.fault)
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
			if strings.Contains(err.Error(), service.Key()) {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for variant, c := range []struct {
		says   string
		safety generate.Safety
	}{
		{"PROHIBITED_CONTENT", generate.Safety{Blocked: true, Stage: "input", Categories: []string{"PROHIBITED_CONTENT", "HARM_CATEGORY_SEXUALLY_EXPLICIT"}}},
		{"IMAGE_SAFETY", generate.Safety{Blocked: true, Stage: "output", Categories: []string{"IMAGE_SAFETY"}}},
		{"I can't make this one.", generate.Safety{Blocked: true, Stage: "output", Categories: []string{"NO_IMAGE"}}},
		{"real person", generate.Safety{Blocked: true, Stage: "output"}},
		{"Unable to show", generate.Safety{Blocked: true, Stage: "output", Categories: []string{"IMAGE_PROHIBITED_CONTENT", "HARM_CATEGORY_IMAGE_HATE"}}},
		{"NO_IMAGE", generate.Safety{Blocked: true, Stage: "output", Categories: []string{"NO_IMAGE"}}},
		{"Blocked by a Model Armor template", generate.Safety{Blocked: true, Stage: "input", Categories: []string{"MODEL_ARMOR"}}},
		{"Try rephrasing", generate.Safety{Blocked: true, Stage: "output", Categories: []string{"IMAGE_OTHER"}}},
	} {
		t.Run(fmt.Sprint("shape ", variant), func(t *testing.T) {
			t.Parallel()
			_, d := simulated(t, geminisim.Config{}, sim.Injection{Fault: sim.FaultModerated, Variant: variant})
			u, err := d.Start(t.Context(), task(nil))
			if err != nil || len(u.Items) != 1 {
				t.Fatalf("items %d, error %v; want one moderated item", len(u.Items), err)
			}
			it := u.Items[0]
			if it.Err == nil || it.Err.Code != media.CodeModerated || it.Err.Retryable || !strings.Contains(it.Err.Error(), c.says) {
				t.Errorf("error = %v, want moderated, saying %q", it.Err, c.says)
			}
			if diff := cmp.Diff(&c.safety, it.Safety); diff != "" {
				t.Errorf("safety (-want +got):\n%s", diff)
			}
			if u.Usage.InputTokens != 9 || u.Usage.Images != 0 {
				t.Errorf("usage = %+v", u.Usage)
			}
		})
	}
}

func TestStrangePictures(t *testing.T) {
	t.Parallel()
	type inject = sim.Injection
	for name, c := range map[string]struct {
		fault inject
		check func(it driver.Item) bool
	}{
		"lying type": {inject{Fault: sim.FaultLyingType}, func(it driver.Item) bool {
			return it.Blob != nil && it.Blob.MIMEType == "image/jpeg" && it.DeclaredMIME == "image/png"
		}},
		"tiny":      {inject{Fault: sim.FaultTinyImage}, func(it driver.Item) bool { return it.Blob != nil && it.Blob.Width == 1 && it.Blob.Height == 1 }},
		"bare text": {inject{Fault: sim.FaultNotMedia, Variant: 1}, func(it driver.Item) bool { return it.Err != nil && it.Err.Code == media.CodeBadResponse }},
		"text in base64": {inject{Fault: sim.FaultNotMedia}, func(it driver.Item) bool {
			return it.Err != nil && it.Err.Code == media.CodeBadResponse || it.Blob != nil && !strings.HasPrefix(it.Blob.MIMEType, "image/")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, d := simulated(t, geminisim.Config{}, c.fault)
			u, err := d.Start(t.Context(), task(nil))
			if err != nil || len(u.Items) != 1 || !c.check(u.Items[0]) {
				t.Errorf("error %v, items %+v", err, u.Items)
			}
		})
	}
}

func TestHugeHeaderIsTooLarge(t *testing.T) {
	t.Parallel()
	_, d := simulated(t, geminisim.Config{}, sim.Injection{Fault: sim.FaultHugeHeader})
	u, err := d.Start(t.Context(), task(nil))
	if err == nil && len(u.Items) == 1 && u.Items[0].Err != nil {
		err = u.Items[0].Err
	}
	if media.CodeOf(err) != media.CodeTooLarge || media.Retryable(err) {
		t.Errorf("error %v, items %+v; want too_large", err, u.Items)
	}
}

func TestHalfAnAnswerKeepsWhatCame(t *testing.T) {
	t.Parallel()
	for pictures, kept := range map[int]int{1: 0, 3: 2} { // the thoughts before them are not kept
		service, d := simulated(t, geminisim.Config{Pictures: pictures}, sim.Injection{Fault: sim.FaultHalfBody})
		u, err := d.Start(t.Context(), task(nil))
		if media.CodeOf(err) != media.CodeBadResponse || media.Retryable(err) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error = %v", err)
		}
		if len(u.Items) != kept || u.Usage.Images != kept {
			t.Fatalf("%d items of %d, want %d: %+v", len(u.Items), pictures, kept, u)
		}
		for i, it := range u.Items {
			if it.Blob == nil || it.Blob.Digest != service.Sent()[i] {
				t.Errorf("item %d = %+v", i, it)
			}
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	service, d := simulated(t, geminisim.Config{}, sim.Injection{Fault: sim.FaultSlow})
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

func TestUnreachableIsSafeToRepeat(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	d, err := gemini.New(gemini.Config{APIKey: "k", BaseURL: srv.URL, Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := second(d.Start(t.Context(), task(nil))); media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) {
		t.Errorf("error = %v", err)
	}
}

// answer serves one fixed answer.
func answer(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func TestOtherAnswers(t *testing.T) {
	t.Parallel()
	const jsonType = "application/json; charset=UTF-8"
	for name, c := range map[string]struct {
		status    int
		kind      string
		body      string
		code      media.Code
		retryable bool
	}{
		"status in an array": {503, jsonType, `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, media.CodeUnavailable, true},
		"503 page":           {503, "text/html", "<html>down</html>", media.CodeUnavailable, false},
		"502 with status":    {502, jsonType, `{"error":{"code":502,"message":"bad gateway"}}`, media.CodeUnavailable, false},
		"bad request":        {400, jsonType, `{"error":{"code":400,"message":"Invalid aspect ratio","status":"INVALID_ARGUMENT"}}`, media.CodeInvalid, false},
		"empty array":        {500, jsonType, `[]`, media.CodeUnavailable, false},
		"empty body":         {200, jsonType, "", media.CodeBadResponse, false},
		"cut cleanly":        {200, jsonType, `{"candidates":[{"content":`, media.CodeBadResponse, false},
		"nothing at all":     {200, jsonType, `{}`, media.CodeBadResponse, false},
		"out of tokens":      {200, jsonType, `{"candidates":[{"content":{"parts":[{"text":"hm"}]},"finishReason":"MAX_TOKENS"}]}`, media.CodeBadResponse, false},
		"only thoughts":      {200, jsonType, `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]},"finishReason":"STOP"}]}`, media.CodeBadResponse, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := newDriver(t, answer(c.status, c.kind, c.body), "k").Start(t.Context(), task(nil))
			if media.CodeOf(err) != c.code || media.Retryable(err) != c.retryable {
				t.Errorf("%s, retryable %v, items %v: %v", media.CodeOf(err), media.Retryable(err), u.Items, err)
			}
		})
	}
}

// TestErrorsCarryNoMedia echoes a picture in every field of an answer that can reach an error.
func TestErrorsCarryNoMedia(t *testing.T) {
	t.Parallel()
	canary := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{8}).Read(canary)
	copy(canary, "\x89PNG\r\n\x1a\n")
	text := base64.StdEncoding.EncodeToString(canary)
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"whole echo":      {400, `{"error":{"code":400,"message":"cannot read ` + text + `","status":"INVALID_ARGUMENT"}}`},
		"cut echo":        {500, `{"error":{"code":500,"message":"cannot read data:image/png;base64,` + text[:300] + `"}}`},
		"echo in refusal": {200, `{"candidates":[{"content":{"parts":[{"text":"I will not draw ` + text[:300] + `"}]},"finishReason":"STOP"}]}`},
		"echo in finish":  {200, `{"candidates":[{"finishReason":"IMAGE_SAFETY","finishMessage":"` + text[:300] + `"}]}`},
		"echo as reason":  {200, `{"candidates":[{"finishReason":"` + text[:300] + `"}]}`},
		"echo in block":   {200, `{"promptFeedback":{"blockReason":"` + text[:300] + `"}}`},
		"echo in rating":  {200, `{"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[{"category":"` + text[:300] + `","blocked":true}]}}`},
		"echo in version": {200, `{"modelVersion":"` + text[:300] + `","responseId":"` + text[300:600] + `","candidates":[{"finishReason":"NO_IMAGE"}]}`},
		"no JSON":         {200, text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := newDriver(t, answer(c.status, "application/json", c.body), "k").Start(t.Context(), task(nil))
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
			if err == nil && len(u.Items) == 0 {
				t.Error("neither an error nor an item")
			}
		})
	}
}

func TestBadTasksAreRefusedBeforeTheCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*driver.Task)
		code   media.Code
	}{
		"n":    {func(q *driver.Task) { q.N = 2 }, media.CodeUnsupported},
		"vary": {func(q *driver.Task) { q.Method = generate.MethodVariation }, media.CodeUnsupported},
		"edit": {func(q *driver.Task) { q.Method = generate.MethodEdit }, media.CodeInvalid},
		"mask": {func(q *driver.Task) {
			q.Method, q.Inputs, q.Mask = generate.MethodEdit, []media.Output{{}}, &media.Output{}
		}, media.CodeUnsupported},
		"option": {func(q *driver.Task) { q.Options = map[string]any{"person_generation": "allow_all"} }, media.CodeInvalid},
	} {
		service, d := simulated(t, geminisim.Config{})
		err := second(d.Start(t.Context(), task(c.change)))
		if media.CodeOf(err) != c.code || len(service.Captured()) != 0 {
			t.Errorf("%s: %v after %d calls", name, err, len(service.Captured()))
		}
	}
}
