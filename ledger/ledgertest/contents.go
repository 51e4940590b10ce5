package ledgertest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier/ledger"
	"atelier/media"
)

// workflowClauses are the clauses about generations and interactions of workflows.
func workflowClauses() map[string]func(*testing.T, *fixture) {
	return map[string]func(*testing.T, *fixture){
		"interaction round trip":            interactionRoundTrip,
		"interactions are owned":            interactionScope,
		"interactions of a step are one":    interactionOnce,
		"interactions change by version":    interactionVersions,
		"one of many changes of a version":  interactionsTogether,
		"interactions expire":               interactionExpiry,
		"content generation round trip":     contentRoundTrip,
		"content generations are owned":     contentScope,
		"content is kept once":              contentOnce,
		"content is chosen":                 contentChosen,
		"a click is found again":            contentRequest,
		"content generations that are open": contentOpen,
	}
}

func generation(f *fixture, id string) ledger.ContentGeneration {
	return ledger.ContentGeneration{
		ID: id, Owner: owner, WorkflowRunID: "wr", InteractionID: "in", StepID: "s", SubActionID: "generate", ActionType: "media.midjourney.txt2img",
		Provider: "midjourney", RequestID: "click " + id, RequestDigest: "sha256-00", PromptID: "prompt_a", SourceData: json.RawMessage(`{"z":1.50,"a":"{{ state.x }}"}`), PromptAsSent: "a cat", ResultTarget: json.RawMessage(`["generations","x.y"]`), StandIn: true,
		Params: json.RawMessage(`{"speed":"fast"}`), Status: "queued", FinishedAt: f.deps.Now(),
	}
}

func contentOpen(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	ended, open, other := generation(f, "gm_1"), generation(f, "gm_2"), generation(f, "gm_3")
	open.FinishedAt, other.FinishedAt = time.Time{}, time.Time{}
	other.Owner, other.InteractionID = "other", "in2"
	for _, g := range []ledger.ContentGeneration{ended, open, other} {
		must(t, f.SaveContentGeneration(ctx, g))
	}
	mine, err := f.OpenContentGenerations(ctx, owner, "in")
	must(t, err)
	if len(mine) != 1 || mine[0].ID != open.ID {
		t.Errorf("open: %+v", mine)
	}
	if foreign, err := f.OpenContentGenerations(ctx, owner, "in2"); err != nil || len(foreign) != 0 {
		t.Errorf("of another owner: %+v %v", foreign, err)
	}
	all, err := f.ListOpenContentGenerations(ctx, ledger.Page{Limit: 1})
	must(t, err)
	rest, err := f.ListOpenContentGenerations(ctx, ledger.Page{After: all.Next})
	must(t, err)
	if len(all.Items) != 1 || all.Items[0].ID != open.ID || len(rest.Items) != 1 || rest.Items[0].ID != other.ID {
		t.Errorf("all: %+v, %+v", all.Items, rest.Items)
	}
}

func contentRoundTrip(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	g := generation(f, "gm_1")
	must(t, f.SaveContentGeneration(ctx, g))
	first, _, err := f.ContentGeneration(ctx, owner, g.ID)
	must(t, err)
	g.Status, g.Model, g.OperationID, g.ElapsedMS, g.CostUSD = "partial", "Midjourney 7", "op", 1200, usd("0.0402")
	g.Dispositions, g.Failure = json.RawMessage(`[{"setting":"n"}]`), ledger.Failure{Code: "moderated", Message: "no", Retryable: true}
	must(t, f.SaveContentGeneration(ctx, g))
	seed := int64(1) << 40
	want := []ledger.GeneratedContent{
		{ID: "gc_2", MetadataID: g.ID, Position: 1, MediaID: "m1", Modality: media.ModalityImage, Seed: &seed, RevisedPrompt: "a nice cat"},
		{ID: "gc_1", MetadataID: g.ID, Position: 3, MediaID: "m2"},
	}
	for i := range want {
		_, err := f.SaveGeneratedContent(ctx, owner, want[len(want)-1-i])
		must(t, err)
	}
	got, contents, err := f.ContentGeneration(ctx, owner, g.ID)
	must(t, err)
	ignore := cmp.Options{cmpopts.IgnoreFields(ledger.ContentGeneration{}, "CreatedAt", "UpdatedAt"), cmpopts.IgnoreFields(ledger.GeneratedContent{}, "CreatedAt")}
	if d := cmp.Diff(g, got, ignore) + cmp.Diff(want, contents, ignore); d != "" {
		t.Error(d)
	}
	if !got.CreatedAt.Equal(first.CreatedAt) || !got.UpdatedAt.After(first.UpdatedAt) {
		t.Errorf("created %v and %v, updated %v and %v", first.CreatedAt, got.CreatedAt, first.UpdatedAt, got.UpdatedAt)
	}
	must(t, f.SaveContentGeneration(ctx, generation(f, "gm_2")))
	other := generation(f, "gm_3")
	other.WorkflowRunID = "other"
	must(t, f.SaveContentGeneration(ctx, other))
	one, err := f.ListContentGenerations(ctx, owner, "wr", ledger.Page{Limit: 1})
	must(t, err)
	two, err := f.ListContentGenerations(ctx, owner, "wr", ledger.Page{Limit: 1, After: one.Next})
	must(t, err)
	if len(one.Items) != 1 || one.Items[0].ID != "gm_1" || len(two.Items) != 1 || two.Items[0].ID != "gm_2" || two.Next != "" {
		t.Errorf("%+v, then %+v", one, two)
	}
}

