package atelier_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"atelier"
	"atelier/action"
	"atelier/agent"
	"atelier/api"
	"atelier/api/client"
	"atelier/chat"
	"atelier/generate"
	"atelier/media"
	"atelier/media/blob/memblob"
	"atelier/run/runtest"
	"atelier/run/workflows"
	"atelier/workflow"
	"atelier/workflow/module"
	"atelier/workflow/ordered"
	"atelier/workflow/subaction"
)

// ownModel is a chat model of the program: it answers every conversation alike.
type ownModel struct{ name string }

func (m ownModel) Profile() chat.Profile {
	return chat.Profile{Provider: "house", ID: m.name, Name: m.name}
}

func (m ownModel) Generate(context.Context, chat.Request) (chat.Response, error) {
	return chat.Response{Text: `{"message":"` + m.name + ` answers.","done":true}`, FinishReason: "stop", Model: m.name}, nil
}

// ownClient is the program's client of a model that the catalogue has, too.
type ownClient struct{ ownModel }

func (ownClient) Profile() chat.Profile { return chat.Profile{Provider: "openai", ID: "gpt-5.4"} }

// upper is a module of the program. It asks an agent, too.
type upper struct{ agents module.Agents }

func (upper) ID() string { return "house.upper" }

func (upper) AsksAgents() {}

func (upper) InputSchema() *ordered.Object {
	return ordered.New("type", "object", "required", []any{"text"}, "properties", ordered.New("text", ordered.New("type", "string")))
}

func (upper) Request(context.Context, workflow.Run) (*workflow.InteractionRequest, error) {
	return nil, nil //nolint:nilnil // no interaction
}

func (u upper) Execute(ctx context.Context, r workflow.Run, _ *workflow.Answer) (*ordered.Object, error) {
	text, _ := r.Inputs.Get("text")
	reply, err := u.agents.Ask(ctx, module.Task{Agent: "sage", Message: "Hello", Owner: r.Owner, RunID: r.WorkflowRunID, StepID: r.StepID})
	return ordered.New("text", strings.ToUpper(text.(string)), "agent", reply.Message), err
}

const ownWorkflow = "id: shout\ntitle: Shout\nsteps:\n  - {id: up, module_id: house.upper, inputs: {text: '{{ state.text }}'}, output: up}\n"

// TestOwnParts: a program gives the front door chat models and modules of its own, and adds routes to the server.
func TestOwnParts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "shout.yaml"), []byte(ownWorkflow), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveWith(t, atelier.Config{
		ChatModels: []chat.Model{ownModel{"first"}, ownModel{"second"}, ownClient{}},
		Modules:    func(c module.Config) []workflow.Module { return []workflow.Module{upper{c.Agents}} },
	}, atelier.ServeConfig{Workflows: folder, Wrap: func(h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/", h)
		mux.HandleFunc("/own", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		return mux
	}})
	if got := s.do(http.MethodGet, "/own", nil); got.status != http.StatusTeapot {
		t.Errorf("the program's route answers %d", got.status)
	}
	for model, want := range map[string]string{"": "first answers.", "house/second": "second answers.", "offline": ""} {
		var got string
		for e, err := range s.Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "sage", Message: "Hello"}, Sources: atelier.Sources{ChatModel: model}}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Result != nil {
				got = e.Result.Message
			}
		}
		if want != "" && got != want || strings.HasSuffix(got, "answers.") != (want != "") {
			t.Errorf("model %q: %q", model, got)
		}
	}
	var ids []string
	for _, m := range as[api.List[api.ChatModel]](s, http.StatusOK, s.do(http.MethodGet, "/api/chat-models", nil)).Items {
		ids = append(ids, m.ID)
	}
	if list := strings.Join(ids, " "); !strings.HasPrefix(list, "house/first ") || !strings.Contains(list, " house/second ") || strings.Count(list, "openai/gpt-5.4") != 1 {
		t.Errorf("chat models %s", list)
	}
	r := s.startWorkflow(`{"workflow_id":"shout","state":{"text":"hello"}}`)
	if want := `{"text":"hello","up":{"text":"HELLO","agent":"first answers."}}`; r.Status != "succeeded" || string(r.State) != want {
		t.Errorf("%s, state %s", r.Status, r.State)
	}
	check := as[api.WorkflowCheck](s, http.StatusOK, s.do(http.MethodPost, "/api/workflows/validate", map[string]any{"text": ownWorkflow, "state": map[string]string{"text": "x"}}))
	if len(check.Problems) > 0 || check.Preview != nil {
		t.Errorf("%+v", check)
	}
}

// nightly is an action of the program: it paints prompts at night.
type nightly struct{}

