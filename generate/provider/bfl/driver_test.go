package bfl_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelier/media/wire/wiretest"

	"atelier/internal/sim"

	"github.com/google/go-cmp/cmp"

	"atelier/generate"
	"atelier/generate/catalog"
	"atelier/generate/driver"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/provider/bfl"
	"atelier/media"
	"atelier/media/wire"
)

// bench is a driver on a simulator.
type bench struct {
	sim    *bflsim.Simulator
	driver *bfl.Driver
	codec  *wire.Codec
	url    string
}

func set(t *testing.T, c bflsim.Config, change func(*bfl.Config)) *bench {
	t.Helper()
	b := &bench{sim: bflsim.New(c), codec: wiretest.NewCodec(t)}
	b.url = sim.Serve(t, b.sim)
	cfg := bfl.Config{APIKey: b.sim.Key(), BaseURL: b.url, Codec: b.codec}
	if change != nil {
		change(&cfg)
	}
	var err error
	if b.driver, err = bfl.New(cfg); err != nil {
		t.Fatal(err)
	}
	return b
}

// model returns a row of the shipped catalogue.
func model(t *testing.T, name string) catalog.Model {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := c.Lookup(name)
	if !ok {
		t.Fatalf("no model %q", name)
	}
	return m
}

func pointer[T any](v T) *T { return &v }

// scoped returns the context of a run, which sending pictures needs.
func scoped(t *testing.T) context.Context {
	t.Helper()
	return media.WithScope(t.Context(), media.Scope{Tree: "run-1"})
}

// picture stores a file and returns it with its base64.
func (b *bench) picture(t *testing.T, raw []byte) (media.Output, string) {
	t.Helper()
	return media.NewOutput(generatetest.Stored(t.Context(), t, b.codec, raw), media.Meta{}), base64.StdEncoding.EncodeToString(raw)
}

func TestRequestShapes(t *testing.T) {
	t.Parallel()
	b := set(t, bflsim.Config{}, nil)
	one, first := b.picture(t, generatetest.PNG(64, 48, 1))
	two, second := b.picture(t, generatetest.JPEG(40, 30, 2))
	mask, marks := b.picture(t, generatetest.PNG(64, 48, 200))
	for name, c := range map[string]struct {
		model string
		task  driver.Task
		want  map[string]any
	}{
		"bare": {"FLUX.2 Pro", driver.Task{}, map[string]any{}},
		"all settings": {"FLUX.2 Flex", driver.Task{
			Width: 1536, Height: 1024, Seed: pointer(int64(7)), OutputFormat: "png", NotifyURL: "https://atelier.example/hooks/bfl", NotifySecret: "hush",
			Options: map[string]any{"steps": 30, "guidance": 4.5, "prompt_upsampling": false, "safety_tolerance": 0},
		}, map[string]any{
			"width": 1536., "height": 1024., "seed": 7., "output_format": "png", "steps": 30., "guidance": 4.5, "prompt_upsampling": false,
			"safety_tolerance": 0., "webhook_url": "https://atelier.example/hooks/bfl", "webhook_secret": "hush",
		}},
		"ratio": {"FLUX 1.1 Ultra", driver.Task{AspectRatio: "21:9", Options: map[string]any{"raw": true}}, map[string]any{"aspect_ratio": "21:9", "raw": true}},
		"edit":  {"FLUX.2 Max", driver.Task{Method: generate.MethodEdit, Inputs: []media.Output{one, two}}, map[string]any{"input_image": first, "input_image_2": second}},
		"mask":  {"FLUX Fill", driver.Task{Method: generate.MethodEdit, Inputs: []media.Output{one}, Mask: &mask}, map[string]any{"image": first, "mask": marks}},
		"variation": {
			"FLUX 1.1 Ultra",
			driver.Task{Method: generate.MethodVariation, Inputs: []media.Output{one}, Options: map[string]any{"image_prompt_strength": 0.4}},
			map[string]any{"image_prompt": first, "image_prompt_strength": 0.4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := set(t, bflsim.Config{}, func(cfg *bfl.Config) { cfg.Codec = b.codec })
			c.task.Model, c.task.Prompt, c.task.N = model(t, c.model), "<a> fox & “snow”", 1
			u, err := own.driver.Start(scoped(t), c.task)
			if err != nil || u.Done || u.Task.ID == "" {
				t.Fatalf("update %+v, %v", u, err)
			}
			got := own.sim.Captured()[0]
			var body map[string]any
			if err := json.Unmarshal(got.Body, &body); err != nil {
				t.Fatal(err)
			}
			c.want["prompt"] = c.task.Prompt
			if diff := cmp.Diff(c.want, body); diff != "" {
				t.Errorf("body (-want +got):\n%.600s", diff)
			}
			if got.Path != "/v1/"+c.task.Model.APIModel || got.Header.Get("X-Key") != "[key]" || got.Header.Get("Authorization") != "" {
				t.Errorf("sent to %s with %v", got.Path, got.Header)
			}
		})
	}
}

