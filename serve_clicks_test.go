package atelier_test

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"atelier"
	"atelier/api"
)

// cards is a workflow with text cards of a provider that needs no key and of one without its key.
const cards = `{"definition":{"id":"cards","title":"Cards","steps":[{"id":"pick","module_id":"media.generation","inputs":{"title":"Pick",
 "data":{"offline":{"a":"a lake","b":"a boat"},"midjourney":{"hero":"a fox"}},
 "param_schemas":{"offline":{"type":"object","properties":{"n":{"type":"integer","maximum":4},"width":{"type":"integer"},"height":{"type":"integer"},"delay_ms":{"type":"integer"},"fail_slots":{"type":"array"},"moderate_slots":{"type":"array"},"fail":{"type":"string"}}}}}}]}}`

// clickOn sends a click for small pictures, with fields that override those of card a.
func (s *testServer) clickOn(r api.WorkflowRun, fields map[string]any) reply {
	s.t.Helper()
	body := map[string]any{"interaction_id": r.InteractionID, "action_type": "media.offline.txt2img", "prompt_id": "a"}
	for name, v := range fields {
		if body[name] = v; v == nil {
			delete(body, name)
		}
	}
	given, isObject := body["params"].(map[string]any)
	if body["action_type"] == "media.offline.txt2img" && (isObject || body["params"] == nil) {
		params := map[string]any{"width": 64, "height": 64}
		maps.Copy(params, given)
		body["params"] = params
	}
	return s.do(http.MethodPost, "/workflow/"+r.ID+"/sub-action/stream", body)
}

// lastOf returns the last event of a stream.
func lastOf(t *testing.T, r reply) (kind string, data struct {
	ContentIDs []string             `json:"content_ids"`
	MetadataID string               `json:"metadata_id"`
	Errors     []api.SubActionError `json:"errors"`
	Code       string               `json:"code"`
	Retryable  bool                 `json:"retryable"`
},
) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(r.body)), "\n")
	var e struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[len(lines)-1], "data: ")), &e); err != nil || r.status != http.StatusOK {
		t.Fatalf("%d %v: %s", r.status, err, r.body)
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatal(err)
	}
	return e.Type, data
}

// TestSubstitutedSubActions: if another provider has a key, a click on a provider without one is refused, unless it
// allows the painter as a substitute. An answered interaction accepts no click and no retry.
func TestSubstitutedSubActions(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{Keys: map[string]string{"leonardo": "a-key"}})
	r := s.startWorkflow(cards)
	hero := map[string]any{"action_type": "media.midjourney.txt2img", "prompt_id": "hero"}
	if got := s.clickOn(r, hero); got.status != http.StatusFailedDependency || !strings.Contains(string(got.body), "missing_key") {
		t.Errorf("%d %s", got.status, got.body)
	}
	hero["stand_in"] = "offline"
	kind, done := lastOf(t, s.clickOn(r, hero))
	if kind != "complete" || len(done.ContentIDs) != 4 {
		t.Errorf("%s %+v", kind, done)
	}
	_, failed := lastOf(t, s.clickOn(r, map[string]any{"params": map[string]any{"n": 2, "fail_slots": []int{2}}}))
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/interactions/"+r.InteractionID+"/answer", `{"selected_content_id":"`+done.ContentIDs[0]+`"}`))
	if got := s.clickOn(r, nil); got.status != http.StatusConflict {
		t.Errorf("a click: %d %s", got.status, got.body)
	}
	if got := s.do(http.MethodPost, "/api/sub-actions/"+failed.MetadataID+"/retry", `{"positions":[2]}`); got.status != http.StatusConflict {
		t.Errorf("a retry: %d %s", got.status, got.body)
	}
}

