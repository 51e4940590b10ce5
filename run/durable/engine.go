package durable

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgxpool"

	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/lease"
)

// The names in the database. They must not change, because work of older programs is found by them.
const (
	appName      = "atelier"
	workflowName = "agent-run"
	// queuePrefix precedes an executor's name: each executor has its own queue of adopted work.
	queuePrefix = "taken-over."
	// version is the version of the steps and their results. Change it if the program cannot continue the work of older
	// ones.
	version = "1"
)

// adoptPoll bounds how soon adopted work starts.
const adoptPoll = 50 * time.Millisecond

// Work executes work with an id. It may be called again with the same id and input in another process. It returns when
// the work has ended, with or without success. If ctx ended with the cause journal.ErrHandedOver, it returns that error
// or one that wraps it.
type Work func(ctx context.Context, j journal.Journal, id string, input []byte) error

// Config configures an [Engine]. Leases and either Path or DatabaseURL are required.
type Config struct {
	// Path is the SQLite file. It is created if it is missing.
	Path string
	// DatabaseURL is a PostgreSQL URL; it takes precedence over Path. The tables are in their own
	// schema, atelier_engine, or NAME_atelier_engine if search_path begins with NAME.
	DatabaseURL string
	// Leases holds the leases of this process; required. All engines that share a database must share the leases'
	// database. Each engine has its own keeper, whose id is the name of its executor.
	Leases *lease.Keeper
	// Adopts lets the engine adopt work of dead processes, see [Engine.Adopt]. Without it,
	// the engine executes only work that it started.
	Adopts bool
	// Limit is the maximum number of concurrent adopted works in each engine; 0 means no limit. The others are queued
	// in the engine, see [Engine.Full].
	Limit int
	// Patience is how long work waits for a lost database before it is abandoned; 0 means that it does not wait. Work
	// never waits for a database that cannot come back.
	Patience time.Duration
	// Healthy checks other requirements of the work, such as the ledger; nil means none. It is called twice a second
	// while there is work.
	Healthy func(ctx context.Context) error
}

// Engine runs work durably. It is safe for concurrent use.
type Engine struct {
	cfg  Config
	root dbos.Context
	work Work
	pool *pgxpool.Pool // of the server; nil on SQLite
	file os.FileInfo   // of the SQLite file
	// lostSince is the time at which a database was lost, or zero; only watch uses it.
	lostSince time.Time

	acquiring sync.Mutex // held while this engine acquires work
	// admission is held for reading while work is acquired and by each step, and for writing from Close on.
	admission sync.RWMutex

	flows    *flows
	watching sync.WaitGroup
	ended    chan struct{} // closed when the engine closes
	closing  sync.Once
}

