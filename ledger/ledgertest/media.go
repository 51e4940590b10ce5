package ledgertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier/internal/everyday"
	"atelier/ledger"
	"atelier/media"
)

func recordWithoutScope(t *testing.T, f *fixture) {
	t.Helper()
	for _, s := range []media.Scope{{}, {Owner: owner}, {Tree: "t"}} {
		_, err := f.Record(media.WithScope(t.Context(), s), picture("a", media.Meta{}))
		wantCode(t, err, media.CodeForbidden)
	}
	_, err := f.Record(scoped(t, f.run(t, owner, nil)), media.Output{URL: "http://example.com/a.png"})
	wantCode(t, err, media.CodeInvalid)
}

func recordRoundTrip(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	ctx := media.WithScope(t.Context(), media.Scope{
		Owner: owner, Tree: r.Tree, Run: r.ID, Step: "step", PromptRun: "prompt", Operation: "op", AgentPath: "a/b",
	})
	o := picture("a", media.Meta{
		Label: strings.Repeat("ü", 600), Description: "a cat", FileName: "cat.png",
		Metadata: map[string]any{"model": "offline-1", "seed": float64(7)},
	})
	o.DurationSeconds, o.Frames = 1.23456, 3
	got := f.record(ctx, t, o)
	rec, err := f.MediaRecord(t.Context(), owner, got.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := o
	want.ID, want.CreatedAt, want.Label, want.DurationSeconds = got.ID, rec.CreatedAt, strings.Repeat("ü", 500), 1.235
	want.Origin = media.Origin{Direction: "output", AgentPath: "a/b", Operation: "op"}
	if d := cmp.Diff(want, rec.Output, cmp.Comparer(func(a, b media.Digest) bool { return a == b })); d != "" {
		t.Error(d)
	}
	if rec.Owner != owner || rec.Tree != r.Tree || rec.Run != r.ID {
		t.Errorf("record scope = %+v", rec)
	}
	links, err := f.ListPromptMedia(t.Context(), owner, r.ID, ledger.Page{})
	if err != nil || len(links.Items) != 1 {
		t.Fatalf("links = %+v, %v", links, err)
	}
	l := links.Items[0]
	if l.MediaID != got.ID || l.Direction != "output" || l.DisplayOrder != 1 || l.PromptRunID != "prompt" ||
		l.StepID != "step" || l.OperationID != "op" || l.Width != 64 || l.FileName != "cat.png" || l.DurationSeconds != 1.235 {
		t.Errorf("link = %+v", l)
	}
}

func secondMaking(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	ctx := scoped(t, r)
	one := f.record(ctx, t, picture("a", media.Meta{Label: "first"}))
	two := f.record(ctx, t, picture("a", media.Meta{Label: "second"}))
	if one.ID != two.ID || two.Label != "first" {
		t.Errorf("second making: %q %q, want record %q with label first", two.ID, two.Label, one.ID)
	}
	edges := f.parents(t, one.ID)
	if len(edges) != 1 || edges[0].Role != "same_bytes" || edges[0].ParentID != one.ID || edges[0].RunID != r.ID {
		t.Errorf("lineage = %+v", edges)
	}
	child := f.run(t, owner, &r)
	if three := f.record(scoped(t, child), t, picture("a", media.Meta{})); three.ID != one.ID {
		t.Errorf("a child run made a second record %q", three.ID)
	}
	links, err := f.ListPromptMedia(t.Context(), owner, child.ID, ledger.Page{})
	if err != nil || len(links.Items) != 1 {
		t.Errorf("the child run has links %+v, %v", links, err)
	}
}

func recordAgainByID(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	inPrompt := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: r.Tree, Run: r.ID, Step: "s", PromptRun: "p"})
	inStep := media.WithScope(t.Context(), media.Scope{Owner: owner, Tree: r.Tree, Run: r.ID, Step: "s"})
	o := f.record(inPrompt, t, picture("a", media.Meta{}))
	f.record(inStep, t, o)
	edges := f.parents(t, o.ID)
	if len(edges) != 0 {
		t.Errorf("lineage = %+v", edges)
	}
	links, err := f.ListPromptMedia(t.Context(), owner, r.ID, ledger.Page{})
	if err != nil || len(links.Items) != 1 {
		t.Errorf("links = %+v, %v", links, err)
	}
}

