package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/internal/sim"

	"atelier/chat/chattest"
	"atelier/generate/generatetest"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/generatetest/openaisim"
)

// TestChatServiceFails: each failure of a chat service after a picture was made ends the run with its code and advice,
// and the picture is kept.
func TestChatServiceFails(t *testing.T) {
	t.Parallel()
	for fault, c := range map[chattest.Fault]struct {
		code int
		says string
		kind string
	}{
		chattest.FaultBadKey:    {exitProvider, "check OPENAI_API_KEY", "unauthorized"},
		chattest.FaultForbidden: {exitProvider, "access", "forbidden"},
		chattest.FaultNoModel:   {exitInput, "atelier models list --chat", "not_found"},
		chattest.FaultQuota:     {exitProvider, "quota", "quota_exceeded"},
		chattest.FaultHalfBody:  {exitProvider, "ask", ""},
		chattest.FaultHTML:      {exitProvider, "base URL", "unavailable"},
		chattest.FaultServer:    {exitProvider, "server had an error", "unavailable"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			paint := act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Model": "GPT Image 2"})
			s.chat.Answer = func(chattest.Request) string {
				for range 8 { // more than the number of attempts
					s.chat.Fail(fault)
				}
				return paint
			}
			o := p.atelier("run", "sage", "Draw a fox, 128x128.", "--json")
			o.checkRefused(t, c.code, c.says)
			ans := decode[answer](t, o)
			if ans.Status != "failed" || !strings.Contains(string(ans.Error), `"code":"`+c.kind) && !strings.Contains(string(ans.Error), `"code": "`+c.kind) {
				t.Errorf("status %s, error %s", ans.Status, ans.Error)
			}
			if len(ans.AlsoMade) != 1 || len(p.mediaList("--run", ans.RunID).Items) != 1 {
				t.Errorf("also made: %v", ans.AlsoMade)
			}
			s.chat.ClearFaults()
			s.chat.Answer = answersInOrder(done(t, "Hello."))
			p.must("run", "sage", "Hello.")
		})
	}
}

// TestChatRateLimitIsWaitedFor: a call that is answered with 429 and Retry-After is repeated.
func TestChatRateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Fail(chattest.FaultRateLimit)
	s.chat.Answer = answersInOrder(done(t, "Hello."))
	if ans := read[answer](p, "run", "sage", "Hello.", "--json"); ans.Message != "Hello." || len(s.chat.Requests()) != 2 {
		t.Errorf("message %q after %d requests", ans.Message, len(s.chat.Requests()))
	}
}

// TestImageServiceFails: every fault of either service, in every variant, gives a clear error and leaves a working data
// folder and the earlier pictures.
func TestImageServiceFails(t *testing.T) {
	t.Parallel()
	exits := map[sim.Fault]int{
		sim.FaultDeadModel: exitInput, sim.FaultInvalid: exitInput, sim.FaultLyingType: exitOK,
	}
	// These are not failures of one plain picture; other tests cover them.
	apart := []sim.Fault{
		sim.FaultConflict, sim.FaultSlow, sim.FaultRateLimit, sim.FaultPartialN, sim.FaultPartialsThenError,
	}
	for _, service := range []string{"openai", "gemini"} {
		for _, fault := range sim.Faults() {
			if slices.Contains(apart, fault) {
				continue
			}
			code, ok := exits[fault]
			if !ok {
				code = exitProvider
			}
			for variant := range imageService(unservedProviders(), service).Variants(fault) {
				t.Run(service+"/"+string(fault)+"/"+itoa(variant), func(t *testing.T) {
					t.Parallel()
					imageServiceFails(t, service, sim.Injection{Fault: fault, Variant: variant}, code)
				})
			}
		}
	}
}

// imageService returns one of the simulators of image services.
func imageService(s *providers, name string) generatetest.Simulator {
	if name == "gemini" {
		return s.gemini
	}
	return s.images
}

// unservedProviders returns simulators that no server exposes.
func unservedProviders() *providers {
	return &providers{images: openaisim.New(openaisim.Config{}), gemini: geminisim.New(geminisim.Config{})}
}

func imageServiceFails(t *testing.T, service string, fault sim.Injection, code int) {
	t.Helper()
	p := newTestEnv(t)
	s, url := serve(t)
	p.withGemini(s, url)
	p.withOpenAI(s, url)
	model := map[string]string{"openai": "GPT Image 2", "gemini": "Nano Banana Pro"}[service]
	p.must("generate", "before", "-m", model)
	before := p.mediaList().Items[0].ID
	imageService(s, service).Inject(slices.Repeat([]sim.Injection{fault}, 8)...) // more than the number of attempts
	o := p.atelier("generate", "a harbour", "-m", model)
	o.checkRefused(t, code, "")
	if code != exitOK && len(strings.Fields(o.stderr)) < 4 {
		t.Errorf("the message is only %q", o.stderr)
	}
	if list := p.mediaList().Items; list[len(list)-1].ID != before {
		t.Errorf("the picture made before is lost: %v", list)
	}
}

// TestRetryAfterIsTooLong: a Retry-After that is too long is an error that states it.
func TestRetryAfterIsTooLong(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.images.Inject(sim.Injection{Fault: sim.FaultRateLimit, RetryAfter: 5 * time.Hour})
	started := time.Now()
	o := p.atelier("generate", "a fox", "-m", "GPT Image 2")
	o.checkRefused(t, exitProvider, "5h0m0s")
	if !strings.Contains(o.stdout, "cost nothing") {
		t.Errorf("the message is %s", o.stdout)
	}
	if time.Since(started) > time.Minute {
		t.Errorf("it took %s", time.Since(started))
	}
}

// TestBigTable: a table of 20 MB is read as a stream and is not stored in the ledger.
func TestBigTable(t *testing.T) {
	t.Parallel()
	p, _ := connected(t)
	p.env["ATELIER_CHAT_MODEL"] = "offline"
	path := p.write("big/big.csv", "")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "year,region,sales,note")
	for i, size := 0, 0; size < 20<<20; i++ {
		n, err := fmt.Fprintf(w, "%d,region %d,%d,%s\n", 1990+i%30, i%7, i%1000, strings.Repeat("padding ", 10))
		if err != nil {
			t.Fatal(err)
		}
		size += n
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ans := read[answer](p, "run", "research-agent", "How did sales go? No pictures.", "--files", filepath.Dir(path), "--out", filepath.Join(p.dir, "out"), "--json")
	if page := mustRead(t, ans.Report); !strings.Contains(page, "big.csv") || !strings.Contains(page, "<img") {
		t.Errorf("the report does not name the table: %.300s", page)
	}
	if n := len(p.ledgerDump()); n > 4<<20 {
		t.Errorf("the ledger took the table in: %d bytes", n)
	}
}
