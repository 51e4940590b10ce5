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

// hello is a question of text.
func hello() chat.Request {
	return chat.Request{Messages: []chat.Message{chat.Text(chat.RoleUser, "Hello.")}}
}

// TestNoChatClientFollowsARedirect: neither key nor prompt goes where nobody configured it.
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
				m, _ := dialled(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls.Add(1)
					http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
				}), c.model, c.path, c.home)
				_, err := m.Generate(scoped(t), hello())
				if media.CodeOf(err) != media.CodeBadResponse || media.Retryable(err) || !strings.Contains(err.Error(), "redirect") || calls.Load() != 1 {
					t.Errorf("%d calls: %v", calls.Load(), err)
				}
			})
		}
	}
}

// huge writes far more than an answer may have, as long as somebody reads.
func huge(w io.Writer) {
	_, _ = io.WriteString(w, `{"message":"`) // the client goes in the middle of it
	piece := []byte(strings.Repeat("far too much ", 80_000))
	for range 1000 {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// bomb is 256 MiB of blanks in JSON.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, `{"choices":[`) // a buffer
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	for range 256 {
		_, _ = z.Write(blanks)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestChatAnswersAreBounded: an answer of 1 GB and a compressed one of 256 MB end at 16 MiB, are an
// error that is not tried again, and take no memory to speak of. What came with a status of success may
// have been billed. Services are asked one after the
// other, because memory is looked at.
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
				_, _ = w.Write(packed) // the client may go
			},
			"error bomb": func(w http.ResponseWriter) {
				w.Header().Set("Content-Encoding", "gzip")
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = w.Write(packed) // the client may go
			},
		} {
			if testing.Short() && kind != "answer" && kind != "error bomb" && name != "openai-compatible" {
				continue // make matrices asks all
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				var calls atomic.Int32
				m, _ := dialled(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					calls.Add(1)
					w.Header().Set("Content-Type", "application/json")
					answer(w)
				}), c.model, c.path, c.home)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := m.Generate(scoped(t), hello())
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