func otherTree(t *testing.T, f *fixture) {
	t.Helper()
	one := f.record(scoped(t, f.run(t, owner, nil)), t, picture("a", media.Meta{Label: "ann's"}))
	two := f.record(scoped(t, f.run(t, "bob", nil)), t, picture("a", media.Meta{Label: "bob's"}))
	if one.ID == two.ID || two.Label != "bob's" || one.Ref != two.Ref {
		t.Errorf("records %+v and %+v", one, two)
	}
}

func refCollision(t *testing.T, f *fixture) {
	t.Helper()
	ctx := scoped(t, f.run(t, owner, nil))
	o := f.record(ctx, t, picture("a", media.Meta{}))
	clash := picture("b", media.Meta{})
	clash.Ref = o.Ref
	_, err := f.Record(ctx, clash)
	wantCode(t, err, media.CodeRefCollision)
	f.record(scoped(t, f.run(t, owner, nil)), t, clash)
}

func lineageToParents(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	ctx := scoped(t, r)
	parent := f.record(ctx, t, picture("a", media.Meta{}))
	child := f.record(ctx, t, picture("b", media.Meta{Lineage: []media.Parent{
		{Ref: parent.Ref, Role: "input"}, {Ref: "img-00000000", Role: "mask"},
	}}))
	edges := f.parents(t, child.ID)
	if len(edges) != 2 {
		t.Fatalf("lineage = %+v", edges)
	}
	if edges[0].ParentID != parent.ID || edges[0].Role != "input" || edges[1].ParentID != "" || edges[1].ParentRef != "img-00000000" {
		t.Errorf("lineage = %+v", edges)
	}
}

func inputDirection(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	o := picture("a", media.Meta{})
	o.Origin.Direction = "input"
	got := f.record(scoped(t, r), t, o)
	got.Origin.Direction = "output"
	f.record(scoped(t, r), t, got)
	links, err := f.ListPromptMedia(t.Context(), owner, r.ID, ledger.Page{})
	if err != nil || len(links.Items) != 2 || links.Items[0].Direction != "input" || links.Items[1].DisplayOrder != 2 {
		t.Errorf("links = %+v, %v", links, err)
	}
}

func outlivesCancel(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	ctx, cancel := context.WithCancel(scoped(t, r))
	cancel()
	o := f.record(ctx, t, picture("a", media.Meta{}))
	if err := f.FinishRun(ctx, r); err != nil {
		t.Error(err)
	}
	if w, err := f.PromoteMedia(ctx, owner, r.ID, []media.Output{o}); err != nil || len(w) != 0 {
		t.Errorf("promote: %v, %v", w, err)
	}
	if _, err := f.MediaRecord(t.Context(), owner, o.ID); err != nil {
		t.Error(err)
	}
}

