package durable

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"atelier/journal"
	"atelier/media"
)

// The names under which the engine keeps work. They stay as they are: work of an older
// program is found by them.
const (
	appName      = "atelier"
	workflowName = "agent-run"
	// queuePrefix is before the name of an executor: each has a queue of its own, for the work
	// that it took over.
	queuePrefix = "taken-over."
	// version is that of the steps and their results. A program that cannot go on with
	// what an older one began has to change it.
	version = "1"
)

// takeOverPoll is how soon work that was taken over begins.
const takeOverPoll = 50 * time.Millisecond

// Work does what was started under an id. It may run again with the same id and input in another process.
// It returns when the work is over, whatever came of it; it returns journal.ErrLeft, or
// an error that wraps it, when ctx ended with that cause.
type Work func(ctx context.Context, j journal.Journal, id string, input []byte) error

// Config says where work is kept. Path or DatabaseURL is required.
type Config struct {
	// Path is the SQLite file, made if it is missing.
	Path string
	// DatabaseURL is a PostgreSQL URL; it wins over Path. The tables are in a schema of
	// their own, atelier_engine, or NAME_atelier_engine where search_path begins with NAME.
	DatabaseURL string
	// Locks is the folder of the executors' locks; default executors beside Path. All
	// engines that share a database share this folder, so they are on one machine.
	Locks string
	// Executor names this process among those that share the database; default a new
	// name. No two living processes have the same.
	Executor string
	// TakesOver makes the engine take up work of processes that ended, see
	// [Engine.TakeOver]. Without it the engine does only what it started.
	TakesOver bool
	// Limit is how much work that was taken over runs at once in each engine; 0 means no
	// limit. The rest waits in the engine, see [Engine.Full].
	Limit int
	// Patience is how long work waits for a database that was lost before it is left;
	// default not at all. What does not come back by itself is not waited for.
	Patience time.Duration
	// Healthy looks at what else work cannot do without, the ledger for instance; nil
	// means nothing. It is called twice a second while there is work.
	Healthy func(ctx context.Context) error
	// Logger gets what goes wrong within the engine; default nobody.
	Logger *slog.Logger
	// Now is the clock of sleeps; default time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() (Config, error) {
	if c.Path == "" && c.DatabaseURL == "" {
		return c, media.Errorf(media.CodeInvalid, "durable.Config.Path is empty: name the database file, or give DatabaseURL")
	}
	if c.Locks == "" {
		if c.Path == "" {
			return c, media.Errorf(media.CodeInvalid, "durable.Config.Locks is empty: name the folder of the executors' locks")
		}
		c.Locks = filepath.Join(filepath.Dir(c.Path), "executors")
	}
	if c.Executor == "" {
		c.Executor = "x-" + uuid.Must(uuid.NewV7()).String()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default clock
	}
	return c, nil
}

// Engine runs work durably. It is safe for concurrent use.
type Engine struct {
	cfg  Config
	root dbos.Context
	work Work
	lock *lock
	gate gate
	pool *pgxpool.Pool // of the server; nil on SQLite
	file os.FileInfo   // of the SQLite file
	// away is since when a database has been lost; only the watch uses it.
	away time.Time

	mu    sync.Mutex // guards flows, fresh, done and cancelled
	flows map[string]*flow
	// fresh is work that was started here and has not begun: nobody did anything of it yet.
	fresh map[string]bool
	// done is work that ended here, whose row may not say so yet.
	done map[string]bool
	// cancelled is since when work was cancelled that may not have heard of it.
	cancelled time.Time

	watching sync.WaitGroup
	ended    chan struct{} // closed when the engine closes
	closing  sync.Once
}

// Open opens the database and makes or updates its tables: a few milliseconds, some
// dozen for a new one. The engine does nothing until [Engine.Launch].
func Open(ctx context.Context, c Config) (*Engine, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: c, flows: map[string]*flow{}, fresh: map[string]bool{}, done: map[string]bool{}, ended: make(chan struct{})}
	if err := e.connect(ctx); err != nil {
		return nil, err
	}
	if e.lock, err = hold(c.Locks, e.root.GetExecutorID()); err != nil {
		_ = dbos.Shutdown(e.root, shutdownLimit)
		if errors.Is(err, errHeld) {
			return nil, media.Errorf(media.CodeConflict, "another process is executor %s: give this one another name", e.root.GetExecutorID())
		}
		return nil, err
	}
	if err := e.lock.sign(); err != nil {
		return nil, errors.Join(err, dbos.Shutdown(e.root, shutdownLimit), e.lock.release(true))
	}
	return e, nil
}

