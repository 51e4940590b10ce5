package post_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/internal/post"
	"atelier/media"
)

// fixedTransport is an error answer of provider X.
type fixedTransport struct {
	Words   string        `json:"words"`
	Code    media.Code    `json:"code"`
	Wait    time.Duration `json:"wait"`
	Ran     bool          `json:"ran"`
	Idle    bool          `json:"idle"`
	Blocked string        `json:"blocked"`
}

func explain(a *post.Answer) (post.Fault, bool) {
	var s fixedTransport
	if json.Unmarshal(a.Body, &s) != nil {
		return post.Fault{}, false
	}
	f := post.Fault{Words: s.Words, Code: s.Code, Wait: s.Wait, Started: s.Ran, Idle: s.Idle}
	if s.Blocked != "" {
		f.Blocked = &generate.Safety{Stage: "input", Categories: []string{s.Blocked}}
	}
	return f, true
}

// provider returns a client of X, which gives one fixed answer.
func provider(t *testing.T, status int, header map[string]string, body string) *post.Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have disconnected
	}))
	t.Cleanup(srv.Close)
	c, err := post.New(post.Config{
		Config: driver.Config{
			BaseURL: srv.URL + "/v1/", APIKey: "hush-hush", Codec: wiretest.NewCodec(t),
			Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		},
		Name: "X", Version: "/v1", BaseVariable: "X_BASE_URL", KeyVariable: "X_API_KEY", Explain: explain, Codes: map[int]media.Code{http.StatusTeapot: media.CodeForbidden},
		Repeat: []int{http.StatusGatewayTimeout}, Advice: map[media.Code]string{media.CodeQuotaExceeded: "top it up"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMeanings: every error answer is mapped to a code, a message and whether it may be retried.
func TestMeanings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status           int
		header           map[string]string
		body             string
		code             media.Code
		retry, unsettled bool
		wait             time.Duration
		says             string
	}{
		{400, nil, `{"words":"bad hush-hush"}`, media.CodeInvalid, false, false, 0, "X refused the request for a fox: bad [key]"},
		{401, nil, `{"words":"key 12 is bad"}`, media.CodeUnauthorized, false, false, 0, "X refused the key: check it"},
		{402, nil, `{"words":"no money"}`, media.CodeQuotaExceeded, false, false, 0, "the account at X has no credit left: top it up (no money)"},
		{403, nil, `{}`, media.CodeForbidden, false, false, 0, "X does not let this account use a fox: check its key, its limits and its restrictions"},
		{418, nil, `{}`, media.CodeForbidden, false, false, 0, "use a fox"},
		{404, nil, `{}`, media.CodeNotFound, false, false, 0, "atelier models list"},
		{409, nil, `{}`, media.CodeUnavailable, true, false, 0, "X stopped the request for a fox because another one was in its way: ask again"},
		{409, nil, `{"ran":true}`, media.CodeUnavailable, false, true, 0, "not repeated"},
		{413, nil, `{}`, media.CodeTooLarge, false, false, 0, "smaller"},
		{400, nil, `{"code":"moderated","blocked":"gore"}`, "", false, false, 0, ""},
		{429, map[string]string{"Retry-After": "7"}, `{"wait":3000000000}`, media.CodeRateLimited, true, false, 7 * time.Second, "wait"},
		{429, nil, `{"wait":3000000000}`, media.CodeRateLimited, true, false, 3 * time.Second, "wait"},
		{429, map[string]string{"Retry-After": "Sat, 21 Nov 2026 12:01:30 GMT"}, `{}`, media.CodeRateLimited, true, false, 90 * time.Second, ""},
		{429, map[string]string{"Retry-After": "999999"}, `{}`, media.CodeRateLimited, true, false, 999999 * time.Second, ""}, // days, which the gateway does not wait
		{429, map[string]string{"Retry-After": "36"}, `{"words":"20 requests per day"}`, media.CodeQuotaExceeded, true, false, 36 * time.Second, "the quota of a day at X is used up"},
		{429, nil, `{"words":"Daily limit reached"}`, media.CodeQuotaExceeded, false, false, 0, "(Daily limit reached)"},
		{500, nil, `{}`, media.CodeUnavailable, false, true, 0, "X failed with status 500"},
		{500, nil, `{"idle":true}`, media.CodeUnavailable, true, false, 0, "X failed with status 500"},
		{500, map[string]string{"X-Should-Retry": "true"}, `{}`, media.CodeUnavailable, true, false, 0, ""},
		{503, nil, `{}`, media.CodeUnavailable, true, false, 0, ""},
		{500, nil, `{"ran":true}`, media.CodeUnavailable, false, true, 0, "not repeated"},
		{500, map[string]string{"X-Should-Retry": "false"}, `{}`, media.CodeUnavailable, false, true, 0, ""},
		{502, nil, `{}`, media.CodeUnavailable, false, true, 0, "may have been billed"},
		{502, nil, `{"idle":true}`, media.CodeUnavailable, true, false, 0, ""},
		{504, nil, `{}`, media.CodeUnavailable, true, false, 0, ""},
		{500, nil, `<html>`, media.CodeUnavailable, false, true, 0, "X_BASE_URL"},
		{302, nil, `<html>`, media.CodeBadResponse, false, true, 0, "X_BASE_URL"},
	} {
		u, err := provider(t, c.status, c.header, c.body).Do(t.Context(), post.Call{Path: "/v1/x", Body: post.Body{}, Of: "a fox", Task: driver.Task{N: 2}, Into: &fixedTransport{}})
		if c.code == "" {
			want := &generate.Safety{Blocked: true, Stage: "input", Categories: []string{"gore"}}
			if err != nil || len(u.Items) != 2 || media.CodeOf(u.Items[1].Err) != media.CodeModerated || cmp.Diff(want, u.Items[1].Safety) != "" {
				t.Errorf("refusal: %+v, %v", u, err)
			}
			continue
		}
		e, ok := errors.AsType[*media.Error](err)
		if !ok || e.Code != c.code || e.Retryable != c.retry || errors.Is(err, driver.ErrUnsettled) != c.unsettled || e.RetryAfter != c.wait || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d %s: %+v", c.status, c.body, err)
		}
	}
}

