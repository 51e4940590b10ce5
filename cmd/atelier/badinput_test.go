package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/generate/generatetest"
	"atelier/media"
)

// checkRefused checks the exit code, and that the message contains says and no noise such as a panic.
func (o outcome) checkRefused(t *testing.T, code int, says string) {
	t.Helper()
	if o.code != code || !strings.Contains(o.stderr, says) {
		t.Errorf("atelier %s: exit %d, want %d and a message with %q\n%s", strings.Join(o.args, " "), o.code, code, says, o.stderr)
	}
	for _, noise := range []string{"goroutine ", "panic", "<nil>", "%!"} {
		if strings.Contains(o.stderr+o.stdout, noise) {
			t.Errorf("atelier %s shows %q:\n%s", strings.Join(o.args, " "), noise, o.stderr)
		}
	}
}

func TestBadCommandLines(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	file := p.write("file.txt", "text")
	empty := filepath.Join(p.dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	agents := filepath.Dir(p.write("agents/bad.yaml", "slug: bad\nname: Bad\ndescription: x\nprompt: bad.md\nactions:\n  - name: Fly\n"))
	p.write("agents/bad.md", "You are bad.")
	for says, args := range map[string][]string{
		"does not exist":       {"run", "research-agent", "x", "--files", filepath.Join(p.dir, "missing")},
		"is empty":             {"run", "research-agent", "x", "--files", empty},
		"not a folder":         {"run", "research-agent", "x", "--files", file},
		"there is no agent":    {"run", "nobody", "x"},
		"message is empty":     {"run", "sage", " "},
		"OPENAI_API_KEY":       {"run", "sage", "x", "--model", "openai/gpt-5.4"},
		"no chat model":        {"run", "sage", "x", "--model", "gpt-99"},
		"bad.yaml:6":           {"run", "bad", "x", "--agents", agents},
		"GEMINI_API_KEY":       {"generate", "x", "--model", "Nano Banana Pro"},
		"there is no model":    {"generate", "x", "--model", "nonsense"},
		"prompt is missing":    {"generate", ""},
		"1 to 100":             {"generate", "x", "-n", "101"},
		"ask for 1 to 100 res": {"generate", "x", "-n", "0"},
		"WIDTHxHEIGHT":         {"generate", "x", "--size", "big"},
		"use the extension":    {"generate", "x", "-o", "x.bmp"},
		"PROVIDER.NAME=VALUE":  {"generate", "x", "--option", "nonsense"},
		"unknown flag":         {"generate", "x", "--bogus"},
		"unexpected argument":  {"fly"},
		"with the ref":         {"media", "get", "img-00000000"},
		"not a modality":       {"media", "list", "--modality", "smell"},
		"not found":            {"runs", "show", "01a1fcae-54c5-7a48-a751-be5140439267"},
		"see `atelier models`": nil,
	} {
		if args != nil {
			p.atelier(args...).checkRefused(t, exitInput, says)
		}
	}
	p.env["OPENAI_BASE_URL"] = "localhost:1"
	p.atelier("doctor").checkRefused(t, exitInput, "")
	delete(p.env, "OPENAI_BASE_URL")
	p.env["ATELIER_DATA"] = file
	p.atelier("media", "list").checkRefused(t, exitInput, "ATELIER_DATA")
}

// TestOddFolders: readable files are read, the others are named, and nothing outside of the folder is read.
func TestOddFolders(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	p.env["ATELIER_CHAT_MODEL"] = "offline"
	secret := p.write("secret.txt", "The password of the harbour master is swordfish and nothing else.")
	p.write("odd/one.csv", "a\n1\n5\n9\n")
	p.write("odd/latin.txt", "The caf\xe9 at the harbour sells very good coffee in the morning.\n")
	p.write("odd/binary.dat", "\x00\x01\x02\x03\xff\xfe")
	p.write("odd/empty.txt", "")
	p.write("odd/broken.json", `{"a": [1, 2`)
	if err := os.Symlink(secret, filepath.Join(p.dir, "odd", "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.dir, filepath.Join(p.dir, "odd", "up")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(p.dir, "out")
	ans := read[answer](p, "run", "research-agent", "What does the café at the harbour sell? How many rows have an a above 1?", "--files", filepath.Join(p.dir, "odd"), "--out", out, "--json")
	page, err := os.ReadFile(ans.Report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 3 rows match", "one.csv", "coffee", "binary.dat: binary", "empty.txt: empty", "broken.json: the JSON is invalid"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report does not name %s", want)
		}
	}
	if strings.Contains(string(page), "swordfish") {
		t.Error("a link led outside of the folder")
	}
}

// TestOnlyBinaryFiles: if no file is readable, the report says so and names the file.
func TestOnlyBinaryFiles(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	p.env["ATELIER_CHAT_MODEL"] = "offline"
	p.write("bin/a.dat", "\x00\x01\x02\x03")
	out := filepath.Join(p.dir, "out")
	ans := read[answer](p, "run", "research-agent", "What is here?", "--files", filepath.Join(p.dir, "bin"), "--out", out, "--json")
	page, err := os.ReadFile(ans.Report)
	if err != nil || !strings.Contains(string(page), "Offline, this question cannot be answered") || !strings.Contains(string(page), "<p>Not read:</p>\n<ul>\n<li>a.dat: binary</li>") {
		t.Errorf("%v\n%.300s", err, page)
	}
}

// TestBadModels: a chat model that misbehaves is corrected or fails the run clearly; what was made before is kept.
func TestBadModels(t *testing.T) {
	t.Parallel()
	paint := act(t, "Generate Image", map[string]any{"Prompt": "a harbour", "Model": "Atelier Offline", "Size": "64x64"})
	for name, c := range map[string]struct {
		answers []string
		code    int
		says    string
		kept    int
	}{
		"prose":           {[]string{"I would love to help you with that."}, exitProvider, "", 0},
		"broken JSON":     {[]string{paint, `{"message": "half`}, exitProvider, "", 1},
		"repaired":        {[]string{`{"message": "half`, done(t, "Well.")}, exitOK, "", 0},
		"unknown ref":     {[]string{done(t, "See ${media:img-00000000}"), done(t, "See nothing.")}, exitOK, "", 0},
		"unknown action":  {[]string{act(t, "Fly", map[string]any{}), done(t, "It cannot be done.")}, exitOK, "", 0},
		"unknown param":   {[]string{act(t, "Generate Image", map[string]any{"Prompt": "x", "Colour": "red"}), done(t, "No.")}, exitOK, "", 0},
		"never ends":      {[]string{paint}, exitBudget, "--max-turns", 1},
		"asks a question": {[]string{paint, step(t, map[string]any{"reasoning": "?", "ask": map[string]any{"question": "Which?"}})}, exitPaused, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			s.chat.Answer = answersInOrder(c.answers...)
			o := p.atelier("run", "sage", "draw", "--json")
			if o.code != c.code || !strings.Contains(o.stderr, c.says) {
				t.Errorf("exit %d, want %d and %q\n%s%s", o.code, c.code, c.says, o.stdout, o.stderr)
			}
			ans := decode[answer](t, o)
			if (o.code == exitOK) != (ans.Status == "succeeded") || strings.Contains(ans.Message, "${media:") {
				t.Errorf("status %s, message %q", ans.Status, ans.Message)
			}
			if (name == "asks a question") != (ans.Status == "paused") {
				t.Errorf("status %s", ans.Status)
			}
			if n := len(p.mediaList().Items); n < c.kept {
				t.Errorf("%d items kept, want %d", n, c.kept)
			}
		})
	}
}

