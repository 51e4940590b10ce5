//go:build unix

package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/journal"
)

// FuzzHead: whatever is in the file, it is an answer that can be given, or damaged.
func FuzzHead(f *testing.F) {
	for _, a := range []answer{
		{Status: 200, Header: fields{"Content-Type": {"image/png"}, "X-Latin": {"caf\xe9", ""}}, Size: 7},
		{Status: 429, Cut: "unexpected EOF"},
		{Failed: "connection refused"},
		{Failed: "EOF", Left: true},
	} {
		b, err := json.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte(`{"status":99}`))
	f.Add([]byte(`{"status":200,"size":-1}`))
	f.Add([]byte(`{"status":200,"header":null}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parse(b)
		if err != nil {
			if !errors.Is(err, errDamaged) || !cmp.Equal(a, answer{}) {
				t.Errorf("%+v, %v", a, err)
			}
			return
		}
		if a.Failed == "" && (a.Status < 100 || a.Status > 999 || a.Size < 0) {
			t.Errorf("%+v is no answer", a)
		}
		kept, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse(kept)
		if d := cmp.Diff(a, again, cmpopts.EquateEmpty()); d != "" || err != nil {
			t.Errorf("kept and read again: %v\n%s", err, d)
		}
	})
}

// TestKeptByteForByte: not all header fields are text.
func TestKeptByteForByte(t *testing.T) {
	t.Parallel()
	s := spool{t.TempDir()}
	want := answer{Status: 200, Header: fields{"X-Bytes": {"caf\xe9 \xff<&>\u2028", "", "b"}}, Size: 2, Cut: "cut"}
	if err := errors.Join(os.WriteFile(s.path("a", body), []byte("xy"), 0o600), s.end("a", want)); err != nil {
		t.Fatal(err)
	}
	got, f, err := s.open("a")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b, err := io.ReadAll(f); string(b) != "xy" || err != nil || f.Close() != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// TestLookingDoesNotDisturb: many who look at a call whose process died are all told that it is lost.
func TestLookingDoesNotDisturb(t *testing.T) {
	t.Parallel()
	s := spool{t.TempDir()}
	if err := s.prepare("a"); err != nil {
		t.Fatal(err)
	}
	held, err := s.send("a")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.fate("a"); got != journal.FateUnderWay {
		t.Errorf("under way: %d", got)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	looking, err := os.Open(s.path("a", sent))
	if err != nil {
		t.Fatal(err)
	}
	if err := unlocked(looking); err != nil {
		t.Error(err)
	}
	if got := s.fate("a"); got != journal.FateUnknown {
		t.Errorf("while another one looks: %d", got)
	}
	if err := looking.Close(); err != nil {
		t.Error(err)
	}
}

// TestHalfForgotten: a process that dies while it releases an answer leaves none that was lost.
func TestHalfForgotten(t *testing.T) {
	t.Parallel()
	s := spool{t.TempDir()}
	left := []string{sent, body, head}
	for ; len(left) > 0; left = left[1:] {
		for _, state := range left {
			if err := os.WriteFile(s.path("a", state), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.fate("a"); got != journal.FateAnswered {
			t.Errorf("%v is left: %d", left, got)
		}
		s.remove("a")
	}
	if s.knows("a") {
		t.Error("it is known")
	}
}

// scarce is a file on a disk that has room for some bytes only.
type scarce struct {
	*os.File
	room int
}

func (f *scarce) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:min(len(p), f.room)])
	if f.room -= n; n < len(p) && err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

// deaf is a program that has ended.
type deaf struct{ *httptest.ResponseRecorder }

func (deaf) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// watchful is a program that looks how much of the disk is taken when it gets something.
type watchful struct {
	*httptest.ResponseRecorder
	file  *os.File
	taken int64
}

func (p *watchful) Write(b []byte) (int, error) {
	info, err := p.file.Stat()
	if err != nil {
		return 0, err
	}
	p.taken = max(p.taken, info.Size())
	return p.ResponseRecorder.Write(b)
}

// TestTheAnswerIsHandedOnWhenTheDiskIsFull, whole, and is kept when the program is gone.
func TestTheAnswerIsHandedOnWhenTheDiskIsFull(t *testing.T) {
	t.Parallel()
	const said = "an answer in some pieces"
	answered := func() *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"X-Said": {"so"}}, Body: io.NopCloser(iotest.OneByteReader(strings.NewReader(said)))}
	}
	file := func() *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), "body"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	for room := range len(said) {
		f := file()
		on := &watchful{ResponseRecorder: httptest.NewRecorder(), file: f}
		k := &keeper{file: &scarce{f, room}, on: on, res: answered()} //nolint:bodyclose // A text.
		if err := k.copy(); err != nil || !errors.Is(k.lost, syscall.ENOSPC) || !k.begun || on.Body.String() != said || on.Header().Get("X-Said") != "so" {
			t.Errorf("room for %d: %v, %v, %q %v", room, err, k.lost, on.Body, on.Header())
		}
		if b, err := os.ReadFile(f.Name()); len(b) > 0 || err != nil {
			t.Errorf("room for %d: %q takes room and is of no use, %v", room, b, err)
		}
		if on.taken > 0 {
			t.Errorf("room for %d: when the program gets something, %d bytes are taken still", room, on.taken)
		}
	}
	for _, begun := range []bool{false, true} {
		f := file()
		k := &keeper{file: f, on: deaf{httptest.NewRecorder()}, res: answered()} //nolint:bodyclose // A text.
		if begun {
			k.begin()
		}
		err := k.copy()
		if b, reading := os.ReadFile(f.Name()); string(b) != said || err != nil || reading != nil || k.lost != nil || k.size != int64(len(said)) {
			t.Errorf("%q, %v, %v, %v, %d", b, err, reading, k.lost, k.size)
		}
		if begun && !errors.Is(k.gone, syscall.EPIPE) {
			t.Errorf("the program is gone: %v", k.gone)
		}
	}
}

// TestOnward: a request that did not reach an old connection can go over a new one, but for those
// that net/http would repeat though they may have arrived.
func TestOnward(t *testing.T) {
	t.Parallel()
	for size, inFile := range map[int]bool{5: false, smallBody: true, 3*smallBody + 1: true} {
		for _, field := range []string{"X-Other", "Idempotency-Key", "X-Idempotency-Key"} {
			folder := t.TempDir()
			content := strings.Repeat("x", size)
			in := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1", strings.NewReader(content))
			in.Header = http.Header{originField: {"https://api.example.com"}, hostField: {"api.example.com"}, field: {"k"}}
			load, err := spool{folder}.take(in)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := load.ReaderAt.(*os.File); ok != inFile {
				t.Errorf("%d bytes in a file: %v", size, ok)
			}
			out, err := onward(t.Context(), in, load)
			if err != nil {
				t.Fatal(err)
			}
			first, _ := io.ReadAll(out.Body)
			if (out.GetBody == nil) != (field != "X-Other") || string(first) != content {
				t.Errorf("%s: %d bytes, can be repeated: %v", field, len(first), out.GetBody != nil)
			}
			if out.GetBody != nil {
				again, err := out.GetBody()
				second, _ := io.ReadAll(again)
				if err != nil || string(second) != content {
					t.Errorf("again %d bytes, %v", len(second), err)
				}
			}
			if len(out.Header[originField])+len(out.Header[hostField]) > 0 || out.Header.Get(field) != "k" {
				t.Errorf("header: %v", out.Header)
			}
			if err := load.Close(); err != nil {
				t.Error(err)
			}
			if all, _ := os.ReadDir(folder); len(all) > 0 {
				t.Errorf("a request has a name: %v", all)
			}
		}
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	for said, within := range map[string]bool{"": false, "x": false, "9999999999999": false, "1000": true} {
		end := until(http.Header{untilField: {said}})
		if (end.UnixMilli() == 1000) != within || end.Year() > 2200 {
			t.Errorf("%q: %s", said, fmt.Sprint(end))
		}
	}
}
