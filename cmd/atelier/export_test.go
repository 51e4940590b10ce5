package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/ledger"
	"atelier/media"
	"atelier/media/imaging"
)

// path returns the path of a name in the folder of the environment.
func (p *testEnv) path(name string) string { return filepath.Join(p.dir, name) }

// folder returns the contents of all files of a folder by their relative names.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestReportsAtAnyTime: the report of a run is written again from the record, byte for byte, after the folder that the
// run read is deleted.
func TestReportsAtAnyTime(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	src := p.path("src")
	if err := os.MkdirAll(src, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "sales.csv"), []byte("year,sales\n2020,100\n2021,250\n2022,300\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ans := read[answer](p, "run", "research-agent", "Write a report about the sales by year with a chart and a picture of a harbour", "--files", src, "--out", p.path("first"), "--json")
	if err := os.RemoveAll(src); err != nil {
		t.Fatal(err)
	}
	o := p.must("runs", "report", "last", "--out", p.path("again"))
	first, again := folder(t, p.path("first")), folder(t, p.path("again"))
	if len(first) < 3 || !strings.Contains(first["report.html"], `id="atelier-query-1"`) {
		t.Fatalf("the run wrote %d files", len(first))
	}
	for name, text := range first {
		if again[name] != text {
			t.Errorf("%s: %d bytes, then %d", name, len(text), len(again[name]))
		}
	}
	if len(again) != len(first) || !strings.Contains(o.stdout, "report: "+p.path("again/report.html")) {
		t.Errorf("%d files, then %d: %s", len(first), len(again), o.stdout)
	}
	if b := read[answer](p, "runs", "report", ans.RunID, "--out", p.path("again"), "--json"); len(b.Outputs) != len(ans.Outputs) || b.Message != ans.Message || len(b.Unsupported) != len(ans.Unsupported) {
		t.Errorf("%+v, want %+v", b, ans)
	}
	p.atelier("runs", "report", ans.RunID).checkRefused(t, exitInput, "--out")
	p.atelier("runs", "report", "nonesuch", "--out", p.path("never")).checkRefused(t, exitInput, "nonesuch")
	if _, err := os.Stat(p.path("never")); err == nil {
		t.Error("a folder for the report of no run")
	}
}

// TestReportOfAnyRun: a run that answered with a message, a paused run and a failed run have a page, too.
func TestReportOfAnyRun(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ans := read[answer](p, "run", "sage", "Draw a lighthouse at the sea, 128x128", "--json")
	p.must("runs", "report", ans.RunID, "--out", p.path("words"))
	if page := folder(t, p.path("words"))["report.html"]; !strings.Contains(page, "data:image/png;base64,") || !strings.Contains(page, "drawn by rule") {
		t.Errorf("the page of a message: %.300s", page)
	}
	paused := decode[answer](t, p.atelier("run", "sage", "ask me what to draw", "--json"))
	if o := p.must("runs", "report", paused.RunID, "--out", p.path("paused"), "--json"); decode[answer](t, o).Status != "paused" {
		t.Error(o.stdout)
	}
	p.env["ATELIER_BUDGET_RUN_TOKENS"] = "10"
	p.atelier("run", "sage", "Draw a boat, 128x128", "--out", p.path("failed")).checkRefused(t, exitBudget, "ATELIER_BUDGET_RUN_TOKENS")
	failed := read[ledger.List[ledger.Run]](p, "runs", "list", "--status", "failed", "--json").Items[0]
	if got := read[answer](p, "runs", "report", failed.ID, "--out", p.path("failed"), "--json"); got.Status != "failed" || got.Error == nil {
		t.Errorf("%+v", got)
	}
}

// TestConversationAsAPage: one self-contained file has all messages, pictures and reports.
func TestConversationAsAPage(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	first := p.runInConversation("new", "Draw a lighthouse at the sea, <b>bold</b>")
	p.runInConversation(first.Conversation, "Make that picture bluer")
	p.must("run", "research-report-writer", "Write about lighthouses", "--conversation", first.Conversation, "--model", "offline")
	p.must("conversations", "export", first.Conversation, "-o", p.path("talk.html"))
	b, err := os.ReadFile(p.path("talk.html"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	at := 0
	for _, want := range []string{"<!DOCTYPE html>", "Draw a lighthouse at the sea, &lt;b&gt;bold&lt;/b&gt;", "<img", "Make that picture bluer", "<img", "Write about lighthouses", `<article class="report">`, "</html>"} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("no %q behind byte %d", want, at)
		}
		at += i
	}
	if strings.Contains(page, "${media:") || strings.Contains(page, "<script") || !strings.Contains(page, "drawn by rule") {
		t.Error("the page has raw placeholders, a script, or no captions")
	}
	if outside := regexp.MustCompile(`(?:src|href)="(?:https?:)?//`).FindString(page); outside != "" {
		t.Errorf("the page loads from outside: %s", outside)
	}
	for _, made := range p.mediaList().Items {
		if made.Ref == string(first.Outputs[0].Ref) {
			raw := p.must("media", "get", made.ID, "-o", "-").stdout
			if !strings.Contains(page, base64.StdEncoding.EncodeToString([]byte(raw))) {
				t.Errorf("%s is not in the page", made.Ref)
			}
		}
	}
	if o := p.must("conversations", "export", first.Conversation, "-o", "-"); o.stdout != page {
		t.Errorf("on standard output: %d bytes, want %d", len(o.stdout), len(page))
	}
	p.atelier("conversations", "export", first.Conversation, "-o", "-", "--json").checkRefused(t, exitInput, "standard output")
	p.atelier("conversations", "export", "nonesuch", "-o", p.path("x.html")).checkRefused(t, exitInput, "nonesuch")
	if _, err := os.Stat("/dev/full"); err == nil {
		if o := p.atelier("conversations", "export", first.Conversation, "-o", "/dev/full"); o.code == exitOK || strings.Count(o.stderr, "no space left on device") != 1 {
			t.Errorf("a full disk is reported by %s", o.stderr)
		}
	}
}

// TestExportsAreLabelled: an exported file that a model made has the AI label, or is the provider's signed original,
// which is reported; the stored bytes do not change.
func TestExportsAreLabelled(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	labelled := func(name string) string {
		f, err := os.Open(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		l, err := imaging.ReadLabel(f)
		if err != nil {
			t.Fatal(err)
		}
		return l.SourceType
	}
	got := read[generated](p, "generate", "a fox", "-m", "GPT Image 2", "-o", p.path("fox.jpg"), "--json").Slots[0].Output
	if labelled("fox.jpg") != imaging.SourceGenerated || got.Marking != imaging.MarkingAdded {
		t.Errorf("fox.jpg has the label %q, %q", labelled("fox.jpg"), got.Marking)
	}
	p.must("media", "get", string(got.Ref), "-o", p.path("again.jpg"))
	if labelled("again.jpg") != imaging.SourceGenerated {
		t.Error("media get leaves the label out")
	}
	p.must("media", "thumbnail", string(got.Ref), "--size", "160", "-o", p.path("small.jpg"))
	if labelled("small.jpg") != imaging.SourceGenerated {
		t.Error("media thumbnail leaves the label out")
	}
	if o := p.must("media", "get", string(got.Ref), "--original", "-o", "-"); media.DigestOf([]byte(o.stdout)) != got.Digest {
		t.Error("the original is another file")
	}
	if o := p.must("media", "verify"); !strings.Contains(o.stdout, " 0 bad") {
		t.Errorf("what is stored was changed: %s", o.stdout)
	}
	o := p.must("generate", "a fox", "-m", "GPT Image 2", "-o", p.path("fox.png"))
	if !strings.Contains(o.stderr, "fox.png is the provider's unchanged, signed original (C2PA)") || labelled("fox.png") != "" {
		t.Errorf("a signed original: %s", o.stderr)
	}
	o = p.must("run", "sage", "Draw a fox, 128x128.", "--out", p.path("out"))
	if !strings.Contains(o.stderr, "signed original (C2PA)") {
		t.Errorf("a run: %s", o.stderr)
	}
	if o = p.must("generate", "a fox", "-m", "Atelier Offline", "-o", p.path("drawn.png")); strings.Contains(o.stderr, "AI label") || labelled("drawn.png") != imaging.SourceAlgorithmic {
		t.Errorf("drawn by rule: %s, %q", o.stderr, labelled("drawn.png"))
	}
}

// TestFilesThatCannotBeMade: a file that cannot be made is refused before any call.
func TestFilesThatCannotBeMade(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	for _, args := range [][]string{
		{"-m", "GPT Image 2", "-o", p.path("x.mp3")},
		{"-m", "GPT Image 2", "--format", "mp3"},
		{"-m", "GPT-4o mini TTS", "-o", p.path("x.png")},
		{"-m", "GPT Image 2", "-m", "Atelier Offline", "-o", p.path("x.mp3")},
		{"-o", p.path("x.mp3"), "--dry-run"},
		{"--modality", "audio", "-m", "offline voice", "-o", p.path("x.mp3")},
	} {
		want := "-o " + p.dir
		if args[2] == "--format" {
			want = "--format mp3"
		}
		if o := p.atelier(append([]string{"generate", "a fox"}, args...)...); o.code != exitInput || !strings.Contains(o.stderr, want) || !strings.Contains(o.stderr, "Nothing was generated") {
			t.Errorf("%v: exit %d: %s%s", args, o.code, o.stdout, o.stderr)
		}
	}
	file := p.atelier("generate", "a fox", "-m", "GPT Image 2", "-o", p.path("a.gif"))
	format := p.atelier("generate", "a fox", "-m", "GPT Image 2", "--format", "gif")
	if file.code != exitInput || strings.Replace(file.stderr, "-o "+p.path("a.gif"), "--format gif", 1) != format.stderr {
		t.Errorf("-o a.gif: %d %s, --format gif: %d %s", file.code, file.stderr, format.code, format.stderr)
	}
	p.atelier("generate", "a fox", "--format", "png", "-o", p.path("x.jpg")).checkRefused(t, exitInput, "do not match")
	if n := len(s.images.Captured()); n != 0 || len(p.mediaList().Items) != 0 {
		t.Errorf("%d calls were made", n)
	}
	if files, _ := filepath.Glob(p.path("x.*")); len(files) != 0 {
		t.Errorf("files %v", files)
	}
}

// TestStandardOutput: standard output takes one result and receives only its bytes.
func TestStandardOutput(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	o := p.must("generate", "a fox", "-m", "Atelier Offline", "--size", "64x64", "-o", "-")
	if _, format, err := image.DecodeConfig(strings.NewReader(o.stdout)); err != nil || format != "png" || !strings.Contains(o.stderr, "standard output") {
		t.Errorf("%s, %v: %s", format, err, o.stderr)
	}
	if raw := p.must("media", "get", p.mediaList().Items[0].Ref, "-o", "-"); raw.stdout != o.stdout {
		t.Error("media get returns other bytes")
	}
	s.images.Inject(sim.Injection{Fault: sim.FaultQuota})
	p.atelier("generate", "a fox", "-m", "GPT Image 2", "-o", "-").checkRefused(t, exitProvider, "")
	id := read[ledger.List[ledger.Operation]](p, "operations", "list", "--json").Items[0].ID
	if o := p.must("operations", "retry", id, "-o", "-"); !bytes.HasPrefix([]byte(o.stdout), []byte("\x89PNG")) {
		t.Errorf("retry: %.80q %s", o.stdout, o.stderr)
	}
	for _, args := range [][]string{{"-n", "2"}, {"--json"}, {"-m", "GPT Image 2"}} {
		if o := p.atelier(append([]string{"generate", "a fox", "-m", "Atelier Offline", "-o", "-"}, args...)...); o.code != exitInput || strings.Contains(o.stdout, "PNG") || !strings.Contains(o.stderr, "name a file") {
			t.Errorf("%v: exit %d: %.80s %s", args, o.code, o.stdout, o.stderr)
		}
	}
	p.atelier("operations", "retry", id, "-o", p.path("x.mp3")).checkRefused(t, exitInput, "x.mp3 is for audio")
}
