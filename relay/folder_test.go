//go:build unix

package relay_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier/journal"
	"atelier/relay"
)

// TestNoFolder: without a place for it a call is not prepared, so that it can be made otherwise.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, folder := range map[string]string{"a file": path, "below a file": filepath.Join(path, "folder")} {
		r := open(t, folder)
		if r.Prepare("a") == nil {
			t.Errorf("%s: a call is prepared", what)
		}
		fate(t, r, "a", journal.FateUnknown)
		r.Forget("a") // harmless
	}
}

func TestTheFolderIsGone(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "folder")
	r := open(t, folder)
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, workDone)
	})
	small, large := carried(t, r, "small"), carried(t, r, "large")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	for body, ctx := range map[string]context.Context{"small": small, strings.Repeat("large", 1<<20): large} {
		if o := ask(r.Transport(nil), post(t, ctx, p.URL, body)); o.Err == nil || o.Sent || p.calls.Load() > 0 {
			t.Errorf("gone before: %v, sent %v, %d calls", o.Err, o.Sent, p.calls.Load())
		}
	}
	if o := ask(r.Transport(nil), post(t, carried(t, r, "while"), p.URL, "x")); o.Err != nil || o.Body != workDone {
		t.Errorf("gone while the provider works: %+v", o)
	}
	fate(t, r, "while", journal.FateUnknown)
	if o := ask(r.Transport(nil), post(t, carried(t, r, "after"), p.URL, "x")); o.Err != nil || o.Body != workDone {
		t.Errorf("made anew: %+v", o)
	}
}

// TestWhatCannotBeKept is handed on all the same; later nobody takes it for the whole answer.
func TestWhatCannotBeKept(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"a.body", "a.head"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			r := open(t, folder)
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if err := os.MkdirAll(filepath.Join(folder, part, "in its place"), 0o700); err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(w, workDone)
			})
			if o := ask(r.Transport(nil), post(t, carried(t, r, "a"), p.URL, "x")); o.Err != nil || o.Body != workDone || !o.Sent {
				t.Errorf("%+v", o)
			}
			if o := ask(r.Transport(nil), post(t, recalled(t, "a"), p.URL, "x")); o.Err == nil || !o.Sent || p.calls.Load() != 1 {
				t.Errorf("recalled: %+v, %d calls", o, p.calls.Load())
			}
		})
	}
}

// TestDamaged: what a loss of power leaves is not taken for an answer.
func TestDamaged(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(map[string]any{"status": 200, "size": len(workDone)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ head, body string }{
		"empty head": {"", workDone}, "half a head": {string(whole[:10]), workDone}, "no status": {"{}", workDone},
		"empty body": {string(whole), ""}, "half a body": {string(whole), workDone[:10]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for end, text := range map[string]string{".sent": "", ".head": c.head, ".body": c.body} {
				if err := os.WriteFile(filepath.Join(folder, "a"+end), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := open(t, folder)
			if o := ask(r.Transport(nil), post(t, recalled(t, "a"), "http://127.0.0.1:1", "x")); o.Err == nil || !o.Sent {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestOtherPrograms: one that does not begin with Main, or ends at once, sends nothing.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r, err := relay.New(relay.Config{Folder: folder, Program: "/bin/true"})
	if err != nil {
		t.Fatal(err)
	}
	o := ask(r.Transport(nil), post(t, carried(t, r, "a"), "http://127.0.0.1:1", "x"))
	if o.Err == nil || o.Sent || strings.Contains(o.Err.Error(), "127.0.0.1") {
		t.Errorf("%+v", o)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	alone(t, folder)
}

// TestLongNames: the name of a socket has little room, and folders for what is temporary may have long ones.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	h := hold(t)
	close(h.let)
	p := begin(t, order{Folder: t.TempDir(), URL: h.URL, Do: "call", Temporary: long})
	p.until(t, "answered")
}

// TestClosed: the folder of the socket goes when the program lets the process go.
func TestClosed(t *testing.T) {
	t.Parallel()
	h := hold(t)
	folder := t.TempDir()
	p := begin(t, order{Folder: folder, URL: h.URL, Do: "call"})
	<-h.came
	if sockets := files(t, p.tmp); len(sockets) != 1 {
		t.Errorf("sockets: %v", sockets)
	}
	info, err := os.Stat(filepath.Join(p.tmp, files(t, p.tmp)[0]))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("who can enter: %v, %v", info.Mode(), err)
	}
	for _, pid := range carriers(folder) {
		if session, err := syscall.Getpgid(pid); err != nil || session != pid {
			t.Errorf("the relay's group: %d of %d, %v", session, pid, err)
		}
	}
	p.kill()
	eventually(t, "the socket goes though a call is under way", func() bool { return len(files(t, p.tmp)) == 0 })
	close(h.let)
}
