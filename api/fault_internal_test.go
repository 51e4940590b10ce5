package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// TestTheDocumentIsReadByManyAtOnce: simultaneous requests for the OpenAPI document get the same document.
func TestTheDocumentIsReadByManyAtOnce(t *testing.T) {
	t.Parallel()
	s := New(Config{Media: fixedService{b: []byte("x")}})
	want, err := s.OpenAPI()
	if err != nil || strings.Contains(string(want), "ErrorModel") {
		t.Fatalf("%v, %d bytes", err, len(want))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", nil))
				if w.Body.String() != string(want) {
					t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
				}
			}
		})
	}
	all.Wait()
}

// breaksOff is a service whose report panics after its beginning.
type breaksOff struct{ RunService }

func (breaksOff) WriteReport(_ context.Context, _ string, _ func(string) string, w io.Writer) error {
	_, _ = io.WriteString(w, "<html>")
	panic("a defect")
}

// TestAPanicCutsTheResponseOff: a response that has begun when its handler panics must not look complete.
func TestAPanicCutsTheResponseOff(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(New(Config{Runs: breaksOff{}}))
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/api/runs/r/report", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return // cut off before the header was sent
	}
	defer func() { _ = res.Body.Close() }()
	if b, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("the page is complete: %d %q", res.StatusCode, b)
	}
}

// writesAfterItsClient is a service whose report has a large first part, and reports how its writing ended.
type writesAfterItsClient struct{ RunService }

func (writesAfterItsClient) WriteReport(_ context.Context, _ string, _ func(string) string, w io.Writer) error {
	_, err := w.Write(make([]byte, 1<<20))
	return err
}

// gone is the writer of a client that has disconnected: header and body go nowhere.
type gone struct {
	http.ResponseWriter
	headers int
}

func (g *gone) WriteHeader(int) { g.headers++ }

func (g *gone) Write([]byte) (int, error) {
	g.headers++ // sent implicitly
	return 0, io.ErrClosedPipe
}