func mediaPages(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	ctx := scoped(t, r)
	var ids []string
	for i := range 5 {
		ids = append([]string{f.record(ctx, t, picture(fmt.Sprint(i), media.Meta{})).ID}, ids...)
	}
	svg := picture("doc", media.Meta{})
	svg.Modality, svg.Ref = media.ModalityDocument, media.RefOf(media.ModalityDocument, svg.Digest)
	doc := f.record(scoped(t, f.run(t, owner, nil)), t, svg)
	list := func(q ledger.MediaQuery) ([]string, string) {
		l, err := f.ListMedia(t.Context(), owner, q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range l.Items {
			got = append(got, m.ID)
		}
		return got, l.Next
	}
	one, next := list(ledger.MediaQuery{Tree: r.Tree, Page: ledger.Page{Limit: 3}})
	two, end := list(ledger.MediaQuery{Tree: r.Tree, Page: ledger.Page{Limit: 3, After: next}})
	if d := cmp.Diff(ids, append(one, two...)); d != "" || end != "" {
		t.Errorf("next %q: %s", end, d)
	}
	docs, _ := list(ledger.MediaQuery{Modality: media.ModalityDocument})
	byRef, _ := list(ledger.MediaQuery{Ref: doc.Ref})
	byPrefix, _ := list(ledger.MediaQuery{RefPrefix: string(doc.Ref)[:9]})
	if d := cmp.Diff([]string{doc.ID}, docs) + cmp.Diff([]string{doc.ID}, byRef) + cmp.Diff([]string{doc.ID}, byPrefix); d != "" {
		t.Error(d)
	}
	if byRun, _ := list(ledger.MediaQuery{Run: r.ID}); len(byRun) != 5 {
		t.Errorf("by run: %v", byRun)
	}
}

func textUnchanged(t *testing.T, f *fixture) {
	t.Helper()
	said := everyday.Text()
	asJSON, err := json.Marshal(map[string]string{"x": said})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	r := ledger.Run{ID: "r", Owner: owner, Tree: "r", Agent: "a", Status: ledger.StatusRunning, Task: said, Definition: asJSON}
	must(t, f.CreateRun(ctx, r))
	r.Message, r.Payload, r.Warnings = said, asJSON, []string{said}
	r.Failure.Message = said
	must(t, f.FinishRun(ctx, r))
	must(t, f.SaveStep(ctx, ledger.Step{ID: "s", RunID: "r", Status: "failed", Message: said, Params: asJSON, Outputs: json.RawMessage("no json " + said)}))
	must(t, f.SavePrompt(ctx, ledger.Prompt{ID: "p", RunID: "r", Status: "failed", Messages: asJSON, Answer: said}))
	o := f.record(scoped(t, r), t, picture("a", media.Meta{
		Label: said, Description: said, FileName: said, Metadata: map[string]any{"raw": said, "bytes": []byte(said)},
	}))
	must(t, f.BeginOperation(ctx, ledger.Operation{ID: "o", Owner: owner, Tree: "r", Status: "queued", Request: asJSON}))
	must(t, f.SaveSlot(ctx, ledger.Slot{OperationID: "o", Index: 1, Status: "failed", RevisedPrompt: said, Safety: asJSON, Failure: ledger.Failure{Message: said}}))
	must(t, f.SaveTask(ctx, ledger.Task{ID: "t", OperationID: "o", Status: "failed", Detail: asJSON, Failure: ledger.Failure{Message: said}}))
	_, err = f.AppendEvents(ctx, []ledger.Event{{Tree: "r", RunID: "r", Kind: "warning", Payload: asJSON}})
	must(t, err)
	all := map[string]any{}
	all["run"], err = f.Run(ctx, owner, "r")
	must(t, err)
	all["steps"], err = f.ListSteps(ctx, owner, "r", ledger.Page{})
	must(t, err)
	all["prompts"], err = f.ListPrompts(ctx, owner, "r", ledger.Page{})
	must(t, err)
	all["record"], err = f.MediaRecord(ctx, owner, o.ID)
	must(t, err)
	all["links"], err = f.ListPromptMedia(ctx, owner, "r", ledger.Page{})
	must(t, err)
	op, slots, tasks, err := f.Operation(ctx, owner, "o")
	must(t, err)
	all["operation"] = []any{op, slots, tasks}
	all["events"], err = f.ListEvents(ctx, owner, "r", 0, 0)
	must(t, err)
	holdsText(t, said, all)
}

// holdsText checks that a text was saved byte for byte.
func holdsText(t *testing.T, text string, all map[string]any) {
	t.Helper()
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	must(t, e.Encode(text))
	inside := strings.Trim(want.String(), "\"\n")
	for name, v := range all {
		var got bytes.Buffer
		e := json.NewEncoder(&got)
		e.SetEscapeHTML(false)
		must(t, e.Encode(v))
		if plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(got.String()); !strings.Contains(plain, inside) {
			t.Errorf("%s does not hold %.60s whole: %.300s", name, text, plain)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
