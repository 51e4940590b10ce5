package atelier

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"atelier/api"
	"atelier/generate"
	"atelier/ledger"
)

// counts holds the metric counters of this process.
type counts struct {
	mu sync.Mutex // guards the fields below
	// runs counts root runs by event; operations counts by provider and status.
	runs       map[string]float64
	operations map[[2]string]float64
	usd        ledger.Pico
}

// operation counts the end of an operation.
func (c *counts) operation(e generate.Event) {
	if e.Kind != generate.EventFinished {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.operations[[2]string{e.Provider, string(e.Status)}]++
}

// addCharge adds the cost of a billable act, if it is known.
func (c *counts) addCharge(charge generate.Charge) {
	if charge.USD == nil {
		return
	}
	p, err := ledger.ParsePico(*charge.USD)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usd += p
}

// run counts an event of a root run.
func (c *counts) run(e ledger.Event) {
	what, ok := strings.CutPrefix(e.Kind, "run-")
	if !ok || e.RunID != e.Tree || e.Position == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[what]++
}

// samples returns the counters as metrics.
func (c *counts) samples() (out []api.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, n := range c.runs {
		out = append(out, api.Sample{Name: "atelier_runs_total", Kind: "counter", Help: "Runs of this process by event: started, paused, resumed, succeeded, failed, cancelled.", Labels: []string{"event", what}, Value: n})
	}
	for by, n := range c.operations {
		out = append(out, api.Sample{Name: "atelier_operations_total", Kind: "counter", Help: "Generations that ended in this process.", Labels: []string{"provider", by[0], "status", by[1]}, Value: n})
	}
	usd, _ := strconv.ParseFloat(c.usd.USD(), 64) // always a decimal number
	return append(out, api.Sample{Name: "atelier_cost_usd_total", Kind: "counter", Help: "Known cost of this process's generations and chat model calls.", Value: usd})
}

// countRuns counts the events of root runs until ctx ends.
func (s *server) countRuns(ctx context.Context) {
	events, stop := s.observer.Subscribe("")
	defer func() { stop() }()
	for {
		select {
		case e, ok := <-events:
			if !ok { // the subscription was too slow
				events, stop = s.observer.Subscribe("")
				continue
			}
			s.counts.run(e)
		case <-ctx.Done():
			return
		}
	}
}

// samples returns the metrics other than those of requests.
func (h *hubs) samples() []api.Sample {
	h.mu.Lock()
	readers := 0
	for _, hub := range h.all {
		readers += hub.Readers()
	}
	h.mu.Unlock()
	return append(h.server.counts.samples(), api.Sample{Name: "atelier_event_readers", Kind: "gauge", Help: "Open event streams.", Value: float64(readers)})
}
