package run

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/durable"
)

// Agents runs one agent to its end; *agent.Runner does.
type Agents interface {
	// Run returns a result also with an error, once the agent was found.
	Run(ctx context.Context, r agent.Request) (*agent.Result, error)
}

// Config is what a [Service] needs.
type Config struct {
	// Agents is the runner; its observer must be Observer. Required. A run's journal is
	// that of its request or of Engine, not the runner's.
	Agents Agents
	// Ledger is required.
	Ledger ledger.Store
	// Observer is the one that the runner tells. Required.
	Observer *Observer
	// NewID makes run ids, as agent.Request.RunID says; nil means UUIDv7.
	NewID func() string
	// Now is the clock; nil means time.Now in UTC.
	Now func() time.Time
	// Engine makes runs durable: they can be taken over when their process ends. The
	// service launches and closes it. Nil means that runs end with their process.
	Engine *durable.Engine
	// Gateway ends the generations that processes which ended left in a run; *generate.Gateway
	// does. Nil means that they stay as they are.
	Gateway Abandoner
	// Setting says how Agents are set up, as small JSON without secrets: what whoever
	// takes a run over has to know. Nil means that there is nothing to know.
	Setting json.RawMessage
	// Outfit makes the agents for a run that was begun with another setting, and what
	// closes them. Nil means that Agents do.
	Outfit func(ctx context.Context, setting json.RawMessage) (agents Agents, closer func(), err error)
}

// Validate names the setting that is missing.
func (c Config) Validate() error {
	switch {
	case c.Agents == nil:
		return media.Errorf(media.CodeInvalid, "run.Config.Agents is missing: give the agents' runner")
	case c.Ledger == nil:
		return media.Errorf(media.CodeInvalid, "run.Config.Ledger is missing: open a ledger")
	case c.Observer == nil:
		return media.Errorf(media.CodeInvalid, "run.Config.Observer is missing: give the one that the runner tells")
	}
	return nil
}

// Service runs agents and keeps what they do. It is safe for concurrent use.
type Service struct {
	cfg Config

	mu      sync.Mutex // guards here, outfits and closed
	here    map[string]*Run
	outfits map[string]outfit
	closed  bool
	runs    sync.WaitGroup
}

