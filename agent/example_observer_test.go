package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"atelier/action"
	"atelier/agent"
	"atelier/journal"
)

// printer is an observer that prints each event once.
type printer struct {
	seen map[string]bool
	// repeated counts the repeated events.
	repeated int
}

func (*printer) SaveRun(context.Context, agent.RunRecord) error       { return nil }
func (*printer) SaveStep(context.Context, agent.StepRecord) error     { return nil }
func (*printer) SavePrompt(context.Context, agent.PromptRecord) error { return nil }

func (p *printer) Emit(_ context.Context, e agent.Event) {
	if e.Key != "" && p.seen[e.Key] {
		p.repeated++
		return
	}
	p.seen[e.Key] = true
	fmt.Println(e.Type)
}

// A resumed run emits only new events. A run that a journal replays, as after a crash, emits earlier events again to an
// observer that is not an [agent.RecordReader]; the observer recognizes them by their key.
func ExampleEvent() {
	codec := newCodec()
	actions, err := action.NewRegistry(action.Config{Store: codec})
	check(err)
	tailor := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		answer, err := c.Ask(ctx, "Which colour?", json.RawMessage(`{"enum": ["blue", "red"]}`))
		return agent.Answer{Message: "A coat in " + string(answer.Value)}, err
	}
	events := &printer{seen: map[string]bool{}}
	runner, err := agent.NewRunner(agent.Config{
		Actions: actions, Codec: codec, Observer: events, GoAgents: map[string]agent.GoAgent{"tailor": tailor},
	})
	check(err)
	request := agent.Request{Agent: "tailor", Message: "A coat, please.", RunID: "coat", Journal: journal.NewTranscript(journal.Memory{}, nil)}
	paused, err := runner.Run(context.Background(), request)
	check(err)

	fmt.Println("- resumed")
	_, err = runner.Resume(context.Background(), *paused.State, agent.Reply{Value: json.RawMessage(`"blue"`)})
	check(err)
	fmt.Println("- came again:", events.repeated)

	fmt.Println("- replayed")
	_, err = runner.Run(context.Background(), request)
	check(err)
	fmt.Println("- came again:", events.repeated)
	// Output:
	// run-started
	// run-paused
	// - resumed
	// run-resumed
	// run-succeeded
	// - came again: 0
	// - replayed
	// - came again: 2
}
