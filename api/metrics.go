package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Sample is one value of the metrics.
type Sample struct {
	// Name is the name of the metric. Kind is counter or gauge. Help says what the metric counts.
	Name, Kind, Help string
	// Labels alternates label names and values.
	Labels []string
	Value  float64
}

// requestStats counts answered requests.
type requestStats struct {
	mu      sync.Mutex // guards the fields below
	routes  map[route]routeStats
	in, out int64 // bytes of media
}

// route is the key by which requests are counted.
type route struct {
	method, path string
	status       int
}

type routeStats struct {
	count   int64
	seconds float64
}

// observe counts an answered request.
func (m *requestStats) observe(k route, took time.Duration, in, out int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.routes[k]
	m.routes[k] = routeStats{a.count + 1, a.seconds + took.Seconds()}
	m.in += in
	m.out += out
}

// samples returns the counts as metrics.
func (m *requestStats) samples() (out []Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, a := range m.routes {
		labels := []string{"method", k.method, "route", k.path, "status", strconv.Itoa(k.status)}
		out = append(
			out, Sample{"atelier_http_requests_total", "counter", "Answered requests.", labels, float64(a.count)},
			Sample{"atelier_http_request_seconds_total", "counter", "Response time; 0 for event streams.", labels, a.seconds},
		)
	}
	const help = "Media bytes uploaded (in) and read (out)."
	return append(
		out, Sample{"atelier_media_bytes_total", "counter", help, []string{"direction", "in"}, float64(m.in)},
		Sample{"atelier_media_bytes_total", "counter", help, []string{"direction", "out"}, float64(m.out)},
	)
}

// metrics responds with all metrics in the Prometheus text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	all := append(s.stats.samples(), Sample{"atelier_goroutines", "gauge", "Goroutines.", nil, float64(runtime.NumGoroutine())})
	if rss, ok := residentBytes(); ok {
		all = append(all, Sample{"process_resident_memory_bytes", "gauge", "Resident memory.", nil, rss})
	}
	if s.cfg.Samples != nil {
		all = append(all, s.cfg.Samples()...)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(exposition(all)) // the client may have disconnected
}

// exposition formats samples, grouped by metric.
func exposition(all []Sample) []byte {
	byName := map[string][]Sample{}
	for _, s := range all {
		byName[s.Name] = append(byName[s.Name], s)
	}
	quote := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		group := byName[name]
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, group[0].Help, name, group[0].Kind)
		slices.SortFunc(group, func(x, y Sample) int {
			return cmp.Compare(strings.Join(x.Labels, "\x00"), strings.Join(y.Labels, "\x00"))
		})
		for _, s := range group {
			var labels []string
			for i := 0; i+1 < len(s.Labels); i += 2 {
				labels = append(labels, s.Labels[i]+`="`+quote.Replace(s.Labels[i+1])+`"`)
			}
			b.WriteString(name)
			if len(labels) > 0 {
				b.WriteString("{" + strings.Join(labels, ",") + "}")
			}
			b.WriteString(" " + strconv.FormatFloat(s.Value, 'g', -1, 64) + "\n")
		}
	}
	return b.Bytes()
}

// residentBytes returns the resident memory of the process, if the system has /proc.
func residentBytes() (float64, bool) {
	b, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(b))
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()), err == nil
}

// callerKey is the context key of the caller of a request.
type callerKey struct{}

// caller is the sender of a request. Only inner handlers know it.
type caller struct{ name string }

// recordRequests counts each request and logs it at level debug: its route, but never its URL, headers or body.
//
//nolint:contextcheck // the request has its context
func (s *Server) recordRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.cfg.Now()
		_, pattern := s.routes.mux.Handler(r)
		k := route{method: r.Method, path: "pages"}
		if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}, r.Method) {
			k.method = "OTHER" // unknown methods must not fill the metrics and the log
		}
		if _, path, ok := strings.Cut(pattern, " "); ok {
			k.path = path
		}
		who := &caller{}
		out := &countedWriter{ResponseWriter: w}
		in := &countedBody{ReadCloser: r.Body}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
		if r.Body != nil {
			r.Body = in
		}
		defer func() {
			k.status = cmp.Or(out.status, http.StatusOK)
			took := s.cfg.Now().Sub(began)
			if strings.HasPrefix(out.Header().Get("Content-Type"), "text/event-stream") {
				took = 0
			}
			var uploaded, read int64
			switch {
			case k.path == "/api/media" && k.method == http.MethodPost:
				uploaded = in.n
			case k.path == "/media/{id}", k.path == "/api/media/zip":
				read = out.n
			}
			s.stats.observe(k, took, uploaded, read)
			slog.LogAttrs(
				r.Context(), slog.LevelDebug, "request", slog.String("method", k.method), slog.String("route", k.path), slog.Int("status", k.status),
				slog.Int64("ms", took.Milliseconds()), slog.Int64("bytes", out.n), slog.String("token", who.name),
			)
		}()
		next.ServeHTTP(out, r)
	})
}

// countedWriter records the status and the size of a response.
type countedWriter struct {
	http.ResponseWriter
	status int
	n      int64
}

// Unwrap returns the underlying writer for http.ResponseController.
func (c *countedWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *countedWriter) WriteHeader(status int) {
	c.status = cmp.Or(c.status, status)
	c.ResponseWriter.WriteHeader(status)
}

func (c *countedWriter) Write(b []byte) (int, error) {
	c.status = cmp.Or(c.status, http.StatusOK) // even if the client is gone and no byte is written
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	return n, err
}

// ReadFrom lets the underlying writer copy the data.
func (c *countedWriter) ReadFrom(src io.Reader) (int64, error) {
	n, err := io.Copy(c.ResponseWriter, src)
	c.n += n
	return n, err
}

// countedBody counts the bytes read from a request.
type countedBody struct {
	io.ReadCloser
	n int64
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}
