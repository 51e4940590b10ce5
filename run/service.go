package run

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/generate/gateway"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/conversation"
	"atelier/run/durable"
	"atelier/run/record"
)

// Agents executes one agent; *agent.Runner implements it. Other implementations cannot be checked
// or prepared before a run begins, and accept no answers.
type Agents interface {
	// Run returns a result also with an error, once the agent was found.
	Run(ctx context.Context, r agent.Request) (*agent.Result, error)
}

// Config is what a [Service] needs.
type Config struct {
	// Agents is the runner; its observer must be Observer. Required. A run uses the journal of its
	// request or of Engine, not the runner's.
	Agents Agents
	// Ledger is required.
	Ledger ledger.Store
	// Observer is the runner's observer. Required.
	Observer *record.Observer
	// NewID returns run ids, see agent.Request.RunID; nil means UUIDv7.
	NewID func() string
	// Now is the clock; nil means time.Now in UTC.
	Now func() time.Time
	// Engine makes runs durable: they can be adopted when their process dies. The service launches
	// and closes it. Nil means that runs end with their process.
	Engine *durable.Engine
	// Gateway ends generations that dead processes left in a run. Nil means that they stay as they
	// are.
	Gateway *gateway.Gateway
	// Setting describes how Agents is configured, as small JSON without secrets, for the process
	// that adopts a run. Nil means that there is nothing to know.
	Setting json.RawMessage
	// Outfit creates the agents for a run that was started with another setting, and a function
	// that closes them. Nil means that Agents is used.
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
		return media.Errorf(media.CodeInvalid, "run.Config.Observer is missing: give the runner's observer")
	}
	return nil
}

// Service executes runs and saves what they do. It is safe for concurrent use.
type Service struct {
	cfg     Config
	local   *local
	outfits *outfits
	threads conversation.Store
	history history
	endings endings
	player  player
}

// NewService creates a service. The error has code media.CodeInvalid.
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
	s := &Service{
		cfg: c, local: &local{runs: map[string]*Run{}},
		outfits: &outfits{agents: c.Agents, setting: c.Setting, make: c.Outfit, made: map[string]outfit{}},
		threads: conversation.Store{Ledger: c.Ledger, NewID: c.NewID}, history: history{c.Ledger, c.Engine},
	}
	s.endings = endings{ledger: c.Ledger, observer: c.Observer, gateway: c.Gateway, threads: s.threads, now: c.Now}
	s.player = player{s.endings, c.NewID}
	if c.Engine != nil {
		if err := c.Engine.Launch(s.perform); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run is a started run.
type Run struct {
	// ID is the id of the run and of its tree.
	ID string
	// Conversation is the id of the run's conversation; empty if none.
	Conversation string

	done   chan struct{}
	result *agent.Result
	err    error
	// stop ends when the run is to be cancelled.
	stop   context.Context //nolint:containedctx // it is the run's own end, and lives as long as the run
	cancel context.CancelFunc
	// taken is closed when work on the run begins in this process and its conversation is known,
	// gone when the run has left this process. claimed: the work was passed to this process, which
	// closes taken soon after.
	taken, gone chan struct{}
	begin       sync.Once // closes taken
	claimed     bool
	// part is the number of the run's part that is here; fresh means that no other process has
	// begun it, takenUp that it has no caller in this service: the engine adopted it from another
	// process.
	part           int
	fresh, takenUp bool
}

func newRun(ctx context.Context, id string) *Run {
	r := &Run{ID: id, done: make(chan struct{}), taken: make(chan struct{}), gone: make(chan struct{})}
	r.stop, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// begins notifies those who wait for taken.
func (r *Run) begins() { r.begin.Do(func() { close(r.taken) }) }

// Wait returns the result when the run has ended, or the context's error before that, which does
// not end the run.
func (r *Run) Wait(ctx context.Context) (*agent.Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Cancel requests that the run stop. What it made is kept.
func (r *Run) Cancel() { r.cancel() }

// Start starts a run, which continues until it ends, is cancelled, or the service closes; the end
// of ctx does not end it. An empty RunID becomes a new UUIDv7, an empty Owner "local"; an invalid
// RunID is media.CodeInvalid, and the id of an existing run media.CodeConflict. In a conversation,
// the person's message is saved when Start returns; an unknown conversation is media.CodeNotFound.
func (s *Service) Start(ctx context.Context, req agent.Request) (*Run, error) {
	return s.StartWith(ctx, req, s.cfg.Setting)
}

// StartWith is [Service.Start] with agents that Config.Outfit creates for a setting.
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
	if err := s.local.enter(r); err != nil {
		return nil, err
	}
	var err error
	if given {
		err = unused(ctx, s.cfg.Ledger, req.RunID)
	}
	if err == nil {
		err = s.begin(context.WithoutCancel(ctx), r, req, setting)
	}
	if err != nil {
		s.local.abandon(r)
		return nil, err
	}
	return r, nil
}

// begin saves the request and starts the run. If the ledger is not writable, nothing starts that
// would be paid for.
func (s *Service) begin(ctx context.Context, r *Run, req agent.Request, setting json.RawMessage) error {
	if err := s.cfg.Ledger.Writable(ctx); err != nil {
		return err
	}
	agents, err := s.outfits.of(ctx, setting)
	if err != nil {
		return err
	}
	if req, err = s.threads.Grant(ctx, req); err != nil {
		return err
	}
	if p, ok := agents.(*agent.Runner); ok {
		if req, err = p.PrepareWith(ctx, req, nil); err != nil {
			return elsewhere(ctx, s.cfg.Ledger, req.Owner, err)
		}
	}
	if req.Conversation != "" { // a request that cannot be run leaves no message
		if err := check(agents, req); err != nil {
			return err
		}
	}
	t, err := s.threads.Join(ctx, req)
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
		defer s.local.leave(r)
		r.result, r.err = s.player.play(r.stop, agents, w)
		close(r.done)
	}()
	return nil
}

// Run executes an agent. When ctx ends, the run is cancelled, and calls in progress are awaited and
// saved. The result is there also with an error, once the agent was found; its cost includes the
// generations.
func (s *Service) Run(ctx context.Context, req agent.Request) (*agent.Result, error) {
	r, err := s.Start(ctx, req)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, r.Cancel)()
	<-r.done
	return r.result, r.err
}

