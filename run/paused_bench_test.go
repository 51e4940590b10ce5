package run_test

import (
	"database/sql"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/agent"
	"atelier/run"
	"atelier/run/durable"
	"atelier/run/lease"
)

// BenchmarkPaused resumes one of many paused runs, in a service that is open (open), and in one that opens its
// databases for it (cold). It measures the time until the first model call after the answer. It also reports the
// goroutines and the heap of the process, in excess of the same service with two paused runs. 100,000 runs are paused;
// with -benchtime 1x only 2,000.
func BenchmarkPaused(b *testing.B) {
	runs := 100_000
	if f := flag.Lookup("test.benchtime"); f != nil && f.Value.String() == "1x" {
		runs = 2_000
	}
	var p *pausedBench
	b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
		p = newPausedBench(b, runs)
		few := newPausedBench(b, 2)
		memoryOf(b, few.dir) // initialize what is made only once
		gBefore, before := memoryOf(b, few.dir)
		g, h := memoryOf(b, p.dir)
		gAfter, after := memoryOf(b, few.dir)
		b.Run("holds", func(b *testing.B) {
			for b.Loop() {
			}
			// The test retains a little memory of each service.
			b.ReportMetric(float64(g)-float64(gBefore+gAfter)/2, "goroutines")
			b.ReportMetric(float64(h)-float64(before+after)/2, "heap-bytes")
			b.ReportMetric(0, "ns/op")
		})
		b.Run("open", func(b *testing.B) { p.open(b) })
		b.Run("cold", func(b *testing.B) { p.cold(b) })
	})
}

// service returns a service on the databases of a folder.
func service(b *testing.B, dir string) (*testService, *run.Service, func()) {
	b.Helper()
	h := buildAt(b, filepath.Join(dir, "a.db"), run.BudgetConfig{}, `{"message":"Thank you.","done":true}`)
	h.called = make(chan time.Time, 1)
	engine, err := durable.Open(b.Context(), durable.Config{Path: filepath.Join(dir, "engine.db"), Leases: lease.NewKeeper(h.store), Adopts: true})
	must(b, err)
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer, Engine: engine})
	must(b, err)
	return h, s, func() {
		s.Close()
		must(b, h.store.Close())
	}
}

// memoryOf returns the goroutines and the heap of a process with a service on a folder.
func memoryOf(b *testing.B, dir string) (goroutines int, heap int64) {
	b.Helper()
	_, _, stop := service(b, dir)
	defer stop()
	var m runtime.MemStats
	for range 20 { // let temporary goroutines end
		time.Sleep(10 * time.Millisecond)
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), int64(m.HeapAlloc)
}

// pausedBench is a folder with many paused runs.
type pausedBench struct {
	dir  string
	runs int
	next int
}

func newPausedBench(b *testing.B, runs int) *pausedBench {
	b.Helper()
	p := &pausedBench{dir: b.TempDir(), runs: runs}
	h := buildAt(b, filepath.Join(p.dir, "a.db"), run.BudgetConfig{}, questionAnswers()[1])
	engine, err := durable.Open(b.Context(), durable.Config{Path: filepath.Join(p.dir, "engine.db"), Leases: lease.NewKeeper(h.store)})
	must(b, err)
	s, err := run.NewService(run.Config{Agents: h.runner, Ledger: h.store, Observer: h.observer, Engine: engine})
	must(b, err)
	res, err := s.Run(b.Context(), agent.Request{Agent: "painter", Message: "paint", Owner: owner})
	must(b, err)
	s.Close()
	must(b, h.store.Close())
	p.multiply(b, "a.db", res.RunID, "agent_runs", "run_states")
	p.multiply(b, "engine.db", res.RunID, "workflow_status", "operation_outputs")
	return p
}

// copyFormat is the format of the id of a copy, in SQL and in Go.
const copyFormat = "01a1fdc6-0000-7000-8000-%012d"

// multiply copies the rows of a run under other ids.
func (p *pausedBench) multiply(b *testing.B, file, id string, tables ...string) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.dir, file)+"?_pragma=busy_timeout(10000)")
	must(b, err)
	defer func() { must(b, db.Close()) }()
	for _, table := range tables {
		names, values := columns(b, db, table)
		key := names[0] // the first column is the key of every table here
		_, err := db.ExecContext(b.Context(), "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM c WHERE n < $2 - 1) INSERT INTO "+table+
			" ("+strings.Join(names, ", ")+") SELECT "+strings.Join(values, ", ")+" FROM c, "+table+" WHERE "+key+" = $1", id, p.runs)
		must(b, err)
	}
}

// columns lists the columns of a table, and the SQL value of each in a copy.
func columns(b *testing.B, db *sql.DB, table string) (names, values []string) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), "SELECT name FROM pragma_table_info('"+table+"')")
	must(b, err)
	defer func() { must(b, rows.Close()) }()
	for rows.Next() {
		var name string
		must(b, rows.Scan(&name))
		names = append(names, name)
		values = append(values, "CASE typeof("+name+") WHEN 'text' THEN replace("+name+", $1, printf('"+copyFormat+"', n)) ELSE "+name+" END")
	}
	must(b, rows.Err())
	return names, values
}

// nextRun returns the id of a paused run, each time a different one, spread over the table.
func (p *pausedBench) nextRun(b *testing.B) string {
	b.Helper()
	p.next++
	if p.next >= p.runs {
		b.Fatal("no run is left that waits")
	}
	return fmt.Sprintf(copyFormat, (p.next*7919)%p.runs)
}

// resume answers a run and returns the time from began to the model call after the answer.
func (p *pausedBench) resume(b *testing.B, h *testService, s *run.Service, began time.Time) time.Duration {
	b.Helper()
	r, err := s.Resume(b.Context(), owner, p.nextRun(b), colour("red"))
	must(b, err)
	took := (<-h.called).Sub(began)
	res, err := r.Wait(b.Context())
	must(b, err)
	if res.Status != agent.StatusSucceeded {
		b.Fatalf("the run %s", res.Status)
	}
	return took
}

func (p *pausedBench) open(b *testing.B) {
	b.Helper()
	h, s, stop := service(b, p.dir)
	defer stop()
	var took []time.Duration
	for b.Loop() {
		took = append(took, p.resume(b, h, s, time.Now()))
	}
	reportTimes(b, took)
}

func (p *pausedBench) cold(b *testing.B) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		h, s, stop := service(b, p.dir)
		took = append(took, p.resume(b, h, s, began))
		stop()
	}
	reportTimes(b, took)
}

// reportTimes reports the median and the 99th percentile.
func reportTimes(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[int(share*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