func (nightly) Offer(string) (subaction.Offer, error) {
	return subaction.Offer{Provider: "offline", Params: ordered.New("type", "object")}, nil
}

func (nightly) Plan(c subaction.Call) (subaction.Plan, error) {
	return subaction.Plan{Request: generate.Request{Modality: media.ModalityImage, Prompt: c.Prompt + " at night", Model: "offline", Size: "64x64"}}, nil
}

// TestOwnActions: a program registers actions; people start them in interactions, and previews know them.
func TestOwnActions(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	if err := s.Workflows().Actions().Register("house.nightly", nightly{}); err != nil {
		t.Fatal(err)
	}
	const definition = `{"id":"nights","title":"Nights","steps":[{"id":"paint","module_id":"media.generation","inputs":{"title":"T","data":{"hero":"a boat"},
		"display_schema":{"type":"object","properties":{"prompts":{"type":"object","additionalProperties":{"type":"string","_ux":{"sub_action":{
		"id":"paint","label":"Paint","action_type":"house.nightly","result_target":"generations.{{ $key }}"}}}}}}}}]}`
	check := as[api.WorkflowCheck](s, http.StatusOK, s.do(http.MethodPost, "/api/workflows/validate", map[string]any{"text": definition}))
	if check.Preview == nil || !strings.Contains(string(check.Preview.View), `"enabled":true`) {
		t.Errorf("preview %+v", check)
	}
	r := s.startWorkflow(`{"definition":` + definition + `}`)
	all, err := s.generate(r.ID, `{"interaction_id":"`+r.InteractionID+`","action_type":"house.nightly"}`)
	if err != nil || len(all) == 0 || all[len(all)-1].Type != "complete" {
		t.Fatalf("%+v, %v", all, err)
	}
	row := as[api.SubAction](s, http.StatusOK, s.do(http.MethodGet, "/api/sub-actions/"+all[len(all)-1].Data.MetadataID, nil))
	if len(row.Contents) != 1 || !strings.Contains(row.Contents[0].RevisedPrompt, "night") || row.StandIn {
		t.Errorf("%+v", row)
	}
}

// TestOwnPartsAreChecked: mistakes of the program are reported when it opens.
func TestOwnPartsAreChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]atelier.Config{
		"no model":        {ChatModels: []chat.Model{nil}},
		"no name":         {ChatModels: []chat.Model{ownModel{""}}},
		"a second module": {Modules: func(c module.Config) []workflow.Module { return module.All(c)[:1] }},
		"nil module":      {Modules: func(module.Config) []workflow.Module { return []workflow.Module{nil} }},
		"no action":       {Actions: []action.Action{{}}},
		"a second action": {Actions: []action.Action{{Name: "generate image", Run: func(context.Context, *action.Call) (action.Result, error) { return action.Result{}, nil }}}},
		"nil agent":       {GoAgents: map[string]agent.GoAgent{"poet": nil}},
		"own workflow":    {GoAgents: map[string]agent.GoAgent{workflows.AgentName: poet}},
		"no prompt":       {Agents: fstest.MapFS{"scribe.yaml": {Data: []byte("slug: scribe\nname: Scribe\ndescription: Writes.\n")}}},
		"own sage":        {GoAgents: map[string]agent.GoAgent{"sage": poet}},
		"key of nobody":   {Keys: map[string]string{"opnai": "sk-of-a-test"}},
		"nobody's server": {BaseURLs: map[string]string{"opnai": "http://127.0.0.1:1"}},
	} {
		c.Dir = runtest.Folder(t)
		a, err := atelier.Open(t.Context(), c)
		if code := media.CodeOf(err); code != media.CodeInvalid && code != media.CodeConflict {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
}

// poet is an agent in Go: it asks a person for a subject and illustrates it.
func poet(ctx context.Context, c *agent.Context) (agent.Answer, error) {
	subject, err := c.Ask(ctx, "About what?", json.RawMessage(`{"type":"string"}`))
	if err != nil {
		return agent.Answer{}, err
	}
	picture, err := c.Store(ctx, strings.NewReader(`<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>`), media.Meta{Label: "Illustration"})
	if err != nil {
		return agent.Answer{}, err
	}
	return agent.Answer{Message: "A poem about " + string(subject.Value)}, c.Promote(picture)
}

// publisher asks the poet once and then publishes.
type publisher struct{ ownModel }

func (publisher) Generate(_ context.Context, r chat.Request) (chat.Response, error) {
	text := `{"agents":[{"name":"poet","task":"A poem."}]}`
	if strings.Contains(r.Messages[len(r.Messages)-1].Text(), "the sea") {
		text = `{"message":"Published.","done":true}`
	}
	return chat.Response{Text: text, FinishReason: "stop"}, nil
}

// TestOwnGoAgents: an agent in Go is called by one of a program's embedded definitions, waits for a person, and goes on
// in another process.
func TestOwnGoAgents(t *testing.T) {
	t.Parallel()
	c := atelier.Config{
		Dir: runtest.Folder(t), GoAgents: map[string]agent.GoAgent{"poet": poet}, ChatModels: []chat.Model{publisher{ownModel{"publisher"}}},
		Agents: fstest.MapFS{
			"publisher.yaml": {Data: []byte("slug: publisher\nname: Publisher\ndescription: Publishes poems.\nagents: [poet]\n")},
			"publisher.md":   {Data: []byte("You publish poems.")},
		},
	}
	id := ""
	for e, err := range open(t, c).Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "publisher", Message: "A poem."}}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Result != nil {
			id = e.Result.RunID
		}
	}
	for e, err := range open(t, c).Resume(t.Context(), id, &agent.Reply{Value: json.RawMessage(`"the sea"`)}) {
		if err != nil {
			t.Fatal(err)
		}
		if r := e.Result; r != nil && (r.Message != "Published." || len(r.All()) != 1 || r.All()[0].Label != "Illustration") {
			t.Errorf("%s after %+v, with %v", r.Message, r.Steps, r.All())
		}
	}
}

