package apitest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier/api"
	"atelier/media"
)

// events returns the events of a sub-action's stream.
func events(s Service, id string, after int) (all []api.SubActionEvent, err error) {
	for e, err := range s.FollowSubAction(context.Background(), id, after) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

// complete is the data of the last event of a successful stream.
type complete struct {
	URLs       []string             `json:"urls"`
	ContentIDs []string             `json:"content_ids"`
	MetadataID string               `json:"metadata_id"`
	Errors     []api.SubActionError `json:"errors"`
}

func subActions(t *testing.T, s Service) {
	t.Helper()
	ctx := t.Context()
	began := must(s.StartWorkflowRun(ctx, "", api.NewWorkflowRun{WorkflowID: "campaign-images", State: json.RawMessage(`{"brief":"a boat on the sea"}`)}))(t)
	r := waits(t, s, began.ID)
	click := json.RawMessage(`{"interaction_id":"` + r.InteractionID + `","action_type":"media.midjourney.txt2img","provider":"midjourney","prompt_id":"hero","params":{"aspect_ratio":"1:1"},"source_data":"a boat on the sea","request_id":"r1"}`)
	if p := must(s.PriceSubAction(ctx, r.InteractionID, json.RawMessage(`{"action_type":"media.leonardo.txt2img","prompt_id":"phoenix_1_0"}`)))(t); p.EstimatedUSD == nil {
		t.Error("no price")
	}
	id := must(s.StartSubAction(ctx, r.ID, "", click))(t)
	if again := must(s.StartSubAction(ctx, r.ID, "", click))(t); again != id {
		t.Errorf("the same click again is %s, not %s", again, id)
	}
	_, err := s.StartSubAction(ctx, r.ID, "", json.RawMessage(strings.Replace(string(click), "1:1", "16:9", 1)))
	refused(t, "another click of the same identity", err, media.CodeConflict)
	all, err := events(s, id, 0)
	if err != nil || len(all) < 2 || all[0].Type != "accepted" || all[0].ID != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	var done complete
	if err := json.Unmarshal(all[len(all)-1].Data, &done); err != nil || all[len(all)-1].Type != "complete" {
		t.Fatalf("%+v %v", all, err)
	}
	if len(done.URLs) != 4 || len(done.ContentIDs) != 4 || done.MetadataID != id || !strings.HasPrefix(done.URLs[0], "/media/") {
		t.Errorf("%+v", done)
	}
	if rest, err := events(s, id, all[0].ID); err != nil || len(rest) == 0 || rest[len(rest)-1].Type != "complete" || rest[0].ID <= all[0].ID {
		t.Errorf("resumed: %+v %v", rest, err)
	}
	row := must(s.SubAction(ctx, id))(t)
	if row.Status != "succeeded" || !row.StandIn || len(row.Contents) != 4 || row.PromptAsSent != "a boat on the sea" || !strings.Contains(string(row.Settings), "substituted") {
		t.Errorf("%+v", row)
	}
	i := must(s.Interaction(ctx, r.InteractionID))(t)
	if !strings.Contains(string(i.DisplayData), done.ContentIDs[3]) || i.Version == 0 {
		t.Errorf("the interaction does not have the results: %s", i.DisplayData)
	}
	if list := must(s.ListSubActions(ctx, r.ID, api.Page{}))(t); len(list.Items) != 1 || list.Items[0].ID != id {
		t.Errorf("%+v", list)
	}
	must(s.CancelSubAction(ctx, id))(t) // it has ended: nothing changes
	_, err = s.RetrySubAction(ctx, id, api.SubActionRetry{Positions: []int{1}})
	refused(t, "a retry of what is there", err, media.CodeInvalid)
	foreign := "gc_0198a000-0000-7000-8000-000000000000"
	_, err = s.AnswerInteraction(ctx, r.InteractionID, api.InteractionAnswer{SelectedContentID: &foreign})
	refused(t, "a choice that there is not", err, media.CodeInvalid)
	must(s.AnswerInteraction(ctx, r.InteractionID, api.InteractionAnswer{SelectedContentID: &done.ContentIDs[2]}))(t)
	if r = waits(t, s, r.ID); r.Status != "succeeded" || !strings.Contains(string(r.State), `"image":"`+done.ContentIDs[2]+`"`) {
		t.Errorf("%s %s", r.Status, r.State)
	}
	if row = must(s.SubAction(ctx, id))(t); row.Contents[2].SelectedAt == nil || row.Contents[1].SelectedAt != nil {
		t.Errorf("the choice is not recorded: %+v", row.Contents)
	}
	_, err = s.StartSubAction(ctx, r.ID, "", json.RawMessage(strings.Replace(string(click), "r1", "r2", 1)))
	refused(t, "a click at an answered interaction", err, media.CodeConflict)
}