// Open opens the database and creates or updates its tables. The engine does nothing until [Engine.Launch].
func Open(ctx context.Context, c Config) (*Engine, error) {
	if c.Path == "" && c.DatabaseURL == "" {
		return nil, media.Errorf(media.CodeInvalid, "durable.Config.Path is empty: name the database file, or give DatabaseURL")
	}
	if c.Leases == nil {
		return nil, media.Errorf(media.CodeInvalid, "durable.Config.Leases is missing: give this process's lease keeper")
	}
	e := &Engine{cfg: c, flows: &flows{running: map[string]*flow{}, ended: map[string]bool{}}, ended: make(chan struct{})}
	if err := e.connect(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// Launch starts the engine. Call it once, before any method except [Engine.Close].
func (e *Engine) Launch(work Work) error {
	e.work = work
	dbos.RegisterWorkflow(e.root, e.flow, dbos.WithWorkflowName(workflowName), dbos.WithMaxRecoveryAttempts(1000))
	if e.cfg.Adopts {
		// Before this engine's queue is created: queues without the lease of a living process are removed.
		if err := e.cfg.Leases.Acquire(e.root, ledger.LeaseEngine, e.cfg.Leases.ID(), nil); err != nil {
			return err
		}
		options := []dbos.QueueOption{dbos.WithQueueBasePollingInterval(adoptPoll), dbos.WithQueueOnConflict(dbos.QueueConflictAlwaysUpdate)}
		if e.cfg.Limit > 0 {
			options = append(options, dbos.WithWorkerConcurrency(e.cfg.Limit))
		}
		if _, err := dbos.RegisterQueue(e.root, e.queue(), options...); err != nil {
			return e.failure("create the queue of adopted work", err)
		}
		dbos.ListenQueues(e.root, e.queue())
		e.sweep()
	} else {
		dbos.ListenQueues(e.root, "none")
	}
	if err := dbos.Launch(e.root); err != nil {
		return e.failure("launch the durable engine", err)
	}
	e.watching.Go(e.watch)
	return nil
}

// Start starts work in this process and returns when it is saved. For a known id, the error has code
// media.CodeConflict. The input is a small text without media.
func (e *Engine) Start(ctx context.Context, id string, input []byte) error {
	if !e.admission.TryRLock() {
		return media.Errorf(media.CodeUnavailable, "the engine is closing: start the work again later")
	}
	defer e.admission.RUnlock()
	return e.withLease(ctx, id, func() error {
		known, err := e.status(id)
		if err != nil {
			return err
		}
		if known != nil {
			return media.Errorf(media.CodeConflict, "work with the id %s already exists: it is %s", id, known.Status)
		}
		if err := ctx.Err(); err != nil { // nothing has started; from here on the work's own context ends it
			return err
		}
		if _, err := dbos.RunWorkflow(dbos.WithValue(e.root, freshKey{}, true), e.flow, string(input), dbos.WithWorkflowID(id)); err != nil {
			return e.failure("start work "+id, err)
		}
		return nil
	})
}

// freshKey is the context key of work that was started here, and so has no steps yet.
type freshKey struct{}

// flow is the only workflow function.
func (e *Engine) flow(dctx dbos.Context, input string) (string, error) {
	id, err := dctx.GetWorkflowID()
	if err != nil {
		return "", err
	}
	f := &flow{e: e, id: id, dctx: dctx}
	for {
		if err = e.executeOnce(f, input); f.hasEnded(err) {
			break
		}
		if !e.awaitRestart(f) {
			// Return only when the whole engine has stopped: then neither the row nor the work of its next holder
			// changes.
			<-dctx.Done()
			return "", dctx.Err()
		}
	}
	if err != nil {
		return "", readableError(err)
	}
	return "", nil
}

// hasEnded reports whether work that returned err has ended. Work without an error has ended even if
// the engine was closed in the meantime.
func (f *flow) hasEnded(err error) bool {
	return err == nil || !errors.Is(err, journal.ErrHandedOver) && !journal.HandedOver(f.ctx)
}

// executeOnce executes the work once from its beginning.
func (e *Engine) executeOnce(f *flow, input string) (err error) {
	ctx, stop := context.WithCancelCause(e.cfg.Leases.WithLease(f.dctx, ledger.LeaseRun, f.id))
	defer stop(nil)
	e.flows.enter(ctx, f, stop)
	defer func() {
		if f.hasEnded(err) {
			f.heldElsewhere() // if so, it has not ended here
		}
		e.flows.leave(f, err)
	}()
	if f.dctx.Value(freshKey{}) != nil && !f.counted {
		f.counted = true
	} else if f.heldElsewhere() { // since it was queued here
		return journal.ErrHandedOver
	} else if err := f.load(); err != nil {
		return f.failure(ctx, "of an earlier process", err)
	} else if row, err := e.status(f.id); err != nil {
		return f.failure(ctx, "of an earlier process", err)
	} else if row != nil && isCancelled(*row) {
		stop(cancelled())
	}
	return e.work(ctx, &steps{flow: f}, f.id, []byte(input))
}

// shutdownLimit bounds the wait for work to return.
const shutdownLimit = 10 * time.Second

// Close hands over running work: no further step starts, steps in progress may finish while ctx lasts, and the process
// that adopts the work continues it. A second Close does nothing.
func (e *Engine) Close(ctx context.Context) (err error) {
	e.closing.Do(func() { err = e.close(ctx) })
	return err
}

func (e *Engine) close(ctx context.Context) error {
	empty := make(chan struct{})
	go func() {
		e.admission.Lock()
		close(empty)
	}()
	select {
	case <-empty:
	case <-ctx.Done():
	}
	e.flows.stop(journal.ErrHandedOver, e.flows.ids()...)
	close(e.ended)
	e.watching.Wait()
	e.settle(ctx)
	if e.cfg.Adopts && e.work != nil {
		root, stop := e.bounded()
		_ = dbos.DeleteQueue(root, e.queue()) // a remaining queue is swept later
		stop()
	}
	err := dbos.Shutdown(e.root, shutdownLimit)
	if err != nil {
		err = media.Errorf(media.CodeInternal, "close the durable engine: %w", readableError(err))
	}
	save, stop := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
	defer stop()
	return errors.Join(err, e.cfg.Leases.Release(save, ledger.LeaseRun, e.cfg.Leases.Works(ledger.LeaseRun)...),
		e.cfg.Leases.Release(save, ledger.LeaseEngine, e.cfg.Leases.ID()))
}

// settleLimit bounds the wait for the engine to save the outcome of work.
const (
	settleLimit = 5 * time.Second
	settlePause = 2 * time.Millisecond
)

// settle waits until all work has returned and its rows are final: otherwise finished work would count as orphaned.
func (e *Engine) settle(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer stop()
	for !e.settled() {
		if (journal.Memory{}).Sleep(ctx, settlePause) != nil {
			return
		}
	}
}

// settled forgets the work whose end is saved, and reports whether no other work remains.
//
//nolint:contextcheck,nolintlint // called on behalf of the engine
func (e *Engine) settled() bool {
	ids, running := e.flows.unsettled()
	if len(ids) == 0 {
		return running == 0
	}
	root, stop := e.bounded()
	defer stop()
	rows, err := e.list(root, dbos.WithFilterWorkflowIDs(ids...), dbos.WithFilterStatus(dbos.WorkflowStatusPending))
	if err != nil {
		return false
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return slices.ContainsFunc(rows, func(r dbos.WorkflowStatus) bool { return r.ID == id })
	})
	if err := e.cfg.Leases.Release(root, ledger.LeaseRun, ids...); err != nil {
		return false
	}
	return e.flows.settle(ids...)
}

// flows is the work that is, or recently was, executed by an engine.
type flows struct {
	mu      sync.Mutex // guards the following
	running map[string]*flow
	// ended is work that ended here and whose row may not be final.
	ended map[string]bool
}

// enter adds work that runs under ctx until stop is called.
func (s *flows) enter(ctx context.Context, f *flow, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ctx, f.stop = ctx, stop
	s.running[f.id] = f
}

// leave removes work that returned err, and records whether it has ended. Work that stopped because another process
// holds it has not ended.
func (s *flows) leave(f *flow, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, f.id)
	if f.hasEnded(err) {
		s.ended[f.id] = true
	}
}

// ids returns the ids of running work.
func (s *flows) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.running))
}

// unsettled returns ended work whose row may not be final, and the number of running works.
func (s *flows) unsettled() (ended []string, running int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.ended)), len(s.running)
}

// settle forgets ended work, and reports whether no ended or running work remains.
func (s *flows) settle(ids ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.ended, id)
	}
	return len(s.ended) == 0 && len(s.running) == 0
}

// stop ends the given running work.
func (s *flows) stop(reason error, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if f, ok := s.running[id]; ok {
			f.stop(reason)
		}
	}
}
