package workflows_test

import (
	"context"
	"flag"
	"runtime"
	"sync"
	"testing"

	"atelier/ledger"
	"atelier/run/workflows"
	"atelier/workflow/ordered"
)

// paused starts runs that pause.
func (h *testService) paused(n int) {
	h.t.Helper()
	d := h.definition(askingWorkflow)
	for range n {
		r, err := h.Start(context.WithoutCancel(h.t.Context()), workflows.StartRequest{Owner: owner, Definition: d, State: &ordered.Object{}})
		must(h.t, err)
		_, err = r.Wait(h.t.Context())
		must(h.t, err)
	}
	must(h.t, h.events.Flush(h.t.Context()))
}

// memoryInUse returns the process's goroutines and heap, without temporary goroutines.
func memoryInUse() (goroutines int, heap int64) {
	goroutines = runtime.NumGoroutine()
	var m runtime.MemStats
	for range 20 {
		runtime.GC()
		goroutines = min(goroutines, runtime.NumGoroutine())
	}
	runtime.ReadMemStats(&m)
	return goroutines, int64(m.HeapAlloc)
}

// TestPausedRunsHoldNothing: paused runs have no goroutine. [BenchmarkPaused] has 10,000.
func TestPausedRunsHoldNothing(t *testing.T) { //nolint:paralleltest // it counts the goroutines of the process
	h := build(t)
	h.paused(1)
	before, _ := memoryInUse()
	h.paused(50)
	if after, _ := memoryInUse(); after > before+10 {
		t.Errorf("%d goroutines before, %d behind 50 paused runs", before, after)
	}
	list, err := h.store.ListRuns(t.Context(), owner, ledger.RunQuery{Roots: true, Status: ledger.StatusPaused, Page: ledger.Page{Limit: 100}})
	if err != nil || len(list.Items) != 51 {
		t.Errorf("%d runs wait, %v", len(list.Items), err)
	}
}

// pausedCost is the cost of paused runs: goroutines in total, bytes of the heap per run.
type pausedCost struct{ goroutines, heap float64 }

var (
	measured sync.Once  //nolint:gochecknoglobals // measured once
	holding  pausedCost //nolint:gochecknoglobals // measured once
)

// BenchmarkPaused measures the cost of 10,000 paused runs in the process: goroutines, and bytes of the heap per run.
// With -benchtime 1x only 500 are paused.
func BenchmarkPaused(b *testing.B) {
	n := 10_000
	if f := flag.Lookup("test.benchtime"); f != nil && f.Value.String() == "1x" {
		n = 500
	}
	measured.Do(func() { // it takes minutes, and is the same each time
		h := build(b)
		h.paused(10)
		goroutines, heap := memoryInUse()
		h.paused(n)
		more, grown := memoryInUse()
		holding = pausedCost{goroutines: float64(more - goroutines), heap: float64(grown-heap) / float64(n)}
	})
	for b.Loop() {
	}
	b.ReportMetric(holding.goroutines, "goroutines")
	b.ReportMetric(holding.heap, "heap-bytes/run")
	b.ReportMetric(0, "ns/op")
}
