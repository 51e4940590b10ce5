package atelier_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"atelier"
	"atelier/api"
	"atelier/media"
)

// TestWhatLiesAboutItself: the bytes decide the type, whatever is declared, and nothing executes: a polyglot is served
// as the picture that it is, markup in a sandbox.
func TestWhatLiesAboutItself(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	png, script := testPNG(t, 12, 12), "<script>fetch('https://evil.example')</script>"
	for _, row := range []struct {
		name, declared string
		bytes          []byte
		want           string
		sandbox        bool
	}{
		{"picture.html", "text/html", png, "image/png", false},
		{"picture.js", "text/javascript", png, "image/png", false},
		{"page.png", "image/png", []byte("<!doctype html><html><body>" + script), "text/html", true},
		{"drawing.png", "image/png", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="alert(1)">` + script + `<image href="https://evil.example/x"/></svg>`), "image/svg+xml", true},
		{"both.png", "image/png", append(append([]byte{}, png...), script...), "image/png", false},
		{"both.html", "text/html", append(append([]byte{}, png...), "<html>"+script...), "image/png", false},
		{"notes.txt", "", []byte("No client declared a type."), "text/plain", true},
		{"program.png", "image/png", []byte("alert(1)"), "application/octet-stream", true},
		{"archive.pdf", "application/pdf", []byte("PK\x03\x04" + strings.Repeat("x", 100)), "application/octet-stream", true},
	} {
		kind, body := typedForm(row.name, row.declared, row.bytes)
		r := s.do(http.MethodPost, "/api/media", body, "Content-Type", kind)
		m := as[api.Media](s, http.StatusCreated, r)
		got := s.do(http.MethodGet, m.URL, nil)
		served, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
		policy := got.header.Get("Content-Security-Policy")
		if m.MIMEType != row.want || served != row.want || got.header.Get("X-Content-Type-Options") != "nosniff" || strings.HasPrefix(policy, "sandbox; default-src 'none'") != row.sandbox {
			t.Errorf("%s is %s, served as %s with %q", row.name, m.MIMEType, served, policy)
		}
		if string(got.body) != string(row.bytes) {
			t.Errorf("%s was changed", row.name)
		}
	}
}

// typedForm returns a form whose file is declared to be of a type.
func typedForm(name, declared string, b []byte) (kind string, body []byte) {
	return "multipart/form-data; boundary=x", fmt.Appendf(nil, "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\nContent-Type: %s\r\n\r\n%s\r\n--x--\r\n", name, declared, b)
}

// TestNothingInAReportRuns: in a report, text of people and models is only text, and the policy allows no scripts.
func TestNothingInAReportRuns(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	words := `Draw a boat <script>alert(1)</script> <img src=x onerror=alert(2)> <img src="https://evil.example/x"> [x](javascript:alert(3)) <meta http-equiv=refresh content=0>`
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: words})).ID
	s.waitForRun(id)
	r := s.do(http.MethodGet, "/api/runs/"+id+"/report", nil)
	policy := r.header.Get("Content-Security-Policy")
	for _, bad := range []string{"<script", "onerror=alert", `src="https://evil`, `href="javascript:`, "<meta http-equiv=refresh"} {
		if strings.Contains(strings.ToLower(string(r.body)), bad) {
			t.Errorf("the report has %s", bad)
		}
	}
	for _, want := range []string{"sandbox allow-popups allow-popups-to-escape-sandbox;", "default-src 'none'", "frame-ancestors 'self'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%q lacks %s", policy, want)
		}
	}
	if strings.Contains(policy, "script-src") || strings.Contains(policy, "allow-scripts") || strings.Contains(policy, "*") {
		t.Errorf("%q", policy)
	}
}

// TestAThousandEqualKeys: equal requests in parallel with one key are one run.
func TestAThousandEqualKeys(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	ask := api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"}
	var mu sync.Mutex
	got := map[string]int{}
	var all sync.WaitGroup
	turn := make(chan struct{}, 100) // limits connections, which are scarce, unlike requests
	for range 1000 {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			r := s.do(http.MethodPost, "/api/runs", ask, "Idempotency-Key", "k")
			var began api.Started
			if err := json.Unmarshal(r.body, &began); err != nil || r.status != http.StatusAccepted {
				t.Errorf("%d %s", r.status, r.body)
			}
			mu.Lock()
			defer mu.Unlock()
			got[began.ID]++
		})
	}
	all.Wait()
	if list := as[api.List[api.Run]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs", nil)); len(list.Items) != 1 || got[list.Items[0].ID] != 1000 {
		t.Errorf("%d runs, answers %v", len(list.Items), got)
	}
}

// TestUploadsOverTheLimit: the answer precedes the rest of the body, the connection closes, and nothing is stored.
func TestUploadsOverTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	s := serveWith(t, atelier.Config{}, atelier.ServeConfig{MaxUpload: limit})
	const part = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n"
	for _, row := range []struct {
		name, length string
		sent         int // bytes of the file that the client tries to send
	}{
		{"10 GB declared", "Content-Length: 10737418240", 0},
		{"60 MB over the limit", fmt.Sprintf("Content-Length: %d", limit+60<<20), limit + 60<<20},
		{"60 MB over the limit, not declared", "Transfer-Encoding: chunked", limit + 60<<20},
	} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		var sending sync.WaitGroup
		sending.Go(func() {
			wrapped := func(b string) string { return b }
			if strings.HasSuffix(row.length, "chunked") {
				wrapped = func(b string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(b), b) }
			}
			_, err := io.WriteString(c, "POST /api/media HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"+row.length+"\r\n\r\n")
			next, piece := wrapped(part), wrapped(strings.Repeat("x", 64<<10))
			for n := 0; n < row.sent && err == nil; n += 64 << 10 { // until the server hangs up
				_, err = io.WriteString(c, next)
				next = piece
			}
		})
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || !res.Close {
			t.Errorf("%s: closed %v: %v", row.name, res.Close, err)
		}
		s.checkRefused(row.name, reply{res.StatusCode, res.Header, body}, http.StatusRequestEntityTooLarge, media.CodeTooLarge)
		_, _ = res.Body.Close(), c.Close() // the body was read
		sending.Wait()
	}
	if list := as[api.List[api.Media]](s, http.StatusOK, s.do(http.MethodGet, "/api/media", nil)); len(list.Items) != 0 {
		t.Errorf("%d items are kept", len(list.Items))
	}
}

// TestLongAndTurnedText: 200 kB of text in both directions, with characters of markup, are returned unchanged.
func TestLongAndTurnedText(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	words := "Draw a boat. " + strings.Repeat("שלום \u202eمرحبا <b>**`", 7500)
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: words, ConversationID: "new"})).ID
	r := s.waitForRun(id)
	if len(words) < 200_000 || r.Message != words {
		t.Errorf("%d of %d bytes were returned", len(r.Message), len(words))
	}
	c := as[api.Conversation](s, http.StatusOK, s.do(http.MethodGet, "/api/conversations/"+r.ConversationID, nil))
	if c.Messages[0].Text != words {
		t.Errorf("%d of %d bytes are in the conversation", len(c.Messages[0].Text), len(words))
	}
}

