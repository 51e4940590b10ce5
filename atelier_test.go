package atelier_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier"
	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/runtest"
)

// open opens an Atelier without keys. Without a Dir, it uses a new folder that already has its tables.
func open(t *testing.T, c atelier.Config) *atelier.Atelier {
	t.Helper()
	if c.Dir == "" {
		c.Dir = runtest.Folder(t)
	}
	a, err := atelier.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestGenerateAndSave(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{})
	res, err := a.Generate(t.Context(), generate.Request{Prompt: "a lighthouse", Size: "512x512"})
	if err != nil || len(res.Outputs()) != 1 {
		t.Fatalf("%v, %v", res, err)
	}
	made := res.Outputs()[0]
	for _, name := range []string{made.ID, string(made.Ref)} {
		if found, err := a.Media(t.Context(), name); err != nil || found.Digest != made.Digest {
			t.Errorf("%s: %v, %v", name, found.Digest, err)
		}
	}
	file := filepath.Join(t.TempDir(), "lighthouse.png")
	if err := a.Save(t.Context(), made, file); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	in, err := a.OpenMedia(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := io.ReadAll(in)
	if err = errors.Join(err, in.Close()); err != nil || !bytes.Equal(stored, saved) || int64(len(saved)) != made.SizeBytes {
		t.Errorf("%d bytes saved, %d stored, %v", len(saved), len(stored), err)
	}
	if err := a.Save(t.Context(), made, filepath.Join(file, "x.png")); media.CodeOf(err) != media.CodeInvalid {
		t.Errorf("into a file as if it were a folder: %v", err)
	}
}

// TestNobodySeesWhatAnotherOwnerHas: owners who share a data folder see only their own media.
func TestNobodySeesWhatAnotherOwnerHas(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	mine, other := open(t, atelier.Config{Dir: dir, Owner: "ada"}), open(t, atelier.Config{Dir: dir, Owner: "bob"})
	res, err := mine.Generate(t.Context(), generate.Request{Prompt: "a lighthouse", Size: "512x512"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{res.Outputs()[0].ID, string(res.Outputs()[0].Ref)} {
		if _, err := other.Media(t.Context(), name); media.CodeOf(err) != media.CodeNotFound {
			t.Errorf("%s of another owner: %v", name, err)
		}
	}
	as := media.WithScope(t.Context(), media.Scope{Owner: "eve"})
	if res, err = mine.Generate(as, generate.Request{Prompt: "a lighthouse", Size: "512x512"}); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Media(as, res.Outputs()[0].ID); err != nil {
		t.Errorf("of the owner of the context: %v", err)
	}
	if _, err := mine.Media(t.Context(), res.Outputs()[0].ID); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("of the context's owner, without it: %v", err)
	}
	for e, err := range mine.Run(as, atelier.Request{Request: agent.Request{Agent: "sage", Message: "Draw a boat."}}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Result != nil {
			if row, err := mine.Ledger.Run(t.Context(), "eve", e.Result.RunID); err != nil || row.Status != ledger.StatusSucceeded {
				t.Errorf("a run of the context's owner: %s, %v", row.Status, err)
			}
		}
	}
}

// TestRun: the loop yields every recorded event once and in order, with unrecorded progress in between, and then the
// result.
func TestRun(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{})
	var got []ledger.Event
	var res *agent.Result
	for e, err := range a.Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "sage", Message: "Draw a lighthouse."}}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Result != nil {
			res = e.Result
			continue
		}
		if e.ID != "" { // progress is yielded, but not recorded
			got = append(got, e.Event)
		}
	}
	if res == nil || res.Status != agent.StatusSucceeded || len(res.Outputs) != 1 {
		t.Fatalf("%+v", res)
	}
	recorded, err := a.Ledger.ListEvents(t.Context(), "local", res.RunID, 0, ledger.MaxLimit)
	if err != nil || len(recorded) == 0 || len(got) != len(recorded) {
		t.Fatalf("%d events, %d recorded, %v", len(got), len(recorded), err)
	}
	for i, e := range got {
		if e.ID != recorded[i].ID {
			t.Errorf("event %d is %s, recorded is %s", i+1, e.Kind, recorded[i].Kind)
		}
	}
}

// TestLeavingTheLoopEndsTheRun: a run ends when its caller leaves the loop.
func TestLeavingTheLoopEndsTheRun(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{})
	id := ""
	for e, err := range a.Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "sage", Message: "Draw a lighthouse."}}) {
		if err != nil {
			t.Fatal(err)
		}
		id = e.RunID
		break
	}
	if r, err := a.Ledger.Run(t.Context(), "local", id); err != nil || r.FinishedAt.IsZero() {
		t.Errorf("%s, %v", r.Status, err)
	}
}

