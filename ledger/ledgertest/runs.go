package ledgertest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/ledger"
	"atelier/media"
)

var ignoreRunTimes = cmpopts.IgnoreFields(ledger.Run{}, "CreatedAt", "UpdatedAt")

func usd(s string) *string { return &s }

func runRoundTrip(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	r.Status, r.Message = ledger.StatusSucceeded, "here is ${media:img-7k3m9q2x}"
	r.Payload = json.RawMessage(`{"report_html":"<p>${media:img-7k3m9q2x}</p>","n":[1,2.5]}`)
	r.Warnings = []string{"one", "two"}
	r.Usage = ledger.Usage{ModelCalls: 3, InputTokens: 1000, OutputTokens: 20, Images: 2, Turns: 4, WorkedMS: 1500}
	r.Limits = json.RawMessage(`{"images":2}`)
	r.Cost = ledger.Cost{EstimatedUSD: usd("0.134"), Complete: true}
	r.Failure = ledger.Failure{Code: "over_budget", Message: "used all turns", Retryable: true}
	r.InputImages = []ledger.InputImage{{Ref: "img-7k3m9q2x", MIMEType: "image/png", FileName: "sea.png", Detail: "low"}}
	r.VisionContext = []ledger.InputImage{{Ref: "img-8k3m9q2x", MIMEType: "image/jpeg"}}
	r.Dispositions = json.RawMessage(`[{"setting":"image","outcome":"dropped"}]`)
	r.FinishedAt = f.deps.Now()
	if err := f.FinishRun(ctx, r); err != nil {
		t.Fatal(err)
	}
	again := r
	again.InputImages = nil
	if err := f.FinishRun(ctx, again); err != nil { // keeps the pictures that came with the run
		t.Fatal(err)
	}
	got, err := f.Run(ctx, owner, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, got, ignoreRunTimes); d != "" {
		t.Error(d)
	}
	if !got.UpdatedAt.After(got.CreatedAt) || got.CreatedAt.Location().String() != "UTC" {
		t.Errorf("created %v, updated %v", got.CreatedAt, got.UpdatedAt)
	}
}

// unstorable: texts that a database cannot store are in no row: an id is not found, and a list is empty.
func unstorable(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	f.run(t, owner, nil)
	for _, text := range []string{"a\x00b", "\xff"} {
		_, err := f.Run(ctx, owner, text)
		wantCode(t, err, media.CodeNotFound)
		_, err = f.ListSteps(ctx, owner, text, ledger.Page{})
		wantCode(t, err, media.CodeNotFound)
		_, err = f.MediaRecord(ctx, owner, text)
		wantCode(t, err, media.CodeNotFound)
		runs, err := f.ListRuns(ctx, owner, ledger.RunQuery{Tree: text})
		if err != nil || len(runs.Items) != 0 {
			t.Errorf("runs with %q: %d, %v", text, len(runs.Items), err)
		}
		items, err := f.ListMedia(ctx, owner, ledger.MediaQuery{Text: text})
		if err != nil || len(items.Items) != 0 {
			t.Errorf("media with %q: %d, %v", text, len(items.Items), err)
		}
	}
}

func runConflicts(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	wantCode(t, f.CreateRun(ctx, r), media.CodeConflict)
	for id, want := range map[string]bool{r.ID: true, r.ID + "x": false, "": false} {
		if known, err := f.HasRun(ctx, id); err != nil || known != want {
			t.Errorf("there is a run %q: %v, %v", id, known, err)
		}
	}
	taken := r
	taken.Owner, taken.Status, taken.Message = "somebody else", ledger.StatusFailed, "taken"
	wantCode(t, f.FinishRun(ctx, taken), media.CodeNotFound)
	if got, err := f.Run(ctx, owner, r.ID); err != nil || got.Status != r.Status || got.Message == "taken" {
		t.Errorf("somebody else ended it: %+v, %v", got, err)
	}
	r.Owner = ""
	wantCode(t, f.CreateRun(ctx, r), media.CodeInvalid)
	r.ID = "nothing"
	wantCode(t, f.FinishRun(ctx, r), media.CodeNotFound)
	_, err := f.Run(ctx, owner, "nothing")
	wantCode(t, err, media.CodeNotFound)
	orphan := ledger.Run{ID: "x", Owner: owner, Tree: "x", Agent: "a", Parent: "nothing"}
	wantCode(t, f.CreateRun(ctx, orphan), media.CodeNotFound)
}