// TestFreeCallsCostNothing: a poll or an upload is never unsettled.
func TestFreeCallsCostNothing(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]any{"poll": nil, "upload": post.Body{"a": 1}} {
		for _, c := range []struct {
			status int
			answer string
			code   media.Code
			retry  bool
		}{
			{200, `{"words":"x`, media.CodeUnavailable, true},
			{502, `{}`, media.CodeUnavailable, true},
			{404, `{}`, media.CodeNotFound, false},
			{404, `<html>`, media.CodeBadResponse, false},
			{204, ``, "", false},
		} {
			call := post.Call{Path: "/v1/x", Body: body, Of: "the task", Into: &fixedTransport{}, Free: true}
			if c.code == "" {
				call.Into = nil
			}
			_, err := provider(t, c.status, nil, c.answer).Do(t.Context(), call)
			if media.CodeOf(err) != c.code || media.Retryable(err) != c.retry || errors.Is(err, driver.ErrUnsettled) || err != nil && strings.Contains(err.Error(), "billed, so") ||
				body == nil && err != nil && strings.Contains(err.Error(), "models list") || // a task is no model
				c.status == 200 && !strings.Contains(err.Error(), "the answer of X was truncated") {
				t.Errorf("%s: %d %s: %v", name, c.status, c.answer, err)
			}
		}
	}
}

// TestRefusedUploadIsCut: a server that refuses an upload may close the connection early; the reason is its status.
func TestRefusedUploadIsCut(t *testing.T) {
	t.Parallel()
	c := provider(t, http.StatusRequestEntityTooLarge, map[string]string{"Content-Length": "100"}, `{}`)
	if _, err := c.Do(t.Context(), post.Call{Path: "/v1/x", Body: post.Body{"a": 1}, Of: "the picture", Free: true}); media.CodeOf(err) != media.CodeTooLarge {
		t.Error(err)
	}
}

