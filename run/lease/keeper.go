package lease

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"atelier/ledger"
	"atelier/media"
)

const (
	// renewInterval is the interval between renewals, soon the delay after a failed one.
	renewInterval   = 3 * time.Second
	renewRetryDelay = time.Second
	// limit bounds one renewal.
	limit = 10 * time.Second
)

// key names what a lease is for.
type key struct {
	kind ledger.LeaseKind
	work string
}

// held is a lease of this process.
type held struct {
	ledger.Lease
	lost func(reason error)
}

// Keeper holds the leases of one process. It is safe for concurrent use.
type Keeper struct {
	store ledger.Leases
	me    ledger.Lease

	mu   sync.Mutex // guards all below
	held map[key]held
	// unreleased are leases that could not be released. Renewals would extend them, so they are released again.
	unreleased []key
	// renewed is when the last successful renewal began.
	renewed time.Time
	// failed is when the last failed renewal ended; zero if none failed.
	failed time.Time
	// wake ends the pause between renewals; nil while nothing is held and no goroutine renews.
	wake chan struct{}
}

// NewKeeper returns the keeper of a process. It need not be closed: without leases it does nothing.
func NewKeeper(store ledger.Leases) *Keeper {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return &Keeper{store: store, held: map[key]held{}, me: ledger.Lease{
		Holder: "x-" + uuid.Must(uuid.NewV7()).String(), Host: host, Machine: machine(), PID: os.Getpid(),
	}}
}

// ID returns the holder of this keeper's leases.
func (k *Keeper) ID() string { return k.me.Holder }

// Acquire acquires a lease, or keeps the one that this keeper holds. If lost is not nil, it is called once, with the
// reason, when another process takes the lease. The error has code media.CodeConflict while another process holds it.
func (k *Keeper) Acquire(ctx context.Context, kind ledger.LeaseKind, work string, lost func(reason error)) error {
	if k.holdsUnexpired(key{kind, work}) {
		return nil
	}
	hold, err := k.AcquireIn(ctx, kind, work, lost)
	if err == nil {
		hold()
	}
	return err
}

// AcquireIn is Acquire within a transaction. Call hold once the transaction is committed: until then the database shows
// no lease, and a renewal would consider it lost.
func (k *Keeper) AcquireIn(ctx context.Context, kind ledger.LeaseKind, work string, lost func(reason error)) (hold func(), err error) {
	began := time.Now() //nolint:forbidigo // the time that passes in this process
	want := k.me
	want.Kind, want.Work = kind, work
	got, err := k.store.AcquireLease(ledger.Relaxed(ctx), want, ledger.Lease{})
	if media.CodeOf(err) == media.CodeConflict {
		// The lease of a dead process of this machine need not expire first.
		if list, unread := k.store.Leases(ctx, kind, work); unread == nil && len(list) > 0 && !k.alive(list[0]) {
			got, err = k.store.AcquireLease(ledger.Relaxed(ctx), want, list[0])
		}
	}
	if err != nil {
		k.dropLost(key{kind, work}, err)
		return nil, err
	}
	return func() { k.hold(held{got, lost}, began) }, nil //nolint:contextcheck // renewals outlive the call
}

// hold starts renewing a lease that was acquired after began.
func (k *Keeper) hold(l held, began time.Time) {
	id := key{l.Kind, l.Work}
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.held[id]; ok && l.lost == nil {
		l.lost = old.lost
	}
	k.held[id] = l
	if k.wake == nil {
		k.wake, k.renewed, k.failed = make(chan struct{}, 1), began, time.Time{}
		go k.renew(k.wake) // until nothing is held; nothing waits for it
	}
}

// EnsureHeld reports whether this keeper still holds a lease. The error has code media.CodeConflict if it does not;
// unlike [Keeper.Acquire], EnsureHeld acquires nothing.
func (k *Keeper) EnsureHeld(ctx context.Context, kind ledger.LeaseKind, work string) error {
	if k.holdsUnexpired(key{kind, work}) {
		return nil
	}
	return k.Check(ctx, kind, work)
}

// holdsUnexpired reports whether a lease is held and cannot have expired.
func (k *Keeper) holdsUnexpired(id key) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.held[id]
	return ok && time.Since(k.renewed) < ledger.LeaseTime/2
}

// alive reports whether the process of a lease may be alive.
func (k *Keeper) alive(l ledger.Lease) bool {
	return l.Live && !k.dead(l)
}

// dead reports whether the process of a lease is known to have died.
func (k *Keeper) dead(l ledger.Lease) bool {
	return l.Machine != "" && l.Machine == k.me.Machine && hasExited(l.PID)
}

// WithLease returns a context for saves of work: a save that advances the work succeeds only while this keeper holds
// its current lease.
func (k *Keeper) WithLease(ctx context.Context, kind ledger.LeaseKind, work string) context.Context {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.held[key{kind, work}].Lease
	if l.Work == "" {
		l = k.me // without a generation: another process holds or held the lease
		l.Kind, l.Work = kind, work
	}
	return ledger.WithLease(ctx, l)
}

