package run_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sort"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"atelier/action"
	"atelier/agent"
	"atelier/agent/definition"
	"atelier/chat"
	"atelier/ledger/sqlite"
	"atelier/media/blob"
	"atelier/media/blob/memblob"
	"atelier/media/wire"
	"atelier/run"
	"atelier/run/durable"
	"atelier/run/lease"
	"atelier/run/record"
)

// twoTurns answers the first turn with an action and the second one with the end, and records when the first call came.
type twoTurns struct {
	script
	first *atomic.Int64 // nanoseconds since began
	began *atomic.Pointer[time.Time]
}

func (m twoTurns) Choose(context.Context, []string) (chat.Choice, error) {
	return chat.Choice{Model: m}, nil
}

func (m twoTurns) Generate(_ context.Context, r chat.Request) (chat.Response, error) {
	text := m.answers[min(len(r.Messages)/2, 1)]
	if len(r.Messages) < 2 {
		m.first.CompareAndSwap(0, int64(time.Since(*m.began.Load())))
	}
	return chat.Response{Text: text, Model: "script-1", Usage: chat.Usage{InputTokens: 10, OutputTokens: 5}}, nil
}

// durableBench returns a service whose ledger and engine are SQLite files, as in the product.
func durableBench(b *testing.B) (*run.Service, twoTurns) {
	b.Helper()
	dir, quiet := b.TempDir(), slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(dir, "atelier.db"), Logger: quiet})
	mustBench(b, err)
	b.Cleanup(func() { mustBench(b, store.Close()) })
	blobs, err := blob.New(blob.Config{Driver: memblob.New()})
	mustBench(b, err)
	codec, err := wire.NewCodec(wire.Config{
		Blobs: blobs, Keys: []wire.Key{{ID: "bench", Secret: []byte("a secret of thirty-two bytes .. ")}}, Register: store.RegisterBlob,
	})
	mustBench(b, err)
	observer, err := record.NewObserver(record.Config{Ledger: store, Logger: quiet})
	mustBench(b, err)
	registry, err := action.NewRegistry(action.Config{Store: codec, Recorder: store})
	mustBench(b, err)
	mustBench(b, registry.Register(action.Action{
		Name: "Count", Description: "Counts.", Params: []action.Param{{Name: "Text", Direction: action.Input, ValueType: action.Scalar}},
		Run: func(context.Context, *action.Call) (action.Result, error) { return action.Result{Message: "4"}, nil },
	}))
	defs, err := definition.Load(fstest.MapFS{
		"counter.yaml": {Data: []byte("slug: counter\nname: Counter\ndescription: Counts.\nprompt: counter.md\nactions: [Count]\n")},
		"counter.md":   {Data: []byte("You count.")},
	})
	mustBench(b, err)
	model := twoTurns{first: &atomic.Int64{}, began: &atomic.Pointer[time.Time]{}, script: script{answers: []string{
		`{"reasoning":"count","actions":[{"name":"Count","params":{"Text":"a b c d"}}]}`, `{"message":"Four.","payload":{"n":4},"done":true}`,
	}}}
	runner, err := agent.NewRunner(agent.Config{
		Definitions: defs, Actions: registry, Codec: codec, Recorder: store, Observer: observer, Models: model,
	})
	mustBench(b, err)
	engine, err := durable.Open(b.Context(), durable.Config{Path: filepath.Join(dir, "engine.db"), Leases: lease.NewKeeper(store)})
	mustBench(b, err)
	service, err := run.NewService(run.Config{Agents: runner, Ledger: store, Observer: observer, Engine: engine})
	mustBench(b, err)
	b.Cleanup(service.Close)
	return service, model
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	mustBench(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDurableRun measures a whole run of two turns and one action, as steps of the durable engine, with all
// records and events in the ledger, each synced before it counts.
func BenchmarkDurableRun(b *testing.B) {
	service, model := durableBench(b)
	now := time.Now()
	model.began.Store(&now)
	before, n := processorTime(b), 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		res, err := service.Run(b.Context(), agent.Request{Agent: "counter", Message: "How many?"})
		if err != nil || res.Turns != 2 || len(res.Steps) != 1 {
			b.Fatalf("%+v, %v", res, err)
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(n)/1e6, "cpu-ms/op")
}

// BenchmarkStartOfRun measures the time from Service.Run to the first model call: the run and its row are saved and the
// conversation with the model is built.
func BenchmarkStartOfRun(b *testing.B) {
	service, model := durableBench(b)
	var all []float64
	for b.Loop() {
		now := time.Now()
		model.first.Store(0)
		model.began.Store(&now)
		if _, err := service.Run(b.Context(), agent.Request{Agent: "counter", Message: "How many?"}); err != nil {
			b.Fatal(err)
		}
		all = append(all, float64(model.first.Load())/1e6)
	}
	sort.Float64s(all)
	b.ReportMetric(all[len(all)/2], "start-ms-p50")
	b.ReportMetric(all[len(all)*99/100], "start-ms-p99")
}
