package midjourneysim_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/generate/generatetest/midjourneysim"
)

// client calls a simulator without a driver.
type client struct {
	t    *testing.T
	sim  *midjourneysim.Simulator
	base string
}

func newClient(t *testing.T, c midjourneysim.Config) *client {
	t.Helper()
	sim := midjourneysim.New(c)
	srv := httptest.NewServer(sim)
	t.Cleanup(srv.Close)
	return &client{t, sim, srv.URL}
}

// call returns status and body; a non-empty body makes the request a POST.
func (c *client) call(path, body string) (int, []byte) {
	c.t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	address := path
	if strings.HasPrefix(path, "/") {
		address = c.base + path
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if strings.HasPrefix(path, "/mj") {
		req.Header.Set("mj-api-secret", c.sim.Key())
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, b
}

// answer holds the relevant fields of submissions and tasks.
type answer struct {
	Code     int
	Result   string
	Status   string
	Progress string
	ImageURL string `json:"imageUrl"`
	Reason   string `json:"failReason"`
	Buttons  []struct {
		CustomID string `json:"customId"`
	}
}

func (c *client) submit(endpoint, body string) answer {
	c.t.Helper()
	_, b := c.call("/mj/submit/"+endpoint, body)
	return decode(c.t, b)
}

func decode(t *testing.T, b []byte) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return a
}

// finished polls a task until it ends.
func (c *client) finished(id string) answer {
	c.t.Helper()
	for range 10 {
		_, b := c.call("/mj/task/"+id+"/fetch", "")
		if a := decode(c.t, b); a.Status == "SUCCESS" || a.Status == "FAILURE" {
			return a
		}
	}
	c.t.Fatalf("task %s does not end", id)
	return answer{}
}

// TestGridsHaveFourQuadrants: each tile is in its place.
func TestGridsHaveFourQuadrants(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := newClient(t, midjourneysim.Config{Now: func() time.Time { return now }})
	got := c.finished(c.submit("imagine", `{"prompt":"a fox --ar 2:1"}`).Result)
	status, b := c.call(got.ImageURL, "")
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil || status != http.StatusOK || len(got.Buttons) != 9 {
		t.Fatalf("%d, %v, %+v", status, err, got)
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if float64(w)/float64(h) < 1.9 || float64(w)/float64(h) > 2.1 {
		t.Errorf("%d x %d for 2:1", w, h)
	}
	seen := map[[3]uint32]bool{}
	for _, p := range [][2]int{{w / 4, h / 4}, {3 * w / 4, h / 4}, {w / 4, 3 * h / 4}, {3 * w / 4, 3 * h / 4}} {
		r, g, b, _ := img.At(p[0], p[1]).RGBA()
		seen[[3]uint32{r, g, b}] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d different quadrants", len(seen))
	}
	now = now.Add(25 * time.Hour)
	if status, b := c.call(got.ImageURL, ""); status != http.StatusNotFound || string(b) != "This content is no longer available." {
		t.Errorf("an old link: %d %s", status, b)
	}
	if status, _ := c.call(strings.Split(got.ImageURL, "?")[0], ""); status != http.StatusNotFound {
		t.Errorf("a link without its signature: %d", status)
	}
}

func TestRequestsAreChecked(t *testing.T) {
	t.Parallel()
	c := newClient(t, midjourneysim.Config{})
	for _, x := range []struct {
		endpoint, body string
		code           int
	}{
		{"imagine", `{"prompt":" "}`, 4},
		{"imagine", `{"prompt":"x","base64Array":["data:image/png;base64,AAAA"]}`, 4},
		{"imagine", `{"prompt":"a pool of gore"}`, 24},
		{"imagine", `{"prompt":"x","botType":"DALLE"}`, 4},
		{"imagine", `{"prompt":"x","state":"` + strings.Repeat("x", 256) + `"}`, 4},
		{"imagine", `{`, 4},
		{"blend", `{"base64Array":[]}`, 4},
		{"describe", `{"base64":"x"}`, 4},
		{"edits", `{"prompt":"x"}`, 4},
		{"action", `{"taskId":"1","customId":"MJ::JOB::reroll::0::x::SOLO"}`, 3},
		{"change", `{"taskId":"1","action":"UPSCALE","index":1}`, 3},
		{"modal", `{"taskId":"1","prompt":"x"}`, 3},
	} {
		if a := c.submit(x.endpoint, x.body); a.Code != x.code {
			t.Errorf("%s %.60s: code %d, want %d", x.endpoint, x.body, a.Code, x.code)
		}
	}
	id := c.submit("imagine", `{"prompt":"x"}`).Result
	if a := c.submit("change", `{"taskId":"`+id+`","action":"REROLL"}`); a.Code != 4 {
		t.Errorf("a change of a task that is under way: %+v", a)
	}
	c.finished(id)
	for body, code := range map[string]int{
		`{"taskId":"` + id + `","customId":"MJ::JOB::upsample::1::other"}`: 4,
		`{"taskId":"` + id + `","customId":"MJ::Inpaint::1::x::SOLO"}`:     4,
	} {
		if a := c.submit("action", body); a.Code != code {
			t.Errorf("%s: %+v", body, a)
		}
	}
	if a := c.submit("change", `{"taskId":"`+id+`","action":"VARIATION","index":5}`); a.Code != 4 {
		t.Errorf("index 5: %+v", a)
	}
}

func TestFlagsAreJudgedLate(t *testing.T) {
	t.Parallel()
	c := newClient(t, midjourneysim.Config{})
	for prompt, want := range map[string]string{
		"x --ar 16:9 --seed 4294967295 --no a, b --tile": "",
		"x --ar 1.5:1":       "Invalid value for --ar",
		"x --ar 15:1":        "Invalid value for --ar",
		"x --v 9":            "Invalid value for --v",
		"x --seed -1":        "Invalid value for --seed",
		"x --q 3":            "Invalid value for --q",
		"x --style baroque":  "Invalid value for --style",
		"x --unknown things": "Unrecognized parameter --unknown",
	} {
		a := c.submit("imagine", `{"prompt":"`+prompt+`"}`)
		if got := c.finished(a.Result); a.Code == 4 || (got.Status == "FAILURE") != (want != "") || !strings.Contains(got.Reason, want) {
			t.Errorf("%s: %+v, %+v", prompt, a, got)
		}
	}
}

func TestUnknownTasks(t *testing.T) {
	t.Parallel()
	c := newClient(t, midjourneysim.Config{})
	if status, b := c.call("/mj/task/1/fetch", ""); status != http.StatusOK || string(b) != "null" {
		t.Errorf("%d %s", status, b)
	}
	id := c.submit("imagine", `{"prompt":"x"}`).Result
	_, b := c.call("/mj/task/list-by-condition", `{"ids":["1","`+id+`"]}`)
	var list []answer
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 1 {
		t.Errorf("%v: %s", err, b)
	}
}
