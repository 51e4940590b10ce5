package client_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strings"

	"atelier"
	"atelier/api"
	"atelier/api/client"
)

// The example uploads a file, asks a question about it, follows the events and reads the answer.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	address, ended := startServer(ctx) // usually another process: atelier serve
	c, err := client.New(client.Config{URL: address})
	if err != nil {
		log.Fatal(err)
	}
	table, err := c.Media.StoreMedia(ctx, strings.NewReader("region,sales\nNorth,120\nSouth,340\n"), api.Upload{FileName: "sales.csv"})
	if err != nil {
		log.Fatal(err)
	}
	run, err := c.Runs.StartRun(ctx, "", api.NewRun{Agent: "research-agent", Message: "Which region had the highest sales?", Files: []api.RunFile{{MediaID: table.ID}}})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range c.Events.Follow(ctx, run.ID, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Ends(run.ID) {
			fmt.Println(e.Kind)
			break
		}
	}
	r, err := c.Runs.Run(ctx, run.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(r.Answer, "South"), r.Report)
	stop()
	<-ended
	// Output:
	// run-succeeded
	// true true
}

// startServer serves in this process until ctx ends.
func startServer(ctx context.Context) (address string, ended <-chan struct{}) {
	dir, err := os.MkdirTemp("", "atelier-*")
	if err != nil {
		log.Fatal(err)
	}
	a, err := atelier.Open(ctx, atelier.Config{Dir: dir, Adopt: true})
	if err != nil {
		log.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer os.RemoveAll(dir)
		defer a.Close()
		if err := a.Serve(ctx, atelier.ServeConfig{Listener: l, Version: "example"}); err != nil {
			log.Print(err)
		}
	}()
	return "http://" + l.Addr().String(), done
}
