package atelier_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"atelier"
	"atelier/api"
	"atelier/generate"
)

// refusal is the status, the code and, unless empty, the pointer of a refused request.
type refusal struct {
	status        int
	code, pointer string
}

// refusedAs checks that a request was refused as expected.
func refusedAs(t *testing.T, name string, got reply, want refusal) {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal(got.body, &p); err != nil || got.status != want.status || p.Code != want.code {
		t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, want.status, want.code)
		return
	}
	if want.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != want.pointer) {
		t.Errorf("%s: %+v, want %s", name, p.Errors, want.pointer)
	}
}

// TestDefinitionsThatAreRefused: templates and schemas that cannot work are refused with their place, before a run
// starts.
func TestDefinitionsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	inputs := func(title, data string) string {
		return `{"definition":{"id":"w","title":"W","steps":[{"module_id":"media.generation","inputs":{"title":"` + title + `","data":` + data + `}}]}}`
	}
	schema := func(display string) string {
		return `{"definition":{"id":"w","title":"W","steps":[{"module_id":"media.generation","inputs":{"title":"T","data":{},"display_schema":"{{ step.s }}"},"config":{"s":` + display + `}}]}}`
	}
	var wide strings.Builder
	for n := range 10_000 {
		fmt.Fprintf(&wide, `"f%d":{},`, n)
	}
	const title, data, at = "/definition/steps/0/inputs/title", "/definition/steps/0/inputs/data", "/definition/steps/0/config/s"
	for name, c := range map[string]struct{ body, pointer string }{
		"a template without its end":        {inputs("{{ state.a", "{}"), title},
		"a template in a template":          {inputs("{{ {{ state.a }} }}", "{}"), title},
		"code":                              {inputs("{{ state.a.constructor() }}", "{}"), title},
		"a path outside":                    {inputs("{{ env.HOME }}", "{}"), title},
		"a path of the prototype":           {inputs("{{ state.__proto__ }}", "{}"), title},
		"a path to a later step":            {inputs("{{ steps.later.x }}", "{}"), title},
		"a template deep in the data":       {inputs("T", `{"offline":{"a":["{{ state.a"]}}`), data + "/offline/a/0"},
		"a name of the prototype":           {inputs("T", `{"__proto__":{}}`), "/definition"},
		"a schema 100 deep":                 {schema(strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100)), ""},
		"10,000 fields":                     {schema(`{"properties":{` + wide.String() + `"last":{}}}`), at},
		"a circular reference":              {schema(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/a"}}}}}`), ""},
		"a reference to another server":     {schema(`{"properties":{"a":{"$ref":"https://example.org/x"}}}`), at + "/properties/a/$ref"},
		"an unknown name":                   {schema(`{"_ux":{"colour":"red"}}`), at + "/_ux/colour"},
		"a target onto the prompts":         {schema(`{"_ux":{"sub_action":{"id":"g","label":"L","action_type":"a","result_target":"prompts.x"}}}`), at + "/_ux/sub_action/result_target"},
		"a target that is chosen by people": {schema(`{"_ux":{"sub_action":{"id":"g","label":"L","action_type":"a","result_target":"{{ $key }}.x"}}}`), at + "/_ux/sub_action/result_target"},
		"the state in a display schema":     {schema(`{"_ux":{"display_label":"{{ state.secret }}"}}`), at + "/_ux/display_label"},
		"a schema of the state":             {strings.Replace(schema(`{}`), "{{ step.s }}", "{{ state.s }}", 1), "/definition/steps/0/inputs/display_schema"},
	} {
		refusedAs(t, name, s.do(http.MethodPost, "/api/workflow-runs", c.body), refusal{http.StatusUnprocessableEntity, "invalid", c.pointer})
	}
	if list := as[api.List[api.WorkflowRun]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs", nil)); len(list.Items) != 0 {
		t.Errorf("%d runs began", len(list.Items))
	}
}

// TestTemplatesOfTheState: a template that fails only with the actual state fails the step, with its place.
func TestTemplatesOfTheState(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	for template, says := range map[string]string{"{{ state.missing }}": "/title", "About {{ state.a }}": "/title"} {
		r := s.startWorkflow(`{"definition":{"id":"w","title":"W","steps":[{"id":"pick","module_id":"media.generation","inputs":{"title":"` + template + `","data":{}}}]},"state":{"a":{"b":1}}}`)
		if r.Status != "failed" || r.Error == nil || r.Error.Code != "invalid" || !strings.Contains(r.Error.Message, says) || !strings.Contains(r.Error.Message, "pick") {
			t.Errorf("%s: %s %+v", template, r.Status, r.Error)
		}
	}
}

// TestBracesOfPeopleAreText: {{ in the state or in an edit is text on the card, in the prompt as sent and in the row.
func TestBracesOfPeopleAreText(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(`{"definition":{"id":"w","title":"W","steps":[{"module_id":"media.generation","inputs":{"title":"Pick","data":{"offline":{"a":"{{ state.words }}","b":"x"}}}}]},
	 "state":{"words":"{{ state.secret }} {{","secret":"s3cr3t"}}`)
	as[api.InteractionChange](s, http.StatusOK, s.do(http.MethodPatch, "/api/interactions/"+r.InteractionID, `[{"op":"replace","path":"/prompts/offline/b","value":"{{ $key }} }}"}]`, "If-Match", `"0"`))
	for key, sent := range map[string]string{"a": "{{ state.secret }} {{", "b": "{{ $key }} }}"} {
		kind, done := lastOf(t, s.clickOn(r, map[string]any{"prompt_id": key}))
		if kind != "complete" {
			t.Fatalf("%s: %s %+v", key, kind, done)
		}
		if row := as[api.SubAction](s, http.StatusOK, s.do(http.MethodGet, "/api/sub-actions/"+done.MetadataID, nil)); row.PromptAsSent != sent {
			t.Errorf("%s was sent as %q", key, row.PromptAsSent)
		}
	}
	if i := s.interaction(r.InteractionID); strings.Contains(string(i.DisplayData)+string(i.View), "s3cr3t") {
		t.Errorf("the state is on the card: %s %s", i.DisplayData, i.View)
	}
}

