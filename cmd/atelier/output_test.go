package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"atelier/ledger"
	"atelier/media"
)

// fullDisk is an output to which nothing can be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestLostAnswersFail: a command whose answer cannot be written fails, also if the answer is text for people.
func TestLostAnswersFail(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for _, args := range [][]string{
		{"tokens", "create", "phone"},
		{"version"},
		{"version", "--json"},
		{"runs", "list"},
		{"models", "list"},
		{"media", "verify"},
		{"completion", "bash"},
	} {
		var stderr bytes.Buffer
		code := execute(&world{ctx: t.Context(), stdout: fullDisk{}, stderr: &stderr, env: p.getenv}, args)
		if outcome := (outcome{args, code, "", stderr.String()}); strings.Count(stderr.String(), "write the answer: no space left") != 1 {
			t.Errorf("atelier %q: exit %d\n%s", args, code, stderr.String())
		} else {
			outcome.checkRefused(t, exitInternal, "")
		}
	}
}

// TestErrorsBesideReportedOnes: an error that comes with one that was reported already is reported, too.
func TestErrorsBesideReportedOnes(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.Join(reportedError{exitPaused}, errors.New("the engine does not close")),
		errors.Join(errors.New("the engine does not close"), reportedError{exitPaused}),
	} {
		var stderr bytes.Buffer
		if code := (&world{stderr: &stderr}).explain(err); code != exitPaused || stderr.String() != "atelier: the engine does not close\n" {
			t.Errorf("exit %d: %q", code, stderr.String())
		}
	}
	var stderr bytes.Buffer
	if code := (&world{stderr: &stderr}).explain(reportedError{exitPaused}); code != exitPaused || stderr.String() != "" {
		t.Errorf("exit %d: %q", code, stderr.String())
	}
}

// TestJSONLogIsJSON: whatever characters a logged text has, its line is one JSON object.
func TestJSONLogIsJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(screen{&b}, nil)).Warn("a warning", slog.String("error", hostile+"\u2028\xff"))
	if !json.Valid(b.Bytes()) || strings.ContainsFunc(b.String(), func(r rune) bool { return r != '\ufffd' && isControl(r) }) {
		t.Errorf("it is %q", b.String())
	}
}

