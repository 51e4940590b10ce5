package openroutersim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier/generate/generatetest/openroutersim"
)

// post calls a simulator and returns status and body.
func post(t *testing.T, key, body string) (int, string) {
	t.Helper()
	sim := openroutersim.New(openroutersim.Config{Key: "k"})
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/chat/completions", strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	sim.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// TestChecks: the simulator refuses unknown and invalid values in the provider's envelope.
func TestChecks(t *testing.T) {
	t.Parallel()
	const head = `{"model":"openai/gpt-5-image","messages":[{"role":"user","content":`
	for name, c := range map[string]struct {
		key, body string
		status    int
		says      string
	}{
		"key":       {"x", head + `"a"}],"modalities":["image"]}`, 401, "Missing Authentication header"},
		"model":     {"k", `{"model":"x","messages":[]}`, 400, "x is not a valid model ID"},
		"field":     {"k", head + `"a"}],"modalities":["image"],"negative_prompt":"y"}`, 400, "negative_prompt"},
		"modality":  {"k", head + `"a"}]}`, 400, "modality"},
		"no prompt": {"k", head + `""}],"modalities":["image"]}`, 400, "Input required"},
		"ratio":     {"k", head + `"a"}],"modalities":["image"],"image_config":{"aspect_ratio":"7:1"}}`, 400, "aspect ratio"},
		"size":      {"k", head + `"a"}],"modalities":["image"],"image_config":{"image_size":"1k"}}`, 400, "image size"},
		"picture":   {"k", head + `[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}],"modalities":["image"]}`, 400, "Invalid image data"},
	} {
		status, body := post(t, c.key, c.body)
		var answer struct {
			Error struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != c.status || answer.Error.Code != c.status || !strings.Contains(answer.Error.Message, c.says) {
			t.Errorf("%s: status %d, %s, %v", name, status, body, err)
		}
	}
}

// TestPadding: a good answer starts with blank lines and is still valid JSON.
func TestPadding(t *testing.T) {
	t.Parallel()
	status, body := post(t, "k", `{"model":"openai/gpt-5-image","messages":[{"role":"user","content":"a"}],"modalities":["image","text"]}`)
	if status != 200 || !strings.HasPrefix(body, "\n ") || !json.Valid([]byte(body)) || !strings.Contains(body, `"cost":0.0387`) {
		t.Errorf("status %d, %.80q", status, body)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(openroutersim.New(openroutersim.Config{}))
	t.Cleanup(srv.Close)
	res, err := srv.Client().Get(srv.URL + "/api/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(b), `"output_modalities":["image","text"]`) {
		t.Errorf("models: %s, %v", b, err)
	}
}
