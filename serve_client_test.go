package atelier_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"atelier"
	"atelier/api"
	"atelier/media"
)

// testServer is a server on its own port.
type testServer struct {
	*atelier.Atelier
	t    *testing.T
	url  string
	stop func()
	// token is sent with each request that has no Authorization of its own.
	token string
}

// serve starts a server that stops at the latest when the test ends.
func serve(t *testing.T, c atelier.Config) *testServer {
	t.Helper()
	return serveWith(t, c, atelier.ServeConfig{})
}

// serveWith is serve with settings for the server.
func serveWith(t *testing.T, c atelier.Config, how atelier.ServeConfig) *testServer {
	t.Helper()
	c.Adopt = true
	s := &testServer{Atelier: open(t, c), t: t}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		how.Listener, how.Grace, how.Version, how.Pages = l, 5*time.Second, "test", fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}}
		done <- s.Serve(ctx, how)
	}()
	s.url = "http://" + l.Addr().String()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	s.waitUntil("readiness", func() bool { return s.do(http.MethodGet, "/readyz", nil).status == http.StatusOK })
	return s
}

// waitUntil polls until ok returns true; it fails the test after a time that only a hang takes.
func (s *testServer) waitUntil(what string, ok func() bool) {
	s.t.Helper()
	for range 12_000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s: not within two minutes", what)
}

// reply is a response of the server.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request: a string or bytes as they are, anything else as JSON; headers are name, value.
func (s *testServer) do(method, path string, body any, headers ...string) reply {
	s.t.Helper()
	var in io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	case []byte:
		in = bytes.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		in = bytes.NewReader(j)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if in != nil {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	if s.token != "" && r.Header.Get("Authorization") == "" && r.Header.Get("Cookie") == "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, b}
}

// as decodes a body that must have a status.
func as[T any](s *testServer, status int, r reply) (v T) {
	s.t.Helper()
	if r.status != status {
		s.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	if err := json.Unmarshal(r.body, &v); err != nil {
		s.t.Fatalf("%v: %s", err, r.body)
	}
	return v
}

// checkRefused checks that a response is a problem with a status and a code.
func (s *testServer) checkRefused(what string, r reply, status int, code media.Code) {
	s.t.Helper()
	var p api.Problem
	if err := json.Unmarshal(r.body, &p); err != nil || r.header.Get("Content-Type") != "application/problem+json" {
		s.t.Errorf("%s: %d %s: %s", what, r.status, r.header.Get("Content-Type"), r.body)
	} else if r.status != status || p.Status != status || p.Code != string(code) || p.Detail == "" || p.Title == "" {
		s.t.Errorf("%s: %d %s, want %d %s: %s", what, r.status, p.Code, status, code, r.body)
	}
}

// upload stores bytes under a name.
func (s *testServer) upload(name string, b []byte) api.Media {
	s.t.Helper()
	kind, body := form(s.t, name, b)
	return as[api.Media](s, http.StatusCreated, s.do(http.MethodPost, "/api/media", body, "Content-Type", kind))
}

func form(t *testing.T, name string, b []byte) (kind string, body []byte) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	p, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = p.Write(b)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), buf.Bytes()
}

// waitForRun waits until a run has ended or is paused, and returns it.
func (s *testServer) waitForRun(id string) (r api.Run) {
	s.t.Helper()
	s.waitUntil("the end of run "+id, func() bool {
		r = as[api.Run](s, http.StatusOK, s.do(http.MethodGet, "/api/runs/"+id, nil))
		return r.Status != "running"
	})
	return r
}

// receivedEvent is an event as received over the wire.
type receivedEvent struct {
	id   int64
	kind string
	data map[string]any
}

// follow reads a stream until stop returns true.
func (s *testServer) follow(path string, stop func(receivedEvent) bool, headers ...string) (all []receivedEvent) {
	s.t.Helper()
	return s.following(path, func() {}, stop, headers...)
}

// following is follow, and calls begin once the server has accepted the reader.
func (s *testServer) following(path string, begin func(), stop func(receivedEvent) bool, headers ...string) (all []receivedEvent) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		s.t.Fatalf("%s: %d", path, res.StatusCode)
	}
	begin()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	var e receivedEvent
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			if e.id, err = strconv.ParseInt(value, 10, 64); err != nil {
				s.t.Fatal(err)
			}
		case "event":
			e.kind = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				s.t.Fatalf("%v: %s", err, value)
			}
		case "":
			if e.kind == "" {
				e = receivedEvent{} // the position of the log's end
				continue
			}
			all = append(all, e)
			if stop(e) {
				return all
			}
			e = receivedEvent{}
		}
	}
	s.t.Fatalf("%s ended after %d events: %v", path, len(all), lines.Err())
	return nil
}

// endsRun returns a function that reports whether an event ends or pauses a run.
func endsRun(run string) func(receivedEvent) bool {
	return func(e receivedEvent) bool {
		return e.data["run_id"] == run && slices.Contains([]string{"run-succeeded", "run-failed", "run-cancelled", "run-paused"}, e.kind)
	}
}

func ids(all []receivedEvent) (out []int64) {
	for _, e := range all {
		if e.id != 0 {
			out = append(out, e.id)
		}
	}
	return out
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