// TestAnswersThatAreRefused: an answer is refused if nothing was generated, if it chooses a foreign or failed result,
// or if the interaction is already answered.
func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r, other := s.startWorkflow(cards), s.startWorkflow(cards)
	path := "/api/interactions/" + r.InteractionID
	choose := func(id string) reply {
		return s.do(http.MethodPost, path+"/answer", `{"selected_content_id":"`+id+`"}`)
	}
	refusedAs(t, "nothing generated", choose("gc_0"), refusal{http.StatusUnprocessableEntity, "invalid", "/selected_content_id"})
	_, foreign := lastOf(t, s.clickOn(other, nil))
	kind, failed := lastOf(t, s.clickOn(r, map[string]any{"params": map[string]any{"moderate_slots": []int{1}}}))
	if kind != "error" || failed.Code != "moderated" {
		t.Fatalf("%s %+v", kind, failed)
	}
	_, partly := lastOf(t, s.clickOn(r, map[string]any{"params": map[string]any{"n": 2, "fail_slots": []int{2}}}))
	row := as[api.SubAction](s, http.StatusOK, s.do(http.MethodGet, "/api/sub-actions/"+partly.MetadataID, nil))
	for name, id := range map[string]string{
		"a result of another run": foreign.ContentIDs[0], "a sub-action that failed": partly.MetadataID,
		"the picture instead of the result": row.Contents[0].MediaID, "no result": "",
	} {
		refusedAs(t, name, choose(id), refusal{http.StatusUnprocessableEntity, "invalid", "/selected_content_id"})
	}
	if rows := as[api.List[api.SubAction]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+other.ID+"/sub-actions", nil)); rows.Items[0].Contents[0].SelectedAt != nil {
		t.Error("a refused answer is on record as a choice")
	}
	s.checkOneAnswer(path, partly.ContentIDs[0])
	for name, got := range map[string]reply{
		"another answer": choose(partly.ContentIDs[0]), "a click": s.clickOn(r, nil), "a price": s.do(http.MethodPost, path+"/price", `{"path":"/prompts/offline/a"}`),
		"an edit":  s.do(http.MethodPatch, path, `[{"op":"replace","path":"/prompts/offline/a","value":"x"}]`, "If-Match", "\"1\""),
		"a repeat": s.do(http.MethodPost, "/api/sub-actions/"+partly.MetadataID+"/retry", `{"positions":[2]}`),
	} {
		refusedAs(t, name, got, refusal{http.StatusConflict, "conflict", ""})
	}
}

// checkOneAnswer sends the same answer ten times at once: one is accepted, nine are conflicts.
func (s *testServer) checkOneAnswer(path, id string) {
	s.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[int]int{}
	for range 10 {
		all.Go(func() {
			r := s.do(http.MethodPost, path+"/answer", `{"selected_content_id":"`+id+`"}`)
			mu.Lock()
			defer mu.Unlock()
			got[r.status]++
		})
	}
	all.Wait()
	if got[http.StatusAccepted] != 1 || got[http.StatusConflict] != 9 {
		s.t.Errorf("ten answers at the same time: %v", got)
	}
}

// TestOneClickTenTimes: ten concurrent requests with the same click are one sub-action with one result.
func TestOneClickTenTimes(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(cards)
	var mu sync.Mutex
	var all sync.WaitGroup
	ids := map[string]int{}
	for range 10 {
		all.Go(func() {
			kind, done := lastOf(t, s.clickOn(r, map[string]any{"request_id": "click", "params": map[string]any{"delay_ms": 50}}))
			mu.Lock()
			defer mu.Unlock()
			if kind == "complete" && len(done.ContentIDs) == 1 {
				ids[done.ContentIDs[0]]++
			}
		})
	}
	all.Wait()
	rows := as[api.List[api.SubAction]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
	if len(rows.Items) != 1 || len(ids) != 1 {
		t.Fatalf("%d sub-actions, results %v", len(rows.Items), ids)
	}
	for id, n := range ids {
		if n != 10 || rows.Items[0].Contents[0].ID != id {
			t.Errorf("%s came to %d of 10, the row has %+v", id, n, rows.Items[0].Contents)
		}
	}
}

// TestSubActionsOverBudget: a sub-action over budget fails with that code and makes nothing; one within it succeeds.
func TestSubActionsOverBudget(t *testing.T) {
	t.Parallel()
	c := atelier.Config{}
	c.Budget.Owner = generate.Bounds{Images: 1}
	s := serve(t, c)
	r := s.startWorkflow(cards)
	kind, failed := lastOf(t, s.clickOn(r, map[string]any{"params": map[string]any{"n": 2}}))
	if kind != "error" || failed.Code != "over_budget" || failed.Retryable {
		t.Errorf("%s %+v", kind, failed)
	}
	if kind, made := lastOf(t, s.clickOn(r, nil)); kind != "complete" || len(made.ContentIDs) != 1 {
		t.Errorf("one picture: %s %+v", kind, made)
	}
}
