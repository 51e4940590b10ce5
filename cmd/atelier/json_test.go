package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/generate"
	"atelier/media"
)

// generated is what generate --json prints.
type generated struct {
	Operation    string                 `json:"operation"`
	Status       generate.Status        `json:"status"`
	Model        string                 `json:"model"`
	Slots        []slotView             `json:"slots"`
	Dispositions []generate.Disposition `json:"dispositions"`
	Warnings     []string               `json:"warnings"`
}

func keysOf(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func wantKeys(t *testing.T, what string, raw json.RawMessage, want string) {
	t.Helper()
	if got := strings.Join(keysOf(t, raw), " "); got != want {
		t.Errorf("%s has the keys %q, want %q", what, got, want)
	}
}

// TestRunJSON: run --json prints one object with a fixed set of keys.
func TestRunJSON(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	p.env["ATELIER_CHAT_MODEL"] = "offline"
	o := p.must("run", "research-agent", "In which year were sales in the north highest? Include an illustration of a lighthouse.", "--files", p.folder(), "--out", filepath.Join(p.dir, "out"), "--json")
	wantKeys(t, "run", json.RawMessage(o.stdout), "also_made cost dispositions input_images message outputs payload report run_id status turns unsupported usage warnings")
	var v map[string]json.RawMessage
	if err := json.Unmarshal([]byte(o.stdout), &v); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, "usage", v["usage"], "images input_tokens model_calls output_tokens worked_ms")
	wantKeys(t, "cost", v["cost"], "complete estimated_usd reported_usd")
	var outputs []json.RawMessage
	if err := json.Unmarshal(v["outputs"], &outputs); err != nil || len(outputs) != 2 {
		t.Fatalf("%d outputs, %v", len(outputs), err)
	}
	wantKeys(t, "output", outputs[0], "digest height label mime_type modality path ref size_bytes width")
}

// TestGenerateJSONAndFiles: generate --json has fixed sets of keys; file names and digests match the written files.
func TestGenerateJSONAndFiles(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	o := p.must("generate", "a harbour", "-n", "2", "-m", "offline", "--size", "128x128", "-o", filepath.Join(p.dir, "pic", "out.jpg"), "--seed", "7", "--json")
	var v struct {
		Slots        []json.RawMessage `json:"slots"`
		Dispositions []json.RawMessage `json:"dispositions"`
	}
	if err := json.Unmarshal([]byte(o.stdout), &v); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, "generate", json.RawMessage(o.stdout), "cost dispositions model operation provider slots status warnings")
	wantKeys(t, "slot", v.Slots[0], "index output revised_prompt seed status")
	wantKeys(t, "disposition", v.Dispositions[0], "applied asked outcome reason setting")
	for i, name := range []string{"out-1.jpg", "out-2.jpg"} {
		var s slotView
		if err := json.Unmarshal(v.Slots[i], &s); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(p.dir, "pic", name))
		if err != nil || media.DigestOf(b) != s.Output.Digest || s.Output.MIMEType != "image/jpeg" {
			t.Errorf("%s: %v, %s, %s", name, err, media.DigestOf(b), s.Output.Digest)
		}
	}
	again := p.must("generate", "a harbour", "-n", "2", "-m", "offline", "--size", "128x128", "--seed", "7", "--format", "jpeg", "--json")
	if !strings.Contains(again.stdout, media.DigestOf([]byte(mustRead(t, filepath.Join(p.dir, "pic", "out-1.jpg")))).String()) {
		t.Error("the same seed gave another picture")
	}
}

func TestDryRunCallsNobody(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	plan := read[map[string]any](p, "generate", "a harbour", "--model", "GPT Image 2", "--quality", "standard", "-n", "12", "--dry-run", "--json")
	if plan["estimated_usd"] == nil || plan["calls"] == nil || len(s.received()) != 0 || len(p.mediaList().Items) != 0 {
		t.Errorf("plan %v, %d requests", plan, len(s.received()))
	}
	o := p.atelier("generate", "a harbour", "--model", "GPT-4o Image 1.0", "--strict")
	o.checkRefused(t, exitInput, "strict")
	if len(s.received()) != 0 {
		t.Error("strict mode called the provider")
	}
}

func TestMediaCommands(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a harbour", "--size", "128x128")
	item := p.mediaList().Items[0]
	file := filepath.Join(p.dir, "copy.png")
	p.must("media", "get", item.Ref, "-o", file)
	if got := media.DigestOf([]byte(mustRead(t, file))).String(); got != item.Digest {
		t.Errorf("the copy hashes to %s, want %s", got, item.Digest)
	}
	if o := p.must("media", "get", item.ID, "-o", "-"); media.DigestOf([]byte(o.stdout)).String() != item.Digest {
		t.Error("the copy on standard output differs")
	}
	if o := p.must("media", "show", item.Ref); !strings.Contains(o.stdout, item.Digest) || !strings.Contains(o.stdout, "Atelier Offline") && !strings.Contains(o.stdout, "offline") {
		t.Errorf("show: %s", o.stdout)
	}
	if o := p.must("media", "list"); !strings.Contains(o.stdout, item.Digest[:19]) {
		t.Errorf("list shows no digest: %s", o.stdout)
	}
	hex := strings.TrimPrefix(item.Digest, "sha256-")
	var blob string
	err := filepath.WalkDir(filepath.Join(p.data, "blobs"), func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), hex[len(hex)-20:]) {
			blob = path
		}
		return err
	})
	if err != nil || blob == "" {
		t.Fatalf("no blob file for %s: %v", hex, err)
	}
	b := []byte(mustRead(t, blob))
	b[len(b)/2] ^= 1
	if err := os.Chmod(blob, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blob, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := p.atelier("media", "verify", "--json"); o.code != exitInternal || !strings.Contains(o.stdout, item.Digest) {
		t.Errorf("verify of a flipped bit: exit %d, %s", o.code, o.stdout)
	}
}

func TestListsAndDoctor(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("run", "sage", "draw a harbour")
	runs := read[struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}](p, "runs", "list", "--json")
	if len(runs.Items) != 1 {
		t.Fatalf("%d runs", len(runs.Items))
	}
	id := runs.Items[0].ID
	for _, args := range [][]string{
		{"models", "list", "--json"},
		{"models", "list", "--chat", "--json"},
		{"models", "show", "Nano Banana Pro", "--json"},
		{"models", "list", "--all"},
		{"providers", "--json"},
		{"providers"},
		{"runs", "show", id, "--json"},
		{"runs", "show", id},
		{"runs", "list"},
		{"doctor"},
		{"doctor", "--json"},
		{"version"},
		{"version", "--json"},
	} {
		o := p.must(args...)
		if slices.Contains(args, "--json") && !json.Valid([]byte(o.stdout)) {
			t.Errorf("%v prints no JSON", args)
		}
	}
	events := p.must("runs", "events", id, "--jsonl").stdout
	for _, kind := range []string{"run-started", "turn-started", "action-finished", "media-stored", "media-promoted", "run-succeeded"} {
		if !strings.Contains(events, `"`+kind+`"`) {
			t.Errorf("no event %s", kind)
		}
	}
	if o := p.must("doctor"); !strings.Contains(o.stdout, "GEMINI_API_KEY") || !strings.Contains(o.stdout, "offline") {
		t.Errorf("doctor: %s", o.stdout)
	}
	p.env["GEMINI_API_KEY"] = "k"
	if o := p.must("doctor"); !strings.Contains(o.stdout, "Gemini") {
		t.Errorf("doctor with a key: %s", o.stdout)
	}
}
