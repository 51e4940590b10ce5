package atelier_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // thumbnails may be JPEG
	"net/http"
	"slices"
	"testing"

	"atelier"
	"atelier/agent"
	"atelier/api"
	"atelier/media"
)

// TestAConversationIsForked: a fork has the messages up to one answer, with their pictures; it continues separately and
// leaves the original conversation unchanged.
func TestAConversationIsForked(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128", ConversationID: "new"}))
	s.waitForRun(began.ID)
	path := "/api/conversations/" + began.ConversationID
	var first api.Conversation
	s.waitUntil("the answer with its picture", func() bool {
		first = as[api.Conversation](s, http.StatusOK, s.do(http.MethodGet, path, nil))
		return len(first.Messages) == 2 && len(first.Messages[1].Attachments) == 1
	})
	s.waitForRun(as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a lighthouse, 128x128", ConversationID: began.ConversationID})).ID)

	if r := s.do(http.MethodPost, path+"/fork", api.ForkConversation{After: began.ID}); r.status != http.StatusNotFound {
		t.Errorf("after no message: %d %s", r.status, r.body)
	}
	head := as[api.ConversationHead](s, http.StatusCreated, s.do(http.MethodPost, path+"/fork", api.ForkConversation{After: first.Messages[1].ID}))
	fork := as[api.Conversation](s, http.StatusOK, s.do(http.MethodGet, "/api/conversations/"+head.ID, nil))
	if head.ID == began.ConversationID || len(fork.Messages) != 2 || fork.Title != first.Title {
		t.Fatalf("%+v", fork)
	}
	for i, m := range fork.Messages {
		was := first.Messages[i]
		if m.Text != was.Text || m.RunID != was.RunID || m.Role != was.Role || m.Status != was.Status || len(m.Attachments) != len(was.Attachments) {
			t.Errorf("%d: %+v, was %+v", i, m, was)
		}
	}
	if len(fork.Messages[1].Attachments) != 1 {
		t.Errorf("%+v", fork.Messages[1])
	}
	next := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Make it bluer", ConversationID: head.ID}))
	if r := s.waitForRun(next.ID); r.Status != "succeeded" || r.ConversationID != head.ID || len(r.Media) == 0 {
		t.Errorf("%+v", r)
	}
	if r := as[api.Run](s, http.StatusOK, s.do(http.MethodGet, "/api/runs/"+began.ID, nil)); r.ConversationID != began.ConversationID {
		t.Errorf("the run moved to %s", r.ConversationID)
	}
	if c := as[api.Conversation](s, http.StatusOK, s.do(http.MethodGet, path, nil)); len(c.Messages) != 4 {
		t.Errorf("%+v", c)
	}
}

// TestAnAnswerThatDoesNotFit: the problem names the place in the answer.
func TestAnAnswerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	guard, err := agent.BlockedTerms(agent.DecisionPause, "boat")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, atelier.Config{Guardrail: guard})
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"})).ID
	s.waitForRun(id)
	var p api.Problem
	r := s.do(http.MethodPost, "/api/runs/"+id+"/answer", api.Answer{Answer: json.RawMessage(`{"approve":7}`)})
	if err := json.Unmarshal(r.body, &p); err != nil || r.status != http.StatusUnprocessableEntity || p.Code != string(media.CodeInvalid) {
		t.Fatalf("%d %s %v", r.status, r.body, err)
	}
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/answer/approve" || p.Errors[0].Detail == "" {
		t.Errorf("%+v", p.Errors)
	}
}

// TestSightOfARun: the sight lists the given pictures and says whether unsuitable ones are dropped or refused.
func TestSightOfARun(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	photo := s.upload("photo.png", testPNG(t, 64, 32))
	for _, lenient := range []bool{false, true} {
		id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{
			Agent: "sage", Message: "Make it bluer", LenientImages: lenient, Images: []api.RunImage{{MediaID: photo.ID}},
		})).ID
		s.waitForRun(id)
		v := as[api.Sight](s, http.StatusOK, s.do(http.MethodGet, "/api/runs/"+id+"/sight", nil))
		if v.Agent != "sage" || v.LenientImages != lenient || len(v.Given) != 1 || v.Given[0].Ref != photo.Ref || v.Given[0].MIMEType != "image/png" {
			t.Errorf("lenient %v: %+v", lenient, v)
		}
	}
}