// TestPipesAreWrittenTo: -o writes into a named pipe and does not replace it.
func TestPipesAreWrittenTo(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a lighthouse", "--model", "offline", "--size", "64x64")
	pipe := filepath.Join(p.dir, "pipe.png")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	item := p.mediaList().Items[0]
	p.must("media", "get", item.Ref, "-o", pipe)
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Fatalf("the pipe is now %v, %v", info.Mode(), err)
	}
	got := make([]byte, item.Size)
	if _, err := io.ReadFull(f, got); err != nil || media.DigestOf(got).String() != item.Digest {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestInterruptedCancelIsInterrupted: Ctrl-C while runs cancel waits is no timeout; a run that has not stopped in time
// is still running, which is no failure of a provider.
func TestInterruptedCancelIsInterrupted(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	w := &world{ctx: t.Context(), env: p.getenv}
	err := w.withApp(appConfig{}, func(a *app) error {
		id := "01a1fcae-54c5-7a48-a751-be5140439267"
		if err := a.Ledger.CreateRun(t.Context(), ledger.Run{ID: id, Tree: id, Owner: owner, Agent: "sage", Status: ledger.StatusRunning}); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(150*time.Millisecond, cancel)
		late, stop := context.WithTimeout(t.Context(), 0) // over before the run is read
		defer stop()
		var stderr bytes.Buffer
		_, err := ended(late, a, id)
		if code := (&world{stderr: &stderr}).explain(err); code != exitRunning || !strings.Contains(stderr.String(), id) {
			t.Errorf("exit code %d, %s", code, stderr.String())
		}
		_, err = ended(ctx, a, id)
		return err
	})
	if media.CodeOf(err) != media.CodeCancelled {
		t.Errorf("%v", err)
	}
}

// TestExportIsComplete: conversations export writes all messages, also beyond the limit of a page.
func TestExportIsComplete(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	id := "01a1fcae-54c5-7a48-a751-000000000000"
	w := &world{ctx: t.Context(), env: p.getenv}
	err := w.withStores(func(s *stores) error {
		return s.Ledger.InTransaction(t.Context(), func(ctx context.Context) error {
			err := s.Ledger.CreateConversation(ctx, ledger.Conversation{ID: id, Owner: owner, Title: "long"})
			for n := range ledger.MaxLimit + 1 {
				m := ledger.Message{ID: fmt.Sprintf("%s%012d", id[:24], n), ConversationID: id, Role: ledger.RoleUser, Text: fmt.Sprintf("message number %d.", n), RunID: id}
				err = errors.Join(err, s.Ledger.SaveMessage(ctx, owner, m))
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	page := p.must("conversations", "export", id, "-o", "-").stdout
	if n := strings.Count(page, "message number "); n != ledger.MaxLimit+1 || !strings.Contains(page, fmt.Sprintf("number %d.", ledger.MaxLimit)) {
		t.Errorf("%d messages", n)
	}
}

// TestShowIsComplete: runs show lists all runs of a tree, also beyond the limit of a page.
func TestShowIsComplete(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	root := "01a1fcae-54c5-7a48-a751-000000000000"
	w := &world{ctx: t.Context(), env: p.getenv}
	err := w.withStores(func(s *stores) error {
		return s.Ledger.InTransaction(t.Context(), func(ctx context.Context) error {
			for n := range ledger.MaxLimit + 1 {
				r := ledger.Run{ID: fmt.Sprintf("%s%012d", root[:24], n), Tree: root, Owner: owner, Agent: "sage", Status: ledger.StatusSucceeded}
				if n > 0 {
					r.Parent, r.Depth = root, 1
				}
				if err := s.Ledger.CreateRun(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if shown := read[struct{ Tree []ledger.Run }](p, "runs", "show", root, "--json"); len(shown.Tree) != ledger.MaxLimit+1 {
		t.Errorf("%d runs", len(shown.Tree))
	}
}

// TestShownMessageIsComplete: conversations show lists all attachments of a message, also beyond the limit of a page.
func TestShownMessageIsComplete(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	const tree, conversation, message = "01a1fcae-54c5-7a48-a751-000000000001", "01a1fcae-54c5-7a48-a751-000000000002", "01a1fcae-54c5-7a48-a751-000000000003"
	w := &world{ctx: media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: tree}), env: p.getenv}
	err := w.withStores(func(s *stores) error {
		return s.Ledger.InTransaction(w.ctx, func(ctx context.Context) error {
			err := errors.Join(s.Ledger.CreateConversation(ctx, ledger.Conversation{ID: conversation, Owner: owner, Title: "t"}),
				s.Ledger.SaveMessage(ctx, owner, ledger.Message{ID: message, ConversationID: conversation, Role: ledger.RoleUser, Text: "t", RunID: tree}))
			var items []media.Output
			for i := 0; i <= ledger.MaxLimit && err == nil; i++ {
				b := media.Blob{Digest: media.DigestOf(fmt.Append(nil, i)), SizeBytes: 1, Facts: media.Facts{MIMEType: "text/csv"}}
				var o media.Output
				o, err = s.Ledger.Record(ctx, media.NewOutput(b, media.Meta{FileName: "t.csv"}))
				items = append(items, o)
			}
			if err == nil {
				_, err = s.Ledger.Attach(ctx, owner, message, items)
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := read[shownConversation](p, "conversations", "show", conversation, "--json")
	if len(shown.Items) != 1 || len(shown.Items[0].Attachments) != ledger.MaxLimit+1 {
		t.Errorf("%d messages, %d attachments", len(shown.Items), len(shown.Items[0].Attachments))
	}
}

// TestInterruptedDoctor: Ctrl-C during doctor is no finding about the data folder.
func TestInterruptedDoctor(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	w := &world{ctx: ctx, stdout: &stdout, stderr: &stderr, env: p.getenv}
	if code := execute(w, []string{"doctor"}); code != exitInterrupted || strings.Contains(stdout.String(), "bad") {
		t.Errorf("exit %d\n%s%s", code, stdout.String(), stderr.String())
	}
}
