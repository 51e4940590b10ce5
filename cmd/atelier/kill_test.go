package main

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/bflsim"
	"atelier/generate/generatetest/geminisim"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/generate/generatetest/openaisim"
	"atelier/generate/generatetest/openroutersim"
	"atelier/media"
)

// killingProvider is a provider on loopback that kills its client at the first request that at selects, before the
// answer or in the middle of it. Then it answers the remaining requests.
type killingProvider struct {
	inner http.Handler
	at    func(r *http.Request) bool
	half  bool

	mu     sync.Mutex // guards all below
	client *os.Process
	killed bool
	known  chan struct{} // closed once client is known
}

func (k *killingProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	<-k.known
	k.mu.Lock()
	now := !k.killed && k.at != nil && k.at(r)
	k.killed = k.killed || now
	k.mu.Unlock()
	if !now {
		k.inner.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	k.inner.ServeHTTP(answer, r) // the provider has done its work
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	b := answer.Body.Bytes()
	if k.half {
		w.WriteHeader(answer.Code)
		_, _ = w.Write(b[:len(b)/2])
		b = b[len(b)/2:]
		_ = http.NewResponseController(w).Flush()
	}
	killNow(k.client)
	if !k.half {
		w.WriteHeader(answer.Code)
	}
	_, _ = w.Write(b)
}

// killNow kills a process that another goroutine waits for, and returns when it is dead.
func killNow(p *os.Process) {
	_ = p.Kill()
	for range 1000 { // if it does not die, the waiting goroutine reports that
		if p.Signal(syscall.Signal(0)) != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// providerCase is a provider whose client is killed.
type providerCase struct {
	model string
	// key and base are the variables of its key and its address; path is the end of the address.
	key, base, path string
	sim             interface {
		generatetest.Simulator
		Sent() []media.Digest
	}
	// async: it answers with tasks; listed: it can list its tasks; unpriced: no one states the price of a call;
	// unforeseen: no one states it before the call.
	async, listed, unpriced, unforeseen bool
	// only lists the phases to run; nil means all. brief lists those to run with -short.
	only, brief []string
}

// poll matches a polled provider's requests after the first, except downloads.
func poll(r *http.Request) bool {
	return r.Method == http.MethodGet && !download(r)
}

func download(r *http.Request) bool {
	return r.Method == http.MethodGet && slices.ContainsFunc([]string{"/results/", "/users/", "/attachments/"}, func(folder string) bool {
		return strings.HasPrefix(r.URL.Path, folder)
	})
}

func submission(r *http.Request) bool { return r.Method == http.MethodPost }

// killCase is one row of the matrix: where the process dies, and the final state.
type killCase struct {
	// phase is a phase of the ledger, or empty.
	phase string
	// at and half describe a phase on the wire.
	at   func(r *http.Request) bool
	half bool
	// async marks a phase that only polled providers have.
	async bool
	// charges is how often the provider worked. lost means that its result cannot be known or fetched: the operation
	// fails as unsettled, and is not paid for again. nameless means lost unless the provider lists its tasks.
	charges        int
	lost, nameless bool
	// estimated means that the answer's token count died with the process, so that a provider that answers directly is
	// settled by the estimate; polled ones stated their price.
	estimated bool
	// unpriced means that the price is unknown.
	unpriced bool
}

func killCases() map[string]killCase {
	return map[string]killCase{
		"intent journalled":          {phase: "after intent", charges: 1},
		"before the call":            {phase: "after call submitted", lost: true},
		"during the call":            {at: submission, charges: 1, nameless: true},
		"during the answer":          {at: submission, half: true, charges: 1, nameless: true},
		"task id known, not saved":   {phase: "before call running", async: true, charges: 1, nameless: true},
		"task id saved":              {phase: "after call running", async: true, charges: 1},
		"during a poll":              {at: poll, async: true, charges: 1},
		"during the answer of poll":  {at: poll, half: true, async: true, charges: 1},
		"during the download":        {at: download, half: true, async: true, charges: 1},
		"picture stored, no record":  {phase: "before record", charges: 1, estimated: true},
		"recorded, not committed":    {phase: "after record", charges: 1, estimated: true},
		"slot and receipt saved":     {phase: "after slot", charges: 1},
		"receipt of call not saved":  {phase: "before call succeeded", charges: 1, estimated: true},
		"receipt of call saved":      {phase: "after call succeeded", charges: 1},
		"before settling the money":  {phase: "before settle", charges: 1},
		"after settling the money":   {phase: "after settle", charges: 1},
		"before the end is saved":    {phase: "before end", charges: 1},
		"after the end, before exit": {phase: "after end", charges: 1},
	}
}

// killingProviders returns fresh simulators. Those after the first three run only where they differ: what a truncated
// answer looks like, what remains of it, and what states the price. With -short each phase runs once, and each provider
// at least once.
func killingProviders() map[string]func() providerCase {
	answers := []string{"before the call", "during the call", "during the answer", "picture stored, no record", "receipt of call saved"}
	var once, polled []string
	for phase, d := range killCases() {
		if d.async {
			polled = append(polled, phase)
		} else {
			once = append(once, phase)
		}
	}
	return map[string]func() providerCase{
		"openai": func() providerCase {
			return providerCase{model: "GPT Image 2", key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL", path: "/v1", sim: openaisim.New(openaisim.Config{}), brief: once}
		},
		"bfl": func() providerCase {
			return providerCase{model: "FLUX.2 Pro", key: "BFL_API_KEY", base: "BFL_BASE_URL", sim: bflsim.New(bflsim.Config{Pending: -1}), async: true, brief: polled}
		},
		"leonardo": func() providerCase {
			return providerCase{
				model: "Leonardo Phoenix 1.0", key: "LEONARDO_API_KEY", base: "LEONARDO_BASE_URL", async: true, listed: true,
				sim:   leonardosim.New(leonardosim.Config{Pending: -1, Now: time.Now}),
				brief: []string{"during the call"},
			}
		},
		"gemini": func() providerCase {
			return providerCase{model: "Nano Banana 2.1", key: "GEMINI_API_KEY", base: "GEMINI_BASE_URL", sim: geminisim.New(geminisim.Config{}), only: answers, brief: []string{"during the answer"}}
		},
		"openrouter": func() providerCase {
			return providerCase{model: "Nano Banana Pro (OpenRouter)", key: "OPENROUTER_API_KEY", base: "OPENROUTER_BASE_URL", sim: openroutersim.New(openroutersim.Config{}), unforeseen: true, only: answers, brief: []string{"during the call"}}
		},
		"midjourney": func() providerCase {
			return providerCase{
				model: "Midjourney 7", key: "MIDJOURNEY_API_SECRET", base: "MIDJOURNEY_PROXY_URL", async: true, listed: true, unpriced: true,
				sim:   midjourneysim.New(midjourneysim.Config{Quick: true, Side: 64}),
				only:  []string{"before the call", "during the call", "during the answer", "during a poll", "during the download", "recorded, not committed"},
				brief: []string{"during a poll"},
			}
		},
	}
}

// TestKilledAtEveryPhase kills the process of a generation at every phase that the ledger or the provider can see, and
// continues in another process with `generate --wait`: the provider worked once, there is one record of the bytes that
// it sent, and the money is settled once. docs/durability.md lists the outcomes.
func TestKilledAtEveryPhase(t *testing.T) {
	t.Parallel()
	for name, build := range killingProviders() {
		if testing.Short() && build().brief == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := kill(t, build(), killCase{phase: "never"})
			for phase, d := range killCases() {
				provider := build()
				if d.async && !provider.async || provider.only != nil && !slices.Contains(provider.only, phase) || testing.Short() && !slices.Contains(provider.brief, phase) {
					continue
				}
				d = d.with(provider)
				t.Run(phase, func(t *testing.T) {
					t.Parallel()
					checkRestart(t, d, kill(t, provider, d), whole)
				})
			}
		})
	}
}

// restartState is the state after a death and the process that continued.
type restartState struct {
	operationRecords
	charges int
	sent    []media.Digest
}

// with returns the death for a given provider.
func (d killCase) with(p providerCase) killCase {
	d.lost = d.lost || d.nameless && !p.listed
	// Providers with tasks state their price when a task begins: it is lost with the task's id, and the estimate
	// counts.
	d.estimated = d.estimated && !p.async || d.nameless
	d.unpriced = p.unpriced || p.unforeseen && (d.lost || d.estimated)
	return d
}

// kill lets a process die and continues in another one.
func kill(t *testing.T, provider providerCase, d killCase) restartState {
	t.Helper()
	p := newTestEnv(t)
	k := &killingProvider{inner: provider.sim, at: d.at, half: d.half, known: make(chan struct{})}
	srv := httptest.NewServer(k)
	t.Cleanup(srv.Close)
	p.env[provider.key], p.env[provider.base] = provider.sim.Key(), srv.URL+provider.path
	p.env["ATELIER_BUDGET_OWNER"] = "5"
	first := p.startWith([]string{crashPhaseVariable + "=" + cmp.Or(d.phase, "never")}, "a lighthouse", provider.model)
	k.client = first.cmd.Process
	close(k.known)
	o := first.wait()
	if d.phase == "never" {
		if o.code != exitOK {
			t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		return restartState{p.operationRecords(), len(provider.sim.Captured()), provider.sim.Sent()}
	}
	if status, ok := first.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("it did not die: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	left := p.operationRecords()
	if len(left.operations) != 1 {
		t.Fatalf("it has %d operations", len(left.operations))
	}
	for range 2 { // the second time changes nothing
		o = p.start("generate", "--wait", left.operations[0], "--json").wait()
		if d.lost != (o.code != exitOK) {
			t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
		}
	}
	return restartState{p.operationRecords(), len(provider.sim.Captured()), provider.sim.Sent()}
}

// checkRestart compares the state after a restart with that of an undisturbed operation.
func checkRestart(t *testing.T, d killCase, got, whole restartState) {
	t.Helper()
	if got.charges != d.charges || got.reserved != 0 || len(got.operations) != 1 {
		t.Errorf("%d charges, want %d: %s", got.charges, d.charges, got)
	}
	if d.lost {
		if got.statuses[0] != "failed" || got.unsettled != 1 || (got.spent == 0) != d.unpriced || got.records > 0 {
			t.Errorf("not reported as unsettled: %s", got)
		}
		return
	}
	spent := whole.spent
	if d.estimated {
		spent = got.estimated
	}
	switch {
	case got.statuses[0] != "succeeded", got.unsettled > 0, got.records != whole.records, got.spent != spent, (spent == 0) != d.unpriced:
		t.Errorf("%s, want %s", got, whole)
	case len(got.sent) == 0 || slices.ContainsFunc(got.sent, func(s media.Digest) bool { return !slices.Contains(got.digests, s.String()) }):
		t.Errorf("the records are of %v, the provider sent %v", got.digests, got.sent)
	}
}
