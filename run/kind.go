package run

import (
	"context"
)

// Kind is a kind of work that can outlive its process: [Service] is the kind of agent runs.
type Kind interface {
	// TakeOver adopts this kind's work of dead processes, as far as there is room, and returns how
	// much. It does not wait for that work, which is handed over when ctx ends. Work of living
	// processes and of earlier calls stays. It is called every few seconds, by one goroutine.
	TakeOver(ctx context.Context) (int, error)
}

var _ Kind = (*Service)(nil)
