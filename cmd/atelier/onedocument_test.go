package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"atelier/ledger"
	"atelier/media"
)

// document returns the only JSON document that a command must print.
func document(t *testing.T, o outcome) map[string]json.RawMessage {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.stdout))
	var doc map[string]json.RawMessage
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%q prints no JSON object: %v\n%.300s", o.args, err, o.stdout)
	}
	if err := d.Decode(&json.RawMessage{}); !errors.Is(err, io.EOF) {
		t.Errorf("%q prints more than one document: %.300s", o.args, o.stdout)
	}
	return doc
}

// TestJSONIsOneDocument: with --json, the binary prints one document, whatever the result of the command line; that of
// a failure has a code and a message.
func TestJSONIsOneDocument(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.env["ATELIER_BUDGET_DAY_IMAGES"] = "1"
	no := p.write("no.png", "no picture")
	for _, c := range []struct {
		code int
		says media.Code
		args []string
	}{
		{exitInput, media.CodeInvalid, []string{"--json"}},
		{exitInput, media.CodeInvalid, []string{"nosuch", "--json"}},
		{exitInput, media.CodeInvalid, []string{"runs", "--json"}},
		{exitInput, media.CodeInvalid, []string{"runs", "list", "--json", "--nosuch"}},
		{exitInput, media.CodeInvalid, []string{"--json", "runs", "list", "--limit", "many"}},
		{exitInput, media.CodeInvalid, []string{"runs", "list", "--json", "--limit", "1", "--limit", "2"}},
		{exitInput, media.CodeInvalid, []string{"runs", "list", "--status", "odd", "--json"}},
		{exitInput, media.CodeNotFound, []string{"runs", "show", "nosuch", "--json"}},
		{exitInput, media.CodeInvalid, []string{"serve", "--listen", "0.0.0.0:1", "--json"}},
		{exitInput, media.CodeInvalid, []string{"chat", "--json"}},
		{exitInput, media.CodeInvalid, []string{"help", "nosuch", "--json"}},
		{exitInput, media.CodeInvalid, []string{"completion", "tcsh", "--json"}},
		{exitInput, media.CodeInvalid, []string{"media", "get", "last", "-o", "-", "--json", "--nosuch"}},
		{exitInput, media.CodeNotFound, []string{"media", "get", "last", "--json"}},
		{exitInput, media.CodeNotFound, []string{"media", "thumbnail", "img-00000000", "-o", no, "--json"}},
		{exitInput, media.CodeInvalid, []string{"run", "sage", " ", "--json"}},
		{exitInput, media.CodeNotFound, []string{"run", "nobody", "hello", "--json"}},
		{exitInput, media.CodeUnsupported, []string{"generate", "a fox", "-m", "offline", "--size", "9x9", "--strict", "--json"}},
		{exitInput, media.CodeUnsupported, []string{"generate", "bluer", "--edit", no, "--json"}},
		{exitInput, media.CodeMissingKey, []string{"generate", "a fox", "-m", "GPT Image 2", "--json"}},
		{exitBudget, media.CodeOverBudget, []string{"generate", "a fox", "-m", "offline", "-n", "2", "--json"}},
		{exitInput, media.CodeInvalid, []string{"runs", "events", "nosuch", "--json", "--jsonl"}},
	} {
		o := p.start(c.args...).wait()
		var e struct{ Code, Message string }
		doc := document(t, o)
		if raw, ok := doc["error"]; ok {
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
		}
		if o.code != c.code || media.Code(e.Code) != c.says || e.Message == "" || o.stderr == "" {
			t.Errorf("%q: exit %d, want %d, %s\n%s", c.args, o.code, c.code, o.stdout, o.stderr)
		}
	}
	for _, args := range [][]string{{"runs", "list", "--json", "--help"}, {"media", "show", "--help", "--json"}} {
		if o := p.start(args...).wait(); o.code != exitOK || !strings.Contains(string(document(t, o)["help"]), "Usage: atelier") {
			t.Errorf("%q: exit %d, %s", args, o.code, o.stdout)
		}
	}
	if o := p.start("run", "sage", "--", "--json").wait(); json.Valid([]byte(o.stdout)) {
		t.Errorf("a message that is called --json: %s", o.stdout)
	}
}

// TestEveryCommandHasJSON: every command has the flag.
func TestEveryCommandHasJSON(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(false) {
		if flagOf(leaf, "--json") == nil {
			t.Errorf("%s has no --json", leaf.Path())
		}
	}
}

