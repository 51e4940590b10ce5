package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/ledger"
)

// studio is a service with a variant of OpenAI's protocol.
type studio struct {
	mu     sync.Mutex // guards bodies
	bodies []string
}

// ServeHTTP answers with data, or with a link if response_format is url.
func (s *studio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	picture := generatetest.PNG(80, 64, 9)
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		return
	case r.URL.Path == "/files/a.png":
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(picture)
		return
	case r.Header.Get("Authorization") != "Bearer studio-secret":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"bad key studio-secret","code":401}}`)
		return
	case r.URL.Path != "/v1/images/generations":
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(string(body), `"response_format":"url"`) {
		_, _ = fmt.Fprintf(w, `{"created":1,"data":[{"url":"http://%s/files/a.png"}]}`, r.Host)
		return
	}
	_, _ = fmt.Fprintf(w, `{"created":1,"data":[{"b64_json":%q}]}`, base64.StdEncoding.EncodeToString(picture))
}

// example returns the file that the documentation shows, with another address.
func example(t *testing.T, base string) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "```yaml\nprovider: studio\n")
	text, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 || !strings.Contains(text, "http://localhost:8080/v1") {
		t.Fatal("docs/configuration.md shows no example")
	}
	return "provider: studio\n" + strings.ReplaceAll(text, "http://localhost:8080/v1", base)
}

// TestOwnEndpoint: the documented file makes a compatible service a provider, and its answers with data and with links
// work.
func TestOwnEndpoint(t *testing.T) {
	t.Parallel()
	s := &studio{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	p := newTestEnv(t)
	p.env["ATELIER_CATALOGUE"] = p.write("own/studio.yaml", example(t, srv.URL+"/v1"))
	if o := p.atelier("generate", "a fox", "-m", "Studio Sketch"); o.code != exitInput || !strings.Contains(o.stderr, "STUDIO_API_KEY") {
		t.Errorf("without a key: exit %d, %s", o.code, o.stderr)
	}
	p.env["STUDIO_API_KEY"] = "studio-secret"
	p.env["ATELIER_CATALOGUE"] = p.dir + "/own" // a folder works, too
	data := read[generated](p, "generate", "a fox", "-m", "sketch-1", "--seed", "7", "--size", "512x512", "--negative-prompt", "fog", "--json")
	link := read[generated](p, "generate", "a fox", "-m", "Studio Sketch", "--option", "studio.response_format=url", "--option", "studio.steps=4", "--json")
	if len(data.Slots) != 1 || data.Slots[0].Output == nil || data.Slots[0].Output.Width != 80 || link.Slots[0].Output == nil || link.Slots[0].Output.Digest != data.Slots[0].Output.Digest {
		t.Fatalf("data %+v, link %+v", data, link)
	}
	want := []string{
		`{"model":"sketch-1","n":1,"negative_prompt":"fog","prompt":"a fox","seed":7,"size":"512x512"}`,
		`{"model":"sketch-1","n":1,"prompt":"a fox","response_format":"url","steps":4}`,
	}
	for i, body := range s.bodies {
		if strings.TrimSpace(body) != want[i] {
			t.Errorf("request %d is %s, want %s", i, body, want[i])
		}
	}
	p.env["STUDIO_API_KEY"] = "studio-other"
	bad := decode[generated](t, p.atelier("generate", "a fox", "-m", "sketch-1", "--json"))
	if e := bad.Slots[0].Error; bad.Status != generate.StatusFailed || e == nil || !strings.Contains(e.Message, "check STUDIO_API_KEY") || strings.Contains(e.Message, "openai") || strings.Contains(e.Message, "OpenAI") {
		t.Errorf("with a bad key: %+v", bad.Slots[0].Error)
	}
	o := p.must("providers", "--json")
	var states ledger.List[state]
	if err := json.Unmarshal([]byte(o.stdout), &states); err != nil || len(states.Items) == 0 || !strings.Contains(o.stdout, `"studio"`) || strings.Contains(o.stdout, "studio-other") {
		t.Errorf("providers: %v, %s", err, o.stdout)
	}
}

// TestBadCatalogue: every mistake is an error that states its place and its reason.
func TestBadCatalogue(t *testing.T) {
	t.Parallel()
	good := example(t, "http://127.0.0.1:1/v1")
	for want, text := range map[string]string{
		"key_variable: must be the name":  strings.Replace(good, "STUDIO_API_KEY", "sk-1234 5678", 1),
		"base_url: must begin":            strings.Replace(good, "http://127.0.0.1:1/v1", "localhost", 1),
		"must not hold a user, a key":     strings.Replace(good, "http://127.0.0.1:1", "http://user:hush@127.0.0.1:1", 1),
		"has a driver or a file already":  strings.Replace(good, "provider: studio", "provider: openai", 1),
		"not good YAML":                   "provider: [",
		"max_inputs":                      strings.Replace(good, "max_inputs: 1", "max_inputs: 0", 1),
		"names no provider":               "models: []",
		"field secret not found":          strings.Replace(good, "  name: Studio\n", "  name: Studio\n  secret: hush\n", 1),
		"is the name of both":             strings.Replace(good, "name: Studio Sketch", "name: GPT Image 2", 1) + "  - {name: gpt image 2, api_model: b, modality: image, methods: [generate], size: {mode: none}, max_n: 1}\n",
		"services of OpenAI's protocol":   strings.Replace(good, "methods: [generate, edit]", "methods: [generate, edit, variation]", 1),
		"no such file or directory: name": "",
		"is not a file of at most 16 MiB": "/dev/zero",
	} {
		p := newTestEnv(t)
		p.env["ATELIER_CATALOGUE"] = p.dir + "/missing.yaml"
		switch text {
		case "":
		case "/dev/zero":
			p.env["ATELIER_CATALOGUE"] = text
		default:
			p.env["ATELIER_CATALOGUE"] = p.write("own.yaml", text)
		}
		o := p.atelier("models", "list")
		if o.code != exitInput || !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, "hush@") || strings.Contains(o.stderr, "5678") {
			t.Errorf("want %q: exit %d, %s", want, o.code, o.stderr)
		}
	}
}