// TestResumeRepeatsNoEvent: a resume yields no event that came before the pause.
func TestResumeRepeatsNoEvent(t *testing.T) {
	t.Parallel()
	guard, err := agent.BlockedTerms(agent.DecisionPause, "lighthouse")
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, atelier.Config{Guardrail: guard})
	seen := map[string]bool{}
	follow := func(e atelier.Event, err error) *agent.Result {
		if err != nil {
			t.Fatal(err)
		}
		if e.Result == nil && e.ID != "" && seen[e.ID] {
			t.Errorf("%s was received twice", e.Kind)
		}
		seen[e.ID] = true
		return e.Result
	}
	var res *agent.Result
	for e, err := range a.Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "sage", Message: "Draw a lighthouse."}}) {
		res = follow(e, err)
	}
	if res.Status != agent.StatusPaused {
		t.Fatalf("%+v", res)
	}
	for e, err := range a.Resume(t.Context(), res.RunID, &agent.Reply{Value: []byte(`{"approve":true}`)}) {
		res = follow(e, err)
	}
	if res.Status != agent.StatusSucceeded {
		t.Errorf("%+v", res)
	}
}

// TestErrorsBeforeARun: an invalid request yields a single error with its code.
func TestErrorsBeforeARun(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{})
	ask := agent.Request{Agent: "sage", Message: "Hello."}
	for name, test := range map[string]struct {
		r    atelier.Request
		code media.Code
	}{
		"no such folder": {atelier.Request{Request: ask, Sources: atelier.Sources{Files: "/no/such/folder"}}, media.CodeNotFound},
		"no such agent":  {atelier.Request{Request: agent.Request{Agent: "nobody", Message: "Hello."}}, media.CodeNotFound},
	} {
		n := 0
		for e, err := range a.Run(t.Context(), test.r) {
			n++
			if media.CodeOf(err) != test.code {
				t.Errorf("%s: %+v, %v", name, e, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d events", name, n)
		}
	}
	for _, err := range a.Resume(t.Context(), "no-such-run", nil) {
		if media.CodeOf(err) != media.CodeNotFound || err.Error() != "run no-such-run was not found" {
			t.Errorf("resume: %v", err)
		}
	}
	if _, err := atelier.Open(t.Context(), atelier.Config{}); media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), "Config.Dir") {
		t.Errorf("no folder: %v", err)
	}
}

// TestRunsHaveTheirOwnSources: two runs at once read different folders.
func TestRunsHaveTheirOwnSources(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{})
	ask := func(rows string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "sales.csv"), []byte("region,amount\n"+rows), 0o600); err != nil {
			t.Error(err)
		}
		message := ""
		for e, err := range a.Run(t.Context(), atelier.Request{
			Request: agent.Request{Agent: "research-agent", Message: "What is the total amount?"}, Sources: atelier.Sources{Files: dir},
		}) {
			if err != nil {
				t.Error(err)
			}
			if e.Result != nil {
				message = e.Result.Message
			}
		}
		return message
	}
	var all sync.WaitGroup
	for _, test := range []struct{ rows, want string }{{"north,10\nsouth,31\n", "41"}, {"north,100\nsouth,317\n", "417"}} {
		all.Go(func() {
			if got := ask(test.rows); !strings.Contains(got, " "+test.want) {
				t.Errorf("%q has no %s", got, test.want)
			}
		})
	}
	all.Wait()
}

func TestClosedIsClosed(t *testing.T) {
	t.Parallel()
	a, err := atelier.Open(t.Context(), atelier.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	if _, err := a.Runs(context.Background()); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("a run after the end: %v", err)
	}
	if _, err := a.Media(t.Context(), "img-7k3m9q2x"); media.CodeOf(err) != media.CodeUnavailable || !strings.Contains(err.Error(), "closed") {
		t.Errorf("an item after the end: %v", err)
	}
}

// TestAnotherModuleUsesAtelier builds and runs a program of another module.
func TestAnotherModuleUsesAtelier(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = filepath.Join("examples", "outside")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "succeeded image/png\n" {
		t.Errorf("%s, %v", out, err)
	}
}

// TestARunOfAnotherOwnerIsFollowed: the loop also yields every recorded event of a run of another owner than the
// configured one.
func TestARunOfAnotherOwnerIsFollowed(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{})
	var got []string
	id := ""
	for e, err := range a.Run(t.Context(), atelier.Request{Request: agent.Request{Owner: "ada", Agent: "sage", Message: "Draw a lighthouse."}}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.ID != "" {
			time.Sleep(20 * time.Millisecond) // a slow loop: the run ends while events are waiting
			id, got = e.Tree, append(got, e.Kind)
		}
	}
	recorded, err := a.Ledger.ListEvents(t.Context(), "ada", id, 0, ledger.MaxLimit)
	if err != nil || len(recorded) == 0 || len(got) != len(recorded) || got[len(got)-1] != "run-succeeded" {
		t.Errorf("%q of %d recorded, %v", got, len(recorded), err)
	}
}

// TestCallersRecogniseTheirContext: what ends with the caller's context has the error of that context.
func TestCallersRecogniseTheirContext(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{})
	for _, cause := range []error{errors.New("the visitor left"), context.DeadlineExceeded, nil} {
		ctx, end := context.WithCancelCause(t.Context())
		for _, err := range a.Run(ctx, atelier.Request{Request: agent.Request{Agent: "sage", Message: "Draw a lighthouse."}}) {
			end(cause)
			if err != nil && (!errors.Is(err, context.Canceled) || cause != nil && !errors.Is(err, cause)) {
				t.Errorf("a run, for %v: %v", cause, err)
			}
		}
		end(nil)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Generate(over, generate.Request{Prompt: "a lighthouse"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a generation: %v", err)
	}
}