func TestRefusedBeforeTheCall(t *testing.T) {
	t.Parallel()
	b := set(t, bflsim.Config{}, nil)
	in, _ := b.picture(t, generatetest.PNG(64, 48, 1))
	for name, q := range map[string]driver.Task{
		"several":          {Model: model(t, "FLUX.2 Pro"), N: 2},
		"unknown option":   {Model: model(t, "FLUX.2 Pro"), Options: map[string]any{"webhook_url": "https://elsewhere.example"}},
		"mask":             {Model: model(t, "FLUX.2 Pro"), Method: generate.MethodEdit, Inputs: []media.Output{in}, Mask: &in},
		"no input":         {Model: model(t, "FLUX Fill"), Method: generate.MethodEdit},
		"two to vary":      {Model: model(t, "FLUX 1.1 Pro"), Method: generate.MethodVariation, Inputs: []media.Output{in, in}},
		"picture is gone":  {Model: model(t, "FLUX.2 Pro"), Method: generate.MethodEdit, Inputs: []media.Output{{Blob: media.Blob{Digest: media.DigestOf([]byte("x")), SizeBytes: 1}}}},
		"not JSON at last": {Model: model(t, "FLUX.2 Pro"), Options: map[string]any{"steps": func() {}}},
	} {
		if _, err := b.driver.Start(scoped(t), q); err == nil || media.Retryable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(b.sim.Captured()); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

func TestCostIsRounded(t *testing.T) {
	t.Parallel()
	b := set(t, bflsim.Config{}, nil)
	for name, want := range map[string]string{"FLUX.2 Pro": "0.03", "FLUX.2 Max": "0.07", "FLUX.2 Klein 4B": "0.014", "FLUX Kontext Max": "0.08"} {
		u, err := b.driver.Start(t.Context(), driver.Task{Model: model(t, name), Prompt: "a fox"})
		if err != nil || u.ReportedUSD != want || u.Metadata["output_mp"] == nil {
			t.Errorf("%s reports %q with %v, %v; want %s", name, u.ReportedUSD, u.Metadata, err, want)
		}
	}
	for cost, want := range map[string]string{"null": "", "-1": "", "1e300": "", "0": "0", `"3"`: "0.03", `[3]`: ""} {
		d := newFixedDriver(t, http.StatusOK, `{"id":"t","cost":`+cost+`}`)
		u, err := d.Start(t.Context(), driver.Task{Model: model(t, "FLUX.2 Pro"), Prompt: "a fox"})
		if err != nil || u.ReportedUSD != want {
			t.Errorf("cost %s: %q, %v", cost, u.ReportedUSD, err)
		}
	}
}

// roundTripFunc is a round tripper made of a function.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (c roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// newFixedDriver returns a driver whose provider always gives the same answer.
func newFixedDriver(t *testing.T, status int, body string) *bfl.Driver {
	t.Helper()
	d, err := bfl.New(bfl.Config{APIKey: "bfl_key_of_tests", Codec: wiretest.NewCodec(t), Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// hostRecorder sends every call to one server and records the intended host and whether the call had the key.
type hostRecorder struct {
	to    string
	mu    sync.Mutex // guards hosts
	hosts []string
}

func (c *hostRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Scheme + "://" + r.URL.Host
	if r.Header.Get("X-Key") != "" {
		host += " key"
	}
	c.mu.Lock()
	c.hosts = append(c.hosts, host)
	c.mu.Unlock()
	r = r.Clone(r.Context())
	u, err := url.Parse(c.to)
	if err != nil {
		return nil, err
	}
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

// TestTheKeyGoesNowhereElse: a task is polled at the URL that the provider named if it is one of the provider's hosts
// or the base URL; otherwise at the base URL.
func TestTheKeyGoesNowhereElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, poll, want string }{
		"cluster":            {"", "https://api.eu2.bfl.ai", "https://api.eu2.bfl.ai key"},
		"base":               {"https://proxy.example/v1/", "https://proxy.example", "https://proxy.example key"},
		"provider of a base": {"https://proxy.example", "https://api.us1.bfl.ai", "https://api.us1.bfl.ai key"},
		"elsewhere":          {"", "https://bfl.ai.example", "https://api.bfl.ai key"},
		"look-alike":         {"", "https://evilbfl.ai", "https://api.bfl.ai key"},
		"not encrypted":      {"", "http://api.eu2.bfl.ai", "https://api.bfl.ai key"},
		"another port":       {"", "https://api.eu2.bfl.ai:8443", "https://api.bfl.ai key"},
		"other base port":    {"http://localhost:1000", "http://localhost:2000", "http://localhost:1000 key"},
		"inside":             {"", "http://169.254.169.254", "https://api.bfl.ai key"},
		"name and password":  {"", "https://me:secret@api.bfl.ai", "https://api.bfl.ai key"},
		"no URL":             {"", "://", "https://api.bfl.ai key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := &hostRecorder{}
			b := set(t, bflsim.Config{PollOrigin: c.poll, Pending: -1}, func(cfg *bfl.Config) { cfg.BaseURL, cfg.Base = c.base, hosts })
			hosts.to = b.url
			u, err := b.driver.Start(t.Context(), driver.Task{Model: model(t, "FLUX.2 Pro"), Prompt: "a fox"})
			if err != nil || u.Task.URL != c.poll+"/v1/get_result?id="+u.Task.ID {
				t.Fatalf("update %+v, %v", u, err)
			}
			u, err = b.driver.Poll(t.Context(), driver.Task{}, u.Task)
			if err != nil || !u.Done || len(u.Items) != 1 {
				t.Fatalf("update %+v, %v", u, err)
			}
			if hosts.hosts[1] != c.want {
				t.Errorf("asked at %q, want %q", hosts.hosts[1], c.want)
			}
		})
	}
}

// TestAnotherProcessContinues: a handle is enough to poll a task, even if a webhook left it without a polling URL.
func TestAnotherProcessContinues(t *testing.T) {
	t.Parallel()
	b := set(t, bflsim.Config{}, nil)
	u, err := b.driver.Start(t.Context(), driver.Task{Model: model(t, "FLUX.2 Pro"), Prompt: "a fox", Seed: pointer(int64(9)), NotifyURL: "https://atelier.example/h"})
	if err != nil || u.Task.URL != "" {
		t.Fatalf("update %+v, %v", u, err)
	}
	other, err := bfl.New(bfl.Config{APIKey: b.sim.Key(), BaseURL: b.url, Codec: wiretest.NewCodec(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i, done := range []bool{false, false, true, true} {
		u, err = other.Poll(t.Context(), driver.Task{}, driver.Handle{ID: u.Task.ID})
		if err != nil || u.Done != done {
			t.Fatalf("poll %d: %+v, %v", i+1, u, err)
		}
	}
	it := u.Items[0]
	if it.Seed == nil || *it.Seed != 9 || it.RevisedPrompt == "a fox" || !strings.HasPrefix(it.RevisedPrompt, "a fox") || !strings.HasPrefix(it.URL, b.url+"/results/") {
		t.Errorf("item %+v", it)
	}
}

func TestPollsThatSayNothing(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]driver.Update{
		`{"id":"t","status":"Pending","progress":0.4}`:  {Progress: 0.4},
		`{"id":"t","status":"Pending","progress":7}`:    {Progress: -1},
		`{"id":"t","status":"Queued somewhere new"}`:    {Progress: -1},
		`{"id":"t","status":"Pending","progress":null}`: {Progress: -1},
	} {
		want.Task = driver.Handle{ID: "t"}
		u, err := newFixedDriver(t, http.StatusOK, body).Poll(t.Context(), driver.Task{}, want.Task)
		if diff := cmp.Diff(want, u); err != nil || diff != "" {
			t.Errorf("%s: %v %s", body, err, diff)
		}
	}
	for _, c := range []struct {
		status int
		body   string
		code   media.Code
	}{
		{500, `{"detail":"x"}`, media.CodeUnavailable},
		{502, `{"detail":"x"}`, media.CodeUnavailable},
		{429, `{"detail":"x"}`, media.CodeRateLimited},
		{404, `{"detail":"x"}`, media.CodeNotFound},
		{200, `{"id":"t","status":"Task not found"}`, media.CodeNotFound},
		{200, `{"id":"t","sta`, media.CodeUnavailable},
	} {
		_, err := newFixedDriver(t, c.status, c.body).Poll(t.Context(), driver.Task{}, driver.Handle{ID: "t"})
		if media.CodeOf(err) != c.code {
			t.Errorf("%d %s: %v, want %s", c.status, c.body, err, c.code)
		}
	}
}

func TestErrorTextsHoldNoSecret(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("iVBORw0KGgo", 20)
	for _, detail := range []string{
		`"` + long + ` bfl_key_of_tests"`, `[{"loc":["body","input_image"],"msg":"` + long + ` bfl_key_of_tests","input":"` + long + `"}]`,
		`{"message":"` + long + ` bfl_key_of_tests"}`, `7`,
	} {
		_, err := newFixedDriver(t, 422, `{"detail":`+detail+`}`).Start(t.Context(), driver.Task{Model: model(t, "FLUX.2 Pro"), Prompt: "x"})
		if media.CodeOf(err) != media.CodeInvalid || strings.Contains(err.Error(), "iVBORw0KGgoiVBOR") || strings.Contains(err.Error(), "bfl_key_of_tests") {
			t.Errorf("%.40s: %v", detail, err)
		}
	}
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault sim.Fault
		code  media.Code
	}{"done": {"", ""}, "moderated": {sim.FaultModerated, media.CodeModerated}, "failed": {sim.FaultTaskFailed, media.CodeUnavailable}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := set(t, bflsim.Config{}, func(cfg *bfl.Config) { cfg.NotifySecret = "hush" })
			b.sim.Inject(sim.Injection{Fault: c.fault, Variant: 1})
			u, err := b.driver.Start(t.Context(), driver.Task{Model: model(t, "FLUX.2 Pro"), Prompt: "a fox", NotifyURL: "https://atelier.example/h", NotifySecret: "hush"})
			if err != nil {
				t.Fatal(err)
			}
			told := b.sim.Notifications(u.Task.ID)
			if len(told) != 2 {
				t.Fatalf("%d calls", len(told))
			}
			for _, n := range told {
				got, err := b.driver.Notification(t.Context(), n)
				if err != nil || got.Task.ID != u.Task.ID || !got.Done || len(got.Items) != 1 {
					t.Fatalf("update %+v, %v", got, err)
				}
				if e := got.Items[0].Err; (e == nil) != (c.code == "") || e != nil && e.Code != c.code {
					t.Errorf("item %+v, want %q", got.Items[0], c.code)
				}
			}
		})
	}
}

// TestWebhookTaskElsewhere: a task with a webhook and without a polling URL that the base does not know is not lost: it
// may be in another region.
func TestWebhookTaskElsewhere(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusNotFound} {
		d := newFixedDriver(t, status, `{"id":"t","status":"Task not found","detail":"Task not found"}`)
		for _, c := range []struct {
			task   driver.Task
			handle driver.Handle
			want   media.Code
		}{
			{driver.Task{NotifyURL: "https://atelier.example/h"}, driver.Handle{ID: "t"}, media.CodeUnavailable},
			{driver.Task{NotifyURL: "https://atelier.example/h"}, driver.Handle{ID: "t", URL: "https://api.eu1.bfl.ai/v1/get_result?id=t"}, media.CodeNotFound},
			{driver.Task{}, driver.Handle{ID: "t"}, media.CodeNotFound},
		} {
			if _, err := d.Poll(t.Context(), c.task, c.handle); media.CodeOf(err) != c.want {
				t.Errorf("%d, %+v: %v, want %s", status, c.handle, err, c.want)
			}
		}
	}
}

func TestUnbelievedNotifications(t *testing.T) {
	t.Parallel()
	b := set(t, bflsim.Config{}, func(cfg *bfl.Config) { cfg.NotifySecret = "hush" })
	u, err := b.driver.Start(t.Context(), driver.Task{Model: model(t, "FLUX.2 Pro"), Prompt: "a fox", NotifyURL: "https://atelier.example/h", NotifySecret: "hush"})
	if err != nil {
		t.Fatal(err)
	}
	good := b.sim.Notifications(u.Task.ID)[0]
	changed := driver.Notification{Header: good.Header, Body: slices.Concat(good.Body, []byte(" "))}
	for name, n := range map[string]driver.Notification{
		"no signature":    {Body: good.Body},
		"another body":    changed,
		"not hexadecimal": {Header: map[string][]string{"X-Bfl-Signature": {"sha256=zz"}}, Body: good.Body},
		"another way":     {Header: map[string][]string{"X-Bfl-Signature": {"md5=00"}}, Body: good.Body},
	} {
		if got, err := b.driver.Notification(t.Context(), n); media.CodeOf(err) != media.CodeUnauthorized || got.Task != (driver.Handle{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	trusting := set(t, bflsim.Config{}, nil).driver
	got, err := trusting.Notification(t.Context(), good)
	if want := (driver.Update{Task: driver.Handle{ID: u.Task.ID}, Progress: -1}); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("without a secret: %+v, %v", got, err)
	}
	if _, err := trusting.Notification(t.Context(), driver.Notification{Body: []byte(`{"id":`)}); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("half a body: %v", err)
	}
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	codec := wiretest.NewCodec(t)
	for _, c := range []bfl.Config{{}, {Codec: codec, BaseURL: "api.bfl.ai"}, {Codec: codec, BaseURL: "ftp://api.bfl.ai"}, {Codec: codec, BaseURL: "https://"}} {
		if _, err := bfl.New(c); media.CodeOf(err) != media.CodeInvalid {
			t.Errorf("New(%+v): %v", c.BaseURL, err)
		}
	}
}

// FuzzPoll: whatever a provider answers to a poll or a submission, the driver neither panics nor quotes media.
func FuzzPoll(f *testing.F) {
	for _, s := range []string{
		`{"id":"t","status":"Ready","result":{"sample":"https://x.example/a","prompt":"p","seed":4}}`,
		`{"id":"t","status":"Content Moderated","details":{"Moderation Reasons":["a",7,null]}}`,
		`{"id":"t","status":"Error","message":{},"error":["x"]}`, `[]`, `null`, `{"status":"Ready","result":{"seed":1e99}}`,
	} {
		f.Add(s, "sha256=00")
	}
	d, err := bfl.New(bfl.Config{APIKey: "k", Codec: wiretest.NewCodec(f), NotifySecret: ""})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body, signature string) {
		u, err := d.Notification(t.Context(), driver.Notification{Header: map[string][]string{"X-Bfl-Signature": {signature}}, Body: []byte(body)})
		if err == nil && (u.Task.ID == "" || u.Done || len(u.Items) > 0) {
			t.Errorf("%q is believed: %+v", body, u)
		}
		if _, err := newFixedDriver(t, http.StatusOK, body).Start(t.Context(), driver.Task{Method: generate.MethodGenerate, Prompt: "a fox", N: 1, Model: catalog.Model{Provider: "bfl", APIModel: "flux-2-pro"}}); err != nil && media.ErrorText(err.Error()) != err.Error() {
			t.Errorf("%q is quoted: %v", body, err)
		}
		got, err := newFixedDriver(t, http.StatusOK, body).Poll(t.Context(), driver.Task{}, driver.Handle{ID: "t"})
		for _, it := range got.Items {
			if it.Err != nil && media.ErrorText(it.Err.Message) != it.Err.Message {
				t.Errorf("%q is quoted: %v", body, it.Err)
			}
		}
		if err != nil && media.ErrorText(err.Error()) != err.Error() {
			t.Errorf("%q is quoted: %v", body, err)
		}
	})
}
