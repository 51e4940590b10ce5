package sim_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier/internal/sim"
)

var moment = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newProvider returns a provider that answers {"made":N}, or half of it.
func newProvider(change func(*sim.Config)) *sim.Provider {
	c := sim.Config{
		Key: "k", Credential: "Authorization",
		Files:  fstest.MapFS{"schema/api.json": {Data: []byte(`{"$defs":{"make":{"required":["prompt"]}}}`)}},
		Routes: []sim.Route{{Path: "/make", Schema: "api.json#/$defs/make"}},
		Script: func(c *sim.Call) sim.Script {
			return sim.Script{
				sim.FaultUnauthorized: {{Status: http.StatusForbidden, Body: "who?"}},
				sim.FaultRateLimit:    {{Status: http.StatusTooManyRequests, Header: sim.RetryAfter(c.Fault)}, {Status: http.StatusServiceUnavailable}},
				sim.FaultEmpty:        {{}, {Body: "nothing"}},
				sim.FaultNotMedia:     sim.DeferredVariants(3),
			}
		},
		Absent: sim.NoTasks.With(sim.Absence{sim.FaultConflict: "no 409"}),
	}
	if change != nil {
		change(&c)
	}
	p := sim.NewProvider(c)
	p.Make("POST /make", func(w http.ResponseWriter, c *sim.Call) { sim.Accept(w, c.Fault, map[string]int{"made": c.Number}) })
	p.Guard("GET /list", sim.Answer{Body: []int{1}}.ServeHTTP)
	return p
}

// answer is a response without its body.
type answer struct {
	StatusCode int
	Header     http.Header
}

// ask calls a provider and returns the answer and its body; a body that breaks off ends in "!".
func ask(t *testing.T, h http.Handler, path, key string) (answer, string) {
	t.Helper()
	method, url := http.MethodGet, sim.Serve(t, h)+path
	if strings.HasPrefix(path, "/make") {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(`{"prompt":"a fox"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", key)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return answer{}, "!"
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		b = append(b, '!')
	}
	return answer{res.StatusCode, res.Header}, strings.TrimSpace(string(b))
}

func TestCallsTakeFaultsInOrder(t *testing.T) {
	t.Parallel()
	p := newProvider(nil)
	p.Inject(
		sim.Injection{Fault: sim.FaultRateLimit, RetryAfter: 1500 * time.Millisecond}, sim.Injection{Fault: sim.FaultRateLimit, Variant: 1}, sim.Injection{},
		sim.Injection{Fault: sim.FaultEmpty}, sim.Injection{Fault: sim.FaultEmpty, Variant: 1}, sim.Injection{Fault: sim.FaultHTML},
		sim.Injection{Fault: sim.FaultNotJSON}, sim.Injection{Fault: sim.FaultDropped}, sim.Injection{Fault: sim.FaultHalfBody},
		sim.Injection{Fault: sim.FaultAnswerLost}, sim.Injection{Fault: sim.FaultSlow, Delay: time.Nanosecond},
	)
	if res, body := ask(t, p, "/make", "Bearer wrong"); res.StatusCode != http.StatusForbidden || body != "who?" {
		t.Errorf("a wrong key: %d %s", res.StatusCode, body)
	}
	if _, body := ask(t, p, "/list", "Bearer k"); body != "[1]" {
		t.Errorf("a call that makes nothing: %s", body)
	}
	if res, _ := ask(t, p, "/list", "k"); res.StatusCode != http.StatusForbidden {
		t.Errorf("a guarded endpoint without its key: %d", res.StatusCode)
	}
	for i, want := range []struct {
		status int
		body   string
	}{
		{429, ""},
		{503, ""},
		{200, `{"made":4}`},
		{200, `{"made":5}`},
		{200, "nothing"},
		{200, strings.TrimSpace(sim.Page)},
		{200, "upstream said: {]"},
		{0, "!"},
		{200, `{"mad!`},
		{0, "!"},
		{200, `{"made":12}`},
		{200, `{"made":13}`},
	} {
		res, body := ask(t, p, "/make", "Bearer k")
		if res.StatusCode != want.status || body != want.body {
			t.Errorf("call %d: %d %q, want %d %q", i, res.StatusCode, body, want.status, want.body)
		}
		if after := res.Header.Get("Retry-After"); (i == 0) != (after == "2") {
			t.Errorf("call %d: Retry-After %q", i, after)
		}
	}
	all := p.Captured()
	if len(all) != 13 || all[1].Header.Get("Authorization") != "[key]" || string(all[1].Body) != `{"prompt":"a fox"}` || all[1].Path != "/make" {
		t.Errorf("%d calls are recorded, one as %+v", len(all), all[1])
	}
}

func TestASlowAnswerEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	p := newProvider(nil)
	p.Inject(sim.Injection{Fault: sim.FaultSlow})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/make", http.NoBody)
	r.Header.Set("Authorization", "Bearer k")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r) // returns because the client has disconnected
	if w.Body.Len() > 0 {
		t.Errorf("it answered %s", w.Body)
	}
}