// TestFilesAndTextsAsOneDocument: with --json, a command that writes a file prints what it wrote, and one that prints a
// text puts it into a document.
func TestFilesAndTextsAsOneDocument(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	p.must("generate", "a fox", "-m", "offline", "--size", "64x64")
	item, got, small := p.mediaList().Items[0], p.path("got.png"), p.path("small.jpg")
	for path, args := range map[string][]string{got: {"media", "get", "last"}, small: {"media", "thumbnail", "last", "--size", "160"}} {
		doc := document(t, p.must(append(args, "-o", path, "--json")...))
		if string(doc["path"]) != strconv.Quote(path) || string(doc["ref"]) != strconv.Quote(item.Ref) || len(mustRead(t, path)) == 0 {
			t.Errorf("%q: %s", args, doc)
		}
		o := p.atelier(append(args, "-o", "-", "--json")...)
		if o.code != exitInput || document(t, o)["error"] == nil {
			t.Errorf("%q to standard output: exit %d, %.200s", args, o.code, o.stdout)
		}
	}
	for key, args := range map[string][]string{
		"help": {"help", "runs", "show"}, "script": {"completion", "zsh"}, "items": {"completion", "zsh", "ru"},
	} {
		want := strings.TrimSpace(p.must(args...).stdout)
		doc := document(t, p.must(append(args, "--json")...))
		var items []string
		if key != "items" {
			doc[key] = slices.Concat([]byte{'['}, doc[key], []byte{']'})
		}
		if err := json.Unmarshal(doc[key], &items); err != nil || strings.TrimSpace(strings.Join(items, "\n")) != want {
			t.Errorf("%q: %q, want %q; %v", args, items, want, err)
		}
	}
}

// TestListsAreItemsAndNext: every list is an object with its items and a cursor for the next page, which is empty at
// the end.
func TestListsAreItemsAndNext(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	ans := p.runInConversation("new", "Draw a lighthouse, 128x128")
	for _, args := range [][]string{
		{"models", "list"},
		{"models", "list", "--chat"},
		{"models", "check", "--chat"},
		{"providers"},
		{"agents", "list"},
		{"media", "list"},
		{"runs", "list"},
		{"runs", "list", "--status", "paused"},
		{"runs", "events", ans.RunID},
		{"runs", "show", ans.RunID, "--steps"},
		{"operations", "list"},
		{"conversations", "list"},
		{"conversations", "show", ans.Conversation},
	} {
		o := p.must(append(args, "--json")...)
		doc := document(t, o)
		delete(doc, "run_id")
		delete(doc, "conversation")
		var items []json.RawMessage
		if err := json.Unmarshal(doc["items"], &items); err != nil || items == nil || len(doc) != 2 || string(doc["next"]) != `""` {
			t.Errorf("%q: %v, %.300s", args, err, o.stdout)
		}
	}
}

// TestEventsAsJSON: the events of a run are one document, pages without gaps, or JSON lines.
func TestEventsAsJSON(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	id := p.runInConversation("new", "Draw a lighthouse, 128x128").RunID
	all := read[ledger.List[ledger.Event]](p, "runs", "events", id, "--json").Items
	var lines, parts []ledger.Event
	for line := range strings.Lines(p.must("runs", "events", id, "--jsonl").stdout) {
		var e ledger.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, e)
	}
	for after := "0"; after != ""; {
		page := read[ledger.List[ledger.Event]](p, "runs", "events", id, "--after", after, "--limit", "3", "--json")
		parts, after = append(parts, page.Items...), page.Next
	}
	same := func(a, b ledger.Event) bool { return a.ID == b.ID && a.Sequence == b.Sequence }
	if len(all) < 5 || !slices.EqualFunc(all, lines, same) || !slices.EqualFunc(all, parts, same) {
		t.Errorf("%d events, %d lines, %d in parts", len(all), len(lines), len(parts))
	}
	if o := p.must("runs", "events", id, "--limit", "3"); strings.Count(o.stdout, "\n") != 3 || !strings.Contains(o.stderr, "more: --after "+strconv.FormatInt(all[2].Sequence, 10)) {
		t.Errorf("the first three: %s%s", o.stdout, o.stderr)
	}
}

// TestCommandsThatEndThingsAnswerInJSON: commands that cancel or delete report it in JSON as well.
func TestCommandsThatEndThingsAnswerInJSON(t *testing.T) {
	t.Parallel()
	s := newQuestionEnv(t)
	run, _ := s.startRun(t)
	if doc := document(t, s.must("runs", "cancel", run, "--json")); string(doc["status"]) != `"cancelled"` {
		t.Errorf("cancel: %s", doc)
	}
	id := s.runInConversation("new", "hello").Conversation
	if doc := document(t, s.must("conversations", "delete", id, "--yes", "--json")); string(doc["conversation_id"]) != strconv.Quote(id) {
		t.Errorf("delete: %s", doc)
	}
	if o := s.atelier("conversations", "delete", id, "--json"); o.code != exitInput || document(t, o)["error"] == nil {
		t.Errorf("delete twice: exit %d, %s", o.code, o.stdout)
	}
}