func contentScope(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	must(t, f.SaveContentGeneration(ctx, generation(f, "gm_1")))
	_, err := f.SaveGeneratedContent(ctx, "bob", ledger.GeneratedContent{ID: "gc_1", MetadataID: "gm_1", Position: 1, MediaID: "m"})
	wantCode(t, err, media.CodeNotFound)
	_, err = f.SaveGeneratedContent(ctx, owner, ledger.GeneratedContent{ID: "gc_1", MetadataID: "gm_9", Position: 1, MediaID: "m"})
	wantCode(t, err, media.CodeNotFound)
	_, err = f.SaveGeneratedContent(ctx, owner, ledger.GeneratedContent{ID: "gc_1", MetadataID: "gm_1", Position: 1, MediaID: "m"})
	must(t, err)
	_, _, err = f.ContentGeneration(ctx, "bob", "gm_1")
	wantCode(t, err, media.CodeNotFound)
	_, _, err = f.ContentGeneration(ctx, "", "gm_1")
	wantCode(t, err, media.CodeForbidden)
	list, err := f.ListContentGenerations(ctx, "bob", "wr", ledger.Page{})
	must(t, err)
	contents, err := f.ContentOfMedia(ctx, "bob", "m")
	must(t, err)
	if len(list.Items)+len(contents) != 0 {
		t.Errorf("bob sees %+v, %+v", list, contents)
	}
	taken := generation(f, "gm_1")
	taken.Owner = "bob"
	wantCode(t, f.SaveContentGeneration(ctx, taken), media.CodeConflict)
	wantCode(t, f.SaveContentGeneration(ctx, ledger.ContentGeneration{ID: "gm_2"}), media.CodeInvalid)
}

func contentOnce(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	must(t, f.SaveContentGeneration(ctx, generation(f, "gm_1")))
	for _, id := range []string{"gc_1", "gc_2"} {
		kept, err := f.SaveGeneratedContent(ctx, owner, ledger.GeneratedContent{ID: id, MetadataID: "gm_1", Position: 1, MediaID: "m"})
		must(t, err)
		if kept.ID != "gc_1" {
			t.Errorf("the same result is %s", kept.ID)
		}
	}
	contents, err := f.ContentOfMedia(ctx, owner, "m")
	must(t, err)
	if len(contents) != 1 || contents[0].MetadataID != "gm_1" {
		t.Errorf("%+v", contents)
	}
	one, err := f.GeneratedContent(ctx, owner, "gc_1")
	must(t, err)
	if d := cmp.Diff(contents[0], one); d != "" {
		t.Error(d)
	}
	_, err = f.GeneratedContent(ctx, "bob", "gc_1")
	wantCode(t, err, media.CodeNotFound)
}

func contentChosen(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	foreign := generation(f, "gm_2")
	foreign.InteractionID = "other"
	for _, g := range []ledger.ContentGeneration{generation(f, "gm_1"), foreign} {
		must(t, f.SaveContentGeneration(ctx, g))
		for position, id := range []string{"gc_a" + g.ID, "gc_b" + g.ID} {
			_, err := f.SaveGeneratedContent(ctx, owner, ledger.GeneratedContent{ID: id, MetadataID: g.ID, Position: position + 1, MediaID: id})
			must(t, err)
		}
	}
	at := f.deps.Now()
	wantCode(t, f.SelectContents(ctx, owner, "in", []string{"gc_agm_1", "gc_agm_2"}, at), media.CodeNotFound)
	wantCode(t, f.SelectContents(ctx, "bob", "in", []string{"gc_agm_1"}, at), media.CodeNotFound)
	chosen := func() (out []bool) {
		_, contents, err := f.ContentGeneration(ctx, owner, "gm_1")
		must(t, err)
		for _, c := range contents {
			out = append(out, c.SelectedAt.Equal(at))
		}
		return out
	}
	if d := cmp.Diff([]bool{false, false}, chosen()); d != "" {
		t.Errorf("a refused choice is recorded: %s", d)
	}
	must(t, f.SelectContents(ctx, owner, "in", []string{"gc_bgm_1"}, at))
	must(t, f.SelectContents(ctx, owner, "in", []string{"gc_bgm_1"}, f.deps.Now()))
	if d := cmp.Diff([]bool{false, true}, chosen()); d != "" {
		t.Error(d)
	}
}

func contentRequest(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	must(t, f.SaveContentGeneration(ctx, generation(f, "gm_1")))
	for _, id := range []string{"gm_2", "gm_3"} { // without an identity each click is a new one
		g := generation(f, id)
		g.RequestID, g.RequestDigest = "", ""
		must(t, f.SaveContentGeneration(ctx, g))
	}
	got, err := f.ContentGenerationOfRequest(ctx, owner, "in", "click gm_1")
	must(t, err)
	if got.ID != "gm_1" || got.RequestDigest != "sha256-00" {
		t.Errorf("%+v", got)
	}
	again := generation(f, "gm_4")
	again.RequestID = "click gm_1"
	wantCode(t, f.SaveContentGeneration(ctx, again), media.CodeConflict)
	again.InteractionID = "other"
	must(t, f.SaveContentGeneration(ctx, again))
	for _, at := range [][3]string{{"bob", "in", "click gm_1"}, {owner, "in", "click gm_2"}, {owner, "in", ""}} {
		_, err = f.ContentGenerationOfRequest(ctx, at[0], at[1], at[2])
		wantCode(t, err, media.CodeNotFound)
	}
	_, err = f.ContentGenerationOfRequest(ctx, "", "in", "click gm_1")
	wantCode(t, err, media.CodeForbidden)
}