func TestShapesOfFaults(t *testing.T) {
	t.Parallel()
	p := newProvider(nil)
	got := map[sim.Fault]int{}
	for _, f := range []sim.Fault{sim.FaultRateLimit, sim.FaultNotMedia, sim.FaultHTML, sim.FaultTinyImage, sim.FaultConflict, sim.FaultTaskLost} {
		got[f] = p.Variants(f)
	}
	want := map[sim.Fault]int{sim.FaultRateLimit: 2, sim.FaultNotMedia: 3, sim.FaultHTML: 1, sim.FaultTinyImage: 1, sim.FaultConflict: 0, sim.FaultTaskLost: 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p.Absent(sim.FaultConflict) != "no 409" || p.Absent(sim.FaultTaskLost) == "" || p.Absent(sim.FaultHTML) != "" || sim.NoTasks[sim.FaultConflict] != "" {
		t.Errorf("absent: %q, %q, %q", p.Absent(sim.FaultConflict), p.Absent(sim.FaultTaskLost), p.Absent(sim.FaultHTML))
	}
}

func TestViolationsOfWhatIsDocumented(t *testing.T) {
	t.Parallel()
	p := newProvider(nil)
	good := sim.Captured{Method: http.MethodPost, Path: "/make", Header: http.Header{"Authorization": {"[key]"}, "Content-Type": {"application/json"}}, Body: []byte(`{"prompt":"x"}`)}
	if err := p.Violation(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*sim.Captured){
		"not documented": func(c *sim.Captured) { c.Path = "/made" },
		"Authorization":  func(c *sim.Captured) { c.Header = http.Header{"Content-Type": {"application/json"}} },
		"prompt":         func(c *sim.Captured) { c.Body = []byte(`{}`) },
		"not JSON":       func(c *sim.Captured) { c.Body = []byte(`{`) },
	} {
		bad := good
		change(&bad)
		if err := p.Violation(bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABodyIsCheckedWithoutItsPath(t *testing.T) {
	t.Parallel()
	k := sim.Contract{Files: fstest.MapFS{"schema/chat.json": {Data: []byte(`{"required":["prompt"]}`)}}}
	for body, want := range map[string]string{`{"prompt":"x"}`: "", `{}`: "prompt", `{`: "not JSON"} {
		err := k.CheckJSON("chat.json", []byte(body))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	if k.CheckJSON("none.json", []byte(`{}`)) == nil {
		t.Error("a schema that is not there is passed over")
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	now := moment
	p := newProvider(func(c *sim.Config) { c.Now = func() time.Time { return now } })
	p.HandleFunc("GET /files/{name}", func(w http.ResponseWriter, r *http.Request) {
		if !p.Serve(w, r.PathValue("name")) {
			http.NotFound(w, r)
		}
	})
	picture := p.Paint("png", 8, 8, 1)
	whole := strings.TrimSpace(string(picture.Bytes()))
	p.Put("mortal", sim.Link{Picture: picture, Life: time.Minute, Records: true})
	p.Put("dead", sim.Link{Picture: picture, Life: time.Minute, Fault: sim.Injection{Fault: sim.FaultExpiredLink}})
	p.Put("half", sim.Link{Picture: picture, Fault: sim.Injection{Fault: sim.FaultHalfLink}})
	p.Put("lie", sim.Link{Picture: picture, DeclaredMIME: "image/jpeg", Fault: sim.Injection{Fault: sim.FaultLyingType}})
	p.Put("page", sim.Link{Picture: sim.NotMedia("image/png"), Fault: sim.Injection{Fault: sim.FaultNotMedia, Variant: 1}})
	for _, c := range []struct {
		name, kind, body string
		status           int
		later            time.Duration
	}{
		{"mortal", "image/png", whole, 200, 0},
		{"dead", "text/plain; charset=utf-8", "404 page not found", 404, 0},
		{"none", "text/plain; charset=utf-8", "404 page not found", 404, 0},
		{"half", "image/png", whole[:len(picture.Bytes())/2] + "!", 200, 0},
		{"half", "image/png", whole, 200, 0},
		{"lie", "image/jpeg", whole, 200, 0},
		{"page", "text/html; charset=utf-8", strings.TrimSpace(sim.Page), 200, 0},
		{"mortal", "text/plain; charset=utf-8", "404 page not found", 404, time.Minute},
	} {
		now = now.Add(c.later)
		res, body := ask(t, p, "/files/"+c.name, "")
		if res.StatusCode != c.status || res.Header.Get("Content-Type") != c.kind || body != c.body {
			t.Errorf("%s: %d %s, %d bytes", c.name, res.StatusCode, res.Header.Get("Content-Type"), len(body))
		}
	}
	if sent := p.Sent(); len(sent) != 1 || sent[0] != picture.Digest() {
		t.Errorf("sent %v", sent)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	_, body := ask(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e := sim.NewEvents(w)
		e.Send("", `{"a":1}`)
		e.Send("b", `{"b":2}`)
		e.Cut("c", `{"c":3}`)
	}), "/", "")
	if want := "data: {\"a\":1}\n\nevent: b\ndata: {\"b\":2}\n\nevent: c\ndat!"; body != want {
		t.Errorf("%q, want %q", body, want)
	}
}