// Cancel requests that a run of this process stop. One that is not here is media.CodeNotFound.
func (s *Service) Cancel(runID string) error {
	r := s.local.find(runID)
	if r == nil {
		return media.Errorf(media.CodeNotFound, "run %q is not running in this process", runID)
	}
	r.cancel()
	return nil
}

// Close cancels the runs that were started or continued here, waits for them to save what they
// made, and admits no new ones. Adopted runs that have no caller in this service are handed over as
// by [Service.HandOver], within 10 seconds.
func (s *Service) Close() {
	var own []*Run
	for _, r := range s.local.shut() {
		if !r.takenUp {
			r.cancel()
			own = append(own, r)
		}
	}
	for _, r := range own {
		<-r.gone
	}
	ctx, stop := context.WithTimeout(context.Background(), handLimit)
	defer stop()
	s.closeAll(ctx)
	s.local.all.Wait()
	s.flush(context.Background())
}

// longestID is the maximum length of a run's id, in bytes.
const longestID = 128

// checkID refuses an invalid run id. A dot would be that of a part, see partID.
func checkID(id string) error {
	usable := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if id == "" || len(id) > longestID || strings.ContainsFunc(id, func(r rune) bool { return !usable(r) }) {
		return media.Errorf(media.CodeInvalid, "the run id %.80q is invalid: use 1 to %d letters a to z, digits, - and _, or omit it for a new id", media.ErrorText(id), longestID)
	}
	return nil
}

// unused refuses the id of an existing run, also of another owner: a new run must not write to its
// row, log and refs.
func unused(ctx context.Context, l ledger.Store, id string) error {
	known, err := l.HasRun(ctx, id)
	if err == nil && known {
		err = media.Errorf(media.CodeConflict, "a run with the id %.80q already exists: give another id, or omit it for a new one", media.ErrorText(id))
	}
	return err
}
