package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"atelier/action"
	"atelier/agent"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
)

// An agent in Go stores a drawing and promotes it. The answer names the drawing by its ref; the bytes remain in the
// blob store.
func ExampleRunner() {
	store, err := blob.New(blob.Config{Driver: memblob.New()})
	if err != nil {
		panic(err)
	}
	codec, err := wire.NewCodec(wire.Config{Blobs: store, Keys: []wire.Key{{ID: "k1", Secret: bytes.Repeat([]byte{1}, 32)}}})
	if err != nil {
		panic(err)
	}
	actions, err := action.NewRegistry(action.Config{Store: codec})
	if err != nil {
		panic(err)
	}
	draw := func(ctx context.Context, c *agent.Context) (agent.Answer, error) {
		svg := `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><circle cx="20" cy="15" r="9"/></svg>`
		o, err := c.Store(ctx, strings.NewReader(svg), media.Meta{Label: "A sun"})
		if err != nil {
			return agent.Answer{}, err
		}
		return agent.Answer{Message: "Here it is: " + o.Ref.Placeholder()}, c.Promote(o)
	}
	runner, err := agent.NewRunner(agent.Config{
		Actions: actions, Codec: codec, GoAgents: map[string]agent.GoAgent{"artist": draw},
	})
	if err != nil {
		panic(err)
	}
	res, err := runner.Run(context.Background(), agent.Request{Agent: "artist", Message: "Draw a sun."})
	if err != nil {
		panic(err)
	}
	for _, o := range res.Outputs {
		fmt.Println(res.Status, o.Label, o.MIMEType, o.Width, o.Height)
	}
	// Output: succeeded A sun image/svg+xml 40 30
}
