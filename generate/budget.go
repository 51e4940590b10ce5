package generate

import "context"

// Budget bounds what operations may cost. Implementations are safe for concurrent use.
type Budget interface {
	// Reserve holds the operation's estimated cost against every budget of the scope of
	// ctx (its run, its day, its owner), all or none. The error has code
	// media.CodeOverBudget and names the budget and what is left of it. An unknown
	// estimate reserves nothing.
	Reserve(ctx context.Context, op Operation) error
	// Settle gives the reservation back and counts what the operation cost: what the
	// provider reported, else the estimate of the results that were made. It is called
	// when an operation is over, in a later process perhaps, and once more if a process
	// dies before it saved the receipt: the second time changes nothing.
	Settle(ctx context.Context, op Operation)
}

// NoBudget lets everything pass.
type NoBudget struct{}

var _ Budget = NoBudget{}

// Reserve lets the operation pass.
func (NoBudget) Reserve(context.Context, Operation) error { return nil }

// Settle counts nothing.
func (NoBudget) Settle(context.Context, Operation) {}
