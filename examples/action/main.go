// Command action gives an agent an action that Atelier does not have: look up the weather. It
// needs a chat model: set OPENAI_API_KEY or another key of docs/configuration.md, because the
// offline model plans only with the shipped actions.
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"atelier"
	"atelier/action"
	"atelier/agent"
)

// weather is the action. Models read the descriptions.
func weather() action.Action {
	return action.Action{
		Name: "Get Weather", Description: "Tells the weather of a town now.", Tags: []string{"weather"},
		Params: []action.Param{
			{Name: "Town", Direction: action.Input, Type: "string", Required: true, Description: "The town's name."},
			{Name: "degrees", Direction: action.Output, Type: "number", Description: "Temperature in degrees Celsius."},
		},
		Run: func(_ context.Context, c *action.Call) (action.Result, error) {
			town, _ := c.Params["Town"].(string)
			return action.Result{Message: "It is mild in " + town + ".", Outputs: map[string]any{"degrees": 17.5}}, nil
		},
	}
}

// agents holds the definition of an agent, a YAML file with its prompt beside it.
//
//go:embed agents
var agents embed.FS

func main() {
	config, err := atelier.ConfigFromEnv(os.Getenv)
	if err == nil {
		config.Dir = "atelier-data"
		err = forecast(context.Background(), config, "How warm is it in Lyon?", os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func forecast(ctx context.Context, config atelier.Config, question string, out io.Writer) error {
	definitions, err := fs.Sub(agents, "agents")
	if err != nil {
		return err
	}
	config.Agents = definitions
	config.Actions = []action.Action{weather()}
	a, err := atelier.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	task := atelier.Request{Request: agent.Request{Agent: "forecaster", Message: question}}
	for event, err := range a.Run(ctx, task) {
		if err != nil {
			return err
		}
		if event.Result != nil {
			_, err = fmt.Fprintln(out, event.Result.Message)
		} else {
			_, err = fmt.Fprintln(out, "  "+event.Kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