// TestAGoneClientGetsNoSecondHeader: a response whose first write fails has begun; no problem follows it.
func TestAGoneClientGetsNoSecondHeader(t *testing.T) {
	t.Parallel()
	w := &gone{ResponseWriter: httptest.NewRecorder()}
	defer func() {
		if v := recover(); v != http.ErrAbortHandler || w.headers != 1 { //nolint:errorlint // only that exact value
			t.Errorf("recovered %v after %d headers", v, w.headers)
		}
	}()
	New(Config{Runs: writesAfterItsClient{}}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/api/runs/r/report", nil))
}

// TestAFailedConditionIsNotARange: the problem of a failed precondition does not mention ranges.
func TestAFailedConditionIsNotARange(t *testing.T) {
	t.Parallel()
	s := New(Config{Media: fixedService{b: []byte("x")}})
	r := httptest.NewRequest(http.MethodGet, "http://localhost/media/x", nil)
	r.Header.Set("If-Match", `"another"`)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusPreconditionFailed || strings.Contains(w.Body.String(), "Range") || !strings.Contains(w.Body.String(), string(media.CodeVersion)) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// foreign is a log whose trees belong to another owner.
type foreign struct{ *eventLog }

func (foreign) ConversationOf(context.Context, string) (string, error) {
	return "", media.Errorf(media.CodeNotFound, "no such run")
}

// TestAnEarlyReaderGetsNothingForeign: a reader who joins while an event of another owner arrives does not get it.
func TestAnEarlyReaderGetsNothingForeign(t *testing.T) {
	t.Parallel()
	h := NewHub(foreign{&eventLog{}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100_000 {
			h.sendDue = nil
			h.deliver(t.Context(), ledger.Event{Tree: "t", RunID: "t", Kind: "turn-started", Position: int64(i)})
		}
	}()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		r := joinHub(h, "")
		h.removeReader(r.eventReader)
		for some := range r.frames {
			t.Fatalf("got %s", some[0].text)
		}
	}
}

// memory keeps the claims of keys.
type memory struct {
	KeyService
	mu     sync.Mutex // guards claims
	claims map[string]ledger.Claim
}

func (m *memory) ClaimKey(ctx context.Context, c ledger.Claim) (ledger.Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := IdentityOf(ctx).Owner + " " + c.Key
	if first, ok := m.claims[of]; ok {
		return first, nil
	}
	m.claims[of] = c
	return c, nil
}

func (*memory) SettleKey(context.Context, string, []byte) error { return nil }

func (*memory) ReleaseKey(context.Context, string) error { return fmt.Errorf("the database is gone") }

// TestOwnersDoNotWaitForEachOther: requests of two owners with the same Idempotency-Key are independent.
func TestOwnersDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	k := &keys{KeyService: &memory{claims: map[string]ledger.Claim{}}}
	of := func(owner string) context.Context {
		return context.WithValue(t.Context(), identityKey{}, Identity{Owner: owner})
	}
	second := make(chan struct{})
	begun := make(chan struct{})
	go func() {
		defer close(second)
		<-begun
		_, _ = idempotent(of("bob"), k, "1", call{Name: "runs"}, func(context.Context, string) (string, error) { return "b", nil })
	}()
	_, err := idempotent(of("ada"), k, "1", call{Name: "runs"}, func(context.Context, string) (string, error) {
		close(begun)
		select {
		case <-second:
			return "a", nil
		case <-time.After(5 * time.Second):
			return "", media.Errorf(media.CodeDeadline, "the other owner's request waits")
		}
	})
	if media.CodeOf(err) != "" {
		t.Error(err)
	}
}

// TestAFailureIsNotReplaced: if the claim of a failed request cannot be removed, the response still has the failure.
func TestAFailureIsNotReplaced(t *testing.T) {
	t.Parallel()
	k := &keys{KeyService: &memory{claims: map[string]ledger.Claim{}}}
	_, err := idempotent(t.Context(), k, "1", call{Name: "runs"}, func(context.Context, string) (string, error) {
		return "", media.Errorf(media.CodeModerated, "refused")
	})
	if media.CodeOf(err) != media.CodeModerated {
		t.Error(err)
	}
}

// TestABlankMessageIsEmpty: a message of white space needs an attachment, as an empty one does.
func TestABlankMessageIsEmpty(t *testing.T) {
	t.Parallel()
	r := NewRun{Agent: "sage", Message: " \n"}
	if err := r.check(); media.CodeOf(err) != media.CodeInvalid {
		t.Error(err)
	}
	if r.Files = []RunFile{{MediaID: "m"}}; r.check() != nil {
		t.Error(r.check())
	}
}

// keeping is a store that remembers its last upload.
type keeping struct {
	MediaService
	got *Upload
}

func (k keeping) StoreMedia(_ context.Context, r io.Reader, u Upload) (Media, error) {
	*k.got = u
	_, err := io.Copy(io.Discard, r)
	return Media{ID: "m"}, err
}

// TestALabelIsNotCut: a label that is too long is refused, not cut.
func TestALabelIsNotCut(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]int{strings.Repeat("ä", 500): http.StatusCreated, strings.Repeat("ä", 1001): http.StatusBadRequest} {
		got := Upload{}
		body := "--x\r\nContent-Disposition: form-data; name=\"label\"\r\n\r\n" + label + "\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nx\r\n--x--\r\n"
		r := httptest.NewRequest(http.MethodPost, "http://localhost/api/media", strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		w := httptest.NewRecorder()
		New(Config{Media: keeping{got: &got}}).ServeHTTP(w, r)
		if w.Code != want || want == http.StatusCreated && got.Label != label {
			t.Errorf("%d bytes: %d, %d bytes kept, %s", len(label), w.Code, len(got.Label), w.Body)
		}
	}
}

// recorder is a service that remembers a run to start, and whose pages have a successor.
type recorder struct {
	RunService
	TraceService
	got NewRun
}

func (r *recorder) StartRun(_ context.Context, id string, n NewRun) (Started, error) {
	r.got = n
	return Started{ID: id}, nil
}

func (*recorder) ListModelCalls(context.Context, TraceQuery) (List[ModelCall], error) {
	return List[ModelCall]{Next: "0198a000"}, nil
}

func (*recorder) ListActs(context.Context, TraceQuery) (List[Act], error) { return List[Act]{}, nil }

// TestNumbersOfABody: large integers are read exactly; the problem of one that does not fit names its field, in words of
// JSON.
func TestNumbersOfABody(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s := New(Config{Runs: r})
	for body, want := range map[string]int{
		`{"agent":"sage","message":"x","input":{"order":9007199254740993}}`:                http.StatusAccepted,
		`{"agent":"sage","message":"x","limits":{"max_tokens":9223372036854775808}}`:       http.StatusUnprocessableEntity,
		`{"agent":"sage","message":"x","limits":{"max_tokens":"many"},"input":{"a":1e99}}`: http.StatusUnprocessableEntity,
	} {
		req := httptest.NewRequest(http.MethodPost, "http://localhost/api/runs", strings.NewReader(body))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		if text := w.Body.String(); w.Code != want || strings.Contains(text, "Go ") || want != http.StatusAccepted && !strings.Contains(text, "max_tokens") {
			t.Errorf("%s: %d %s", body, w.Code, text)
		}
	}
	if n := r.got.Input["order"]; n != json.Number("9007199254740993") {
		t.Errorf("input %v", n)
	}
}

// TestACursorBelongsToItsList: the cursor of one list of a run is refused by another list of the run.
func TestACursorBelongsToItsList(t *testing.T) {
	t.Parallel()
	s := New(Config{Trace: &recorder{}})
	get := func(path string) (list List[struct{}], status int) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/api/runs/"+path, nil))
		_ = json.Unmarshal(w.Body.Bytes(), &list) // a problem is no list
		return list, w.Code
	}
	list, _ := get("r/model-calls")
	for path, want := range map[string]int{"r/model-calls": http.StatusOK, "r/acts": http.StatusBadRequest, "q/model-calls": http.StatusBadRequest} {
		if _, status := get(path + "?after=" + list.Next); status != want || list.Next == "" {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}