func TestSetUp(t *testing.T) {
	t.Parallel()
	codec := wiretest.NewCodec(t)
	for name, c := range map[string]post.Config{
		"no codec": {Name: "X", Config: driver.Config{BaseURL: "https://x.example"}}, "no scheme": {BaseVariable: "X_BASE_URL", Config: driver.Config{Codec: codec, BaseURL: "x.example"}},
		"no host": {BaseVariable: "X_BASE_URL", Config: driver.Config{Codec: codec, BaseURL: "https://"}}, "a file": {BaseVariable: "X_BASE_URL", Config: driver.Config{Codec: codec, BaseURL: "file:///x"}},
		"a query": {BaseVariable: "X_BASE_URL", Config: driver.Config{Codec: codec, BaseURL: "https://x.example/v1?api-version=2"}},
	} {
		if _, err := post.New(c); media.CodeOf(err) != media.CodeInvalid || name != "no codec" && !strings.Contains(err.Error(), "X_BASE_URL") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]post.Config{
		"X_BASE_URL": {BaseVariable: "X_BASE_URL", Config: driver.Config{Codec: codec}}, "X_API_KEY": {KeyVariable: "X_API_KEY", Config: driver.Config{Codec: codec, BaseURL: "https://x.example"}},
	} {
		client, err := post.New(c)
		if err != nil || media.CodeOf(client.Ready()) != media.CodeMissingKey || !strings.Contains(client.Ready().Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := client.Do(t.Context(), post.Call{Path: "/"}); media.CodeOf(err) != media.CodeMissingKey {
			t.Errorf("%s: Do: %v", name, err)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for name, c := range map[string]struct {
		body string
		seen int
		want error
		code media.Code
	}{
		"whole":  {"event: x\ndata: {\"a\":1}\n\ndata: 2\n\ndata: [DONE]\n", 2, nil, ""},
		"cut":    {"data: 1\n\ndata: {\"a\":", 1, io.ErrUnexpectedEOF, media.CodeInternal},
		"broken": {"data: {\"a\":\n\ndata: 1\n\n", 0, nil, media.CodeBadResponse},
		"ends":   {"data: \"end\"\n\ndata: 1\n\n", 1, nil, ""},
		"stops":  {"data: \"stop\"\n\ndata: 1\n\n", 1, stop, media.CodeInternal},
	} {
		n := 0
		err := (&post.Client{Name: "X"}).Events(io.NopCloser(strings.NewReader(c.body)), func(data []byte) error {
			n++
			switch strings.TrimSpace(string(data)) {
			case `"end"`:
				return io.EOF
			case `"stop"`:
				return stop
			}
			return nil
		})
		if n != c.seen || media.CodeOf(err) != c.code || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %d events, %v", name, n, err)
		}
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	c := &post.Client{Name: "X"}
	in := media.Output{Blob: media.Blob{Facts: media.Facts{MIMEType: "image/png"}}}
	reach := post.Reach{N: 1, Inputs: 1, Methods: []generate.Method{generate.MethodEdit}}
	edit := func(change func(*driver.Task)) driver.Task {
		q := driver.Task{Method: generate.MethodEdit, N: 1, Inputs: []media.Output{in}}
		change(&q)
		return q
	}
	for name, c2 := range map[string]struct {
		task driver.Task
		code media.Code
	}{
		"drawn":     {driver.Task{N: 1}, ""},
		"edit":      {edit(func(*driver.Task) {}), ""},
		"two":       {driver.Task{N: 2}, media.CodeUnsupported},
		"variation": {edit(func(q *driver.Task) { q.Method = generate.MethodVariation }), media.CodeUnsupported},
		"nothing":   {edit(func(q *driver.Task) { q.Inputs = nil }), media.CodeInvalid},
		"too many":  {edit(func(q *driver.Task) { q.Inputs = append(q.Inputs, in) }), media.CodeUnsupported},
		"mask":      {edit(func(q *driver.Task) { q.Mask = &in }), media.CodeUnsupported},
		"type":      {edit(func(q *driver.Task) { q.Model.InputTypes = []string{"image/jpeg"} }), media.CodeUnsupported},
	} {
		if err := c.Reaches(c2.task, reach); media.CodeOf(err) != c2.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	zero := 0
	b := post.Body{}
	for name, v := range map[string]any{"text": "x", "empty": "", "none": 0, "nil": (*int64)(nil), "zero": &zero, "bare": nil} {
		b.Set(name, v)
	}
	q := driver.Task{Model: catalog.Model{Provider: "x", SettingRules: catalog.SettingRules{Options: []string{"a"}}}, Options: map[string]any{"a": 1}}
	if err := errors.Join(b.Options(q, map[string]string{"a": "A"}), b.AnyOption(q, []string{"b"})); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(post.Body{"text": "x", "zero": 0, "A": 1, "a": 1}, b); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	q.Options = map[string]any{"text": "y"}
	if q.Model.Options = []string{"text"}; media.CodeOf(b.Options(q, nil)) != media.CodeInvalid || b["text"] != "x" {
		t.Errorf("an option replaced a field that is planned: %v", b)
	}
	q.Model.Options, q.Options = nil, map[string]any{"a": 1}
	for _, err := range []error{b.Options(q, nil), b.AnyOption(q, []string{"a"})} {
		if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "x.a") {
			t.Errorf("%v", err)
		}
	}
}

func TestSignedWebhooks(t *testing.T) {
	t.Parallel()
	mac := hmac.New(sha256.New, []byte("secret"))
	_, _ = mac.Write([]byte("body"))
	n := driver.Notification{Body: []byte("body"), Header: http.Header{
		"X-Sign": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}, "Authorization": {"Bearer key"}, "X-Half": {"sha256=zz"},
	}}
	for what, ok := range map[string]bool{
		"signed": post.Signed("X-Sign")(n, "secret"), "carried": post.Bearer(n, "key"),
		"other secret": !post.Signed("X-Sign")(n, "other"), "no header": !post.Signed("X-None")(n, "secret"),
		"no hexadecimal": !post.Signed("X-Half")(n, "secret"), "other key": !post.Bearer(n, "kez"),
	} {
		if !ok {
			t.Error(what)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]post.Text{`"a"`: "a", `1.50`: "1.50", `null`: "", `{}`: "", `true`: "", `[1]`: ""} {
		var got post.Text
		if err := json.Unmarshal([]byte(in), &got); err != nil || got != want {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]int{`{"a":1}`: 1, ` [{"a":1},{}]`: 1, `{"a":"b"}`: 0, ` [{"a":[]}]`: 0, `[]`: -1, `[1]`: -1, `<html>`: -1, ``: -1, `{"a":1`: -1} {
		var got struct{ A int }
		if ok := post.DecodeFirst([]byte(in), &got); ok != (want >= 0) || ok && got.A != want {
			t.Errorf("DecodeFirst(%s): %v, %+v", in, ok, got)
		}
	}
	for in, want := range map[string]string{"audio/L16; rate=24000": "audio/wav", "audio/opus": "audio/ogg", "image/png": "image/png"} {
		if got := post.Declared(in); got != want {
			t.Errorf("Declared(%s) = %s", in, got)
		}
	}
}

// FuzzAmount: a provider's amount is read as an exact decimal, or as nothing.
func FuzzAmount(f *testing.F) {
	for in, want := range map[string]string{"3.0000000000000004": "0.03", "1E2": "1", "1e999999999": "", "-1": "", "1/3": "", "": "", "0": "0", "0x10": "", "NaN": ""} {
		if got := post.Amount(in, 100, 6); got != want {
			f.Errorf("Amount(%q) = %q, want %q", in, got, want)
		}
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if got := post.Amount(in, 100, 6); len(got) > 20 || strings.Trim(got, "0123456789.") != "" {
			t.Errorf("Amount(%q) = %q", in, got)
		}
	})
}
