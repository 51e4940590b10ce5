package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier/internal/sim"
)

// slowAfterFirst returns an environment with Google's simulator, which answers the first picture request immediately
// and the others never.
func slowAfterFirst(t *testing.T) *testEnv {
	t.Helper()
	p := newTestEnv(t)
	s, url := serve(t)
	p.withGemini(s, url)
	never := sim.Injection{Fault: sim.FaultSlow}
	s.gemini.Inject(sim.Injection{}, never, never, never)
	return p
}

// firstPicture waits until one picture is recorded and returns its id.
func firstPicture(t *testing.T, p *testEnv) string {
	t.Helper()
	var list mediaList
	eventually(t, "the first picture is in the ledger", func() bool {
		list = p.mediaList()
		return len(list.Items) == 1
	})
	return list.Items[0].ID
}

// checkWholeFile checks that a file contains the whole output.
func checkWholeFile(t *testing.T, p *testEnv, o outputView) {
	t.Helper()
	path := o.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != o.Size {
		t.Errorf("%s: %v: want a file of %d bytes", o.Ref, err, o.Size)
	}
}

// TestInterruptedRunAnswers: an interrupted run prints a complete answer, with what it made.
func TestInterruptedRunAnswers(t *testing.T) {
	t.Parallel()
	p := slowAfterFirst(t)
	s := p.start("run", "sage", "Draw three pictures of a fox.", "--out", "out", "--json")
	id := firstPicture(t, p)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	o := s.wait()
	ans := decode[answer](t, o)
	made := append(append([]outputView{}, ans.Outputs...), ans.AlsoMade...)
	if o.code != exitInterrupted || ans.Status != "cancelled" || len(made) != 1 {
		t.Fatalf("exit %d, status %s, %d items made", o.code, ans.Status, len(made))
	}
	checkWholeFile(t, p, made[0])
	if !strings.Contains(o.stderr, "atelier media list --run "+ans.RunID) {
		t.Errorf("the message does not say where the picture is: %q", o.stderr)
	}
	if list := p.mediaList("--run", ans.RunID).Items; len(list) != 1 || list[0].ID != id {
		t.Errorf("media list shows %v", list)
	}
	if got := p.must("runs", "list", "--status", "cancelled").stdout; !strings.Contains(got, ans.RunID) {
		t.Errorf("the run is not listed as cancelled:\n%s", got)
	}
	if got := p.must("runs", "events", ans.RunID).stdout; !strings.Contains(got, "media-stored") || !strings.Contains(got, "run-cancelled") {
		t.Errorf("events are\n%s", got)
	}
}

// TestInterruptedGenerateWritesItsFiles: -o receives what was made before Ctrl-C.
func TestInterruptedGenerateWritesItsFiles(t *testing.T) {
	t.Parallel()
	p := slowAfterFirst(t)
	s := p.start("generate", "a fox", "-n", "3", "-m", "Nano Banana Pro", "-o", "fox.png", "--json")
	firstPicture(t, p)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	o := s.wait()
	res := decode[generated](t, o)
	if o.code != exitInterrupted || res.Status != "cancelled" || len(res.Slots) != 3 {
		t.Fatalf("exit %d, status %s, %d slots", o.code, res.Status, len(res.Slots))
	}
	made := 0
	for _, slot := range res.Slots {
		if slot.Output != nil {
			made++
			checkWholeFile(t, p, *slot.Output)
		} else if slot.Status != "cancelled" {
			t.Errorf("slot %d is %s", slot.Index, slot.Status)
		}
	}
	if made != 1 {
		t.Errorf("%d pictures in the answer", made)
	}
}

// TestKilledGenerateIsListed: a process that is killed loses no recorded picture.
func TestKilledGenerateIsListed(t *testing.T) {
	t.Parallel()
	p := slowAfterFirst(t)
	s := p.start("generate", "a fox", "-n", "3", "-m", "Nano Banana Pro")
	id := firstPicture(t, p)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if o := s.wait(); o.code != -1 {
		t.Fatalf("exit %d", o.code)
	}
	p.must("run", "sage", "Hello.")
	p.must("generate", "a harbour", "-m", "offline", "--size", "64x64")
	if list := p.mediaList().Items; len(list) != 2 || list[1].ID != id {
		t.Errorf("media list shows %v", list)
	}
	p.must("media", "get", id, "-o", filepath.Join(p.dir, "fox.png"))
	p.must("media", "verify")
	p.must("doctor")
}

// TestOneOfThreeActionsFails: actions of one step run at once; the model gets the result of each.
func TestOneOfThreeActionsFails(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.answer = refuseSecond
	fox := func(which string) map[string]any {
		return map[string]any{"Prompt": "the " + which + " fox", "Model": "GPT Image 2"}
	}
	s.chat.Answer = answersInOrder(
		act(t, "Generate Image", fox("first"), "Generate Image", fox("second"), "Generate Image", fox("third")),
		done(t, "Two of three foxes."))
	ans := read[answer](p, "run", "sage", "Draw three foxes.", "--out", filepath.Join(p.dir, "out"), "--json")
	made := append(append([]outputView{}, ans.Outputs...), ans.AlsoMade...)
	if ans.Status != "succeeded" || ans.Usage.Images != 2 || len(made) != 2 {
		t.Errorf("status %s, usage %+v, %d items", ans.Status, ans.Usage, len(made))
	}
	for _, o := range made {
		checkWholeFile(t, p, o)
	}
	chats := s.chat.Requests()
	messages := chats[len(chats)-1].Messages
	message := messages[len(messages)-1].Text
	if strings.Count(message, `"success":true`) != 2 || !strings.Contains(message, "moderated") {
		t.Errorf("the message to the model does not name the result of each picture:\n%s", message)
	}
}

