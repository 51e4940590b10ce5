package chat_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"atelier/chat"
	"atelier/media"
)

// textRequest is a text-only request.
func textRequest() chat.Request {
	return chat.Request{Messages: []chat.Message{chat.Text(chat.RoleUser, "Hello.")}}
}

// TestNoChatClientFollowsARedirect: neither the key nor the prompt is sent to an address that is not configured.
func TestNoChatClientFollowsARedirect(t *testing.T) {
	t.Parallel()
	for name, c := range services {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(name+"/"+http.StatusText(status), func(t *testing.T) {
				t.Parallel()
				elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					t.Errorf("%s was asked elsewhere, with %v", r.URL, r.Header)
				}))
				t.Cleanup(elsewhere.Close)
				var calls atomic.Int32
				m, _ := openModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls.Add(1)
					http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
				}), c.model, c.path, c.home)
				_, err := m.Generate(scoped(t), textRequest())
				if media.CodeOf(err) != media.CodeBadResponse || media.Retryable(err) || !strings.Contains(err.Error(), "redirect") || calls.Load() != 1 {
					t.Errorf("%d calls: %v", calls.Load(), err)
				}
			})
		}
	}
}

// huge writes far more than an answer may contain, until the client stops reading.
func huge(w io.Writer) {
	_, _ = io.WriteString(w, `{"message":"`) // the client disconnects in the middle
	piece := []byte(strings.Repeat("far too much ", 80_000))
	for range 1000 {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// bomb returns 256 MiB of blanks in JSON, compressed.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, `{"choices":[`) // a buffer, never fails
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	for range 256 {
		_, _ = z.Write(blanks)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestChatAnswersAreBounded: an answer of 1 GB and a compressed one of 256 MB are cut off at 16 MiB, are an error that
// is not retried, and need little memory. A call with a success status may have been billed. The services are called
// one after another, because memory is measured.
func TestChatAnswersAreBounded(t *testing.T) { //nolint:paralleltest // See above.
	packed := bomb(t)
	for name, c := range services { //nolint:paralleltest // See above.
		for kind, answer := range map[string]func(http.ResponseWriter){
			"answer": func(w http.ResponseWriter) { huge(w) },
			"error": func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusBadRequest)
				huge(w)
			},
			"outage": func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusServiceUnavailable)
				huge(w)
			},
			"bomb": func(w http.ResponseWriter) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(packed) // the client may disconnect
			},
			"error bomb": func(w http.ResponseWriter) {
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write(packed) // the client may disconnect
			},
		} {
			if testing.Short() && kind != "answer" && kind != "error bomb" && name != "openai-compatible" {
				continue // make matrices runs all combinations
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				var calls atomic.Int32
				m, _ := openModel(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					calls.Add(1)
					w.Header().Set("Content-Type", "application/json")
					answer(w)
				}), c.model, c.path, c.home)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := m.Generate(scoped(t), textRequest())
				runtime.ReadMemStats(&after)
				if media.CodeOf(err) != media.CodeTooLarge || media.Retryable(err) || calls.Load() != 1 || !strings.Contains(err.Error(), "ATELIER_MAX_ANSWER_MIB") {
					t.Errorf("%d calls: %.300v", calls.Load(), err)
				}
				if refused := strings.Contains(kind, "error") || kind == "outage"; errors.Is(err, chat.ErrUnsettled) == refused {
					t.Errorf("taken for billed: %v, %v", !refused, err)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
					t.Errorf("%d MiB were allocated", used>>20)
				}
			})
		}
	}
}
