package agent_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"atelier/action"
	"atelier/agent"
	"atelier/media/blob/memblob"
)

// BenchmarkRun measures a whole run of two turns and one action in memory, with events, records and a media set.
func BenchmarkRun(b *testing.B) {
	b.Run("text", func(b *testing.B) { benchmark(b, nil) })
	b.Run("image=1.5MB", func(b *testing.B) {
		raw := make([]byte, 1_500_000)
		noise := rand.NewChaCha8([32]byte{1})
		_, _ = noise.Read(raw) // never fails
		copy(raw, picture(1))
		benchmark(b, raw)
	})
}

func benchmark(b *testing.B, raw []byte) {
	b.Helper()
	act := action.Action{
		Name: "Make", Description: "Makes.",
		Params: []action.Param{
			{Name: "Text", Direction: action.Input, ValueType: action.Scalar},
			{Name: "Image", Direction: action.Output, ValueType: action.Binary, Format: action.FormatReader},
		},
		Run: func(context.Context, *action.Call) (action.Result, error) {
			if raw == nil {
				return action.Result{Message: "Made."}, nil
			}
			return action.Result{Message: "Made.", Outputs: map[string]any{"Image": bytes.NewReader(raw)}}, nil
		},
	}
	w := buildOn(b, memblob.New(), setup{agents: map[string]string{"painter": "actions: [Make]\n"}, actions: []action.Action{act}})
	b.ReportAllocs()
	for b.Loop() {
		w.script.answers = map[string][]any{"painter": {
			`{"reasoning":"make","actions":[{"name":"Make","params":{"Text":"a picture of the sea"}}]}`, `{"message":"Here it is.","payload":{"x":1},"done":true}`,
		}}
		w.script.received, w.watcher.events, w.watcher.prompts, w.watcher.runs, w.watcher.steps = nil, nil, nil, nil, nil
		res, err := w.runner.Run(b.Context(), agent.Request{Agent: "painter", Message: "make"})
		if err != nil || res.Turns != 2 {
			b.Fatal(err)
		}
	}
}