// Launch begins to work. It is called once, before everything but [Engine.Close].
func (e *Engine) Launch(work Work) error {
	e.work = work
	dbos.RegisterWorkflow(e.root, e.flow, dbos.WithWorkflowName(workflowName), dbos.WithMaxRecoveryAttempts(1000))
	if e.cfg.TakesOver {
		options := []dbos.QueueOption{dbos.WithQueueBasePollingInterval(takeOverPoll), dbos.WithQueueOnConflict(dbos.QueueConflictAlwaysUpdate)}
		if e.cfg.Limit > 0 {
			options = append(options, dbos.WithWorkerConcurrency(e.cfg.Limit))
		}
		if _, err := dbos.RegisterQueue(e.root, e.queue(), options...); err != nil {
			return e.failure("make the queue of work taken over", err)
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

// Start begins work in this process and returns when it is kept. An id that is known
// is media.CodeConflict. The input is a small text without media.
func (e *Engine) Start(ctx context.Context, id string, input []byte) error {
	if id == "" {
		return media.Errorf(media.CodeInvalid, "start work: it needs an id")
	}
	if e.gate.isClosed() {
		return media.Errorf(media.CodeUnavailable, "the engine is closing: start the work again later")
	}
	known, err := e.status(id)
	if err != nil {
		return err
	}
	if known != nil {
		return media.Errorf(media.CodeConflict, "there is work with the id %s: it is %s", id, known.Status)
	}
	e.mu.Lock()
	e.fresh[id] = true
	e.mu.Unlock()
	if _, err := dbos.RunWorkflow(e.root, e.flow, string(input), dbos.WithWorkflowID(id)); err != nil {
		e.isFresh(id)
		return e.failure("start work "+id, err)
	}
	if row, err := e.status(id); err == nil && row != nil && row.ExecutorID != e.root.GetExecutorID() {
		e.isFresh(id) // another process started it at the same moment
		return e.underWay(*row)
	}
	return ctx.Err()
}

// isFresh tells, once, whether work was started here and has done nothing yet.
func (e *Engine) isFresh(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer delete(e.fresh, id)
	return e.fresh[id]
}

// flow is the one workflow function there is.
func (e *Engine) flow(dctx dbos.Context, input string) (string, error) {
	id, err := dctx.GetWorkflowID()
	if err != nil {
		return "", err
	}
	f := &flow{e: e, id: id, dctx: dctx}
	for {
		if err = e.life(f, input); f.over(err) {
			break
		}
		if !e.again(f) {
			// The row stays as it is only when the whole engine has stopped.
			<-dctx.Done()
			return "", dctx.Err()
		}
	}
	if err != nil {
		return "", legible(err)
	}
	return "", nil
}

// over reports whether work that returned err has ended. What ended without an error has
// done so also where the engine was closed meanwhile.
func (f *flow) over(err error) bool {
	return err == nil || !errors.Is(err, journal.ErrLeft) && !journal.Left(f.ctx)
}

// life does the work once, from its beginning.
func (e *Engine) life(f *flow, input string) (err error) {
	ctx, stop := context.WithCancelCause(f.dctx)
	defer stop(nil)
	e.mu.Lock()
	f.ctx, f.stop = ctx, stop
	e.flows[f.id] = f
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.flows, f.id)
		if f.over(err) {
			e.done[f.id] = true
		}
	}()
	if e.isFresh(f.id) {
		f.counted = true
	} else if err := f.load(); err != nil {
		return f.failure(ctx, "of an earlier process", err)
	} else if row, err := e.status(f.id); err != nil {
		return f.failure(ctx, "of an earlier process", err)
	} else if row != nil && marked(*row) {
		stop(cancelled())
	}
	return e.work(ctx, &steps{flow: f}, f.id, []byte(input))
}
