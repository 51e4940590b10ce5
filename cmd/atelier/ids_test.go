package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier/ledger"
)

// shortestPrefix returns the shortest prefix of id, of at least n characters, that no other id has.
func shortestPrefix(id string, n int, others ...string) string {
	for ; n < len(id); n++ {
		unique := true
		for _, o := range others {
			unique = unique && (o == id || !strings.HasPrefix(o, id[:n]))
		}
		if unique {
			break
		}
	}
	return id[:n]
}

// TestRunOfAList: the lists of a run say that it does not exist, or that it is a part of another one, rather than nothing.
func TestRunOfAList(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	const root, part = "01a1fcae-54c5-7a48-a751-000000000000", "01a1fcae-54c5-7a48-a751-000000000001"
	w := &world{ctx: t.Context(), env: p.getenv}
	err := w.withStores(func(s *stores) error {
		return errors.Join(s.Ledger.CreateRun(w.ctx, ledger.Run{ID: root, Tree: root, Owner: owner, Agent: "sage", Status: ledger.StatusSucceeded}),
			s.Ledger.CreateRun(w.ctx, ledger.Run{ID: part, Tree: root, Parent: root, Depth: 1, Owner: owner, Agent: "sage", Status: ledger.StatusSucceeded}))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"media", "operations"} {
		p.must(list, "list", "--run", root)
		p.atelier(list, "list", "--run", part).checkRefused(t, exitInput, root)
		for _, unknown := range []string{"zzz", "99", "01a1fcae-54c5-7a48-a751-000000000009"} {
			p.atelier(list, "list", "--run", unknown).checkRefused(t, exitInput, "not found")
		}
	}
}

// TestBeginningsOfIDs: a unique prefix of an id or a ref is accepted instead of it; for an ambiguous one, the matches
// are listed. "last" is the newest run, conversation, operation or item.
func TestBeginningsOfIDs(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	first, second := p.runInConversation("new", "Draw a lighthouse, 128x128"), p.runInConversation("new", "Draw a harbour at night, 128x128")
	p.must("generate", "a fox", "-m", "offline", "--size", "64x64")
	var ops, items, refs []string
	for _, o := range read[ledger.List[ledger.Operation]](p, "operations", "list", "--json").Items {
		ops = append(ops, o.ID)
	}
	for _, m := range p.mediaList().Items {
		items, refs = append(items, m.ID), append(refs, m.Ref)
	}
	run := shortestPrefix(first.RunID, 6, second.RunID)
	talk := shortestPrefix(first.Conversation, 6, second.Conversation)
	op := shortestPrefix(ops[len(ops)-1], 6, ops...)
	outside := p.mediaList().Items[0].Tree
	for _, c := range []struct {
		args  []string
		shows string
	}{
		{[]string{"runs", "show", run}, first.RunID},
		{[]string{"runs", "show", strings.ToUpper(run)}, first.RunID},
		{[]string{"runs", "show", "last"}, second.RunID},
		{[]string{"runs", "show", run, "--steps"}, "turn-1-model"},
		{[]string{"runs", "events", run, "--json"}, first.RunID},
		{[]string{"runs", "events", "last", "--json"}, second.RunID},
		{[]string{"conversations", "show", talk}, first.Conversation},
		{[]string{"conversations", "show", "last"}, second.Conversation},
		{[]string{"run", "sage", "hello", "--conversation", talk, "--json"}, first.Conversation},
		{[]string{"run", "sage", "hello", "--conversation", "last", "--json"}, second.Conversation},
		{[]string{"operations", "show", op}, ops[len(ops)-1]},
		{[]string{"operations", "show", "last"}, ops[0]},
		{[]string{"operations", "retry", op, "--json"}, ops[len(ops)-1]},
		{[]string{"operations", "list", "--run", run}, ops[len(ops)-1]},
		{[]string{"generate", "--wait", op, "--json"}, ops[len(ops)-1]},
		{[]string{"media", "show", items[0][:30]}, items[0]},
		{[]string{"media", "show", shortestPrefix(refs[0], 8, refs...)}, refs[0]},
		{[]string{"media", "list", "--run", run}, refs[len(refs)-1]},
		{[]string{"media", "list", "--run", outside[:30]}, refs[0]},
		{[]string{"media", "show", shortestPrefix(refs[len(refs)-1], 8, refs...), "--run", run}, first.RunID},
		{[]string{"media", "show", "last"}, refs[0]},
		{[]string{"media", "show", "last", "--run", "last"}, second.RunID},
		{[]string{"media", "get", "last", "-o", filepath.Join(p.dir, "newest.png")}, "newest.png"},
		{[]string{"media", "get", shortestPrefix(refs[0], 8, refs...), "-o", filepath.Join(p.dir, "got.png")}, "got.png"},
		{[]string{"generate", "bluer", "-m", "offline", "--edit", shortestPrefix(refs[0], 8, refs...), "--json"}, `"succeeded"`},
		{[]string{"run", "sage", "What is this?", "--image", items[0][:30], "--json"}, refs[0]},
		{[]string{"run", "sage", "What is this?", "--image", "last", "--json"}, `"succeeded"`},
		{[]string{"generate", "bluer", "-m", "offline", "--edit", "last", "--json"}, `"succeeded"`},
		{[]string{"media", "rm", shortestPrefix(refs[0], 8, refs...)}, refs[0]},
		{[]string{"media", "rm", "--undo", shortestPrefix(refs[0], 8, refs...)}, refs[0]},
		{[]string{"media", "rm", "last"}, "deleted"},
		{[]string{"media", "rm", "--undo", "last"}, "restored"},
		{[]string{"runs", "fork", run, "--from", "turn-1-model", "--json"}, `"succeeded"`},
	} {
		if o := p.must(c.args...); !strings.Contains(o.stdout, c.shows) {
			t.Errorf("%q shows no %s: %.400s", c.args, c.shows, o.stdout)
		}
	}
	all := first.RunID[:2] // from the time, which both ids share
	for _, args := range [][]string{{"runs", "show", all}, {"runs", "cancel", all}, {"resume", all}, {"runs", "retry", all}} {
		o := p.start(args...).wait()
		o.checkRefused(t, exitInput, "matches several runs")
		if !strings.Contains(o.stderr, first.RunID) || !strings.Contains(o.stderr, second.RunID) || !strings.Contains(o.stderr, "Draw a harbour at night, 128x128") {
			t.Errorf("%q lists %s", args, o.stderr)
		}
	}
	p.atelier("conversations", "show", all).checkRefused(t, exitInput, "several conversations")
	p.atelier("operations", "show", all).checkRefused(t, exitInput, "several operations")
	p.atelier("media", "show", "img-").checkRefused(t, exitInput, "several refs")
	p.atelier("media", "show", all).checkRefused(t, exitInput, "several items")
	p.atelier("media", "list", "--run", all).checkRefused(t, exitInput, "several runs")
	p.atelier("runs", "show", "ffff").checkRefused(t, exitInput, "ffff")
	p.atelier("operations", "cancel", op).checkRefused(t, exitInput, ops[len(ops)-1])
	p.must("conversations", "delete", talk, "--yes")
	p.atelier("conversations", "show", first.Conversation).checkRefused(t, exitInput, "no conversation")
}

// TestNothingIsLast: in a new folder, "last" is an error that says that there is none yet.
func TestNothingIsLast(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.atelier("runs", "show", "last").checkRefused(t, exitInput, "there is no run yet")
	p.atelier("run", "sage", "hello", "--conversation", "last").checkRefused(t, exitInput, "there is no conversation yet")
	p.atelier("media", "show", "last").checkRefused(t, exitInput, "there is no item yet")
	p.atelier("resume", "last").checkRefused(t, exitInput, "there is no run yet")
}

// TestUnknownIDs: an error for an id that does not exist says what there is none of and how to list them.
func TestUnknownIDs(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	for _, id := range []string{"nope", "01a1", "01a1fcae-54c5-7a48-a751-000000000009"} {
		for _, c := range []struct {
			args  []string
			shows string
		}{
			{[]string{"runs", "show", id}, "there is no run \"" + id + "\": see `atelier runs list`"},
			{[]string{"runs", "cancel", id}, "see `atelier runs list`"},
			{[]string{"resume", id}, "see `atelier runs list`"},
			{[]string{"workflow", "answer", id, "{}"}, "see `atelier runs list`"},
			{[]string{"operations", "show", id}, "there is no operation \"" + id + "\": see `atelier operations list`"},
			{[]string{"generate", "--wait", id}, "see `atelier operations list`"},
			{[]string{"media", "show", id}, "there is no item \"" + id + "\": see `atelier media list`"},
			{[]string{"run", "sage", "hello", "--conversation", id}, "there is no conversation \"" + id + "\": see `atelier conversations list`"},
		} {
			p.atelier(c.args...).checkRefused(t, exitInput, c.shows)
		}
	}
	p.atelier("media", "rm", "--undo", "nope").checkRefused(t, exitInput, "there is no deleted item \"nope\": see `atelier media list --deleted`")
}

// TestCtrlCSaysHowToGoOn: the command that an interrupted run prints continues the run.
func TestCtrlCSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	s.chat.Answer = answersInOrder(threePictures(t), done(t, "Here."))
	p.env["ATELIER_CHAT_MODEL"], p.env["ATELIER_IMAGE_MODEL"] = "openai/gpt-5.4", "GPT Image 2"
	slowAfter(s)
	proc := p.start("run", "sage", "draw three pictures")
	eventually(t, "the first picture", func() bool { return len(p.mediaList().Items) >= 1 })
	if err := proc.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	o := proc.wait()
	_, typed, said := strings.Cut(o.stderr, "continue with: atelier ")
	if o.code != exitInterrupted || !said {
		t.Fatalf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	typed, _, _ = strings.Cut(typed, "\n")
	o = p.start(append(strings.Fields(typed), "--json")...).wait()
	if ans := decode[answer](t, o); o.code != exitOK || ans.Status != "succeeded" || ans.Message != "Here." {
		t.Errorf("atelier %s: exit %d, %s%s", typed, o.code, o.stdout, o.stderr)
	}
}