// NewService makes a service. The error has code media.CodeInvalid.
func NewService(c Config) (*Service, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().UTC() } //nolint:forbidigo // the default clock
	}
	s := &Service{cfg: c, here: map[string]*Run{}, outfits: map[string]outfit{}}
	if c.Engine != nil {
		if err := c.Engine.Launch(s.perform); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run is a run that was started.
type Run struct {
	// ID is the run's, and its tree's.
	ID string
	// Conversation is the id of the conversation that it belongs to; empty if none.
	Conversation string

	done   chan struct{}
	result *agent.Result
	err    error
	// stop ends when the run is to be cancelled.
	stop   context.Context //nolint:containedctx // it is the run's own end, and lives as long as the run
	cancel context.CancelFunc
	// taken is closed when durable work for the run begins in this process, left when the
	// run is not of this process any more. Service.mu guards claimed: that taken is closed.
	taken, left chan struct{}
	claimed     bool
	// part is the number of the part of the run that is here; fresh says that no other
	// process has begun it, brought that nobody asked this service for it: the engine took it
	// up when another process handed it over.
	part           int
	fresh, brought bool
}

func newRun(ctx context.Context, id string) *Run {
	r := &Run{ID: id, done: make(chan struct{}), taken: make(chan struct{}), left: make(chan struct{})}
	r.stop, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// Wait gives the result when the run has ended, or the context's error before.
// Giving up waiting does not end the run.
func (r *Run) Wait(ctx context.Context) (*agent.Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Cancel asks the run to stop. What it made is kept.
func (r *Run) Cancel() { r.cancel() }

// Start begins a run, which goes on until it ends, is cancelled, or the service
// closes; the end of ctx does not end it. An empty RunID becomes a new UUIDv7, an
// empty Owner "local"; a RunID that is none is media.CodeInvalid, and the id of another run
// media.CodeConflict. In a conversation the person's message is saved when Start
// returns; one that does not exist is media.CodeNotFound.
func (s *Service) Start(ctx context.Context, req agent.Request) (*Run, error) {
	return s.StartWith(ctx, req, s.cfg.Setting)
}

// StartWith is [Service.Start] with agents that Config.Outfit makes for a setting.
func (s *Service) StartWith(ctx context.Context, req agent.Request, setting json.RawMessage) (*Run, error) {
	given := req.RunID != ""
	if !given {
		req.RunID = s.cfg.NewID()
	}
	if err := checkID(req.RunID); err != nil {
		return nil, err
	}
	if req.Owner == "" {
		req.Owner = "local"
	}
	r := newRun(ctx, req.RunID)
	r.fresh = true
	if err := s.enter(r); err != nil {
		return nil, err
	}
	var err error
	if given {
		err = s.unused(ctx, req.RunID)
	}
	if err == nil {
		err = s.begin(context.WithoutCancel(ctx), r, req, setting)
	}
	if err != nil {
		s.abandon(r)
		return nil, err
	}
	return r, nil
}

// preparer is a runner that can take media out of a request before it is kept;
// *agent.Runner is one.
type preparer interface {
	PrepareWith(ctx context.Context, r agent.Request, recorder media.Recorder) (agent.Request, error)
}

// begin keeps what is asked and lets the run begin. Where the ledger takes no rows nothing
// begins that would be paid for.
func (s *Service) begin(ctx context.Context, r *Run, req agent.Request, setting json.RawMessage) error {
	if p, ok := s.cfg.Ledger.(ledger.Prober); ok {
		if err := p.Writable(ctx); err != nil {
			return err
		}
	}
	agents, err := s.outfit(ctx, setting)
	if err != nil {
		return err
	}
	if req, err = s.recalled(ctx, req); err != nil {
		return err
	}
	if p, ok := agents.(preparer); ok {
		if req, err = p.PrepareWith(ctx, req, nil); err != nil {
			return s.elsewhere(ctx, req.Owner, err)
		}
	}
	t, err := s.join(ctx, agents, req)
	if err != nil {
		return err
	}
	w := work{Request: req, Thread: t, Setting: setting}
	r.setConversation(w)
	if s.cfg.Engine != nil {
		return s.beginDurably(ctx, r, w)
	}
	w.remembering(req.Journal)
	go func() {
		defer s.leave(r)
		r.result, r.err = s.play(r.stop, agents, w)
		close(r.done)
	}()
	return nil
}

// Run runs an agent to its end. When ctx ends, the run is cancelled and what is in
// flight is awaited and kept. The result is there also with an error, once the agent
// was found; its cost includes the generations.
func (s *Service) Run(ctx context.Context, req agent.Request) (*agent.Result, error) {
	r, err := s.Start(ctx, req)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, r.Cancel)()
	<-r.done
	return r.result, r.err
}

// Cancel asks a run of this process to stop. One that is not here is media.CodeNotFound.
func (s *Service) Cancel(runID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.here[runID]
	if !ok {
		return media.Errorf(media.CodeNotFound, "run %q is not running in this process", runID)
	}
	r.cancel()
	return nil
}

// Close cancels the runs that were begun or gone on with here, waits for them to save what
// they made, and takes no new ones. Runs that the engine took up from other processes, and
// that nobody asked this service for, are handed over as by [Service.HandOver], within 10
// seconds.
func (s *Service) Close() {
	var own []*Run
	for _, r := range s.shut() {
		if !r.brought {
			r.cancel()
			own = append(own, r)
		}
	}
	for _, r := range own {
		<-r.left
	}
	ctx, stop := context.WithTimeout(context.Background(), handLimit)
	defer stop()
	s.closeAll(ctx)
	s.runs.Wait()
	s.flush(context.Background())
}

// shut takes no new runs, and gives those that are here.
func (s *Service) shut() []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return slices.Collect(maps.Values(s.here))
}

// enter admits a run unless the service is closed or the run is here already.
func (s *Service) enter(r *Run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admit(r)
}

// admit is enter for who holds s.mu.
func (s *Service) admit(r *Run) error {
	if s.closed {
		return media.Errorf(media.CodeUnavailable, "the service is closing: start the run again later")
	}
	if _, ok := s.here[r.ID]; ok {
		return media.Errorf(media.CodeConflict, "run %s is under way already", r.ID)
	}
	s.here[r.ID] = r
	s.runs.Add(1)
	return nil
}

func (s *Service) leave(r *Run) {
	s.mu.Lock()
	delete(s.here, r.ID)
	s.mu.Unlock()
	s.gone(r)
}

// abandon is leave for a run of which no work has begun in this process; it does nothing
// where some has, which leaves by itself.
func (s *Service) abandon(r *Run) bool {
	s.mu.Lock()
	if r.claimed {
		s.mu.Unlock()
		return false
	}
	delete(s.here, r.ID)
	s.mu.Unlock()
	s.gone(r)
	return true
}

func (s *Service) gone(r *Run) {
	r.cancel()
	close(r.left)
	s.runs.Done()
}
