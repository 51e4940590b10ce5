package main

import (
	"encoding/json"
	"testing"

	"atelier/api"
	"atelier/api/client"
	"atelier/generate/generatetest/bflsim"
)

// painted is a workflow with two cards of the simulated provider.
const painted = `{"id":"generated","title":"Generated","steps":[{"id":"pick","module_id":"media.generation",
 "inputs":{"title":"Pick","data":{"bfl":{"one":"a fox","two":"a hare"}}}}]}`

// TestSubActionsAreKilled: a server is killed with two sub-actions in progress; the next one finishes both, nothing is
// requested twice, and the interaction has each result once.
func TestSubActionsAreKilled(t *testing.T) {
	t.Parallel()
	// Both are finished at the first poll of the next server: its loop that adopts sub-actions, which pauses for longer
	// than a poll, then finds them finished and need not check again.
	s := newAgentEnvWith(t, bflsim.Config{Pending: -1, Steady: true})
	proc, url := s.startServer(t)
	c, err := client.New(client.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	began, err := c.WorkflowRuns.StartWorkflowRun(t.Context(), "", api.NewWorkflowRun{Definition: json.RawMessage(painted)})
	if err != nil {
		t.Fatal(err)
	}
	var r api.WorkflowRun
	eventually(t, "the interaction", func() bool {
		r, err = c.WorkflowRuns.WorkflowRun(t.Context(), began.ID)
		return err == nil && r.InteractionID != ""
	})
	polls := s.holdNext(interferencePoints()["poll"]) // the first poll waits until both tasks exist
	for _, key := range []string{"one", "two"} {
		if _, err := c.SubActions.StartSubAction(t.Context(), r.ID, "", json.RawMessage(`{"interaction_id":"`+r.InteractionID+`","action_type":"media.bfl.txt2img","prompt_id":"`+key+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both tasks", func() bool { return len(s.submitted(t)) == 2 })
	waitFor(t, "a poll", polls.reached)
	killNow(proc.cmd.Process)
	proc.wait()
	close(polls.open)
	_, url = s.startServer(t)
	if c, err = client.New(client.Config{URL: url}); err != nil {
		t.Fatal(err)
	}
	var list api.List[api.SubAction]
	eventually(t, "the end of both", func() bool {
		list, err = c.SubActions.ListSubActions(t.Context(), r.ID, api.Page{})
		return err == nil && len(list.Items) == 2 && list.Items[0].FinishedAt != nil && list.Items[1].FinishedAt != nil
	})
	for prompt, n := range s.submitted(t) {
		if n != 1 {
			t.Errorf("%s was asked for %d times", prompt, n)
		}
	}
	i, err := c.Interactions.Interaction(t.Context(), r.InteractionID)
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Generations map[string]map[string][]struct {
			ContentID string `json:"content_id"`
		} `json:"generations"`
	}
	if err := json.Unmarshal(i.DisplayData, &data); err != nil {
		t.Fatal(err)
	}
	for _, one := range list.Items {
		got := data.Generations["bfl"][one.PromptID]
		if one.Status != "succeeded" || len(one.Contents) != 1 || len(got) != 1 || got[0].ContentID != one.Contents[0].ID {
			t.Errorf("%s: %s, %+v, in the interaction %+v", one.PromptID, one.Status, one.Contents, got)
		}
	}
}
