//go:build unix

package relay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/internal/safehttp"
	"atelier/journal"
	"atelier/relay"
)

func TestMain(m *testing.M) {
	relay.Main()
	if order := os.Getenv(orderVariable); order != "" {
		program(order)
	}
	os.Exit(run(m))
}

// run also finds the races of the relay's processes, where the detector looks for them.
func run(m *testing.M) (code int) {
	folder, err := os.MkdirTemp("", "r-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0 log_path="+filepath.Join(folder, "race"))
	goleak.VerifyTestMain(m, goleak.Cleanup(func(c int) { code = c }))
	logs, _ := filepath.Glob(filepath.Join(folder, "race.*"))
	for _, path := range logs {
		b, _ := os.ReadFile(path)
		_, _ = os.Stderr.Write(b)
		code = max(code, 1)
	}
	return code
}

// open gives a relay over a folder. Its process has ended when the test has.
func open(tb testing.TB, folder string) *relay.Relay {
	tb.Helper()
	tb.Cleanup(func() { alone(tb, folder) })
	return another(tb, folder)
}

// another is one more relay over a folder.
func another(tb testing.TB, folder string) *relay.Relay {
	tb.Helper()
	r, err := relay.New(relay.Config{Folder: folder})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// alone waits until no process of a relay works for a folder.
func alone(tb testing.TB, folder string) {
	tb.Helper()
	eventually(tb, "the relay's process ends", func() bool { return len(carriers(folder)) == 0 })
}

// carriers are the processes of relays that work for a folder.
func carriers(folder string) (all []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		b, _ := os.ReadFile(path) // it may have ended
		if !slices.Contains(strings.Split(string(b), "\x00"), "ATELIER_RELAY_PROCESS="+folder) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// slay kills the processes of relays that work for a folder.
func slay(tb testing.TB, folder string) {
	tb.Helper()
	for _, pid := range carriers(folder) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		eventually(tb, "the relay's process is dead", func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// eventually looks until something is so.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for range 4000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	tb.Errorf("it does not come that %s", what)
}

// provider is a server on loopback that counts its calls.
type provider struct {
	*httptest.Server
	calls atomic.Int32
}

func serve(tb testing.TB, h http.HandlerFunc) *provider {
	tb.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		h(w, r)
	}))
	tb.Cleanup(p.Close)
	return p
}

// held is a provider that reads the request, tells that it came, and answers when it is let.
// Gone tells that the client did not wait.
type held struct {
	*provider
	came, let, gone chan struct{}
}

const workDone = "the answer that was paid for"

func hold(t *testing.T) *held {
	t.Helper()
	h := &held{came: make(chan struct{}, 100), let: make(chan struct{}), gone: make(chan struct{}, 100)}
	h.provider = serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h.came <- struct{}{}
		select {
		case <-h.let:
			_, _ = io.WriteString(w, workDone)
		case <-r.Context().Done():
			h.gone <- struct{}{}
		}
	})
	t.Cleanup(h.CloseClientConnections) // releases who still waits
	return h
}

// outcome is all that a program learns of a request.
type outcome struct {
	Status int
	Header http.Header
	Body   string
	Err    error // of the request, or of its body
	Sent   bool  // that it has left this machine
}

// ask makes a request and reads its answer to the end.
func ask(rt http.RoundTripper, req *http.Request) (o outcome) {
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{WroteHeaders: func() { o.Sent = true }})
	res, err := rt.RoundTrip(req.WithContext(ctx))
	if err != nil {
		o.Err = err
		return o
	}
	var b bytes.Buffer
	_, o.Err = io.Copy(&b, res.Body)
	_ = res.Body.Close()
	o.Status, o.Header, o.Body = res.StatusCode, res.Header, b.String()
	return o
}

// carried prepares a call and gives the context of its requests.
func carried(tb testing.TB, r *relay.Relay, id string) context.Context {
	tb.Helper()
	if err := r.Prepare(id); err != nil {
		tb.Fatal(err)
	}
	return journal.WithCarried(tb.Context(), &journal.Carried{ID: id})
}

func recalled(tb testing.TB, id string) context.Context {
	tb.Helper()
	return journal.WithCarried(tb.Context(), &journal.Carried{ID: id, Recalled: true})
}

func post(tb testing.TB, ctx context.Context, url, body string) *http.Request { //nolint:revive // The test comes first.
	tb.Helper()
	req, err := http.NewRequestWithContext(safehttp.WithTrusted(ctx, url), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	return req
}

// fate fails the test if a call's is another one; nothing is waited for but what ends.
func fate(tb testing.TB, r *relay.Relay, id string, want journal.Fate) {
	tb.Helper()
	if got := r.Fate(tb.Context(), id); got != want {
		tb.Fatalf("the fate of %s is %d, want %d", id, got, want)
	}
}

// glance is a call's fate now.
func glance(tb testing.TB, r *relay.Relay, id string) journal.Fate {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	stop()
	return r.Fate(ctx, id)
}

// files are those of a folder.
func files(tb testing.TB, folder string) (all []string) {
	tb.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestWhatIsNotCarriedGoesToTheBase(t *testing.T) {
	t.Parallel()
	errBase := errors.New("the base was asked")
	base := roundTripper(func(req *http.Request) (*http.Response, error) { return nil, errBase })
	folder := t.TempDir()
	tr := open(t, folder).Transport(base)
	plain := post(t, t.Context(), "http://127.0.0.1:1/", "")
	beside := post(t, journal.WithCarried(t.Context(), nil), "http://127.0.0.1:1/", "")
	get := post(t, journal.WithCarried(t.Context(), &journal.Carried{ID: "a"}), "http://127.0.0.1:1/", "")
	get.Method = http.MethodGet
	for what, req := range map[string]*http.Request{"plain": plain, "beside": beside, "get": get} {
		if o := ask(tr, req); !errors.Is(o.Err, errBase) {
			t.Errorf("%s: %v", what, o.Err)
		}
	}
	if c := journal.CarriedOf(get.Context()); c.Used() {
		t.Error("a request that costs nothing counts as one of the call")
	}
	if all := carriers(folder); len(all) > 0 {
		t.Error("a process began before the first call")
	}
	if tr.Relay() == nil {
		t.Error("the transport does not tell its relay")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
