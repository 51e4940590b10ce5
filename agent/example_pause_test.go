package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"atelier/action"
	"atelier/agent"
)

// A run that asks a question pauses: its state is a value that can be saved. The answer resumes it, in this process or
// in another one.
func ExampleRunner_Resume() {
	codec := newCodec()
	actions, err := action.NewRegistry(action.Config{Store: codec})
	check(err)
	tailor := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		answer, err := c.Ask(ctx, "Which colour?", json.RawMessage(`{"enum": ["blue", "red"]}`))
		return agent.Answer{Message: "A coat in " + string(answer.Value)}, err
	}
	runner, err := agent.NewRunner(agent.Config{
		Actions: actions, Codec: codec, GoAgents: map[string]agent.GoAgent{"tailor": tailor},
	})
	check(err)
	result, err := runner.Run(context.Background(), agent.Request{Agent: "tailor", Message: "A coat, please."})
	check(err)
	fmt.Println(result.Status, result.Pending[0].Question)
	saved, err := json.Marshal(result.State)
	check(err)

	var state agent.State
	check(json.Unmarshal(saved, &state))
	_, err = runner.Resume(context.Background(), state, agent.Reply{Value: json.RawMessage(`"green"`)})
	fmt.Println(err)
	result, err = runner.Resume(context.Background(), state, agent.Reply{Value: json.RawMessage(`"blue"`)})
	check(err)
	fmt.Println(result.Status, result.Message)
	// Output:
	// paused Which colour?
	// the answer does not fit the form: at '': value must be one of 'blue', 'red'
	// succeeded A coat in "blue"
}
