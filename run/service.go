package run

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/ledger"
	"atelier/media"
)

// Agents runs one agent to its end; *agent.Runner does.
type Agents interface {
	// Run returns a result also with an error, once the agent was found.
	Run(ctx context.Context, r agent.Request) (*agent.Result, error)
}

// Config is what a [Service] needs.
type Config struct {
	// Agents is the runner; its observer must be Observer. Required.
	Agents Agents
	// Ledger is required.
	Ledger ledger.Store
	// Observer is the one that the runner tells. Required.
	Observer *Observer
	// NewID makes run ids; nil means UUIDv7.
	NewID func() string
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

	mu      sync.Mutex // guards cancels and closed
	cancels map[string]context.CancelFunc
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
	return &Service{cfg: c, cancels: map[string]context.CancelFunc{}}, nil
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
	cancel context.CancelFunc
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
// empty Owner "local". In a conversation the person's message is saved when Start
// returns; one that does not exist is media.CodeNotFound.
func (s *Service) Start(ctx context.Context, req agent.Request) (*Run, error) {
	if req.RunID == "" {
		req.RunID = s.cfg.NewID()
	}
	if req.Owner == "" {
		req.Owner = "local"
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &Run{ID: req.RunID, done: make(chan struct{}), cancel: cancel}
	joined := make(chan error, 1)
	err := s.enter(r, func() {
		defer s.leave(r)
		defer close(r.done)
		t, err := s.join(ctx, req)
		if t != nil {
			r.Conversation = t.id
		}
		joined <- err
		if err == nil {
			r.result, r.err = s.execute(ctx, req, t)
		}
	})
	if err == nil {
		err = <-joined
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return r, nil
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
	cancel, ok := s.cancels[runID]
	if !ok {
		return media.Errorf(media.CodeNotFound, "run %q is not running in this process", runID)
	}
	cancel()
	return nil
}

// Close cancels all runs, waits for them to save what they made, and takes no new ones.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	for _, cancel := range s.cancels {
		cancel()
	}
	s.mu.Unlock()
	s.runs.Wait()
}

// enter begins work unless the service is closed or the run is here already.
func (s *Service) enter(r *Run, work func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return media.Errorf(media.CodeUnavailable, "the service is closing: start the run again later")
	}
	if _, ok := s.cancels[r.ID]; ok {
		return media.Errorf(media.CodeConflict, "run %s is under way already", r.ID)
	}
	s.cancels[r.ID] = r.cancel
	s.runs.Go(work)
	return nil
}

func (s *Service) leave(r *Run) {
	r.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cancels, r.ID)
}

// flushLimit bounds the wait for the last events of a run.
const flushLimit = 30 * time.Second

// execute runs the agent and, in a conversation, saves the answer, also when it fails.
func (s *Service) execute(ctx context.Context, req agent.Request, t *thread) (*agent.Result, error) {
	res, err := s.work(ctx, req, t)
	if t == nil {
		return res, err
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	warnings := s.answer(save, t, req, res, err)
	if res != nil {
		res.Conversation, res.Warnings = t.id, append(res.Warnings, warnings...)
	}
	return res, err
}

// work gives the run its media, runs the agent and adds up what it cost.
func (s *Service) work(ctx context.Context, req agent.Request, t *thread) (*agent.Result, error) {
	granted, warnings := s.grant(ctx, req, req.Granted)
	if len(granted) == 0 && len(req.Granted) > 0 {
		return nil, media.Errorf(media.CodeInvalid, "the media for this run could not be handed to it: %s", strings.Join(warnings, "; "))
	}
	if t != nil {
		req.History = t.history
		warnings = append(warnings, s.attach(ctx, req.Owner, t.asked.ID, granted)...)
		inherited, more := s.grant(ctx, req, without(t.inherited, granted))
		t.inherited, granted, warnings = inherited, append(slices.Clone(inherited), granted...), append(warnings, more...)
	}
	req.Granted = granted
	res, runErr := s.cfg.Agents.Run(ctx, req)
	if res == nil {
		return nil, runErr
	}
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	res.Warnings = append(warnings, res.Warnings...)
	if err := s.cfg.Observer.Flush(save); err != nil {
		res.Warnings = append(res.Warnings, "the last events of this run may not be in its log yet")
	}
	var err error
	if res.Cost, err = s.cfg.Observer.total(save, req.Owner, req.RunID, req.RunID, res.Cost); err != nil {
		res.Warnings = append(res.Warnings, "the cost of this run's generations could not be read: "+media.Scrub(err.Error()))
	}
	return res, runErr
}

// grant records items that a run is given in its own tree, where their refs will mean
// something; the bytes are the same blob. An item that cannot be recorded is left out,
// with a warning.
func (s *Service) grant(ctx context.Context, req agent.Request, items []media.Output) (granted []media.Output, warnings []string) {
	ctx = media.WithScope(ctx, media.Scope{Owner: req.Owner, Tree: req.RunID, Run: req.RunID})
	for _, o := range items {
		o.Origin.Direction, o.Promoted = "input", false
		rec, err := s.cfg.Ledger.Record(ctx, o)
		if err != nil {
			warnings = append(warnings, media.Scrub(err.Error()))
			continue
		}
		granted = append(granted, rec)
	}
	return granted, warnings
}
