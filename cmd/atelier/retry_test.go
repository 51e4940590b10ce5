package main

import (
	"path/filepath"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier/ledger"
)

// partialOperation returns an operation that made two of three pictures; the provider had no credit for the other.
func partialOperation(t *testing.T) (*testEnv, *providers, generated) {
	t.Helper()
	p := newTestEnv(t)
	s, url := serve(t)
	p.withGemini(s, url)
	s.gemini.Inject(sim.Injection{}, sim.Injection{Fault: sim.FaultQuota, Variant: 1}) // no credit at all
	o := p.must("generate", "a harbour", "-m", "Nano Banana Pro", "-n", "3", "--json")
	got := decode[generated](t, o)
	if got.Status != "partial" || len(got.Slots) != 3 {
		t.Fatalf("%+v", got)
	}
	return p, s, got
}

// TestRetryOnTheCommandLine: failed results are requested again within the same operation.
func TestRetryOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p, s, first := partialOperation(t)
	if shown := p.must("operations", "show", first.Operation).stdout; !strings.Contains(shown, "atelier operations retry "+first.Operation) {
		t.Errorf("no message says how to continue:\n%s", shown)
	}
	name := filepath.Join(p.dir, "out.png")
	got := read[generated](p, "operations", "retry", first.Operation, "-o", name, "--json")
	if got.Operation != first.Operation || got.Status != "succeeded" || len(got.Slots) != 3 || len(s.gemini.Captured()) != 4 {
		t.Fatalf("%+v after %d calls", got, len(s.gemini.Captured()))
	}
	for i, slot := range got.Slots {
		if was := first.Slots[i].Output; slot.Output == nil || was != nil && was.Digest != slot.Output.Digest {
			t.Errorf("slot %d: %+v, was %+v", i+1, slot.Output, was)
		}
	}
	p.must("operations", "retry", first.Operation) // complete: no call
	shown := p.must("operations", "show", first.Operation).stdout
	for _, want := range []string{"succeeded", "call 4.1", "quota_exceeded"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if n := len(p.mediaList().Items); n != 3 || len(s.gemini.Captured()) != 4 {
		t.Errorf("%d pictures listed after %d calls", n, len(s.gemini.Captured()))
	}
	p.atelier("operations", "retry", "nobody's").checkRefused(t, exitInput, "")
	p.atelier("operations", "retry", first.Operation, "-o", p.dir).checkRefused(t, exitInput, "-o")
	p.must("media", "verify")
}

// TestARetriedResultIsItsOwn: the failed results of the offline model are, after a retry, those of a request without
// failures, and not copies of others.
func TestARetriedResultIsItsOwn(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for _, seed := range [][]string{nil, {"--seed", "7"}} {
		args := append([]string{"generate", "a harbour", "-m", "offline", "-n", "5", "--size", "64x64", "--json"}, seed...)
		want := read[generated](p, args...)
		failed := read[generated](p, append(args, "--option", "offline.fail_slots=[3,5]")...)
		got := read[generated](p, "operations", "retry", failed.Operation, "--json")
		for i, slot := range got.Slots {
			if slot.Output == nil || slot.Output.Digest != want.Slots[i].Output.Digest {
				t.Errorf("%v, slot %d: %+v, want %+v", seed, i+1, slot.Output, want.Slots[i].Output)
			}
		}
	}
}

// TestRetryReportsWhatIsNotSafe: a moderated result is requested again only with --all.
func TestRetryReportsWhatIsNotSafe(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.images.Inject(sim.Injection{Fault: sim.FaultModerated})
	p.atelier("generate", "a harbour", "-m", "GPT Image 2").checkRefused(t, exitProvider, "")
	id := read[ledger.List[ledger.Operation]](p, "operations", "list", "--json").Items[0].ID
	calls := len(s.images.Captured())
	p.atelier("operations", "retry", id).checkRefused(t, exitInput, "was moderated")
	if len(s.images.Captured()) != calls {
		t.Error("it called the provider")
	}
	if got := read[generated](p, "operations", "retry", id, "--all", "--json"); got.Status != "succeeded" || len(s.images.Captured()) != calls+1 {
		t.Errorf("%+v after %d calls", got, len(s.images.Captured()))
	}
}

// TestProcessesRetryOnce: of several concurrent retries, one calls the provider.
func TestProcessesRetryOnce(t *testing.T) {
	t.Parallel()
	p, s, first := partialOperation(t)
	p.env["ATELIER_BUDGET_DAY"] = "100"
	var all []*process
	for range 3 {
		all = append(all, p.start("operations", "retry", first.Operation, "--json"))
	}
	done := 0
	for _, c := range all {
		switch o := c.wait(); {
		case o.code == exitOK:
			done++
		case !strings.Contains(o.stderr, "wait for it"):
			t.Errorf("exit %d: %s", o.code, o.stderr)
		}
	}
	if n := len(s.gemini.Captured()); n != 4 || done == 0 {
		t.Errorf("%d calls, want 4; %d processes had the result", n, done)
	}
	db := p.openLedger()
	var reserved, rows int
	if err := db.QueryRowContext(t.Context(), `SELECT COALESCE(SUM(reserved), 0), (SELECT COUNT(*) FROM budget_reservations) FROM budgets`).Scan(&reserved, &rows); err != nil || reserved != 0 || rows != 0 {
		t.Errorf("%d still reserved in %d rows, %v", reserved, rows, err)
	}
}

// TestRetryWithinBudget: a retry is reserved and settled by itself.
func TestRetryWithinBudget(t *testing.T) {
	t.Parallel()
	p, s, first := partialOperation(t)
	p.env["ATELIER_BUDGET_DAY"] = "0.01"
	p.atelier("operations", "retry", first.Operation).checkRefused(t, exitBudget, "budget")
	if len(s.gemini.Captured()) != 3 {
		t.Error("it called the provider")
	}
	delete(p.env, "ATELIER_BUDGET_DAY")
	p.must("operations", "retry", first.Operation)
}

// TestConversationsDelete: a conversation is deleted only with --yes, and its picture is kept.
func TestConversationsDelete(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ans := p.runInConversation("new", "Draw a lighthouse, 128x128")
	p.atelier("conversations", "delete", "nobody's", "--yes").checkRefused(t, exitInput, "no conversation")
	p.atelier("conversations", "delete", ans.Conversation).checkRefused(t, exitInput, "this would delete 2 messages")
	p.must("conversations", "show", ans.Conversation)
	if said := p.must("conversations", "delete", ans.Conversation, "--yes").stdout; !strings.Contains(said, "Draw a lighthouse, 128x128") {
		t.Errorf("the message is %q", said)
	}
	for _, args := range [][]string{
		{"conversations", "show", ans.Conversation},
		{"conversations", "delete", ans.Conversation, "--yes"},
		{"run", "sage", "Bluer", "--conversation", ans.Conversation},
	} {
		p.atelier(args...).checkRefused(t, exitInput, "conversation")
	}
	if list := read[ledger.List[ledger.Conversation]](p, "conversations", "list", "--json"); len(list.Items) != 0 {
		t.Errorf("still listed: %+v", list.Items)
	}
	if n := len(p.mediaList().Items); n != 1 {
		t.Errorf("%d pictures, want 1", n)
	}
}