func runPages(t *testing.T, f *fixture) {
	t.Helper()
	var want []string
	for range 7 {
		want = append([]string{f.run(t, owner, nil).ID}, want...)
	}
	var got []string
	p := ledger.Page{Limit: 3}
	for range 4 {
		list, err := f.ListRuns(t.Context(), owner, ledger.RunQuery{Page: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Items {
			got = append(got, r.ID)
		}
		if p.After = list.Next; p.After == "" {
			break
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func runFilters(t *testing.T, f *fixture) {
	t.Helper()
	root := f.run(t, owner, nil)
	child := f.run(t, owner, &root)
	other := f.run(t, owner, nil)
	other.Status = ledger.StatusFailed
	if err := f.FinishRun(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		q    ledger.RunQuery
		want []string
	}{
		"roots":  {ledger.RunQuery{Roots: true}, []string{other.ID, root.ID}},
		"tree":   {ledger.RunQuery{Tree: root.Tree}, []string{child.ID, root.ID}},
		"status": {ledger.RunQuery{Status: ledger.StatusFailed}, []string{other.ID}},
		"agent":  {ledger.RunQuery{Agent: "sage"}, nil},
	} {
		list, err := f.ListRuns(t.Context(), owner, c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range list.Items {
			got = append(got, r.ID)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func stepsAndPrompts(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	r := f.run(t, owner, nil)
	for i := range 3 {
		st := ledger.Step{
			ID: f.deps.NewID(), RunID: r.ID, Turn: 1, Position: i + 1, Kind: "action", Name: "Generate Image",
			Status: ledger.StatusRunning, Params: json.RawMessage(`{"Prompt":"a cat"}`),
		}
		if err := f.SaveStep(ctx, st); err != nil {
			t.Fatal(err)
		}
		st.Status, st.Outputs = ledger.StatusSucceeded, json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
		if err := f.SaveStep(ctx, st); err != nil {
			t.Fatal(err)
		}
		p := ledger.Prompt{
			ID: f.deps.NewID(), RunID: r.ID, Turn: 1, Model: "m", Provider: "offline", Status: ledger.StatusSucceeded,
			Messages: json.RawMessage(`[{"role":"user"}]`), Answer: "yes", InputTokens: int64(i), CostUSD: usd("0.01"),
		}
		if err := f.SavePrompt(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	steps, err := f.ListSteps(ctx, owner, r.ID, ledger.Page{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(steps.Items) != 2 || steps.Next == "" || steps.Items[1].Position != 2 ||
		steps.Items[0].Status != ledger.StatusSucceeded || string(steps.Items[1].Outputs) != `{"n":1}` {
		t.Errorf("steps = %+v", steps)
	}
	prompts, err := f.ListPrompts(ctx, owner, r.ID, ledger.Page{})
	if err != nil {
		t.Fatal(err)
	}
	if len(prompts.Items) != 3 || prompts.Next != "" || prompts.Items[2].InputTokens != 2 || *prompts.Items[2].CostUSD != "0.01" {
		t.Errorf("prompts = %+v", prompts)
	}
	wantCode(t, f.SaveStep(ctx, ledger.Step{ID: "s", RunID: "nothing", Status: "running"}), media.CodeNotFound)
}

func emptyOwner(t *testing.T, f *fixture) {
	t.Helper()
	ctx, none := t.Context(), ledger.Page{}
	for name, read := range map[string]func() error{
		"run":          func() error { _, err := f.Run(ctx, "", "x"); return err },
		"runs":         func() error { _, err := f.ListRuns(ctx, "", ledger.RunQuery{}); return err },
		"steps":        func() error { _, err := f.ListSteps(ctx, "", "x", none); return err },
		"prompts":      func() error { _, err := f.ListPrompts(ctx, "", "x", none); return err },
		"record":       func() error { _, err := f.MediaRecord(ctx, "", "x"); return err },
		"media":        func() error { _, err := f.ListMedia(ctx, "", ledger.MediaQuery{}); return err },
		"label":        func() error { return f.LabelMedia(ctx, "", "x", new("l"), nil) },
		"delete":       func() error { return f.DeleteMedia(ctx, "", "x") },
		"promote":      func() error { _, err := f.PromoteMedia(ctx, "", "x", nil); return err },
		"prompt media": func() error { _, err := f.ListPromptMedia(ctx, "", "x", none); return err },
		"agent media":  func() error { _, err := f.ListAgentMedia(ctx, "", "x", none); return err },
		"provenance":   func() error { _, err := f.Provenance(ctx, "", "x"); return err },
		"operation":    func() error { _, _, _, err := f.Operation(ctx, "", "x"); return err },
		"by key":       func() error { _, err := f.OperationByKey(ctx, "", "x"); return err },
		"operations":   func() error { _, err := f.ListOperations(ctx, "", ledger.OperationQuery{}); return err },
		"events":       func() error { _, err := f.ListEvents(ctx, "", "x", 0, 0); return err },
	} {
		if got := media.CodeOf(read()); got != media.CodeForbidden {
			t.Errorf("%s: code %q, want forbidden", name, got)
		}
	}
}

func foreignOwner(t *testing.T, f *fixture) {
	t.Helper()
	ctx, none := t.Context(), ledger.Page{}
	r := f.run(t, owner, nil)
	o := f.record(scoped(t, r), t, picture("a", media.Meta{}))
	for name, read := range map[string]func() error{
		"run":        func() error { _, err := f.Run(ctx, "bob", r.ID); return err },
		"steps":      func() error { _, err := f.ListSteps(ctx, "bob", r.ID, none); return err },
		"record":     func() error { _, err := f.MediaRecord(ctx, "bob", o.ID); return err },
		"label":      func() error { return f.LabelMedia(ctx, "bob", o.ID, new("mine"), nil) },
		"delete":     func() error { return f.DeleteMedia(ctx, "bob", o.ID) },
		"links":      func() error { _, err := f.ListPromptMedia(ctx, "bob", r.ID, none); return err },
		"provenance": func() error { _, err := f.Provenance(ctx, "bob", o.ID); return err },
		"events":     func() error { _, err := f.ListEvents(ctx, "bob", r.ID, 0, 0); return err },
	} {
		if got := media.CodeOf(read()); got != media.CodeNotFound {
			t.Errorf("%s: code %q, want not_found", name, got)
		}
	}
	list, err := f.ListMedia(ctx, "bob", ledger.MediaQuery{Tree: r.Tree})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("bob sees %v, %v", list.Items, err)
	}
	if got, err := f.MediaRecord(ctx, owner, o.ID); err != nil || got.Label != "" {
		t.Errorf("record after bob: %+v, %v", got, err)
	}
}

func badCursor(t *testing.T, f *fixture) {
	t.Helper()
	r := f.run(t, owner, nil)
	_, err := f.ListPromptMedia(t.Context(), owner, r.ID, ledger.Page{After: "page two"})
	wantCode(t, err, media.CodeInvalid)
	if got := (ledger.Page{Limit: 5000}).EffectiveLimit(); got != ledger.MaxLimit {
		t.Errorf("bound = %d", got)
	}
}