// TestStreamsThatBreak: a Last-Event-ID beyond the log does not lose events; a reader that disconnects leaves nothing
// behind, and no event is lost.
func TestStreamsThatBreak(t *testing.T) {
	t.Parallel()
	s, secrets := serveWithTokens(t, atelier.Config{})
	readers := func() float64 { return s.metrics(secrets["admin"])["atelier_event_readers"] }
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Last-Event-ID", "999999999")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	if n := readers(); n != 1 {
		t.Errorf("%v readers", n)
	}
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"})).ID
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && lines.Text() != "event: run-started" {
		continue
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	hangUp()
	_ = res.Body.Close()
	s.waitUntil("the end of the reader", func() bool { return readers() == 0 })
	s.waitForRun(id)
	all := s.follow("/api/runs/"+id+"/events?after=0", endsRun(id))
	if all[len(all)-1].kind != "run-succeeded" {
		t.Errorf("%+v", all[len(all)-1])
	}
}

// TestCurlWithoutType: the answer to curl -d, which declares a form, says which header to send.
func TestCurlWithoutType(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.do(http.MethodPost, "/api/runs", `{"agent":"sage","message":"x"}`, "Content-Type", "application/x-www-form-urlencoded")
	if r.status != http.StatusUnsupportedMediaType || !strings.Contains(string(r.body), "Content-Type: application/json") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestWhatIsMissingIsNamed: the problem of a missing resource says what kind of resource it is, and its id.
func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	for _, row := range []struct {
		method, path string
		body         any
		kind         string
	}{
		{"PATCH", "/api/media/nobody", api.MediaChange{Label: new("x")}, "media item"},
		{"DELETE", "/api/media/nobody", nil, "media item"},
		{"POST", "/api/media/nobody/restore", nil, "deleted media item"},
		{"PATCH", "/api/conversations/nobody", api.Rename{Title: "x"}, "conversation"},
		{"DELETE", "/api/conversations/nobody", nil, "conversation"},
		{"POST", "/api/conversations/nobody/restore", nil, "deleted conversation"},
		{"POST", "/api/runs", api.NewRun{Agent: "sage", Message: "x", ConversationID: "nobody"}, "conversation"},
		{"POST", "/api/runs/nobody/cancel", nil, "run"},
		{"POST", "/api/runs/nobody/retry", nil, "run"},
		{"POST", "/api/runs/nobody/fork", api.Fork{}, "run"},
		{"POST", "/api/runs/nobody/answer", `{"approve":true}`, "run"},
		{"GET", "/api/runs/nobody/events", nil, "run"},
	} {
		r := s.do(row.method, row.path, row.body)
		s.checkRefused(row.path, r, http.StatusNotFound, media.CodeNotFound)
		if want := "there is no " + row.kind + ` \"nobody\"`; !strings.Contains(string(r.body), want) {
			t.Errorf("%s %s: %s, want %s", row.method, row.path, r.body, want)
		}
	}
}
