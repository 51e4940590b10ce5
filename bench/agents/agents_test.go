// Package agents compares a run of two model turns and one action in Atelier with the same run in ADK Go. Models answer
// from memory, state is in memory, and there is no network.
//
//	go test -bench . -benchmem -count 6 ./agents
package agents

import (
	"context"
	"iter"
	"testing"
	"testing/fstest"

	adkagent "google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/genai"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

const (
	instruction = "You are painter."
	question    = "make"
	wanted      = "a picture of the sea"
	answer      = "Here it is."
)

func BenchmarkTwoTurns(b *testing.B) {
	b.Run("atelier", atelierRun)
	b.Run("adk", adkRun)
}

// turns is Atelier's model: it requests the action, then ends.
type turns struct{ n int }

func (t *turns) Choose(context.Context, []string) (chat.Choice, error) {
	return chat.Choice{Model: t}, nil
}

func (*turns) Profile() chat.Profile {
	return chat.Profile{ID: "script-1", Name: "Script", Provider: "test", Pricing: chat.Pricing{ReportsCost: true}}
}

func (t *turns) Generate(context.Context, chat.Request) (chat.Response, error) {
	t.n++
	text := `{"message":"` + answer + `","done":true}`
	if t.n%2 == 1 {
		text = `{"actions":[{"name":"Make","params":{"Text":"` + wanted + `"}}]}`
	}
	return chat.Response{Text: text, FinishReason: "stop"}, nil
}

type nothing struct{}

func (nothing) Record(_ context.Context, o media.Output) (media.Output, error) { return o, nil }

func atelierRun(b *testing.B) {
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	check(b, err)
	codec, err := wire.NewCodec(wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "k1", Secret: make([]byte, 32)}}})
	check(b, err)
	actions, err := action.NewRegistry(action.Config{Store: codec, Recorder: nothing{}})
	check(b, err)
	calls := 0
	check(b, actions.Register(action.Action{
		Name: "Make", Description: "Makes.",
		Params: []action.Param{{Name: "Text", Direction: action.Input, ValueType: action.Scalar}},
		Run: func(context.Context, *action.Call) (action.Result, error) {
			calls++
			return action.Result{Message: "Made."}, nil
		},
	}))
	defs, err := definition.Load(fstest.MapFS{
		"painter.yaml": {Data: []byte("slug: painter\nname: Painter\ndescription: Paints.\nactions: [Make]\n")},
		"painter.md":   {Data: []byte(instruction)},
	})
	check(b, err)
	r, err := agent.NewRunner(agent.Config{Definitions: defs, Actions: actions, Models: &turns{}, Codec: codec, Recorder: nothing{}})
	check(b, err)
	b.ReportAllocs()
	for b.Loop() {
		got, err := r.Run(b.Context(), agent.Request{Agent: "painter", Message: question})
		if err != nil || got.Message != answer {
			b.Fatalf("%+v, %v", got, err)
		}
	}
	if calls != b.N {
		b.Errorf("%d calls of the action in %d runs", calls, b.N)
	}
}

// contents is ADK's model: it calls the function, then ends.
type contents struct{ n int }

func (*contents) Name() string { return "script-1" }

func (c *contents) GenerateContent(context.Context, *model.LLMRequest, bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		c.n++
		part := &genai.Part{Text: answer}
		if c.n%2 == 1 {
			part = &genai.Part{FunctionCall: &genai.FunctionCall{Name: "make", Args: map[string]any{"text": wanted}}}
		}
		yield(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{part}}, TurnComplete: true}, nil)
	}
}

type made struct {
	Message string `json:"message"`
}

type wish struct {
	Text string `json:"text"`
}

func adkRun(b *testing.B) {
	calls := 0
	maker, err := functiontool.New(functiontool.Config{Name: "make", Description: "Makes."}, func(tool.Context, wish) (made, error) {
		calls++
		return made{"Made."}, nil
	})
	check(b, err)
	painter, err := llmagent.New(llmagent.Config{Name: "painter", Description: "Paints.", Instruction: instruction, Model: &contents{}, Tools: []tool.Tool{maker}})
	check(b, err)
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: "bench", Agent: painter, SessionService: sessions})
	check(b, err)
	b.ReportAllocs()
	for b.Loop() {
		s, err := sessions.Create(b.Context(), &session.CreateRequest{AppName: "bench", UserID: "u"})
		check(b, err)
		said := ""
		for e, err := range r.Run(b.Context(), "u", s.Session.ID(), genai.NewContentFromText(question, genai.RoleUser), adkagent.RunConfig{}) {
			check(b, err)
			if e.Content != nil && e.IsFinalResponse() {
				said = e.Content.Parts[0].Text
			}
		}
		if said != answer {
			b.Fatal(said)
		}
	}
	if calls != b.N {
		b.Errorf("%d calls of the function in %d runs", calls, b.N)
	}
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