// TestOptionsAreParameters: the value of an option that only the Gateway can check is refused as a parameter, by a click
// and by its price. A prompt that is too long is not a parameter.
func TestOptionsAreParameters(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(cards)
	bad := map[string]any{"action_type": "media.offline.txt2img", "prompt_id": "a", "params": map[string]any{"fail_slots": []string{"x"}}}
	refusedAs(t, "a click", s.clickOn(r, bad), refusal{http.StatusUnprocessableEntity, "invalid", "/params"})
	refusedAs(t, "its price", s.do(http.MethodPost, "/api/interactions/"+r.InteractionID+"/price", bad), refusal{http.StatusUnprocessableEntity, "invalid", "/params"})
	r = s.startWorkflow(strings.Replace(cards, "a lake", strings.Repeat("a lake ", 5000), 1))
	refusedAs(t, "a long prompt", s.clickOn(r, map[string]any{"params": map[string]any{"delay_ms": 1}}), refusal{status: http.StatusBadRequest, code: "invalid"})
	delete(bad, "params")
	refusedAs(t, "its price", s.do(http.MethodPost, "/api/interactions/"+r.InteractionID+"/price", bad), refusal{status: http.StatusBadRequest, code: "invalid"})
}

// TestClickWithMedia: media as data in a click is refused, as in an edit and an answer, and nothing of it is stored.
func TestClickWithMedia(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(cards)
	picture := "data:image/png;base64," + strings.Repeat("iVBORw0KGgoA", 40)
	refusedAs(t, "a click", s.clickOn(r, map[string]any{"params": map[string]any{"fail": picture}}), refusal{status: http.StatusBadRequest, code: "invalid"})
	if got := s.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil); strings.Contains(string(got.body), "iVBORw0KGgo") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestFailingSubActions: a failing result or card does not affect the others; a failed result can be retried by its
// position, a moderated one cannot, and the row stays as it was.
func TestFailingSubActions(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(cards)
	kind, done := lastOf(t, s.clickOn(r, map[string]any{"params": map[string]any{"n": 3, "fail_slots": []int{2}, "moderate_slots": []int{3}}}))
	if kind != "complete" || len(done.ContentIDs) != 1 || len(done.Errors) != 2 || done.Errors[0].Position != 2 || !done.Errors[0].Retryable || done.Errors[1].Code != "moderated" || done.Errors[1].Retryable {
		t.Fatalf("%s %+v", kind, done)
	}
	path := "/api/sub-actions/" + done.MetadataID
	before := as[api.SubAction](s, http.StatusOK, s.do(http.MethodGet, path, nil))
	if got := s.do(http.MethodPost, path+"/retry", `{"positions":[3]}`); got.status != http.StatusBadRequest && got.status != http.StatusUnprocessableEntity {
		t.Errorf("what was moderated is asked for again: %d %s", got.status, got.body)
	}
	s.waitUntil("the row", func() bool {
		return as[api.SubAction](s, http.StatusOK, s.do(http.MethodGet, path, nil)).FinishedAt != nil
	})
	if after := as[api.SubAction](s, http.StatusOK, s.do(http.MethodGet, path, nil)); after.Status != before.Status || after.Error != nil || len(after.Contents) != 1 || after.Contents[0].ID != done.ContentIDs[0] {
		t.Errorf("%+v\nwas %+v", after, before)
	}
	for card, c := range map[string]string{"fail": "unavailable", "moderated": "moderated"} {
		params := map[string]any{"fail": "unavailable"}
		if card == "moderated" {
			params = map[string]any{"moderate_slots": []int{1}}
		}
		if kind, failed := lastOf(t, s.clickOn(r, map[string]any{"params": params})); kind != "error" || failed.Code != c || failed.Retryable != (c == "unavailable") {
			t.Errorf("%s: %s %+v", card, kind, failed)
		}
	}
	if kind, other := lastOf(t, s.clickOn(r, map[string]any{"prompt_id": "b"})); kind != "complete" || len(other.ContentIDs) != 1 {
		t.Errorf("another card: %s %+v", kind, other)
	}
}