// Check reads from the database whether this keeper holds a lease. The error has code media.CodeConflict if it does
// not, and names the process that holds the work.
func (k *Keeper) Check(ctx context.Context, kind ledger.LeaseKind, work string) error {
	id := key{kind, work}
	k.mu.Lock()
	mine, ok := k.held[id]
	k.mu.Unlock()
	if ok {
		if has, err := k.store.HasLease(ctx, mine.Lease); has || err != nil {
			return err
		}
	}
	list, err := k.store.Leases(ctx, kind, work)
	if err != nil {
		return err
	}
	by := ledger.Lease{}
	if len(list) == 1 {
		by = list[0]
	}
	if by.Holder == k.me.Holder { // acquired again in the meantime
		return nil
	}
	reason := media.Errorf(media.CodeConflict, "%s adopted %s %s", by.Process(), kind, work)
	k.dropLost(id, reason)
	return reason
}

// Release releases leases.
func (k *Keeper) Release(ctx context.Context, kind ledger.LeaseKind, works ...string) error {
	if len(works) == 0 {
		return nil
	}
	k.Forget(kind, works...)
	err := k.store.ReleaseLeases(ledger.Relaxed(ctx), k.me.Holder, kind, works...)
	if err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, w := range works {
			k.unreleased = append(k.unreleased, key{kind, w})
		}
	}
	return err
}

// Forget is Release for leases that are no longer in the database.
func (k *Keeper) Forget(kind ledger.LeaseKind, works ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range works {
		delete(k.held, key{kind, w})
	}
	k.stopIfIdle()
}

// Works lists the work for which this keeper holds leases of a kind.
func (k *Keeper) Works(kind ledger.LeaseKind) (works []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id := range k.held {
		if id.kind == kind {
			works = append(works, id.work)
		}
	}
	return works
}

// Holds reports whether this keeper holds a lease, without reading the database.
func (k *Keeper) Holds(kind ledger.LeaseKind, work string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.held[key{kind, work}]
	return ok
}

// Sweep removes leases that expired long ago.
func (k *Keeper) Sweep(ctx context.Context) error { return k.store.SweepLeases(ctx) }

// stopIfIdle ends the renewals if no leases are held; the caller holds mu.
func (k *Keeper) stopIfIdle() {
	if len(k.held) == 0 && k.wake != nil {
		close(k.wake)
		k.wake = nil
	}
}

// Revoke removes the lease of another process. From then on, its saves that would advance the work fail; it notices at
// its next renewal, within seconds.
func (k *Keeper) Revoke(ctx context.Context, kind ledger.LeaseKind, work, holder string) error {
	return k.store.ReleaseLeases(ctx, holder, kind, work)
}

// LiveLeases returns the leases of a kind, or of the given works, whose processes may be alive. For half of
// ledger.LeaseTime after a failed renewal it includes expired ones, so that their holders can renew them first.
func (k *Keeper) LiveLeases(ctx context.Context, kind ledger.LeaseKind, works ...string) (map[string]ledger.Lease, error) {
	list, err := k.store.Leases(ctx, kind, works...)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	shaken := !k.failed.IsZero() && time.Since(k.failed) < ledger.LeaseTime/2
	living := map[string]ledger.Lease{}
	for _, l := range list {
		if _, mine := k.held[key{kind, l.Work}]; k.alive(l) || mine || shaken {
			living[l.Work] = l
		}
	}
	return living, nil
}

// Returning reports for each lease of a kind, expired ones included, whether its process may return to the work: it may
// unless it is known to be dead.
func (k *Keeper) Returning(ctx context.Context, kind ledger.LeaseKind) (map[string]bool, error) {
	list, err := k.store.Leases(ctx, kind)
	returning := map[string]bool{}
	for _, l := range list {
		returning[l.Work] = !k.dead(l)
	}
	return returning, err
}

// renew renews all leases until there are none.
func (k *Keeper) renew(wake <-chan struct{}) {
	pause := renewInterval
	for {
		select {
		case <-wake:
			return
		case <-time.After(pause):
		}
		if pause = renewInterval; k.renewAll() != nil {
			pause = renewRetryDelay
		}
	}
}

// renewAll renews all leases with one statement, and finds the lost ones.
func (k *Keeper) renewAll() error {
	began := time.Now() //nolint:forbidigo // the time that passes in this process
	ctx, stop := context.WithTimeout(ledger.Relaxed(context.Background()), limit)
	defer stop()
	n, err := k.store.RenewLeases(ctx, k.me.Holder)
	k.mu.Lock()
	if err != nil {
		k.failed = time.Now() //nolint:forbidigo // the time that passes in this process
		k.mu.Unlock()
		return err
	}
	k.renewed = began
	var all []key
	if n < len(k.held) {
		all = slices.Collect(maps.Keys(k.held))
	}
	again := k.unreleased
	k.unreleased = nil
	k.mu.Unlock()
	for _, id := range all {
		_ = k.Check(ctx, id.kind, id.work) // the holder is notified
	}
	for _, id := range again {
		if !k.Holds(id.kind, id.work) { // it may have been acquired meanwhile
			_ = k.Release(ctx, id.kind, id.work) // else at the next renewal
		}
	}
	return nil
}

// dropLost forgets a lease that another process holds, and reports the reason to lost.
func (k *Keeper) dropLost(id key, reason error) {
	if media.CodeOf(reason) != media.CodeConflict {
		return
	}
	k.mu.Lock()
	lost := k.held[id].lost
	delete(k.held, id)
	k.stopIfIdle()
	k.mu.Unlock()
	if lost != nil {
		lost(reason)
	}
}

// machine is equal for processes that see each other's PIDs: it identifies the boot of the kernel
// and the PID namespace. If it cannot be read, it is empty, and dead processes are not detected.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// hasExited reports whether a process of this machine has died, even if its parent has not waited for it.
func hasExited(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}