// TestRateLimitIsWaitedFor: a call that is answered with 429 and Retry-After is repeated after that time.
func TestRateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.images.Inject(sim.Injection{Fault: sim.FaultRateLimit, RetryAfter: 30 * time.Millisecond})
	p.must("generate", "a harbour", "--model", "GPT Image 2")
	if n := len(s.images.Captured()); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

// TestBadGenerationsCostNothing: a request that no provider can fulfil is refused before any call, and leaves neither
// an operation nor a reservation.
func TestBadGenerationsCostNothing(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	p.env["ATELIER_BUDGET_OWNER"] = "5"
	const model = "GPT Image 2"
	p.must("generate", "a harbour", "-m", "offline", "--size", "64x64")
	mine, bobs := p.mediaList().Items[0], p.recordForOwner("bob")
	for _, c := range map[string]struct {
		args []string
		say  string
	}{
		"n of 0":                   {[]string{"x", "-n", "0"}, "1 to 100"},
		"n of 1,000":               {[]string{"x", "-n", "1000"}, "1 to 100"},
		"prompt of 100 kB":         {[]string{strings.Repeat("a harbour ", 10_240)}, "shorten it"},
		"empty prompt":             {[]string{" "}, "prompt is missing"},
		"seed without seeds":       {[]string{"x", "--seed", "7", "--strict"}, "seed"},
		"options of another":       {[]string{"x", "--option", "gemini.temperature=1"}, "option gemini.temperature is for models of gemini"},
		"its options, strictly":    {[]string{"x", "--option", "gemini.temperature=1", "--strict"}, "gemini"},
		"an option of nobody's":    {[]string{"x", "--option", "openai.magic=1"}, "openai.magic is unknown"},
		"a provider that is none":  {[]string{"x", "--option", "opnai.user=me"}, "there is no such provider"},
		"a quality of nobody's":    {[]string{"x", "--quality", "superb"}, "quality \"superb\" is unknown"},
		"a value out of range":     {[]string{"x", "--option", "openai.output_compression=101"}, "0 to 100"},
		"item of another owner":    {[]string{"x", "--edit", bobs.ID}, "neither a file nor a stored item"},
		"ref of another owner":     {[]string{"x", "--edit", string(bobs.Ref)}, "neither a file nor a stored item"},
		"another owner's variant":  {[]string{"--vary", string(bobs.Ref)}, "neither a file nor a stored item"},
		"mask of another owner":    {[]string{"x", "--edit", mine.Ref, "--mask", string(bobs.Ref)}, "neither a file nor a stored item"},
		"an operation of nobody's": {[]string{"--wait", "01a1fcae-54c5-7a48-a751-be5140439267"}, "not found"},
	} {
		args := append([]string{"generate"}, c.args...)
		if c.args[0] != "--wait" {
			args = append(args, "-m", model)
		}
		p.atelier(args...).checkRefused(t, exitInput, c.say)
	}
	if left := p.operationRecords(); len(s.images.Captured()) != 0 || left.reserved != 0 || left.spent != 0 || len(left.operations) != 1 {
		t.Errorf("%d calls; %s", len(s.images.Captured()), left)
	}
}

// recordForOwner records a picture of another owner in the ledger of this environment.
func (p *testEnv) recordForOwner(who string) media.Output {
	p.t.Helper()
	w := &world{ctx: p.t.Context(), env: func(k string) string { return p.env[k] }}
	var o media.Output
	err := w.withApp(appConfig{}, func(a *app) error {
		ctx := media.WithScope(w.ctx, media.Scope{Owner: who, Tree: "theirs"})
		o = media.NewOutput(generatetest.Stored(ctx, p.t, a.Codec, generatetest.PNG(64, 64, 9)), media.Meta{Label: "Theirs"})
		var err error
		o, err = a.Ledger.Record(ctx, o)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return o
}
