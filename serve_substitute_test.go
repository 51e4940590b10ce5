package atelier_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"atelier/internal/sim"

	"atelier"
	"atelier/api"
	"atelier/generate/generatetest/leonardosim"
)

// TestTheExampleOffline: without any key, the painter is the substitute for both providers of the example, and the
// label, the row and the dispositions say so; pictures and rows refer to each other; the choice is in the state.
func TestTheExampleOffline(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	r := s.startWorkflow(seedWorkflow(t))
	chosen := ""
	for _, c := range []struct {
		provider, key, source, sent string
		n                           int
	}{
		{"midjourney", "prompt_a", `{"subject":"...","environment":"..."}`, "..., ...", 4},
		{"leonardo", "phoenix_1_0", `"Primary subject: ..."`, "Primary subject: ...", 2},
	} {
		params := "{}"
		if c.provider == "leonardo" {
			params = `{"num_images":2}`
		}
		all, err := s.generate(r.ID, `{"interaction_id":"`+r.InteractionID+`","action_type":"media.`+c.provider+`.txt2img","provider":"`+c.provider+
			`","prompt_id":"`+c.key+`","operation":"txt2img","params":`+params+`,"source_data":`+c.source+`}`)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		end := all[len(all)-1]
		if end.Type != "complete" || len(end.Data.URLs) != c.n || len(end.Data.ContentIDs) != c.n {
			t.Fatalf("%s: %+v", c.provider, end)
		}
		chosen = end.Data.ContentIDs[1]
		s.checkSubstituted(t, c.provider, c.sent, end.Data.MetadataID)
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/interactions/"+r.InteractionID+"/answer", `{"selected_content_id":"`+chosen+`"}`))
	r = s.workflowRun(r.ID)
	var state map[string]any
	if err := json.Unmarshal(r.State, &state); err != nil || r.Status != "succeeded" || state["selected_image"] != chosen {
		t.Errorf("%s %s %v", r.Status, r.State, err)
	}
	s.checkLinks(r, chosen)
}

// checkLinks checks over HTTP that each picture of a run refers to the row of its sub-action, and the row to the
// picture, and that only the chosen one has a time of selection.
func (s *testServer) checkLinks(r api.WorkflowRun, chosen string) {
	s.t.Helper()
	rows := as[api.List[api.SubAction]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
	n := 0
	for _, row := range rows.Items {
		for _, c := range row.Contents {
			n++
			d := as[api.MediaDetails](s, http.StatusOK, s.do(http.MethodGet, "/api/media/"+c.MediaID, nil))
			if len(d.SubActions) != 1 {
				s.t.Fatalf("%s refers to %+v", c.MediaID, d.SubActions)
			}
			to := d.SubActions[0]
			if to.ContentID != c.ID || to.MetadataID != row.ID || to.WorkflowRunID != r.ID || to.InteractionID != row.InteractionID || to.PromptID != row.PromptID {
				s.t.Errorf("%+v refers to %+v", c, to)
			}
			if was := c.ID == chosen; (to.SelectedAt != nil) != was || (c.SelectedAt != nil) != was {
				s.t.Errorf("%s is chosen at %v, the row has %v", c.ID, to.SelectedAt, c.SelectedAt)
			}
		}
	}
	if n != 6 {
		s.t.Errorf("%d pictures, want 6", n)
	}
}

// checkSubstituted checks the row of a sub-action that the painter executed.
func (s *testServer) checkSubstituted(t *testing.T, provider, sent, id string) {
	t.Helper()
	row := as[api.SubAction](s, http.StatusOK, s.do(http.MethodGet, "/api/sub-actions/"+id, nil))
	if !row.StandIn || row.PromptAsSent != sent || row.Status != "succeeded" || row.FinishedAt == nil || !strings.Contains(string(row.Settings), "substituted") {
		t.Errorf("%+v\n%s", row, row.Settings)
	}
	op, _, _, err := s.Ledger.Operation(t.Context(), "local", row.OperationID)
	if err != nil || op.Tree != row.WorkflowRunID || op.RunID != row.WorkflowRunID || op.Provider != "offline" {
		t.Errorf("%+v %v", op, err)
	}
	rec, err := s.Ledger.MediaRecord(t.Context(), "local", row.Contents[0].MediaID)
	if err != nil || !strings.Contains(rec.Label, provider) {
		t.Errorf("the label is %q: %v", rec.Label, err)
	}
	list, err := s.Ledger.ContentOfMedia(t.Context(), "local", row.Contents[0].MediaID)
	if err != nil || len(list) != 1 || list[0].MetadataID != row.ID {
		t.Errorf("the picture does not lead to its row: %+v %v", list, err)
	}
}

// TestAFailedResultIsRepeated: a failed result is retried by its position within its sub-action, and is added to the
// interaction.
func TestAFailedResultIsRepeated(t *testing.T) {
	t.Parallel()
	w := newImageServer(t, leonardosim.Config{Pending: 1})
	w.leonardo.Inject(sim.Injection{Fault: sim.FaultInvalid})
	r := w.startWorkflow(seedWorkflow(t))
	all, err := w.generate(r.ID, `{"interaction_id":"`+r.InteractionID+`","path":"/prompts/leonardo/phoenix_1_0","sub_action_id":"generate"}`)
	if err != nil || all[len(all)-1].Type != "error" {
		t.Fatalf("%+v %v", all, err)
	}
	path := "/api/sub-actions/" + all[0].Data.MetadataID
	as[api.SubAction](w.testServer, http.StatusAccepted, w.do(http.MethodPost, path+"/retry", `{"positions":[1]}`))
	var row api.SubAction
	w.waitUntil("the result", func() bool {
		row = as[api.SubAction](w.testServer, http.StatusOK, w.do(http.MethodGet, path, nil))
		return row.FinishedAt != nil
	})
	if row.Status != "succeeded" || row.Error != nil || len(row.Contents) != 1 || len(row.Errors) != 0 {
		t.Fatalf("%+v", row)
	}
	if i := w.interaction(r.InteractionID); strings.Count(string(i.DisplayData), row.Contents[0].ID) != 1 {
		t.Errorf("%s", i.DisplayData)
	}
}
