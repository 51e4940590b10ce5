package atelier_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier"
	"atelier/api"
	"atelier/generate"
	"atelier/ledger"
	"atelier/media"
	"atelier/workflow"
)

// variants is a workflow with a choice and an approval. The prompts come from the state.
const variants = `{"id":"variants","title":"Variants","state_schema":{"type":"object","required":["scene"],"properties":{"scene":{"type":"string","minLength":1}}},
"steps":[
 {"id":"pick","module_id":"media.generation","inputs":{"title":"Pick: {{ state.scene }}","data":{"offline":{"z":"{{ state.scene }} by day","a":"{{ state.scene }} by night"}}}},
 {"id":"approve","module_id":"review.approve","inputs":{"title":"Publish?","data":{"text":"{{ state.scene }}"}},"output":"review"}
]}`

// workflowRun returns a run once it has ended or waits for an interaction.
func (s *testServer) workflowRun(id string) (r api.WorkflowRun) {
	s.t.Helper()
	s.waitUntil("workflow run "+id, func() bool {
		r = as[api.WorkflowRun](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+id, nil))
		return r.Status != "running" && (r.Status != "paused" || r.InteractionID != "")
	})
	return r
}

func (s *testServer) startWorkflow(body string) api.WorkflowRun {
	s.t.Helper()
	began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/workflow-runs", body))
	return s.workflowRun(began.ID)
}

func (s *testServer) interaction(id string) api.Interaction {
	s.t.Helper()
	return as[api.Interaction](s, http.StatusOK, s.do(http.MethodGet, "/api/interactions/"+id, nil))
}

