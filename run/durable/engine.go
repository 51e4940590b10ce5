package durable

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	// The engine's SQLite support registers itself.
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
	"github.com/google/uuid"

	"atelier/journal"
	"atelier/media"
)

// The names under which the engine keeps work. They stay as they are: work of an older
// program is found by them.
const (
	appName      = "atelier"
	workflowName = "agent-run"
	queueName    = "taken-over"
	// version is that of the steps and their results. A program that cannot go on with
	// what an older one began has to change it.
	version = "1"
)

// takeOverPoll is how soon work that was taken over begins.
const takeOverPoll = 50 * time.Millisecond

// shutdownLimit bounds the wait for work that unwinds.
const shutdownLimit = 10 * time.Second

// Work does what was started under an id. It may run again with the same id and input in another process.
// It returns when the work is over, whatever came of it; it returns journal.ErrLeft, or
// an error that wraps it, when ctx ended with that cause.
type Work func(ctx context.Context, j journal.Journal, id string, input []byte) error

// Config says where work is kept. Path or DatabaseURL is required.
type Config struct {
	// Path is the SQLite file, made if it is missing.
	Path string
	// DatabaseURL is a PostgreSQL URL; it wins over Path.
	DatabaseURL string
	// Locks is the folder of the executors' locks; default executors beside Path.
	Locks string
	// Executor names this process among those that share the database; default a new
	// name. No two living processes have the same.
	Executor string
	// TakesOver makes the engine take up work of processes that ended, see
	// [Engine.TakeOver]. Without it the engine does only what it started.
	TakesOver bool
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

	mu    sync.Mutex // guards flows
	flows map[string]*flow

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
	e := &Engine{cfg: c, flows: map[string]*flow{}, ended: make(chan struct{})}
	d := dbos.Config{
		AppName: appName, ApplicationVersion: version, ExecutorID: c.Executor, Serializer: text{}, Logger: c.Logger,
		DatabaseURL: c.DatabaseURL,
	}
	if c.DatabaseURL == "" {
		if d.SQLiteSystemDB, err = openSQLite(c.Path); err != nil {
			return nil, err
		}
	}
	if e.root, err = e.connect(ctx, d); err != nil {
		if d.SQLiteSystemDB != nil {
			_ = d.SQLiteSystemDB.Close() // the other error is the one to tell
		}
		return nil, err
	}
	if e.lock, err = hold(c.Locks, e.root.GetExecutorID()); err != nil {
		_ = dbos.Shutdown(e.root, shutdownLimit)
		if errors.Is(err, errHeld) {
			return nil, media.Errorf(media.CodeConflict, "another process is executor %s: give this one another name", e.root.GetExecutorID())
		}
		return nil, err
	}
	return e, nil
}

// connect makes the tables or brings them up to date, one process after the other: the
// engine itself does not guard against another that does the same.
func (e *Engine) connect(ctx context.Context, d dbos.Config) (dbos.Context, error) {
	alone, err := await(ctx, e.cfg.Locks, tablesLock)
	if err != nil {
		return nil, err
	}
	defer func() { _ = alone.release(false) }()
	root, err := dbos.NewContext(context.WithoutCancel(ctx), d)
	if err != nil {
		return nil, media.Errorf(media.CodeUnavailable, "open the durable engine's database: %w", scrubbed(err))
	}
	return root, nil
}

// openSQLite opens the file. A commit survives the end of the process at once, and the
// loss of power soon after: a step that is lost runs again, and what it paid for is in the ledger.
func openSQLite(path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, media.Errorf(media.CodeInvalid, "make the folder of the durable engine's database: %w", err)
	}
	name := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	db, err := sql.Open("sqlite", "file:"+name+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "open the durable engine's database: %w", err)
	}
	// Two, because the engine reads while it writes; more would only wait for each other.
	db.SetMaxOpenConns(2)
	return db, nil
}

func scrubbed(err error) error { return errors.New(media.Scrub(err.Error())) }

// Launch begins to work. It is called once, before everything but [Engine.Close].
func (e *Engine) Launch(work Work) error {
	e.work = work
	dbos.RegisterWorkflow(e.root, e.flow, dbos.WithWorkflowName(workflowName), dbos.WithMaxRecoveryAttempts(1000))
	if e.cfg.TakesOver {
		_, err := dbos.RegisterQueue(e.root, queueName, dbos.WithQueueBasePollingInterval(takeOverPoll), dbos.WithQueueOnConflict(dbos.QueueConflictAlwaysUpdate))
		if err != nil {
			return media.Errorf(media.CodeUnavailable, "make the queue of work taken over: %w", scrubbed(err))
		}
		dbos.ListenQueues(e.root, queueName)
	} else {
		dbos.ListenQueues(e.root, "none")
	}
	if err := dbos.Launch(e.root); err != nil {
		return media.Errorf(media.CodeUnavailable, "launch the durable engine: %w", scrubbed(err))
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
	if _, err := dbos.RunWorkflow(e.root, e.flow, media.Scrub(string(input)), dbos.WithWorkflowID(id)); err != nil {
		return media.Errorf(media.CodeUnavailable, "start work %s: %w", id, scrubbed(err))
	}
	return ctx.Err()
}

// flow is the one workflow function there is.
func (e *Engine) flow(dctx dbos.Context, input string) (string, error) {
	id, err := dctx.GetWorkflowID()
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancelCause(dctx)
	defer stop(nil)
	f := &flow{e: e, id: id, dctx: dctx, stop: stop}
	e.mu.Lock()
	e.flows[id] = f
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.flows, id)
	}()
	err = f.load()
	if err == nil {
		err = e.work(ctx, &steps{flow: f}, id, []byte(input))
	}
	if errors.Is(err, journal.ErrLeft) || journal.Left(ctx) {
		// The row stays as it is only when the whole engine has stopped.
		<-dctx.Done()
		return "", dctx.Err()
	}
	if err != nil {
		return "", scrubbed(err)
	}
	return "", nil
}

// Close hands over what is under way: no step begins any more, those that have begun
// may end while ctx lasts, and the rest is left to whoever takes it over.
// Closing it again does nothing.
func (e *Engine) Close(ctx context.Context) (err error) {
	e.closing.Do(func() { err = e.close(ctx) })
	return err
}

func (e *Engine) close(ctx context.Context) error {
	select {
	case <-e.gate.close():
	case <-ctx.Done():
	}
	e.mu.Lock()
	for _, f := range e.flows {
		f.stop(journal.ErrLeft)
	}
	e.mu.Unlock()
	close(e.ended)
	e.watching.Wait()
	err := dbos.Shutdown(e.root, shutdownLimit)
	if err != nil {
		err = media.Errorf(media.CodeInternal, "close the durable engine: %w", scrubbed(err))
	}
	return errors.Join(err, e.lock.release(true))
}

// isClosed tells whether the gate is closed.
func (g *gate) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}