// TestAPictureIsAskedForAgain: the details of a picture contain the request that makes it again, with its inputs.
func TestAPictureIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	seed := int64(7)
	first := s.waitForGeneration(as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", api.NewGeneration{Prompt: "a lighthouse", Size: "512x256", Seed: &seed})).ID)
	made := first.Slots[0].Media
	about := as[api.MediaDetails](s, http.StatusOK, s.do(http.MethodGet, "/api/media/"+made.ID, nil))
	ask := about.Origin.Request
	if ask == nil || ask.Prompt != "a lighthouse" || ask.Size != "512x256" || ask.Seed == nil || *ask.Seed != seed || ask.Model == "" {
		t.Fatalf("%+v", ask)
	}
	again := s.waitForGeneration(as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", ask)).ID)
	if again.ID == first.ID || again.Slots[0].Media.Digest != made.Digest {
		t.Errorf("the same seed gave another picture: %+v", again)
	}
	edit := s.waitForGeneration(as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", api.NewGeneration{Prompt: "bluer", Inputs: []api.RunFile{{MediaID: made.ID}}})).ID)
	about = as[api.MediaDetails](s, http.StatusOK, s.do(http.MethodGet, "/api/media/"+edit.Slots[0].Media.ID, nil))
	if ask = about.Origin.Request; ask == nil || ask.Method != "edit" || !slices.Contains(ask.Inputs, api.RunFile{MediaID: made.ID}) {
		t.Errorf("%+v", ask)
	}
	vary := s.waitForGeneration(as[api.Generation](s, http.StatusAccepted, s.do(http.MethodPost, "/api/generations", api.NewGeneration{Method: "variation", Inputs: []api.RunFile{{MediaID: made.ID}}})).ID)
	if vary.Status != "succeeded" || vary.Slots[0].Media == nil {
		t.Errorf("%+v", vary)
	}
}

// TestAPlaceholderIsSmall: the thumbnail that a page shows until the picture is loaded has at most 1,500 bytes.
func TestAPlaceholderIsSmall(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	m := s.upload("photo.png", testPNG(t, 640, 320))
	r := s.do(http.MethodGet, m.URL+"?w=16", nil)
	img, _, err := image.DecodeConfig(bytes.NewReader(r.body))
	if err != nil || img.Width != 16 || img.Height != 8 || len(r.body) > 1500 {
		t.Errorf("%d, %d bytes, %+v %v", r.status, len(r.body), img, err)
	}
}

// TestFilesOfOneName: a message of files without text lists their names in the run's folder, where a file of an earlier
// message may have the same name.
func TestFilesOfOneName(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	conversation := "new"
	for i, want := range []string{"Attached: a.csv", "Attached: a (2).csv"} {
		file := s.upload("a.csv", fmt.Appendf(nil, "year,co2\n2030,%d\n", 430+i))
		began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{
			Agent: "research-agent", ConversationID: conversation, Files: []api.RunFile{{MediaID: file.ID}},
		}))
		if r := s.waitForRun(began.ID); r.Message != want {
			t.Errorf("file %d: %q", i+1, r.Message)
		}
		conversation = began.ConversationID
	}
}

// TestACancelledRunInItsConversation: the answer of a run that was cancelled while it waited for a person says cancelled,
// as the run does.
func TestACancelledRunInItsConversation(t *testing.T) {
	t.Parallel()
	guard, err := agent.BlockedTerms(agent.DecisionPause, "boat")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, atelier.Config{Guardrail: guard})
	began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128", ConversationID: "new"}))
	s.waitForRun(began.ID)
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+began.ID+"/cancel", nil))
	c := as[api.Conversation](s, http.StatusOK, s.do(http.MethodGet, "/api/conversations/"+began.ConversationID, nil))
	if m := c.Messages[len(c.Messages)-1]; m.Role != "assistant" || m.Status != "cancelled" || m.Error == nil {
		t.Errorf("%+v", m)
	}
}

// TestMediaOfASubAgentsRun: the id of a sub-agent's run finds the media of its tree, as the id of the tree does.
func TestMediaOfASubAgentsRun(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	notes := s.upload("notes.txt", []byte("The lighthouse of Norderney was built in 1874."))
	id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "research-agent", Message: "When was the lighthouse of Norderney built?", Files: []api.RunFile{{MediaID: notes.ID}}})).ID
	r := s.waitForRun(id)
	acts := as[api.List[api.Act]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs/"+id+"/acts", nil)).Items
	i := slices.IndexFunc(acts, func(a api.Act) bool { return a.ChildRunID != "" })
	if i < 0 || len(r.Media) == 0 {
		t.Fatalf("%+v, %+v", r, acts)
	}
	if list := as[api.List[api.Media]](s, http.StatusOK, s.do(http.MethodGet, "/api/media?run="+acts[i].ChildRunID, nil)); len(list.Items) != len(r.Media) {
		t.Errorf("%d items, want %d", len(list.Items), len(r.Media))
	}
}
