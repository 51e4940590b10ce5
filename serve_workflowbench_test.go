package atelier_test

import (
	"context"
	"encoding/json"
	"net"
	"slices"
	"testing"
	"time"

	"atelier"
	"atelier/api"
	"atelier/api/client"
	"atelier/run/runtest"
)

// benchCards serves the workflow cards in this process, and returns a client and a run that is paused.
func benchCards(b *testing.B) (*client.Client, api.WorkflowRun) {
	b.Helper()
	a, err := atelier.Open(b.Context(), atelier.Config{Dir: runtest.Folder(b), Owner: "local", Adopt: true})
	if err != nil {
		b.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, atelier.ServeConfig{Listener: l}) }()
	b.Cleanup(func() { stop(); <-served; _ = a.Close() })
	c, err := client.New(client.Config{URL: "http://" + l.Addr().String()})
	if err != nil {
		b.Fatal(err)
	}
	var n api.NewWorkflowRun
	if err := json.Unmarshal([]byte(cards), &n); err != nil {
		b.Fatal(err)
	}
	began, err := c.WorkflowRuns.StartWorkflowRun(b.Context(), "", n)
	if err != nil {
		b.Fatal(err)
	}
	r := api.WorkflowRun{Status: "running"}
	for r.InteractionID == "" {
		if r, err = c.WorkflowRuns.WorkflowRun(b.Context(), began.ID); err != nil {
			b.Fatal(err)
		}
	}
	return c, r
}

// percentiles reports the median and the 95th percentile.
func percentiles(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	for name, part := range map[string]int{"p50-ms": 50, "p95-ms": 95} {
		b.ReportMetric(times[min(len(times)*part/100, len(times)-1)].Seconds()*1000, name)
	}
}

// BenchmarkSubActionStart measures the time from a click to the first event of its stream, over HTTP.
func BenchmarkSubActionStart(b *testing.B) {
	c, r := benchCards(b)
	click := json.RawMessage(`{"interaction_id":"` + r.InteractionID + `","action_type":"media.offline.txt2img","prompt_id":"a"}`)
	var times []time.Duration
	for b.Loop() {
		started := time.Now()
		id, err := c.SubActions.StartSubAction(b.Context(), r.ID, "", click)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(started))
		b.StopTimer()
		for _, err := range c.SubActions.FollowSubAction(b.Context(), id, 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
	percentiles(b, times)
}

// BenchmarkPatchElsewhere measures the time from the start of an edit to its event at another reader.
func BenchmarkPatchElsewhere(b *testing.B) {
	c, r := benchCards(b)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	arrived := make(chan time.Time)
	go func() {
		defer close(arrived)
		for e, err := range c.Events.Follow(ctx, r.ID, 0) {
			if err != nil {
				return
			}
			if e.Kind == "interaction-patched" {
				arrived <- time.Now()
			}
		}
	}()
	var times []time.Duration
	version := 0
	for b.Loop() {
		text := json.RawMessage(`"a lake"`)
		if version%2 == 0 {
			text = json.RawMessage(`"a river"`)
		}
		started := time.Now()
		change, err := c.Interactions.PatchInteraction(b.Context(), r.InteractionID, version, []api.PatchOperation{{Op: "replace", Path: "/prompts/offline/a", Value: text}})
		if err != nil {
			b.Fatal(err)
		}
		at, ok := <-arrived
		if !ok {
			b.Fatal("the other reader has lost its stream")
		}
		version = change.Version
		times = append(times, at.Sub(started))
	}
	percentiles(b, times)
}