// TestProxyTakesTheNames: the names of a user's own service take precedence over the shipped ones, and both models can
// be requested.
func TestProxyTakesTheNames(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	own := &studio{}
	srv := httptest.NewServer(own)
	t.Cleanup(srv.Close)
	_, rest, ok := strings.Cut(mustRead(t, "../../docs/configuration.md"), "```yaml\nprovider: corp\n")
	file, _, ok2 := strings.Cut(strings.Replace(rest, "https://images.corp.example/v1", srv.URL+"/v1", 1), "```")
	if !ok || !ok2 || !strings.Contains(file, srv.URL) {
		t.Fatal("docs/configuration.md shows no proxy")
	}
	p.env["ATELIER_CATALOGUE"], p.env["CORP_API_KEY"] = p.write("own.yaml", "provider: corp\n"+file), "studio-secret"
	for name, want := range map[string]string{
		"GPT Image 2": "GPT Image 2", "gpt-image-2": "GPT Image 2", "openai/gpt-image-2": "openai/GPT Image 2", "openai/GPT Image 2": "openai/GPT Image 2",
	} {
		if got := read[generated](p, "generate", "a fox", "-m", name, "--json"); got.Model != want || got.Status != "succeeded" {
			t.Errorf("%s was made by %s (%s), want %s", name, got.Model, got.Status, want)
		}
	}
	if len(own.bodies) != 2 || len(s.images.Captured()) != 2 {
		t.Errorf("the proxy has %d calls, OpenAI %d", len(own.bodies), len(s.images.Captured()))
	}
	delete(p.env, "CORP_API_KEY")
	if o := p.atelier("generate", "a fox", "-m", "gpt-image-2"); o.code != exitInput || !strings.Contains(o.stderr, "CORP_API_KEY") || len(s.images.Captured()) != 2 {
		t.Errorf("without the proxy's key: exit %d, %s", o.code, o.stderr)
	}
	list, show := p.must("models", "list").stdout, p.must("models", "show", "GPT Image 2").stdout
	if !strings.Contains(list, "openai/GPT Image 2 ") || !strings.Contains(show, "instead of") || !strings.Contains(show, "openai/gpt-image-2") || !strings.Contains(show, "corp") {
		t.Errorf("list\n%s\nshow\n%s", list, show)
	}
	if show := p.must("models", "show", "openai/gpt-image-2").stdout; !strings.Contains(show, "openai/GPT Image 2") || strings.Contains(show, "instead of") {
		t.Errorf("show\n%s", show)
	}
}

// TestLimitOfAnAccount: the documented file sets the calls per minute, and changes nothing else in the row.
func TestLimitOfAnAccount(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	_, rest, ok := strings.Cut(mustRead(t, "../../docs/configuration.md"), "```yaml\nprovider: openai\n")
	file, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("docs/configuration.md shows no limit")
	}
	before := p.must("models", "show", "gpt-image-2").stdout
	p.env["ATELIER_CATALOGUE"] = p.write("own.yaml", "provider: openai\n"+file)
	after := p.must("models", "show", "gpt-image-2").stdout
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") } // without the widths of columns
	if line := "per minute 5 calls to openai "; !strings.Contains(words(after), line) || strings.ReplaceAll(words(after), line, "") != words(before) {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}
