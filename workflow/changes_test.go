package workflow_test

import (
	"testing"

	"atelier/workflow"
	"atelier/workflow/ordered"
	"atelier/workflow/patch"
	"atelier/workflow/view"
)

// changeStep is one change of an interaction as clients receive it, with its result.
type changeStep struct {
	Version int               `json:"version"`
	Changes view.Changes      `json:"changes"`
	Patch   []patch.Operation `json:"patch"`
	// After is the state of a client that applied the change.
	After after `json:"after"`
}

type after struct {
	DisplayData *ordered.Object `json:"display_data"`
	View        *view.Node      `json:"view"`
}

// TestChanges writes the changes that clients apply, and the expected results: the web pages run the same file.
func TestChanges(t *testing.T) {
	t.Parallel()
	r := example(t)
	r.ParamSchemas = object(t, `{"midjourney": {"type": "object", "properties": {"speed": {"enum": ["fast", "relax"]}}}, "leonardo": {"type": "object", "properties": {"width": {"type": "integer"}}}}`)
	i := open(t, r)
	out := struct {
		Before workflow.InteractionRequest `json:"before"`
		Steps  []changeStep                `json:"steps"`
	}{Before: i.Request()}
	add := func(ops []patch.Operation, next *workflow.Interaction, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		s := changeStep{Version: next.Request().Version, Changes: view.Diff(i.Request().View, next.Request().View), Patch: ops, After: after{next.Request().DisplayData, next.Request().View}}
		i, out.Steps = next, append(out.Steps, s)
	}
	edit := func(ops ...patch.Operation) {
		t.Helper()
		next, err := i.Edit(i.Request().Version, ops)
		add(ops, next, err)
	}
	complete := func(provider, key, id string) {
		t.Helper()
		item := workflow.Item{ContentID: id, MetadataID: "gm_1", URL: "/media/" + id}
		value := ordered.New("content_id", id, "metadata_id", "gm_1", "url", item.URL)
		op := patch.Operation{Op: "add", Path: ordered.Pointer("generations", provider, key) + "/-", Value: value}
		if data := i.Request().DisplayData; data.Object("generations").Object(provider) == nil {
			op.Path, op.Value = ordered.Pointer("generations", provider), ordered.New(key, []any{value})
		} else if !data.Object("generations").Object(provider).Has(key) {
			op.Path, op.Value = ordered.Pointer("generations", provider, key), []any{value}
		}
		next, _, err := i.AppendItems([]string{"generations", provider, key}, item)
		add([]patch.Operation{op}, next, err)
	}
	const card = "/prompts/midjourney/prompt_a"
	edit(patch.Operation{Op: "replace", Path: card + "/subject", Value: "A lighthouse"})
	edit(patch.Operation{Op: "remove", Path: card + "/environment"}, patch.Operation{Op: "add", Path: card + "/mood", Value: []any{"calm", "wide"}})
	complete("midjourney", "prompt_b", "gc_1")
	complete("leonardo", "anime_xl", "gc_2")
	complete("midjourney", "prompt_a", "gc_3")
	complete("midjourney", "prompt_a", "gc_4")
	edit(patch.Operation{Op: "replace", Path: "/prompts/leonardo/anime_xl", Value: "A {{ key }} in rain"})
	golden(t, "changes.golden.json", out)
}
