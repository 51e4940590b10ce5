package generatetest

import (
	"context"
	"sync"

	"atelier/generate"
)

// countingBudget is a budget that counts reservations and settlements.
type countingBudget struct {
	generate.InMemory

	mu                sync.Mutex // guards all below
	reserved, settled map[string]int
}

var _ generate.Budget = (*countingBudget)(nil)

// Reserve counts a reservation.
func (p *countingBudget) Reserve(_ context.Context, c generate.Charge) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved == nil {
		p.reserved, p.settled = map[string]int{}, map[string]int{}
	}
	p.reserved[c.ID]++
	return nil
}

// Settle counts a settlement.
func (p *countingBudget) Settle(_ context.Context, c generate.Charge) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled == nil {
		p.reserved, p.settled = map[string]int{}, map[string]int{}
	}
	p.settled[c.ID]++
	return nil
}

// touched reports whether money was reserved or settled.
func (p *countingBudget) touched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reserved)+len(p.settled) > 0
}

// once reports whether the operation's money was reserved and settled once.
func (p *countingBudget) once(operation string) bool { return p.times(operation, 1) }

// times reports whether the operation's money was reserved and settled n times.
func (p *countingBudget) times(operation string, n int) bool {
	return p.counts(operation) == [2]int{n, n}
}

// counts returns how often the operation's money was reserved and settled.
func (p *countingBudget) counts(operation string) [2]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return [2]int{p.reserved[operation], p.settled[operation]}
}
