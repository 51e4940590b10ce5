// Command pause runs an agent that waits for a person, exits, and resumes the run when it is
// called with the answer:
//
//	pause                 # prints the run's id and its question
//	pause RUN approve     # or deny
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"os"

	"atelier"
	"atelier/agent"
)

func main() {
	config := atelier.Config{Dir: "atelier-data"}
	ctx := context.Background()
	var err error
	switch args := os.Args[1:]; len(args) {
	case 0:
		_, err = begin(ctx, config, os.Stdout)
	case 2:
		err = resume(ctx, config, args[0], args[1] == "approve", os.Stdout)
	default:
		err = errors.New("usage: pause [RUN approve|deny]")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// open returns an Atelier that asks a person before a message with certain words reaches an agent.
func open(ctx context.Context, config atelier.Config) (*atelier.Atelier, error) {
	var err error
	if config.Guardrail, err = agent.BlockedTerms(agent.DecisionPause, "harbour"); err != nil {
		return nil, err
	}
	return atelier.Open(ctx, config)
}

// begin starts a run and returns its id when the run waits.
func begin(ctx context.Context, config atelier.Config, out io.Writer) (runID string, err error) {
	a, err := open(ctx, config)
	if err != nil {
		return "", err
	}
	defer func() { _ = a.Close() }()
	res, err := last(a.Run(ctx, atelier.Request{Request: agent.Request{Agent: "sage", Message: "Draw the harbour at night, with boats."}}))
	if err != nil {
		return "", err
	}
	for _, q := range res.Pending {
		if _, err := fmt.Fprintf(out, "%s waits: %s\n", res.RunID, q.Question); err != nil {
			return "", err
		}
	}
	return res.RunID, nil
}

// resume answers the run's question, perhaps in another process or on another day.
func resume(ctx context.Context, config atelier.Config, runID string, approve bool, out io.Writer) error {
	a, err := open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	value, err := json.Marshal(map[string]bool{"approve": approve})
	if err != nil {
		return err
	}
	res, err := last(a.Resume(ctx, runID, &agent.Reply{Value: value}))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s (%d pictures)\n", res.Status, res.Message, len(res.Outputs))
	return err
}

// last consumes the events of a run and returns its result.
func last(events iter.Seq2[atelier.Event, error]) (res *agent.Result, err error) {
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		res = event.Result
	}
	return res, nil
}
