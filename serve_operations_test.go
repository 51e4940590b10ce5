package atelier_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier"
	"atelier/api"
	"atelier/internal/token"
	"atelier/media"
)

// metrics returns the metrics by name and labels.
func (s *testServer) metrics(secret string) map[string]float64 {
	s.t.Helper()
	r := s.do(http.MethodGet, "/metrics", nil, "Authorization", "Bearer "+secret)
	if r.status != http.StatusOK || !strings.HasPrefix(r.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		s.t.Fatalf("%d %v", r.status, r.header)
	}
	line := regexp.MustCompile(`^([a-z_]+(?:\{(?:[a-z]+="[^"\n]*",?)*\})?) (\S+)$`)
	out := map[string]float64{}
	for text := range strings.Lines(string(r.body)) {
		if strings.HasPrefix(text, "#") {
			continue
		}
		m := line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		if m == nil {
			s.t.Fatalf("%q is no line of metrics", text)
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if _, twice := out[m[1]]; err != nil || twice {
			s.t.Fatalf("%q: %v", text, err)
		}
		out[m[1]] = v
	}
	return out
}

// TestMetrics: requests, runs and generations are counted; only the scope admin reads the metrics, and no label
// contains the id of a run or item.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s, secrets := serveWithTokens(t, atelier.Config{})
	admin := secrets[token.ScopeAdmin]
	if r := s.do(http.MethodGet, "/metrics", nil); r.status != http.StatusForbidden {
		t.Errorf("with the scope run: %d", r.status)
	}
	b := testPNG(t, 30, 30)
	m := s.upload("a.png", b)
	s.do(http.MethodGet, m.URL, nil)
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"})).ID
	s.waitForRun(id)
	s.do(http.MethodGet, "/api/runs/nobody", nil)
	s.do("PROPFIND", "/api/runs", nil)
	var got map[string]float64
	s.waitUntil("the count of the run", func() bool {
		got = s.metrics(admin)
		return got[`atelier_runs_total{event="succeeded"}`] == 1
	})
	for name, want := range map[string]float64{
		`atelier_runs_total{event="started"}`:                                           1,
		`atelier_operations_total{provider="offline",status="succeeded"}`:               1,
		`atelier_http_requests_total{method="POST",route="/api/runs",status="202"}`:     1,
		`atelier_http_requests_total{method="GET",route="/api/runs/{id}",status="404"}`: 1,
		`atelier_http_requests_total{method="OTHER",route="pages",status="405"}`:        1,
		`atelier_http_requests_total{method="GET",route="/metrics",status="403"}`:       1,
		`atelier_http_requests_total{method="GET",route="/media/{id}",status="200"}`:    1,
		`atelier_media_bytes_total{direction="out"}`:                                    float64(len(b)),
		`atelier_event_readers`:  0,
		`atelier_cost_usd_total`: 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	if got[`atelier_media_bytes_total{direction="in"}`] < float64(len(b)) || got["atelier_goroutines"] < 2 || got["process_resident_memory_bytes"] < 1<<20 {
		t.Errorf("%v", got)
	}
	for name := range got {
		if strings.Contains(name, id) || strings.Contains(name, m.ID) {
			t.Errorf("%s names one run or item", name)
		}
	}
}

// TestMediaAsOneFile: a ZIP contains the requested items; their names are unique and contain no folders.
func TestMediaAsOneFile(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	want := map[string][]byte{}
	var ids []string
	for i, name := range []string{"größe.png", "größe.png", "GRÖSSE.PNG", "../../etc/passwd", "b.tar.gz"} {
		b := testPNG(t, 10+i, 10)
		ids = append(ids, s.upload(name, b).ID)
		want[[]string{"größe.png", "größe (2).png", "GRÖSSE.PNG", "passwd", "b.tar.gz"}[i]] = b
	}
	r := s.do(http.MethodGet, "/api/media/zip?ids="+strings.Join(append(slices.Clone(ids), ids[0]), ","), nil)
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/zip" || r.header.Get("Content-Disposition") != `attachment; filename=media.zip` {
		t.Fatalf("%d %v %s", r.status, r.header, r.body)
	}
	z, err := zip.NewReader(bytes.NewReader(r.body), int64(len(r.body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil || !bytes.Equal(b, want[f.Name]) {
			t.Errorf("%s: %d bytes, %v", f.Name, len(b), err)
		}
		delete(want, f.Name)
	}
	if len(want) != 0 {
		t.Errorf("missing: %d of 5", len(want))
	}
	for path, status := range map[string]int{
		"?ids=": 400, "": 400, "?ids=" + strings.Repeat("x,", 2): 404, "?ids=" + ids[0] + ",0198a000-0000-7000-8000-000000000000": 404,
	} {
		if r := s.do(http.MethodGet, "/api/media/zip"+path, nil); r.status != status {
			t.Errorf("%s: %d, want %d: %s", path, r.status, status, r.body)
		}
	}
	var many []string
	for i := range 501 {
		many = append(many, fmt.Sprint(i))
	}
	if r := s.do(http.MethodGet, "/api/media/zip?ids="+strings.Join(many, ","), nil); r.status != http.StatusBadRequest {
		t.Errorf("501 items: %d", r.status)
	}
}

// TestPixelsAreBounded: a picture with too many pixels is refused by its header.
func TestPixelsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	b := testPNG(t, 10, 10)
	binary.BigEndian.PutUint32(b[16:], 20_000)
	binary.BigEndian.PutUint32(b[20:], 20_000)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	kind, body := form(t, "huge.png", b)
	r := s.do(http.MethodPost, "/api/media", body, "Content-Type", kind)
	var p api.Problem
	if err := json.Unmarshal(r.body, &p); err != nil || r.status != http.StatusRequestEntityTooLarge || p.Code != string(media.CodeTooLarge) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestServerVariables: sizes and rates are read from the environment; invalid ones are refused.
func TestServerVariables(t *testing.T) {
	t.Parallel()
	read := func(name, value string) (atelier.ServeConfig, error) {
		return atelier.ServeConfigFromEnv(func(n string) string { return map[string]string{name: value}[n] })
	}
	for text, want := range map[string]int64{"": 0, "1000": 1000, "2KiB": 2048, "64 MiB": 64 << 20, " 4GiB ": 4 << 30} {
		if c, err := read("ATELIER_MAX_UPLOAD", text); err != nil || c.MaxUpload != want {
			t.Errorf("%q: %d %v", text, c.MaxUpload, err)
		}
	}
	for text, want := range map[string]float64{"": 0, "0": -1, "2.5": 2.5} {
		if c, err := read("ATELIER_RATE_LIMIT", text); err != nil || c.RequestsPerSecond != want {
			t.Errorf("%q: %v %v", text, c.RequestsPerSecond, err)
		}
	}
	for name, all := range map[string][]string{"ATELIER_MAX_UPLOAD": {"0", "-1", "4GB", "MiB", "99999999999GiB", "1.5GiB"}, "ATELIER_RATE_LIMIT": {"-1", "fast", "NaN", "Inf"}} {
		for _, text := range all {
			if _, err := read(name, text); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%q: %v", name, text, err)
			}
		}
	}
}
