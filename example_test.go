package atelier_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"atelier"
	"atelier/agent"
	"atelier/agent/report"
	"atelier/agent/resolve"
	"atelier/api/client"
	"atelier/generate"
	"atelier/media"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// folder returns a new folder and a function that removes it.
func folder() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "atelier-")
	check(err)
	return dir, func() { _ = os.RemoveAll(dir) }
}

// A program makes a picture, brings one of its own, and edits it. Without keys, the offline painter draws.
func ExampleAtelier_Generate() {
	ctx := context.Background()
	dir, remove := folder()
	defer remove()
	a, err := atelier.Open(ctx, atelier.Config{Dir: dir})
	check(err)
	defer func() { check(a.Close()) }()

	made, err := a.Generate(ctx, generate.Request{Prompt: "a lighthouse at dusk", Size: "512x512", N: 2})
	check(err)
	check(made.Err())
	for _, o := range made.Outputs() {
		fmt.Println(o.MIMEType, o.Width, o.Height)
	}
	file := filepath.Join(dir, "lighthouse.png")
	check(a.Save(ctx, made.Outputs()[0], file))

	photo, err := os.Open(file)
	check(err)
	defer func() { _ = photo.Close() }()
	own, err := a.Store(ctx, photo, media.Meta{FileName: filepath.Base(file)})
	check(err)
	edited, err := a.Generate(ctx, generate.Request{Method: generate.MethodEdit, Prompt: "make it brighter", Inputs: []media.Output{own}})
	check(err)
	fmt.Println(edited.Status, edited.Outputs()[0].Lineage[0].Role)
	// Output:
	// image/png 512 512
	// image/png 512 512
	// succeeded input
}

// A program follows a run and writes its report as one file.
func ExampleAtelier_Run() {
	ctx := context.Background()
	dir, remove := folder()
	defer remove()
	check(os.WriteFile(filepath.Join(dir, "sales.csv"), []byte("region,amount\nnorth,10\nsouth,31\n"), 0o600))
	a, err := atelier.Open(ctx, atelier.Config{Dir: filepath.Join(dir, "data"), Sources: atelier.Sources{Files: dir}})
	check(err)
	defer func() { check(a.Close()) }()

	for event, err := range a.Run(ctx, atelier.Request{Request: agent.Request{Agent: "research-agent", Message: "What is the total amount?"}}) {
		check(err)
		switch agent.EventType(event.Kind) { //nolint:exhaustive // a program shows what its people want to see
		case agent.EventAgentStarted:
			var started agent.AgentStarted
			check(json.Unmarshal(event.Payload, &started))
			fmt.Println("asks", started.Name)
		case agent.EventRunSucceeded:
			fmt.Println("done")
		}
		if event.Result != nil {
			var page strings.Builder
			check(report.Write(ctx, &page, report.FromResult(event.Result), resolve.Options{Mode: resolve.ModeDataURI, Find: event.Result.Find, Codec: a.Codec}))
			fmt.Println(strings.Contains(page.String(), "41"))
		}
	}
	// Output:
	// asks File Research Agent
	// asks Research Report Writer
	// done
	// true
}

// An agent in Go asks a person. Another process answers, perhaps on another day.
func ExampleAtelier_Resume() {
	ctx := context.Background()
	dir, remove := folder()
	defer remove()
	tailor := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		answer, err := c.Ask(ctx, "Which colour?", json.RawMessage(`{"enum": ["blue", "red"]}`))
		return agent.Answer{Message: "A coat in " + string(answer.Value)}, err
	}
	config := atelier.Config{Dir: dir, GoAgents: map[string]agent.GoAgent{"tailor": tailor}}

	a, err := atelier.Open(ctx, config)
	check(err)
	run := ""
	for event, err := range a.Run(ctx, atelier.Request{Request: agent.Request{Agent: "tailor", Message: "A coat, please."}}) {
		check(err)
		if event.Result != nil {
			run = event.Result.RunID
			fmt.Println(event.Result.Status, event.Result.Pending[0].Question)
		}
	}
	check(a.Close())

	a, err = atelier.Open(ctx, config)
	check(err)
	defer func() { check(a.Close()) }()
	for event, err := range a.Resume(ctx, run, &agent.Reply{Value: json.RawMessage(`"blue"`)}) {
		check(err)
		if event.Result != nil {
			fmt.Println(event.Result.Status, event.Result.Message)
		}
	}
	// Output:
	// paused Which colour?
	// succeeded A coat in "blue"
}

// A program mounts the API below a prefix of its own server.
func ExampleAtelier_Serve() {
	ctx, stop := context.WithCancel(context.Background())
	dir, remove := folder()
	defer remove()
	a, err := atelier.Open(ctx, atelier.Config{Dir: dir, Adopt: true})
	check(err)
	defer func() { check(a.Close()) }()

	handlers, served := make(chan http.Handler, 1), make(chan error, 1)
	go func() {
		served <- a.Serve(ctx, atelier.ServeConfig{Wrap: func(h http.Handler) http.Handler {
			handlers <- h
			return h
		}})
	}()
	mux := http.NewServeMux()
	mux.Handle("/studio/", http.StripPrefix("/studio", <-handlers))
	server := httptest.NewServer(mux)
	defer server.Close()

	c, err := client.New(client.Config{URL: server.URL + "/studio"})
	check(err)
	agents, err := c.Catalog.Agents(ctx)
	check(err)
	fmt.Println(agents[0].Name)
	stop()
	check(<-served)
	// Output: Sage
}
