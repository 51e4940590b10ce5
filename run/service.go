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

// Config configures a [Service].
type Config struct {
	// Agents is the runner; its observer must be Observer. Required. A run uses the journal of its
	// request or of Engine, not the runner's.
	Agents *agent.Runner
	// Ledger is required.
	Ledger ledger.Store
	// Observer is the runner's observer. Required.
	Observer *record.Observer
	// NewID returns run ids, see agent.Request.RunID; nil means UUIDv7.
	NewID func() string
	// Now is the clock; nil means time.Now in UTC.
	Now func() time.Time
	// Engine makes runs durable: they can be adopted when their process dies. The service launches and closes it. If it
	// is nil, runs end with their process.
	Engine *durable.Engine
	// Gateway ends generations that dead processes left in a run. If it is nil, they stay unchanged.
	Gateway *gateway.Gateway
	// Setting describes the configuration of Agents, as small JSON without secrets, for the process that adopts a run.
	// Nil means that there is none.
	Setting json.RawMessage
	// NewAgents creates the agents for a run that was started with another setting, and a function that closes them. If
	// it is nil, Agents is used.
	NewAgents func(ctx context.Context, setting json.RawMessage) (agents *agent.Runner, closer func(), err error)
}

// Validate reports the missing setting.
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

// Service executes runs and saves their results. It is safe for concurrent use.
type Service struct {
	cfg             Config
	local           *local
	agentsBySetting *agentSets
	threads         conversation.Store
	history         history
	player          player
}

// NewService returns a service. The error has code media.CodeInvalid.
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
	l := &local{runs: map[string]*Run{}}
	s := &Service{
		cfg: c, local: l,
		agentsBySetting: &agentSets{agents: c.Agents, setting: c.Setting, create: c.NewAgents, used: l.uses, made: map[string]agentSet{}},
		threads:         conversation.Store{Ledger: c.Ledger, NewID: c.NewID}, history: history{c.Ledger, c.Engine},
	}
	s.player = player{ledger: c.Ledger, observer: c.Observer, gateway: c.Gateway, threads: s.threads, now: c.Now}
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
	// Conversation is the id of the run's conversation; empty if there is none.
	Conversation string

	done   chan struct{}
	result *agent.Result
	err    error
	// stop ends when the run is cancelled.
	stop   context.Context //nolint:containedctx // it is the run's own end, and lives as long as the run
	cancel context.CancelFunc
	// started is closed when work on the run starts in this process and its conversation is known, released when the
	// run has left this process. claimed means that the work was passed to this process, which closes started soon after.
	started, released chan struct{}
	startOnce         sync.Once // closes started
	claimed           bool
	// part is the number of the run's part in this process. fresh means that no other process has started it. adopted
	// means that the run has no caller in this service: the engine adopted it from another process.
	part           int
	fresh, adopted bool
	setting        string // see Config.Setting
}

func newRun(ctx context.Context, id string) *Run {
	r := &Run{ID: id, done: make(chan struct{}), started: make(chan struct{}), released: make(chan struct{})}
	r.stop, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// markStarted closes started.
func (r *Run) markStarted() { r.startOnce.Do(func() { close(r.started) }) }

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait returns the result when the run has ended. If ctx ends before that, Wait returns its error and the run
// continues.
func (r *Run) Wait(ctx context.Context) (*agent.Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Cancel requests that the run stop. Its media are kept.
func (r *Run) Cancel() { r.cancel() }

// Start starts a run, which continues until it ends, is cancelled, or the service closes; the end of ctx does not end
// it. An empty RunID becomes a new UUIDv7, an empty Owner "local". In a conversation, the person's message is saved
// when Start returns. Errors: media.CodeInvalid for an invalid RunID, media.CodeConflict for the id of an existing run,
// media.CodeNotFound for an unknown conversation.
func (s *Service) Start(ctx context.Context, req agent.Request) (*Run, error) {
	return s.StartWith(ctx, req, s.cfg.Setting)
}

// StartWith is [Service.Start] with the agents that Config.NewAgents creates for a setting.
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
	r.fresh, r.setting = true, string(setting)
	if err := s.local.enter(r); err != nil {
		return nil, err
	}
	var err error
	if given {
		err = s.checkUnused(ctx, req.RunID)
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

// checkUnused refuses the id of an existing run: a new run must not write to the row, log and refs of another run, even
// of another owner's.
func (s *Service) checkUnused(ctx context.Context, id string) error {
	known, err := s.cfg.Ledger.HasRun(ctx, id)
	if err == nil && known {
		err = media.Errorf(media.CodeConflict, "a run with the id %.80q already exists: give another id, or omit it for a new one", media.ErrorText(id))
	}
	return err
}

// begin saves the request and starts the run. If the ledger is not writable, nothing is started that costs money.
func (s *Service) begin(ctx context.Context, r *Run, req agent.Request, setting json.RawMessage) error {
	if err := s.cfg.Ledger.Writable(ctx); err != nil {
		return err
	}
	agents, err := s.agentsBySetting.forSetting(ctx, setting)
	if err != nil {
		return err
	}
	if req, err = s.threads.Grant(ctx, req); err != nil {
		return err
	}
	if req, err = agents.Prepare(ctx, req); err != nil { // a request that cannot be executed leaves no message
		return suggestOtherRun(ctx, s.cfg.Ledger, req.Owner, err)
	}
	t, err := s.threads.Join(ctx, req)
	if err != nil {
		return err
	}
	w := work{Request: req, Thread: t, Setting: setting}
	r.setConversation(w)
	if s.cfg.Engine != nil {
		err := s.beginDurably(ctx, r, w)
		// The saved message gets the reason as its answer, unless an earlier attempt started the run.
		if err != nil && t != nil && media.CodeOf(err) != media.CodeConflict {
			s.threads.Answer(ctx, t, req, nil, err)
		}
		return err
	}
	go func() { _ = s.execute(r.stop, r, w, req.Journal) }() // its error is for the engine
	return nil
}

// Run executes an agent. When ctx ends, the run is cancelled, and calls in progress are awaited and saved. Once the
// agent was found, Run returns a result even with an error; its cost includes the generations.
func (s *Service) Run(ctx context.Context, req agent.Request) (*agent.Result, error) {
	r, err := s.Start(ctx, req)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, r.Cancel)()
	<-r.done
	return r.result, r.err
}

// Cancel requests that a run of this process stop. For another run, the error has code media.CodeNotFound.
func (s *Service) Cancel(runID string) error {
	r := s.local.find(runID)
	if r == nil {
		return media.Errorf(media.CodeNotFound, "run %q is not running in this process", runID)
	}
	r.cancel()
	return nil
}

// Close cancels the runs that were started or continued here, waits until their media are saved, and admits no new
// runs. Adopted runs without a caller in this service are handed over as by [Service.HandOver], within 10 seconds.
func (s *Service) Close() {
	var own []*Run
	for _, r := range s.local.stopAdmitting() {
		if !r.adopted {
			r.cancel()
			own = append(own, r)
		}
	}
	for _, r := range own {
		<-r.released
	}
	ctx, stop := context.WithTimeout(context.Background(), handLimit)
	defer stop()
	s.shutDown(ctx)
}

// maxID is the maximum length of a run's id, in bytes.
const maxID = 128

// checkID refuses an invalid run id. A dot separates the number of a part, see partID.
func checkID(id string) error {
	usable := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if id == "" || len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return !usable(r) }) {
		return media.Errorf(media.CodeInvalid, "the run id %.80q is invalid: use 1 to %d letters a to z, digits, - and _, or omit it for a new id", media.ErrorText(id), maxID)
	}
	return nil
}
