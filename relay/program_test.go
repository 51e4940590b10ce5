//go:build unix

package relay_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier/internal/safehttp"
	"atelier/journal"
	"atelier/relay"
)

// orderVariable makes the test binary a program that uses a relay.
const orderVariable = "RELAY_TEST_ORDER"

// order is what the program does.
type order struct {
	Folder, URL string
	// Do is "prepare", "call" or "upload": a request whose body does not come to its end.
	Do      string
	Seconds int // that the call may take; 0 means as many as it likes
	// Temporary is the folder for what is temporary; default one of its own.
	Temporary string
	// Program is what is run; default this one. Replace is what its file is replaced with before
	// the first call; with nothing it is removed.
	Program, Replace string
}

// The call of every program, and what it sends.
const (
	theCall = "0198c0de-call"
	key     = "key-that-is-secret"
	prompt  = "prompt-that-is-private"
)

// program does what it is told, tells how far it is, and then waits until it is killed.
func program(text string) {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	if err := o.run(); err != nil {
		fmt.Println("error:", err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // the test's end is its end
	os.Exit(0)
}

func (o order) run() error {
	r, err := relay.New(relay.Config{Folder: o.Folder})
	if err == nil && o.Program != "" {
		err = o.vanish()
	}
	if err == nil {
		err = r.Prepare(theCall)
	}
	if err != nil {
		return err
	}
	fmt.Println("prepared")
	if o.Do == "prepare" {
		return nil
	}
	ctx := journal.WithCarried(context.Background(), &journal.Carried{ID: theCall})
	if o.Seconds > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Duration(o.Seconds)*time.Second)
		defer stop()
	}
	var body io.Reader = strings.NewReader(strings.Repeat(prompt, 100_000))
	if o.Do == "upload" {
		body = io.MultiReader(body, endless{})
	}
	req, err := http.NewRequestWithContext(safehttp.WithTrusted(ctx, o.URL), http.MethodPost, o.URL, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := r.Transport(nil).RoundTrip(req)
	if err != nil {
		return err
	}
	if _, err := res.Body.Read(make([]byte, 10)); err != nil {
		return err
	}
	fmt.Println("begun")
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	fmt.Println("answered")
	return res.Body.Close()
}

// endless tells that it is read, and gives nothing.
type endless struct{}

func (endless) Read([]byte) (int, error) {
	fmt.Println("uploading")
	select {}
}

// running is a program, which has a group of processes of its own.
type running struct {
	cmd *exec.Cmd
	out *bufio.Scanner
	in  io.Closer
	tmp string // where its sockets are
}

// begin starts a program. In the end neither it nor its relay is there, nor what they left.
func begin(t *testing.T, o order) *running {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp("", "r-") //nolint:usetesting // A short name: sockets are in it.
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cmp.Or(o.Program, os.Args[0]))
	cmd.Env = append(os.Environ(), orderVariable+"="+string(text), "TMPDIR="+cmp.Or(o.Temporary, tmp))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &running{cmd, bufio.NewScanner(out), in, tmp}
	t.Cleanup(func() {
		p.kill()
		alone(t, o.Folder)
		if left := files(t, tmp); len(left) > 0 {
			t.Errorf("what the relay left: %v", left)
		}
		_ = os.RemoveAll(tmp)
	})
	return p
}

// until reads what the program says up to a word.
func (p *running) until(t *testing.T, word string) {
	t.Helper()
	for p.out.Scan() {
		if p.out.Text() == word {
			return
		}
		if strings.HasPrefix(p.out.Text(), "error:") {
			t.Fatal(p.out.Text())
		}
	}
	t.Fatalf("the program ended before it said %q", word)
}

// kill returns when the program is dead.
func (p *running) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.in.Close()
}

// TestProgramsThatAreKilled: wherever it happens, the next one has the answer, byte for byte.
func TestProgramsThatAreKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		provider func(t *testing.T) *held
		die      func(t *testing.T, p *running, h *held)
	}{
		"while the provider works": {hold, func(_ *testing.T, p *running, h *held) {
			<-h.came
			p.kill()
			close(h.let)
		}},
		"in a stream": {streams, func(t *testing.T, p *running, h *held) {
			t.Helper()
			p.until(t, "begun")
			p.kill()
			close(h.let)
		}},
		"in the answer": {func(t *testing.T) *held { t.Helper(); return halves(t, "image/png") }, func(_ *testing.T, p *running, h *held) {
			<-h.came
			p.kill()
			close(h.let)
		}},
		"after the answer": {streams, func(t *testing.T, p *running, h *held) {
			t.Helper()
			close(h.let)
			p.until(t, "answered")
			p.kill()
		}},
		"by signals for all of it": {hold, func(_ *testing.T, p *running, h *held) {
			<-h.came
			for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
				_ = syscall.Kill(-p.cmd.Process.Pid, s)
			}
			_ = p.cmd.Wait()
			close(h.let)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := c.provider(t)
			folder := t.TempDir()
			p := begin(t, order{Folder: folder, URL: h.URL, Do: "call"})
			c.die(t, p, h)
			r := open(t, folder)
			fate(t, r, theCall, journal.FateAnswered)
			o := ask(r.Transport(nil), post(t, recalled(t, theCall), h.URL, ""))
			if o.Err != nil || o.Body != workDone || !o.Sent || h.calls.Load() != 1 {
				t.Errorf("%+v after %d calls", o, h.calls.Load())
			}
			secrets(t, folder)
			r.Forget(theCall)
			if left := files(t, folder); len(left) > 0 {
				t.Errorf("forgotten: %v", left)
			}
		})
	}
}

// secrets looks for what is not kept.
func secrets(t *testing.T, folder string) {
	t.Helper()
	for _, name := range files(t, folder) {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || strings.Contains(string(b), key) || strings.Contains(string(b), prompt) {
			t.Errorf("%s has what is secret, or cannot be read: %v", name, err)
		}
	}
}

func TestKilledWhileUnderWay(t *testing.T) {
	t.Parallel()
	h := hold(t)
	folder := t.TempDir()
	p := begin(t, order{Folder: folder, URL: h.URL, Do: "call"})
	<-h.came
	p.kill()
	r := open(t, folder)
	if got := glance(t, r, theCall); got != journal.FateUnderWay {
		t.Errorf("its fate: %d", got)
	}
	for _, pid := range carriers(folder) { // a signal for it alone does not end it either
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
			_ = syscall.Kill(pid, s)
		}
	}
	secrets(t, folder)
	if o := ask(r.Transport(nil), post(t, carried(t, r, "another"), "http://127.0.0.1:1", "")); o.Err == nil || o.Sent {
		t.Errorf("a call of the next program: %+v", o)
	}
	close(h.let)
	fate(t, r, theCall, journal.FateAnswered)
}

func TestKilledBeforeItIsSent(t *testing.T) {
	t.Parallel()
	for do, word := range map[string]string{"prepare": "prepared", "upload": "uploading"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			h := hold(t)
			folder := t.TempDir()
			p := begin(t, order{Folder: folder, URL: h.URL, Do: do})
			p.until(t, word)
			p.kill()
			r := open(t, folder)
			fate(t, r, theCall, journal.FateUnsent)
			alone(t, folder)
			r.Forget(theCall)
			if left := files(t, folder); len(left) > 0 || h.calls.Load() > 0 {
				t.Errorf("%v, %d calls", left, h.calls.Load())
			}
		})
	}
}
