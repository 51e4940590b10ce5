package apitest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier/api"
	"atelier/media"
)

// approval is a workflow with two approvals.
const approval = `{"id":"approval","title":"Two approvals","steps":[
 {"id":"first","module_id":"review.approve","inputs":{"title":"First: {{ state.what }}","data":{"what":"{{ state.what }}"},
  "display_schema":{"type":"object","properties":{"data":{"type":"object","properties":{"what":{"type":"string","_ux":{"input_schema":{"type":"string"}}}}}}}}},
 {"id":"second","module_id":"review.approve","inputs":{"title":"Second","data":{}},"output":"second"}]}`

// waits waits until a workflow run is paused at an interaction or has ended, and returns the run.
func waits(t *testing.T, s Service, id string) api.WorkflowRun {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for ctx.Err() == nil {
		r := must(s.WorkflowRun(ctx, id))(t)
		if r.Status != "running" && (r.Status != "paused" || r.InteractionID != "") {
			return r
		}
		wait(ctx)
	}
	t.Fatalf("workflow run %s goes on", id)
	return api.WorkflowRun{}
}

func workflows(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	all := must(s.ListWorkflows(ctx))(t)
	if len(all) < 3 || all[0].ID == "" || len(all[0].Steps) == 0 {
		t.Fatalf("%+v", all)
	}
	one := must(s.Workflow(ctx, all[0].ID))(t)
	if one.ID != all[0].ID || len(one.Definition) == 0 || one.Text == "" {
		t.Errorf("%+v", one)
	}
	bad := must(s.CheckWorkflow(ctx, api.WorkflowText{Text: "id: a\ntitle: A\nsteps:\n  - module_id: nothing\n"}))(t)
	if len(bad.Problems) != 1 || bad.Problems[0].Line != 4 || bad.Problems[0].Pointer != "/steps/0/module_id" || bad.Workflow != nil {
		t.Errorf("%+v", bad)
	}
	good := must(s.CheckWorkflow(ctx, api.WorkflowText{Text: approval, State: json.RawMessage(`{"what":"a hat"}`)}))(t)
	if len(good.Problems) != 0 || good.Workflow == nil || good.Preview == nil || good.Preview.Title != "First: a hat" {
		t.Errorf("%+v", good)
	}
	if empty := must(s.CheckWorkflow(ctx, api.WorkflowText{Text: approval}))(t); empty.Preview != nil {
		t.Errorf("a preview without state: %+v", empty.Preview)
	}
}

func workflowRuns(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	const key = "0198a000-0000-7000-8000-00000000000a"
	ask := api.NewWorkflowRun{Definition: json.RawMessage(approval), State: json.RawMessage(`{"what":"a hat"}`)}
	began := must(s.StartWorkflowRun(ctx, key, ask))(t)
	if again := must(s.StartWorkflowRun(ctx, key, ask))(t); again.ID != began.ID {
		t.Errorf("the same again began %s beside %s", again.ID, began.ID)
	}
	r := waits(t, s, began.ID)
	i := must(s.Interaction(ctx, r.InteractionID))(t)
	if r.Status != "paused" || i.Title != "First: a hat" || i.Status != "open" {
		t.Fatalf("%+v\n%+v", r, i)
	}
	change := func(version int, what string) (api.InteractionChange, error) {
		return s.PatchInteraction(ctx, i.InteractionID, version, []api.PatchOperation{{Op: "replace", Path: "/data/what", Value: json.RawMessage(what)}})
	}
	if c := must(change(i.Version, `"a coat"`))(t); c.Version != i.Version+1 || len(c.Patch) != 1 || string(c.Patch[0].Value) != `"a coat"` {
		t.Errorf("%+v", c)
	}
	_, err := change(i.Version, `"a scarf"`)
	refused(t, "an edit that a newer one contradicts", err, media.CodeVersion)
	_, err = change(i.Version+1, `7`)
	refused(t, "a value that its form does not take", err, media.CodeInvalid)
	yes := true
	_, err = s.AnswerInteraction(ctx, i.InteractionID, api.InteractionAnswer{Comment: "?"})
	refused(t, "an answer that says nothing", err, media.CodeInvalid)
	_, err = s.AnswerInteraction(ctx, i.InteractionID, api.InteractionAnswer{Approved: &yes, Version: &i.Version})
	refused(t, "an approval of data that was edited since", err, media.CodeStaleData)
	now := i.Version + 1
	must(s.AnswerInteraction(ctx, i.InteractionID, api.InteractionAnswer{Approved: &yes, Version: &now}))(t)
	_, err = s.AnswerInteraction(ctx, i.InteractionID, api.InteractionAnswer{Approved: &yes})
	refused(t, "a second answer", err, media.CodeConflict)
	_, err = change(i.Version+1, `"a shoe"`)
	refused(t, "an edit after the answer", err, media.CodeConflict)
	if r = waits(t, s, began.ID); len(r.Steps) != 2 || r.Steps[0].Status != "succeeded" || r.Steps[1].Status != "paused" {
		t.Errorf("%+v", r)
	}
	fork := waits(t, s, must(s.ForkWorkflowRun(ctx, "0198a000-0000-7000-8000-00000000000b", began.ID, api.WorkflowFork{Step: "first"}))(t).ID)
	if fork.Status != "paused" || fork.Steps[0].Status != "paused" || fork.ForkedFrom != began.ID {
		t.Errorf("%+v", fork)
	}
	must(s.CancelWorkflowRun(ctx, fork.ID))(t)
	if fork = waits(t, s, fork.ID); fork.Status != "cancelled" {
		t.Errorf("%+v", fork)
	}
	must(s.AnswerInteraction(ctx, r.InteractionID, api.InteractionAnswer{Approved: &yes, Comment: "good"}))(t)
	if r = waits(t, s, began.ID); r.Status != "succeeded" || !strings.Contains(string(r.State), `"second":{"approved":true,"comment":"good"}`) {
		t.Errorf("%s %s", r.Status, r.State)
	}
	if list := must(s.ListWorkflowRuns(ctx, api.WorkflowRunQuery{Status: "succeeded"}))(t); len(list.Items) != 1 || list.Items[0].WorkflowID != "approval" {
		t.Errorf("%+v", list)
	}
}