// TestFailedRunAnswers: the answer of a run whose model fails later lists the pictures made before.
func TestFailedRunAnswers(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(
		act(t, "Generate Image", map[string]any{"Prompt": "a fox", "NumberOfImages": 2, "Model": "GPT Image 2"}),
		"I am tired.")
	o := p.atelier("run", "sage", "Draw two foxes.", "--out", filepath.Join(p.dir, "out"), "--json")
	ans := decode[answer](t, o)
	if o.code != exitProvider || ans.Status != "failed" || !strings.Contains(string(ans.Error), "bad_response") {
		t.Errorf("exit %d, status %s, error %s", o.code, ans.Status, ans.Error)
	}
	if len(ans.AlsoMade) != 2 || len(p.mediaList("--run", ans.RunID).Items) != 2 {
		t.Fatalf("also made %v", ans.AlsoMade)
	}
	checkWholeFile(t, p, ans.AlsoMade[0])
	checkWholeFile(t, p, ans.AlsoMade[1])
}

// TestUnwritableOutput: an output path that is not writable is refused before any paid call; if writing fails later,
// the answer still lists what was made.
func TestUnwritableOutput(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	file := p.write("file", "text")
	folder := filepath.Join(p.dir, "folder.png")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	p.atelier("generate", "a fox", "-m", "GPT Image 2", "-o", filepath.Join(file, "fox.png")).checkRefused(t, exitInput, "writable folder")
	p.atelier("generate", "a fox", "-m", "GPT Image 2", "-o", folder).checkRefused(t, exitInput, "folder")
	p.atelier("run", "sage", "a fox", "--out", filepath.Join(file, "out")).checkRefused(t, exitInput, "writable folder")
	if n := len(s.received()); n != 0 {
		t.Fatalf("%d requests were paid for", n)
	}

	out := filepath.Join(p.dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	p.write("out/media", "a file where the folder should be")
	p.env["ATELIER_CHAT_MODEL"] = "offline"
	o := p.atelier("run", "sage", "Draw a picture of a fox, 128x128.", "--out", out, "--json")
	o.checkRefused(t, exitInput, "media list --run")
	if ans := decode[answer](t, o); ans.Status != "succeeded" || len(ans.Outputs) != 1 || ans.Outputs[0].Path != "" {
		t.Errorf("the answer is %+v", ans)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "pic-1.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	o = p.atelier("generate", "a fox", "-m", "GPT Image 2", "-n", "2", "-o", filepath.Join(p.dir, "pic.png"), "--json")
	o.checkRefused(t, exitInput, "the item itself is stored: atelier media get img-")
	if res := decode[generated](t, o); len(res.Slots) != 2 || res.Slots[1].Output == nil || res.Slots[1].Output.Path == "" {
		t.Errorf("the answer is %+v", res)
	}
	p.atelier("media", "get", p.mediaList().Items[0].ID, "-o", folder).checkRefused(t, exitInput, "folder")
}

// TestDamagedDataFolder: commands report what is damaged in the data folder.
func TestDamagedDataFolder(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"atelier.db": "damaged", "wire.key": "damaged"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTestEnv(t)
			delete(p.env, "ATELIER_DATABASE_URL")
			p.must("generate", "a fox", "--size", "64x64")
			path := filepath.Join(p.data, name)
			whole := mustRead(t, path)
			for _, extra := range []string{"-wal", "-shm"} {
				if err := os.RemoveAll(path + extra); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path, []byte(strings.Repeat("no such thing ", 300)), 0o600); err != nil {
				t.Fatal(err)
			}
			o := p.atelier("media", "list")
			o.checkRefused(t, exitInternal, says)
			if got := p.atelier("doctor"); got.code != exitInput || !strings.Contains(got.stdout, "bad") {
				t.Errorf("doctor: exit %d\n%s", got.code, got.stdout)
			}
			if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			if n := len(p.mediaList().Items); n != 1 {
				t.Errorf("%d items after the repair", n)
			}
		})
	}
}

// TestLargeFolderListing: media are listed page by page, each item once.
func TestLargeFolderListing(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for i := range 4 {
		p.must("generate", fmt.Sprintf("fox %d", i), "-n", "2", "--size", "64x64")
	}
	seen := map[string]bool{}
	after := []string{}
	for pages := 1; ; pages++ {
		list := p.mediaList(append([]string{"--limit", "3"}, after...)...)
		for _, m := range list.Items {
			if seen[m.ID] {
				t.Errorf("%s is there twice", m.ID)
			}
			seen[m.ID] = true
		}
		if list.Next == "" {
			if pages != 3 || len(seen) != 8 {
				t.Errorf("%d items on %d pages", len(seen), pages)
			}
			return
		}
		after = []string{"--after", list.Next}
	}
}