// TestLostStream: a client that loses the stream gets its end with Last-Event-ID, by the id or by the same click; the
// same click with another body is a conflict; nothing is made twice.
func TestLostStream(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(cards)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	body := `{"interaction_id":"` + r.InteractionID + `","action_type":"media.offline.txt2img","prompt_id":"a","params":{"delay_ms":300},"request_id":"click-1"}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/workflow/"+r.ID+"/sub-action/stream", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(res.Body)
	var head []string
	for len(head) < 3 && lines.Scan() {
		head = append(head, lines.Text())
	}
	leave()
	res.Body.Close()
	if !slices.Equal(head[:2], []string{"id: 1", "event: accepted"}) {
		t.Fatalf("%q", head)
	}
	id := strings.Split(strings.SplitAfter(head[2], `"metadata_id":"`)[1], `"`)[0]
	again := s.do(http.MethodGet, "/api/sub-actions/"+id+"/stream", nil, "Last-Event-ID", "1")
	kind, done := lastOf(t, again)
	if kind != "complete" || len(done.ContentIDs) != 1 || strings.Contains(string(again.body), "accepted") {
		t.Errorf("%s", again.body)
	}
	if kind, same := lastOf(t, s.do(http.MethodPost, "/workflow/"+r.ID+"/sub-action/stream", body)); kind != "complete" || same.MetadataID != id || !slices.Equal(same.ContentIDs, done.ContentIDs) {
		t.Errorf("%s %+v, want %+v", kind, same, done)
	}
	if other := s.do(http.MethodPost, "/workflow/"+r.ID+"/sub-action/stream", strings.Replace(body, "300", "301", 1)); other.status != http.StatusConflict {
		t.Errorf("%d %s", other.status, other.body)
	}
	rows := as[api.List[api.SubAction]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
	if len(rows.Items) != 1 {
		t.Errorf("%d sub-actions, want 1", len(rows.Items))
	}
}

// TestKeptSubAction: a sub-action that the answer keeps continues after the run has ended and returns its result, but
// does not change the interaction.
func TestKeptSubAction(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(cards)
	_, done := lastOf(t, s.clickOn(r, nil))
	began := make(chan reply, 1)
	go func() {
		began <- s.clickOn(r, map[string]any{"prompt_id": "b", "params": map[string]any{"delay_ms": 3000}})
	}()
	s.waitUntil("two sub-actions", func() bool {
		list := as[api.List[api.SubAction]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
		return len(list.Items) == 2 && list.Items[1].OperationID != ""
	})
	answer := "/api/interactions/" + r.InteractionID + "/answer"
	if got := s.do(http.MethodPost, answer, `{"selected_content_id":"`+done.ContentIDs[0]+`"}`); got.status != http.StatusConflict || !strings.Contains(string(got.body), "sub_actions_running") {
		t.Errorf("%d %s", got.status, got.body)
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, answer, `{"selected_content_id":"`+done.ContentIDs[0]+`","running":"keep"}`))
	if run := s.workflowRun(r.ID); run.Status != "succeeded" {
		t.Errorf("%+v", run)
	}
	version := s.interaction(r.InteractionID).Version
	kind, kept := lastOf(t, <-began)
	if kind != "complete" || len(kept.ContentIDs) != 1 {
		t.Errorf("%s %+v", kind, kept)
	}
	if i := s.interaction(r.InteractionID); i.Version != version || strings.Contains(string(i.DisplayData), kept.MetadataID) {
		t.Errorf("an answered interaction was changed: %s", i.DisplayData)
	}
}

// TestCancelledRunStopsSubActions: a run is cancelled while a sub-action runs: the sub-action stops at once instead of
// generating, and being billed, to its end.
func TestCancelledRunStopsSubActions(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	for _, path := range []string{"/api/workflow-runs/", "/api/runs/"} {
		r := s.startWorkflow(cards)
		ended := make(chan reply, 1)
		go func() { ended <- s.clickOn(r, map[string]any{"params": map[string]any{"delay_ms": 60_000}}) }()
		s.waitUntil("the generation", func() bool {
			list := as[api.List[api.SubAction]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
			return len(list.Items) == 1 && list.Items[0].OperationID != ""
		})
		as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, path+r.ID+"/cancel", nil))
		if kind, stopped := lastOf(t, <-ended); kind != "error" || stopped.Code != "cancelled" {
			t.Errorf("%s: %s %+v", path, kind, stopped)
		}
	}
}
