package atelier_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier"
	"atelier/generate"
	"atelier/generate/generatetest"
	"atelier/media"
)

// TestEndpointOfTheConfiguration: a service of the catalogue takes its key and its address from the configuration like
// other providers, and its results may be links to that address.
func TestEndpointOfTheConfiguration(t *testing.T) {
	t.Parallel()
	var address string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write(generatetest.PNG(64, 64, 7)) // the client may have disconnected
			return
		}
		if got := r.Header.Get("Authorization"); got != "Bearer xai-of-the-tests" || r.URL.Path != "/v1/images/generations" {
			t.Errorf("%s with %q", r.URL.Path, got)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"data":[{"url":"` + address + `/fox.png","mime_type":"image/png"}]}`)) // as above
	}))
	t.Cleanup(service.Close)
	address = service.URL
	a := open(t, atelier.Config{Keys: map[string]string{"xai": "xai-of-the-tests"}, BaseURLs: map[string]string{"xai": address + "/v1"}})
	res, err := a.Generate(t.Context(), generate.Request{Prompt: "a fox", Model: "Grok Imagine"})
	if err != nil || res.Err() != nil || len(res.Outputs()) != 1 || res.Outputs()[0].Width != 64 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestKeysOfTheEnvironment: blanks around a key are removed, and a key with a line break in it is rejected by its
// variable, because no header can carry it.
func TestKeysOfTheEnvironment(t *testing.T) {
	t.Parallel()
	read := func(variables map[string]string) (atelier.Config, error) {
		return atelier.ConfigFromEnv(func(name string) string { return variables[name] })
	}
	c, err := read(map[string]string{"ATELIER_DATA": "/nowhere", "OPENAI_API_KEY": " sk-1\n", "TOGETHER_API_KEY": "tg-1\r\n"})
	if err != nil || c.Keys["openai"] != "sk-1" || c.Getenv("TOGETHER_API_KEY") != "tg-1" {
		t.Errorf("%q, %q, %v", c.Keys["openai"], c.Getenv("TOGETHER_API_KEY"), err)
	}
	for _, key := range []string{"sk-1\nsk-2", "sk-\x001"} {
		if _, err := read(map[string]string{"ATELIER_DATA": "/nowhere", "OPENAI_API_KEY": key}); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "OPENAI_API_KEY") || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%q: %v", key, err)
		}
	}
}
