package ledger

import (
	"context"
	"fmt"
	"time"
)

// LeaseKind says what a lease is for.
type LeaseKind string

// The kinds.
const (
	LeaseRun        LeaseKind = "run"        // a part of a run
	LeaseGeneration LeaseKind = "generation" // an operation
	LeaseEngine     LeaseKind = "engine"     // what a process has of the durable engine
)

// LeaseTime is how long a lease lasts after it was acquired or renewed.
const LeaseTime = 10 * time.Second

// Lease says that one process works on something, and no other. Its times are those of the
// database's clock.
type Lease struct {
	Kind LeaseKind
	// Work is the id of what is worked on.
	Work string
	// Holder is a new id of each process.
	Holder string
	// Generation counts the holders of the work. A holder that was replaced has an older one.
	Generation int64
	// Host, PID and Command name the process for people. Machine is equal for processes that
	// see each other's PIDs; empty if that is not known.
	Host, Machine string
	PID           int
	Command       string
	// StartedAt is when the holder acquired it; after ExpiresAt anybody may.
	StartedAt, ExpiresAt time.Time
	// Live reports whether it had not expired when it was read.
	Live bool
}

// Process names the process of a lease for people.
func (l Lease) Process() string {
	if l.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s", l.PID, l.Host)
}

// Leases keeps who works on what. Of several processes that acquire a lease at once one gets it.
type Leases interface {
	// AcquireLease makes l.Holder the holder of l.Work for LeaseTime, if no other process is or its
	// lease has expired, and gives the lease. The holder itself keeps its generation. A lease
	// like gone counts as expired: its process is known to have ended. Otherwise it is
	// media.CodeConflict with the process that has it. A lease that would last for minutes is
	// none: a clock was wrong.
	AcquireLease(ctx context.Context, l, gone Lease) (Lease, error)
	// RenewLeases lets all leases of a holder last for LeaseTime from now, expired ones too, in one
	// statement, and gives their number.
	RenewLeases(ctx context.Context, holder string) (int, error)
	// ReleaseLeases gives leases up. Those of other holders stay.
	ReleaseLeases(ctx context.Context, holder string, kind LeaseKind, works ...string) error
	// Leases reads those of a kind, or of some works of it, expired ones too.
	Leases(ctx context.Context, kind LeaseKind, works ...string) ([]Lease, error)
	// HasLease reports whether l.Holder has l.Work with l.Generation, expired or not. It costs less than
	// Leases.
	HasLease(ctx context.Context, l Lease) (bool, error)
	// SweepLeases removes what expired more than a day ago.
	SweepLeases(ctx context.Context) error
}

type leaseKey struct{}

// Under returns a context for what the holder of a lease saves. A save that advances a run or an
// operation, see [Store], compares the lease in its own commit: it is media.CodeConflict, with the
// process that has the work, where the holder of l is not the one any more. What arrived is
// saved all the same: blobs, media, acts, model calls and events.
func Under(ctx context.Context, l Lease) context.Context {
	return context.WithValue(ctx, leaseKey{}, l)
}

// LeaseOf is the lease that a context is under; its Work is empty if there is none.
func LeaseOf(ctx context.Context) Lease {
	l, _ := ctx.Value(leaseKey{}).(Lease)
	return l
}
