package atelier_test

import (
	"net/http"
	"strings"
	"testing"

	"atelier"
	"atelier/api"
	"atelier/media"
)

// TestARunIsForked: a run is forked from its first step with another message.
func TestARunIsForked(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"})).ID
	s.waitForRun(id)
	steps := as[api.List[api.Step]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs/"+id+"/steps", nil))
	calls := as[api.List[api.ModelCall]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs/"+id+"/model-calls?limit=1", nil))
	acts := as[api.List[api.Act]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs/"+id+"/acts", nil))
	if len(steps.Items) == 0 || len(calls.Items) != 1 || calls.Next == "" || !strings.Contains(string(calls.Items[0].Messages), "Draw a boat, 128x128") || len(acts.Items) != 1 || acts.Items[0].Name != "Generate Image" {
		t.Fatalf("%+v %+v %+v", steps, calls, acts)
	}
	fork := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+id+"/fork", api.Fork{Step: steps.Items[0].Name, Message: "Draw a lighthouse, 128x128"}))
	r := s.waitForRun(fork.ID)
	if fork.ID == id || r.Status != "succeeded" || r.ForkedFrom != id || r.Message != "Draw a lighthouse, 128x128" {
		t.Errorf("%+v", r)
	}
}

// TestForksAfterAPictureIsDeleted: a fork whose message shows a deleted picture is refused with the reason, and one that
// only inherited it from the conversation runs, with a warning.
func TestForksAfterAPictureIsDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	m := s.upload("boat.png", testPNG(t, 64, 64))
	start := func(r api.NewRun) (id, conversation string) {
		began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", r))
		s.waitForRun(began.ID)
		return began.ID, began.ConversationID
	}
	shows, conversation := start(api.NewRun{Agent: "sage", Message: "Make it bluer", ConversationID: "new", Images: []api.RunImage{{MediaID: m.ID}}})
	inherits, _ := start(api.NewRun{Agent: "sage", Message: "hello", ConversationID: conversation})
	for _, item := range s.waitForRun(inherits).Media {
		as[api.Deleted](s, http.StatusOK, s.do(http.MethodDelete, "/api/media/"+item.ID, nil))
	}
	s.checkRefused("fork", s.do(http.MethodPost, "/api/runs/"+shows+"/fork", api.Fork{Message: "Make it darker"}), http.StatusNotFound, media.CodeNotFound)
	fork := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+inherits+"/fork", api.Fork{Message: "good morning"}))
	if r := s.waitForRun(fork.ID); r.Status != "succeeded" || !strings.Contains(strings.Join(r.Warnings, "\n"), "was deleted") {
		t.Errorf("%+v", r)
	}
}
