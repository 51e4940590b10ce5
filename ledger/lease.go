package ledger

import (
	"context"
	"fmt"
	"time"
)

// LeaseKind is the kind of work that a lease is for.
type LeaseKind string

// The kinds.
const (
	LeaseRun        LeaseKind = "run"        // a part of a run
	LeaseGeneration LeaseKind = "generation" // an operation
	LeaseEngine     LeaseKind = "engine"     // a process's part of the durable engine
)

// LeaseTime is how long a lease lasts after it is acquired or renewed.
const LeaseTime = 10 * time.Second

// Lease says that one process, and no other, works on something. Its times are those of the database's clock.
type Lease struct {
	Kind LeaseKind
	// Work is the id of the work.
	Work string
	// Holder is the id of the process, unique to each process.
	Holder string
	// Generation counts the holders of the work. A replaced holder has a lower generation.
	Generation int64
	// Host and PID describe the process for people. Machine is equal for processes that see each other's PIDs;
	// empty if unknown.
	Host, Machine string
	PID           int
	// StartedAt is when the holder acquired the lease; after ExpiresAt any process may acquire it.
	StartedAt, ExpiresAt time.Time
	// Live reports whether the lease had not expired when it was read.
	Live bool
}

// Process describes the process of a lease for people.
func (l Lease) Process() string {
	if l.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s", l.PID, l.Host)
}

// Leases stores leases. If several processes acquire a lease concurrently, one of them gets it.
type Leases interface {
	// AcquireLease makes l.Holder the holder of l.Work for LeaseTime, if no other process holds it or its lease has
	// expired, and returns the lease. If l.Holder already holds it, the generation stays. A lease equal to gone counts
	// as expired: its process is known to have ended. Otherwise the error has code media.CodeConflict and names the
	// holder. A lease that would last for minutes is ignored: a clock was wrong.
	AcquireLease(ctx context.Context, l, gone Lease) (Lease, error)
	// RenewLeases extends all leases of a holder, including expired ones, to LeaseTime from now, in one statement, and
	// returns their number.
	RenewLeases(ctx context.Context, holder string) (int, error)
	// ReleaseLeases releases leases of a holder. Leases of other holders stay.
	ReleaseLeases(ctx context.Context, holder string, kind LeaseKind, works ...string) error
	// Leases returns the leases of a kind, or of the given works of that kind, including expired ones.
	Leases(ctx context.Context, kind LeaseKind, works ...string) ([]Lease, error)
	// HasLease reports whether l.Holder holds l.Work with l.Generation, expired or not. It is cheaper than Leases.
	HasLease(ctx context.Context, l Lease) (bool, error)
	// SweepLeases removes leases that expired more than a day ago.
	SweepLeases(ctx context.Context) error
}

type leaseKey struct{}

// WithLease returns a context for saves by the holder of a lease. A save that advances a run or an operation, see
// [Store], compares the lease in its own commit. If l is not the current lease of the work, the error has code
// media.CodeConflict and names the process that holds it. Received results are saved anyway: blobs, media, acts, model
// calls and events.
func WithLease(ctx context.Context, l Lease) context.Context {
	return context.WithValue(ctx, leaseKey{}, l)
}

// LeaseOf returns the lease of a context; its Work is empty if there is none.
func LeaseOf(ctx context.Context) Lease {
	l, _ := ctx.Value(leaseKey{}).(Lease)
	return l
}
