package bflsim_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
)

// call sends a request with the key and returns status and body.
func call(t *testing.T, srv *httptest.Server, method, address, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Key", "bfl_simulated")
	res, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got map[string]any
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, got
}

// TestSchema: every endpoint accepts its own fields within its own limits.
func TestSchema(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(bflsim.New(bflsim.Config{Active: 100}))
	t.Cleanup(srv.Close)
	file := func(b []byte) string { return `"` + base64.StdEncoding.EncodeToString(b) + `"` }
	small, other := file(generatetest.PNG(64, 48, 1)), file(generatetest.PNG(48, 64, 1))
	for _, c := range []struct {
		model, body string
		status      int
		field       string
	}{
		{"flux-2-pro", `{"prompt":"x"}`, 200, ""},
		{"flux-2-pro", `{"prompt":"x","seed":null,"width":2048,"height":2048}`, 200, ""},
		{"flux-2-pro", `{}`, 422, "prompt"},
		{"flux-2-pro", `{"prompt":"x","aspect_ratio":"1:1"}`, 422, "aspect_ratio"},
		{"flux-2-pro", `{"prompt":"x","width":48}`, 422, "width"},
		{"flux-2-pro", `{"prompt":"x","width":1000}`, 422, "width"},
		{"flux-2-pro", `{"prompt":"x","width":4096,"height":2048}`, 422, "width"},
		{"flux-2-pro", `{"prompt":"x","safety_tolerance":6}`, 422, "safety_tolerance"},
		{"flux-2-pro", `{"prompt":"x","steps":20}`, 422, "steps"},
		{"flux-2-pro", `{"prompt":"x","output_format":"gif"}`, 422, "output_format"},
		{"flux-2-pro", `{"prompt":"x","input_image":"!"}`, 422, "input_image"},
		{"flux-2-pro", `{"prompt":"x","input_image_2":` + small + `}`, 422, "input_image"},
		{"flux-2-klein-4b", `{"prompt":"x","input_image_5":` + small + `}`, 422, "input_image_5"},
		{"flux-2-flex", `{"prompt":"x","steps":51}`, 422, "steps"},
		{"flux-2-flex", `{"prompt":"x","guidance":"4"}`, 422, "guidance"},
		{"flux-pro-1.1", `{"prompt":"x","width":1536}`, 422, "width"},
		{"flux-pro-1.1", `{}`, 422, "prompt|image_prompt"},
		{"flux-pro-1.1", `{"image_prompt":` + small + `}`, 200, ""},
		{"flux-pro-1.1-ultra", `{"prompt":"x","aspect_ratio":"22:9"}`, 422, "aspect_ratio"},
		{"flux-pro-1.0-fill", `{"image":` + small + `,"mask":` + small + `}`, 200, ""},
		{"flux-pro-1.0-fill", `{"image":` + small + `,"mask":` + other + `}`, 422, "mask"},
		{"flux-pro-1.0-fill", `{"prompt":"x"}`, 422, "image"},
		{"flux-kontext-pro", `{"prompt":"x","webhook_url":"nowhere"}`, 422, "webhook_url"},
		{"flux-1", `{"prompt":"x"}`, 404, ""},
		{"flux-2-pro", `{`, 422, ""},
	} {
		status, got := call(t, srv, http.MethodPost, srv.URL+"/v1/"+c.model, c.body)
		field := ""
		if list, ok := got["detail"].([]any); ok {
			loc := list[0].(map[string]any)["loc"].([]any)
			field, _ = loc[1].(string)
		}
		if status != c.status || field != c.field {
			t.Errorf("%s %.60s: %d %v, want %d about %q", c.model, c.body, status, got, c.status, c.field)
		}
	}
}

// TestLinksDieAndTasksAreLimited: a link is valid for ten minutes, and the number of active tasks is limited.
func TestLinksDieAndTasksAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	sim := bflsim.New(bflsim.Config{Now: func() time.Time { return now }, Pending: -1, Active: 1})
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	_, first := call(t, srv, http.MethodPost, srv.URL+"/v1/flux-2-pro", `{"prompt":"x"}`)
	if status, _ := call(t, srv, http.MethodPost, srv.URL+"/v1/flux-2-pro", `{"prompt":"x"}`); status != http.StatusTooManyRequests {
		t.Errorf("a second task: %d", status)
	}
	_, done := call(t, srv, http.MethodGet, first["polling_url"].(string), "")
	link := done["result"].(map[string]any)["sample"].(string)
	for _, c := range []struct {
		age    time.Duration
		status int
	}{{9 * time.Minute, 200}, {10 * time.Minute, 403}} {
		now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(c.age)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only the status counts
		if res.StatusCode != c.status {
			t.Errorf("after %s: %d, want %d", c.age, res.StatusCode, c.status)
		}
	}
	if status, _ := call(t, srv, http.MethodPost, srv.URL+"/v1/flux-2-pro", `{"prompt":"x"}`); status != http.StatusOK {
		t.Errorf("a task after the first: %d", status)
	}
}