// TestOwnBytes: a program keeps the bytes in a store of its own, and edits a picture that it brings.
func TestOwnBytes(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{BlobDriver: memblob.New()})
	from := open(t, atelier.Config{})
	res, err := from.Generate(t.Context(), generate.Request{Prompt: "a lighthouse", Size: "512x512"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := from.OpenMedia(t.Context(), res.Outputs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	picture, err := a.Store(t.Context(), file, media.Meta{FileName: "Lighthouse"})
	if err != nil || picture.Ref != res.Outputs()[0].Ref || picture.Width != 512 {
		t.Fatalf("%v, %v", picture, err)
	}
	if stored, err := a.Media(t.Context(), picture.ID); err != nil || stored.Label != "Lighthouse" || stored.Origin.Direction != "input" {
		t.Errorf("%+v, %v", stored, err)
	}
	edited, err := a.Generate(t.Context(), generate.Request{Method: generate.MethodEdit, Prompt: "at night", Inputs: []media.Output{picture}})
	if err != nil || len(edited.Outputs()) != 1 {
		t.Fatalf("%+v, %v", edited, err)
	}
	if err := a.Save(t.Context(), edited.Outputs()[0], filepath.Join(t.TempDir(), "night.png")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(a.Config.Dir, "blobs")); !os.IsNotExist(err) {
		t.Errorf("the data folder has bytes: %v", err)
	}
}

// guests are the access tokens of the program: each secret is the name of its owner.
type guests struct{}

func (guests) Identify(_ context.Context, secret string) (api.Identity, error) {
	if secret != "ada" && secret != "bob" {
		return api.Identity{}, media.Errorf(media.CodeUnauthorized, "who is that?")
	}
	return api.Identity{Name: secret, Owner: secret, Scope: api.ScopeRun}, nil
}

// TestOwnServer: a program serves the handler below a prefix of its own server, with its own authentication.
func TestOwnServer(t *testing.T) {
	t.Parallel()
	a := open(t, atelier.Config{Adopt: true})
	ctx, stop := context.WithCancel(t.Context())
	handlers, served := make(chan http.Handler, 1), make(chan error, 1)
	go func() {
		served <- a.Serve(ctx, atelier.ServeConfig{Tokens: guests{}, Wrap: func(h http.Handler) http.Handler {
			handlers <- h
			return h
		}})
	}()
	mux := http.NewServeMux()
	mux.Handle("/studio/", http.StripPrefix("/studio", <-handlers))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	as := func(secret string) *client.Client {
		c, err := client.New(client.Config{URL: srv.URL + "/studio", Token: secret})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	stored, err := as("ada").Media.StoreMedia(t.Context(), strings.NewReader("a,b\n1,2\n"), api.Upload{FileName: "table.csv"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := as("ada").Media.Media(t.Context(), stored.ID); err != nil {
		t.Error(err)
	}
	if _, err := as("bob").Media.Media(t.Context(), stored.ID); media.CodeOf(err) != media.CodeNotFound {
		t.Errorf("of another owner: %v", err)
	}
	if _, err := as("eve").Media.Media(t.Context(), stored.ID); media.CodeOf(err) != media.CodeUnauthorized {
		t.Errorf("of nobody: %v", err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
