package agent_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
)

// A custom source is an action that reads it, an agent that requires it, and an entry in Config.Sources. If the source
// is not configured, the agent is not offered and its parent learns why.
func Example_source() {
	tides := action.Action{
		Name: "Look Up Tides", Description: "Gives high water of a harbour.", Tags: []string{"tides"},
		Params: []action.Param{
			{Name: "Harbour", Required: true, Description: "Its name."},
			{Name: "table", Direction: action.Output, ValueType: action.Other, Description: "columns and rows."},
		},
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			rows := [][]any{{"06:12", 3.4}, {"18:31", 3.1}} // a program queries its own service
			return action.Result{Message: "Found two tides of " + c.Text("Harbour") + ".", Outputs: map[string]any{
				"table": map[string]any{"columns": []string{"time", "metres"}, "rows": rows},
			}}, nil
		},
	}
	definitions, err := definition.Load(fstest.MapFS{
		"tide-agent.yaml": {Data: []byte("slug: tide-agent\nname: Tide Agent\ndescription: Knows the tides.\nrequires: tides\nactions: [Look Up Tides]\n")},
		"tide-agent.md":   {Data: []byte("You find tides. Bring back findings and sources.")},
		"captain.yaml":    {Data: []byte("slug: captain\nname: Captain\ndescription: Plans trips.\nagents: [{slug: tide-agent, payload_key: tides}]\n")},
		"captain.md":      {Data: []byte("You plan trips. Ask the Tide Agent.")},
	})
	check(err)
	codec := newCodec()
	actions, err := action.NewRegistry(action.Config{Store: codec})
	check(err)
	check(actions.Register(tides))
	runner, err := agent.NewRunner(agent.Config{
		Definitions: definitions, Actions: actions, Codec: codec,
		Sources: map[string]agent.Source{"tides": {Configured: true}}, // or {Reason: "set TIDES_KEY"}
		Models: &scripted{steps: []func(chat.Request) string{
			say(`{"agents": [{"name": "tide-agent", "task": "High water in Husum?"}]}`),
			say(`{"actions": [{"name": "Look Up Tides", "params": {"Harbour": "Husum"}}]}`),
			say(`{"payload": {"findings": ["High water at 06:12 and 18:31."], "sources": ["tide table"]}, "done": true}`),
			say(`{"message": "Sail at 06:12.", "done": true}`),
		}},
	})
	check(err)
	result, err := runner.Run(context.Background(), agent.Request{Agent: "captain", Message: "When can I sail?"})
	check(err)
	fmt.Println(result.Message, string(result.Payload))
	// Output: Sail at 06:12. {"tides":{"findings":["High water at 06:12 and 18:31."],"sources":["tide table"]}}
}

// say returns a function that answers with a fixed step.
func say(step string) func(chat.Request) string { return func(chat.Request) string { return step } }
