package agent_test

import (
	"context"
	"fmt"
	"regexp"
	"testing/fstest"

	"atelier/action"
	"atelier/action/visual"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// An agent is a YAML file and a prompt. A program supplies the actions that it names and a chat model; here the model
// follows a script.
func Example_definition() {
	files := fstest.MapFS{ // a program uses os.DirFS or embed.FS
		"sales-agent.yaml": {Data: []byte(`
slug: sales-agent
name: Sales Agent
description: Shows how sales went.
actions:
  - Create SVG Chart
payload_schema:
  type: object
  required: [report_markdown]
`)},
		"sales-agent.md": {Data: []byte("You are the Sales Agent. Draw one chart of the numbers in the task and explain it.")},
	}
	definitions, err := definition.Load(files)
	check(err)
	codec := newCodec()
	actions, err := action.NewRegistry(action.Config{Store: codec})
	check(err)
	check(actions.Register(visual.Actions()...))
	model := &scripted{steps: []func(chat.Request) string{
		func(chat.Request) string {
			return `{"actions": [{"name": "Create SVG Chart", "params": {"ChartType": "bar", "Title": "Sales doubled", "Labels": ["2025", "2026"], "Series": [{"name": "Sales", "values": [21, 42]}]}}]}`
		},
		func(r chat.Request) string { // the result named the chart by its ref
			return `{"message": "Sales doubled.", "payload": {"report_markdown": "![Sales doubled](` + placeholder(r) + `)"}, "done": true}`
		},
	}}
	runner, err := agent.NewRunner(agent.Config{Definitions: definitions, Actions: actions, Models: model, Codec: codec})
	check(err)
	result, err := runner.Run(context.Background(), agent.Request{Agent: "Sales Agent", Message: "21 in 2025, 42 in 2026."})
	check(err)
	for _, o := range result.Outputs { // embedding the chart promoted it
		fmt.Println(result.Status, result.Message, o.MIMEType, o.Width, o.Height)
	}
	// Output: succeeded Sales doubled. image/svg+xml 800 450
}

// placeholder returns the placeholder of the last ref that a model was given.
func placeholder(r chat.Request) string {
	found := regexp.MustCompile(`img-[0-9a-z]{8}`).FindAllString(r.Messages[len(r.Messages)-1].Text(), -1)
	return "${media:" + found[len(found)-1] + "}"
}

// scripted is a chat model that answers with one step after another.
type scripted struct{ steps []func(chat.Request) string }

func (s *scripted) Choose(context.Context, []string) (chat.Choice, error) {
	return chat.Choice{Model: s}, nil
}

func (s *scripted) Profile() chat.Profile { return chat.Profile{ID: "scripted", Name: "Scripted"} }

func (s *scripted) Generate(_ context.Context, r chat.Request) (chat.Response, error) {
	next := s.steps[0]
	s.steps = s.steps[1:]
	return chat.Response{Text: next(r), FinishReason: "stop"}, nil
}

// newCodec keeps media in memory; a program uses fileblob or cloud storage.
func newCodec() *wire.Codec {
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	check(err)
	codec, err := wire.NewCodec(wire.Config{Blobs: blobs, Keys: []wire.Key{{ID: "k1", Secret: []byte("at least sixteen bytes")}}})
	check(err)
	return codec
}

// check ends the example; a program handles each error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