// TestWorkflowByHTTP: a workflow pauses at a choice, is edited, answered and approved, and succeeds; its keys keep
// their order; a fork of it asks again.
func TestWorkflowByHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(`{"definition":` + variants + `,"state":{"scene":"a lake"}}`)
	if r.Status != "paused" || r.WorkflowID != "variants" || r.Title != "Variants" || len(r.Steps) != 2 || r.Steps[0].Status != "paused" || r.Steps[1].Status != "pending" {
		t.Fatalf("%+v", r)
	}
	i := s.interaction(r.InteractionID)
	if i.Title != "Pick: a lake" || i.Version != 0 || i.Status != "open" || i.StepID != "pick" || i.WorkflowRunID != r.ID {
		t.Errorf("%+v", i)
	}
	if want := `"prompts":{"offline":{"z":"a lake by day","a":"a lake by night"}}`; !strings.Contains(string(i.DisplayData), want) {
		t.Errorf("data %s", i.DisplayData)
	}
	path := "/api/interactions/" + i.InteractionID
	edit := s.do(http.MethodPatch, path, `[{"op":"replace","path":"/prompts/offline/z","value":"a lake at noon"}]`, "If-Match", `"0"`)
	c := as[api.InteractionChange](s, http.StatusOK, edit)
	if c.Version != 1 || len(c.Patch) != 1 || !strings.Contains(string(c.Changes), "a lake at noon") || edit.header.Get("ETag") != `"1"` {
		t.Errorf("%+v, %v", c, edit.header)
	}
	err := s.Workflows().AppendItems(t.Context(), "local", i.InteractionID, []string{"generations", "offline", "z"},
		workflow.Item{ContentID: "gc_1", MetadataID: "gm_1", URL: "/media/1"}, workflow.Item{ContentID: "gc_2", MetadataID: "gm_1", URL: "/media/2"})
	if err != nil {
		t.Fatal(err)
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, path+"/answer", `{"selected_content_id":"gc_2"}`))
	r = s.workflowRun(r.ID)
	if r.Status != "paused" || r.InteractionID == i.InteractionID || r.Steps[0].Status != "succeeded" {
		t.Fatalf("%+v", r)
	}
	if i = s.interaction(i.InteractionID); i.Status != "answered" || !strings.Contains(string(i.Answer), "gc_2") || i.AnsweredAt == nil {
		t.Errorf("%+v", i)
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/interactions/"+r.InteractionID+"/answer", `{"approved":true,"comment":"fine"}`))
	r = s.workflowRun(r.ID)
	if want := `{"scene":"a lake","selected_image":"gc_2","review":{"approved":true,"comment":"fine"}}`; r.Status != "succeeded" || compact(t, r.State) != want {
		t.Errorf("%s, %s, %+v", r.Status, r.State, r.Error)
	}
	f := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/workflow-runs/"+r.ID+"/fork", `{"step":"approve"}`))
	fork := s.workflowRun(f.ID)
	if fork.Status != "paused" || fork.ForkedFrom != r.ID || fork.Steps[0].Status != "succeeded" || compact(t, fork.State) != `{"scene":"a lake","selected_image":"gc_2"}` {
		t.Errorf("%+v", fork)
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/workflow-runs/"+f.ID+"/cancel", nil))
	if fork = s.workflowRun(f.ID); fork.Status != "cancelled" || fork.Steps[1].Status != "cancelled" {
		t.Errorf("%+v", fork)
	}
	if i = s.interaction(fork.Steps[1].Interactions[0]); i.Status != "cancelled" {
		t.Errorf("%+v", i)
	}
	list := as[api.List[api.WorkflowRun]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs", nil))
	if len(list.Items) != 2 || list.Items[1].WorkflowID != "variants" {
		t.Errorf("%+v", list)
	}
	kinds := map[string]int{}
	for _, e := range s.follow("/api/runs/"+r.ID+"/events?after=0", func(e receivedEvent) bool { return e.kind == "run-succeeded" }) {
		kinds[e.kind]++
	}
	for kind, n := range map[string]int{"step-started": 2, "step-finished": 2, "interaction-opened": 2, "interaction-patched": 2, "interaction-answered": 2, "run-paused": 2, "run-succeeded": 1} {
		if kinds[kind] != n {
			t.Errorf("%d × %s, want %d: %v", kinds[kind], kind, n, kinds)
		}
	}
}

func compact(t *testing.T, b json.RawMessage) string {
	t.Helper()
	out, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// click starts the sub-action of a prompt and returns the first content id of its result.
func (s *testServer) click(i api.Interaction, prompt string) string {
	s.t.Helper()
	body := `{"interaction_id":"` + i.InteractionID + `","path":"/prompts/` + prompt + `"}`
	r := s.do(http.MethodPost, "/workflow/"+i.WorkflowRunID+"/sub-action/stream", body)
	_, last, _ := strings.Cut(string(r.body), "event: complete")
	_, last, _ = strings.Cut(last, "data: ")
	last, _, _ = strings.Cut(last, "\n")
	var e struct {
		Data struct {
			ContentIDs []string `json:"content_ids"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(last), &e); err != nil || len(e.Data.ContentIDs) == 0 {
		s.t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return e.Data.ContentIDs[0]
}

// TestShippedWorkflows: the three examples run to their end offline, with pictures made in the runs and answers of
// people.
func TestShippedWorkflows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state, prompt string
		// multiple means that the answer is a list.
		multiple bool
		asked    int
		ends     func(state map[string]any) bool
	}{
		"campaign-images": {`{"brief":"A lighthouse at dusk"}`, "midjourney/hero", false, 1, func(state map[string]any) bool {
			files := state["campaign"].(map[string]any)["files"].([]any)
			return len(files) == 1 && strings.HasSuffix(files[0].(map[string]any)["name"].(string), ".jpg")
		}},
		"product-variants": {`{"product":"a brass lamp"}`, "leonardo/studio", true, 2, func(state map[string]any) bool {
			return len(state["variants"].([]any)) == 1 && state["approval"].(map[string]any)["approved"] == true
		}},
		"illustrated-report": {`{"topic":"lighthouses"}`, "gemini/title", false, 2, func(state map[string]any) bool {
			return strings.Contains(state["report"].(string), "<") && state["review"].(map[string]any)["approved"] == true
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, atelier.Config{})
			r := s.startWorkflow(`{"workflow_id":"` + name + `","state":` + c.state + `}`)
			asked := 0
			for ; r.Status == "paused"; asked++ {
				i := s.interaction(r.InteractionID)
				answer := `{"approved":true}`
				if i.InteractionType == "schema_with_sub_actions" {
					id := s.click(i, c.prompt)
					if answer = `{"selected_content_id":"` + id + `"}`; c.multiple {
						answer = `{"selected_content_ids":["` + id + `"]}`
					}
				}
				as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/interactions/"+i.InteractionID+"/answer", answer))
				r = s.workflowRun(r.ID)
			}
			state := map[string]any{}
			if err := json.Unmarshal(r.State, &state); err != nil {
				t.Fatal(err)
			}
			if r.Status != "succeeded" || asked != c.asked || !c.ends(state) {
				t.Fatalf("%s after %d answers: %+v\n%s", r.Status, asked, r.Error, r.State)
			}
			if name == "campaign-images" {
				s.checkExported(state["campaign"].(map[string]any)["files"].([]any)[0].(map[string]any)["url"].(string))
			}
			rows, err := s.Ledger.ListContentGenerations(t.Context(), "local", r.ID, ledger.Page{})
			if err != nil || len(rows.Items) != 1 {
				t.Fatalf("%+v, %v", rows, err)
			}
			if _, contents, err := s.Ledger.ContentGeneration(t.Context(), "local", rows.Items[0].ID); err != nil || contents[0].SelectedAt.IsZero() {
				t.Errorf("the choice is not on record: %+v, %v", contents, err)
			}
		})
	}
}

// TestWorkflowStatuses: a faulty request about workflows is refused with the status, the code and the place that the
// API documents.
func TestWorkflowStatuses(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(`{"definition":` + variants + `,"state":{"scene":"a lake"}}`)
	open := "/api/interactions/" + r.InteractionID
	later := s.startWorkflow(`{"definition":` + strings.Replace(variants, `"title":"Variants"`, `"title":"Variants","timeout":"1s"`, 1) + `,"state":{"scene":"a lake"}}`)
	expired := "/api/interactions/" + later.Steps[0].Interactions[0]
	s.waitUntil("the end of its time", func() bool { return s.interaction(later.Steps[0].Interactions[0]).Status == "expired" })
	if later = s.workflowRun(later.ID); later.Status != "failed" || later.Error == nil || later.Error.Code != "deadline_exceeded" || later.Steps[0].Status != "failed" {
		t.Errorf("%+v", later)
	}
	edit := func(path string) string { return `[{"op":"replace","path":"` + path + `","value":"x"}]` }
	if c := s.do(http.MethodPatch, open, edit("/prompts/offline/a"), "If-Match", "0"); c.status != http.StatusOK {
		t.Fatalf("%d %s", c.status, c.body)
	}
	for name, c := range map[string]struct {
		method, path, body, match string
		status                    int
		code, pointer             string
	}{
		"unknown run":             {"GET", "/api/workflow-runs/none", "", "", 404, "not_found", ""},
		"unknown interaction":     {"GET", "/api/interactions/none", "", "", 404, "not_found", ""},
		"unknown workflow":        {"POST", "/api/workflow-runs", `{"workflow_id":"none"}`, "", 404, "not_found", ""},
		"a file as workflow":      {"POST", "/api/workflow-runs", `{"workflow_id":"../x.yaml"}`, "", 404, "not_found", ""},
		"no workflow":             {"POST", "/api/workflow-runs", `{"state":{}}`, "", 400, "invalid", ""},
		"two workflows":           {"POST", "/api/workflow-runs", `{"workflow_id":"a","definition":{}}`, "", 400, "invalid", ""},
		"bad definition":          {"POST", "/api/workflow-runs", `{"definition":{"id":"a","title":"A","steps":[{"module_id":"x"}]}}`, "", 422, "invalid", "/definition/steps/0/module_id"},
		"bad state":               {"POST", "/api/workflow-runs", `{"workflow_id":"campaign-images","state":{"brief":""}}`, "", 422, "invalid", "/state/brief"},
		"state that is no object": {"POST", "/api/workflow-runs", `{"workflow_id":"campaign-images","state":[]}`, "", 422, "invalid", "/state"},
		"a proto key":             {"POST", "/api/workflow-runs", `{"workflow_id":"campaign-images","state":{"brief":"x","__proto__":{}}}`, "", 422, "invalid", "/state"},
		"unknown step":            {"POST", "/api/workflow-runs/" + r.ID + "/fork", `{"step":"approve"}`, "", 400, "invalid", ""},
		"edit without version":    {"PATCH", open, edit("/prompts/offline/a"), "", 400, "invalid", ""},
		"edit of an old version":  {"PATCH", open, edit("/prompts/offline/a"), "0", 412, "version", ""},
		"edit of the future":      {"PATCH", open, edit("/prompts/offline/a"), "9", 400, "invalid", ""},
		"edit outside of forms":   {"PATCH", open, edit("/generations"), "1", 422, "invalid", "/0/path"},
		"edit of another type":    {"PATCH", open, `[{"op":"replace","path":"/prompts/offline/a","value":7}]`, "1", 422, "invalid", "/prompts/offline/a"},
		"operation that is none":  {"PATCH", open, `[{"op":"move","path":"/a"}]`, "1", 422, "invalid", "/0/op"},
		"edit that is empty":      {"PATCH", open, `[]`, "1", 422, "invalid", ""},
		"nothing generated":       {"POST", open + "/answer", `{}`, "", 422, "invalid", "/selected_content_id"},
		"foreign content":         {"POST", open + "/answer", `{"selected_content_id":"gc_x"}`, "", 422, "invalid", "/selected_content_id"},
		"answer of another kind":  {"POST", open + "/answer", `{"approved":true}`, "", 422, "invalid", "/selected_content_id"},
		"unknown name":            {"POST", open + "/answer", `{"chosen":"x"}`, "", 422, "invalid", "/chosen"},
		"answer too late":         {"POST", expired + "/answer", `{"selected_content_id":"gc_x"}`, "", 409, "conflict", ""},
		"edit too late":           {"PATCH", expired, edit("/prompts/offline/a"), "0", 409, "conflict", ""},
		"answer by the run":       {"POST", "/api/runs/" + r.ID + "/answer", `{"answer":{"selected_content_id":"gc_x"}}`, "", 422, "invalid", "/answer"},
		"cancel of what is over":  {"POST", "/api/workflow-runs/" + later.ID + "/cancel", "", "", 409, "conflict", ""},
	} {
		headers := []string{"Content-Type", "application/json"}
		if c.match != "" {
			headers = append(headers, "If-Match", `"`+c.match+`"`)
		}
		var body any
		if c.body != "" {
			body = c.body
		}
		got := s.do(c.method, c.path, body, headers...)
		var p api.Problem
		if err := json.Unmarshal(got.body, &p); err != nil || got.status != c.status || p.Code != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
			continue
		}
		if c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: %+v, want %s", name, p.Errors, c.pointer)
		}
	}
	if now := s.workflowRun(r.ID); now.Status != "paused" || now.InteractionID != r.InteractionID {
		t.Errorf("the run is %s at %s", now.Status, now.InteractionID)
	}
}

// checkExported checks a file of media.export: a JPEG with the AI label, made from the chosen picture.
func (s *testServer) checkExported(url string) {
	s.t.Helper()
	d := as[api.MediaDetails](s, http.StatusOK, s.do(http.MethodGet, "/api/media/"+strings.TrimPrefix(url, "/media/"), nil))
	if d.MIMEType != "image/jpeg" || len(d.Parents) != 1 {
		s.t.Errorf("%+v", d)
	}
	if file := s.do(http.MethodGet, url, nil); !strings.Contains(string(file.body), "digitalsourcetype") {
		s.t.Errorf("the file has no AI label: %v", file.header)
	}
}

// TestWorkflowFolder: a server offers the workflows of a folder beside the examples. It starts with an invalid file and
// one that cannot be read, and lists their problems.
func TestWorkflowFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("variants.json", variants)
	s := serveWith(t, atelier.Config{}, atelier.ServeConfig{Workflows: dir})
	list := as[api.List[api.Workflow]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflows", nil))
	if len(list.Items) != 4 || list.Items[0].ID != "variants" {
		t.Errorf("%+v", list)
	}
	if r := s.startWorkflow(`{"workflow_id":"variants","state":{"scene":"a lake"}}`); r.Status != "paused" {
		t.Errorf("%+v", r)
	}
	write("worse.yaml", "id: worse\n")
	if err := os.Symlink("nowhere", filepath.Join(dir, "gone.yaml")); err != nil {
		t.Fatal(err)
	}
	s = serveWith(t, atelier.Config{}, atelier.ServeConfig{Workflows: dir})
	list = as[api.List[api.Workflow]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflows", nil))
	if len(list.Items) != 6 || !strings.Contains(list.Items[0].Problem, "gone.yaml:1:1: the file cannot be read") || list.Items[1].ID != "variants" || !strings.HasPrefix(list.Items[2].Problem, "worse.yaml:1:1") {
		t.Errorf("%+v", list)
	}
}

// TestMistakeInFolder: while a file of the folder has a mistake, the example with its id does not run in its place; those
// that the file only mentions run. Without files, the folder offers nothing.
func TestMistakeInFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write := func(title string) {
		if err := os.WriteFile(file, []byte("id: product-variants\ntitle: "+title+"\nsteps:\n  - module_id: review.approve\n    inputs: {title: A, data: {}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Mine")
	s := serveWith(t, atelier.Config{}, atelier.ServeConfig{Workflows: filepath.Dir(file)})
	const path, start = "/api/workflows/product-variants", `{"workflow_id":"product-variants"}`
	if r := s.startWorkflow(start); r.Status != "paused" {
		t.Errorf("%+v", r)
	}
	write("[Mine]")
	list := as[api.List[api.Workflow]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflows", nil))
	if len(list.Items) != 3 || list.Items[0].ID != "mine.yaml" || !strings.HasPrefix(list.Items[0].Problem, "mine.yaml:2:1: /title") {
		t.Errorf("%+v", list)
	}
	for _, r := range []reply{s.do(http.MethodPost, "/api/workflow-runs", start), s.do(http.MethodGet, path, nil), s.do(http.MethodGet, "/api/workflows/mine.yaml", nil)} {
		if r.status != http.StatusBadRequest || !strings.Contains(string(r.body), "mine.yaml:2:1: /title") {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	as[api.Workflow](s, http.StatusOK, s.do(http.MethodGet, "/api/workflows/illustrated-report", nil))
	write("[Mine]\ndescription: unlike illustrated-report")
	if w := as[api.Workflow](s, http.StatusOK, s.do(http.MethodGet, "/api/workflows/illustrated-report", nil)); w.Problem != "" {
		t.Errorf("a workflow that a broken file mentions: %+v", w)
	}
	write("Mine")
	if w := as[api.Workflow](s, http.StatusOK, s.do(http.MethodGet, path, nil)); w.Title != "Mine" {
		t.Errorf("%+v", w)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if w := as[api.Workflow](s, http.StatusOK, s.do(http.MethodGet, path, nil)); w.Title == "Mine" {
		t.Errorf("after the last file was removed: %+v", w)
	}
}

// TestGenerationsOutliveTheAnswer: a generation in progress finishes, although the answer says to keep it and the run
// ends earlier.
func TestGenerationsOutliveTheAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(`{"definition":{"id":"one","title":"One","steps":[{"id":"ok","module_id":"review.approve","inputs":{"title":"Right?","data":{}}}]}}`)
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "local", Tree: r.ID, Run: r.ID})
	done := make(chan error, 1)
	var res *generate.Result
	go func() {
		var err error
		res, err = s.Gateway.Generate(ctx, generate.Request{
			Prompt: "a lake", Model: "offline", Size: "64x64", Options: map[string]map[string]any{"offline": {"delay_ms": 1500}},
		})
		done <- err
	}()
	s.waitUntil("the generation", func() bool {
		list, err := s.Ledger.ListOperations(t.Context(), "local", ledger.OperationQuery{Tree: r.ID})
		return err == nil && len(list.Items) == 1
	})
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/interactions/"+r.InteractionID+"/answer", `{"approved":true,"running":"keep"}`))
	if r = s.workflowRun(r.ID); r.Status != "succeeded" {
		t.Errorf("%+v", r)
	}
	if err := <-done; err != nil || len(res.Outputs()) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestValidateJSON: a definition in JSON is read as JSON, with its escapes and the positions of its problems.
func TestValidateJSON(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	check := func(definition string) api.WorkflowCheck {
		body, err := json.Marshal(api.WorkflowText{Text: definition})
		if err != nil {
			t.Fatal(err)
		}
		return as[api.WorkflowCheck](s, http.StatusOK, s.do(http.MethodPost, "/api/workflows/validate", string(body)))
	}
	c := check(`{"id": "w", "title": "\ud83c\udfa8 Paint", "steps": [{"module_id": "review.approve", "inputs": {"title": "T", "data": 1}}]}`)
	if len(c.Problems) > 0 || c.Workflow == nil || c.Workflow.Title != "🎨 Paint" {
		t.Errorf("%+v", c)
	}
	if c = check("{\n \"id\": \"w\",\n \"title\": 5, \"steps\": []}"); len(c.Problems) == 0 || c.Problems[0].Line != 3 || c.Problems[0].Column != 2 {
		t.Errorf("%+v", c.Problems)
	}
}
