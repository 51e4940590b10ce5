package lease

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/ledger"
	"atelier/ledger/sqlite"
	"atelier/media"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "ledger.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestReplaced: a keeper whose lease was revoked learns of it once, by its next renewal, and EnsureHeld does not take
// the lease back.
func TestReplaced(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), open(t)
	one, two := NewKeeper(s), NewKeeper(s)
	var reasons []error
	for range 2 {
		if err := one.Acquire(ctx, ledger.LeaseRun, "w", func(reason error) { reasons = append(reasons, reason) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := two.Acquire(ctx, ledger.LeaseRun, "w", nil); media.CodeOf(err) != media.CodeConflict || !strings.Contains(err.Error(), "process ") {
		t.Errorf("acquired by two: %v", err)
	}
	if err := one.Acquire(ctx, ledger.LeaseRun, "v", nil); err != nil {
		t.Fatal(err)
	}
	if err := one.renewAll(); err != nil || len(reasons) != 0 {
		t.Errorf("renewed: %v, reasons %v", err, reasons)
	}
	if err := two.Revoke(ctx, ledger.LeaseRun, "w", one.ID()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := one.renewAll(); err != nil || len(reasons) != 1 || media.CodeOf(reasons[0]) != media.CodeConflict {
			t.Errorf("renewed: %v, reasons %v", err, reasons)
		}
	}
	if err := one.EnsureHeld(ctx, ledger.LeaseRun, "w"); media.CodeOf(err) != media.CodeConflict || one.Holds(ledger.LeaseRun, "w") {
		t.Errorf("kept: %v", err)
	}
	if err := one.EnsureHeld(ctx, ledger.LeaseRun, "v"); err != nil || len(one.Works(ledger.LeaseRun)) != 1 {
		t.Errorf("not kept: %v", err)
	}
	if err := one.Release(ctx, ledger.LeaseRun, "v"); err != nil {
		t.Fatal(err)
	}
	if living, err := two.LiveLeases(ctx, ledger.LeaseRun); err != nil || len(living) != 0 {
		t.Errorf("%+v, %v", living, err)
	}
}

// stuck is a store whose first release fails.
type stuck struct {
	*sqlite.Store
	failed *bool
}

func (s stuck) ReleaseLeases(ctx context.Context, holder string, kind ledger.LeaseKind, works ...string) error {
	if !*s.failed {
		*s.failed = true
		return media.Errorf(media.CodeUnavailable, "the database is away")
	}
	return s.Store.ReleaseLeases(ctx, holder, kind, works...)
}

// TestReleaseFails: a lease that could not be released is not renewed for the life of the process, and work that is
// acquired again keeps its lease.
func TestReleaseFails(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		ctx, s := t.Context(), stuck{open(t), new(bool)}
		k := NewKeeper(s)
		for _, w := range []string{"kept", "w"} {
			if err := k.Acquire(ctx, ledger.LeaseGeneration, w, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.Release(ctx, ledger.LeaseGeneration, "w"); media.CodeOf(err) != media.CodeUnavailable {
			t.Fatal(err)
		}
		if again {
			if err := k.Acquire(ctx, ledger.LeaseGeneration, "w", nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.renewAll(); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Leases(ctx, ledger.LeaseGeneration, "w"); err != nil || len(list) > 0 != again {
			t.Errorf("acquired again %v: %+v, %v", again, list, err)
		}
		if err := k.Release(ctx, ledger.LeaseGeneration, "kept", "w"); err != nil {
			t.Fatal(err)
		}
	}
}

// late is a store whose renewals return late.
type late struct {
	*sqlite.Store
	renewed, back chan struct{}
}

func (l late) RenewLeases(ctx context.Context, holder string) (int, error) {
	n, err := l.Store.RenewLeases(ctx, holder)
	close(l.renewed)
	<-l.back
	return n, err
}

// TestAcquiredInATransaction: a renewal that ends before the transaction of a lease is committed does
// not lose the lease.
func TestAcquiredInATransaction(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), late{open(t), make(chan struct{}), make(chan struct{})}
	k := NewKeeper(s)
	if err := k.Acquire(ctx, ledger.LeaseGeneration, "finished", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.ReleaseLeases(ctx, k.ID(), ledger.LeaseGeneration, "finished"); err != nil {
		t.Fatal(err) // the renewal misses it, and checks each lease
	}
	ended := make(chan error)
	go func() { ended <- k.renewAll() }()
	<-s.renewed
	var hold func()
	if err := s.InTransaction(ctx, func(ctx context.Context) (err error) {
		hold, err = k.AcquireIn(ctx, ledger.LeaseGeneration, "w", nil)
		close(s.back)
		return errors.Join(err, <-ended)
	}); err != nil {
		t.Fatal(err)
	}
	hold()
	if got := k.Works(ledger.LeaseGeneration); !slices.Equal(got, []string{"w"}) {
		t.Errorf("holds %q", got)
	}
	if err := k.Release(ctx, ledger.LeaseGeneration, "w"); err != nil {
		t.Fatal(err)
	}
}

// TestDeadProcess: a lease of an ended process on this machine is taken at once; one of a process that may be alive or
// of another machine is not.
func TestDeadProcess(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), open(t)
	ended := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	k := NewKeeper(s)
	for name, c := range map[string]struct {
		machine string
		pid     int
		taken   bool
	}{"ended": {machine(), ended.Process.Pid, machine() != ""}, "elsewhere": {"elsewhere", ended.Process.Pid, false}, "there": {machine(), os.Getpid(), false}, "unknown": {"", ended.Process.Pid, false}} {
		l := ledger.Lease{Kind: ledger.LeaseGeneration, Work: name, Holder: "another", Machine: c.machine, PID: c.pid}
		if _, err := s.AcquireLease(ctx, l, ledger.Lease{}); err != nil {
			t.Fatal(err)
		}
		if living, err := k.LiveLeases(ctx, ledger.LeaseGeneration, name); err != nil || len(living) == 1 == c.taken {
			t.Errorf("%s: living %v, %v", name, living, err)
		}
		if err := k.Acquire(ctx, ledger.LeaseGeneration, name, nil); c.taken != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := k.Returning(ctx, ledger.LeaseGeneration); err != nil || !left["elsewhere"] || !left["there"] || !left["unknown"] || !left["ended"] {
		t.Errorf("left %v, %v", left, err) // this process has taken the lease of the ended one
	}
	if err := k.Release(ctx, ledger.LeaseGeneration, "ended"); err != nil {
		t.Fatal(err)
	}
}

// TestNoLeaseExpiresAfterOutage: a keeper whose database has just been unavailable considers no lease expired.
func TestNoLeaseExpiresAfterOutage(t *testing.T) {
	t.Parallel()
	s := open(t)
	k := NewKeeper(s)
	if err := k.Acquire(t.Context(), ledger.LeaseRun, "w", nil); err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	k.failed = time.Now()
	k.mu.Unlock()
	l := ledger.Lease{Kind: ledger.LeaseRun, Work: "v", Holder: "another", Machine: machine(), PID: 1 << 30}
	if _, err := s.AcquireLease(t.Context(), l, ledger.Lease{}); err != nil {
		t.Fatal(err)
	}
	if living, err := k.LiveLeases(t.Context(), ledger.LeaseRun); err != nil || len(living) != 2 {
		t.Errorf("%+v, %v", living, err)
	}
	if err := k.Release(t.Context(), ledger.LeaseRun, "w"); err != nil {
		t.Fatal(err)
	}
}
