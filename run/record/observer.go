// Package record records runs in the ledger: runs and sub-agents' runs, acts, model calls, promoted media and the event
// log, to which clients subscribe here.
//
// Errors are those of the ledger. It may import agent, chat, generate, journal, ledger and run/operations.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"atelier/agent"
	"atelier/chat"
	"atelier/generate"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/operations"
)

// Config configures an [Observer].
type Config struct {
	// Ledger is required.
	Ledger ledger.Store
	// Logger receives errors of saves that are not reported otherwise; nil means slog.Default.
	Logger *slog.Logger
	// Now is the clock of progress and previews; nil means time.Now in UTC.
	Now func() time.Time
}

// Observer records runs in the ledger and publishes their events. It is safe for concurrent use.
type Observer struct {
	store  ledger.Store
	logger *slog.Logger
	now    func() time.Time
	log    eventLog
	// messages are the messages that models are writing.
	messages messages
}

var _ agent.Observer = (*Observer)(nil)

// NewObserver returns an observer. The error has code media.CodeInvalid.
func NewObserver(c Config) (*Observer, error) {
	if c.Ledger == nil {
		return nil, media.Errorf(media.CodeInvalid, "record.Config.Ledger is missing: open a ledger")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().UTC() } //nolint:forbidigo // the default clock
	}
	return &Observer{store: c.Ledger, logger: c.Logger, now: c.Now, log: eventLog{store: c.Ledger, logger: c.Logger}}, nil
}

// Subscribe opens a stream of the future events of one run tree, or of all trees if tree is empty. Events arrive in
// order after they are saved; earlier ones are in ledger.Events. Events that are not saved ([agent.Event.Transient])
// have no sequence number; the text so far of messages in progress arrives first. A reader that falls 256 events behind
// is dropped: its channel is closed, and it continues from its last sequence number in the ledger. The caller must call
// stop, which closes the channel.
func (o *Observer) Subscribe(tree string) (events <-chan ledger.Event, stop func()) {
	return o.log.feed.subscribe(tree, o.messages.now)
}

// Flush waits until all events and records so far are saved and published. The error is that of the first record that
// was not saved.
func (o *Observer) Flush(ctx context.Context) error { return o.log.flush(ctx) }

// SaveRun saves a run and, when it ends, its promoted items as agent-run media. The cost of a run in the ledger
// includes its generations.
func (o *Observer) SaveRun(ctx context.Context, r agent.RunRecord) error {
	row := ledger.Run{
		ID: r.ID, Owner: media.ScopeOf(ctx).Owner, Tree: r.Tree, Parent: r.ParentID, Depth: r.Depth,
		Agent: r.Agent, AgentPath: r.AgentPath, DefinitionHash: r.DefinitionHash, Status: ledger.Status(r.Status),
		Task: r.Task, Message: r.Message, Payload: r.Payload, Warnings: r.Warnings,
		Usage: ledger.Usage{
			ModelCalls: int64(r.Usage.ModelCalls), InputTokens: r.Usage.InputTokens,
			OutputTokens: r.Usage.OutputTokens, Images: int64(r.Usage.Images),
			Turns: int64(r.Turns), WorkedMS: r.Usage.WorkedMS,
		},
		InputImages: r.InputImages, VisionContext: r.VisionContext,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
	if len(r.Dispositions) > 0 {
		row.Dispositions = ledger.JSON(r.Dispositions)
	}
	if r.Definition != "" {
		row.Definition = ledger.JSON(r.Definition)
	}
	if r.Limits != (agent.Limits{}) {
		row.Limits = ledger.JSON(r.Limits)
	}
	if r.Error != nil {
		row.Failure = ledger.Failure{Code: string(r.Error.Code), Message: r.Error.Message, Retryable: r.Error.Retryable}
	}
	switch r.Status {
	case agent.StatusRunning:
		if from, ok := ctx.Value(forkKey{}).(Origin); ok && r.ParentID == "" {
			row.ForkedFrom, row.ForkedStep = from.Run, from.Step
		}
		return o.begin(ledger.Relaxed(ctx), row)
	case agent.StatusPaused:
		row.FinishedAt = time.Time{} // it continues
	case agent.StatusSucceeded, agent.StatusFailed, agent.StatusCancelled:
	}
	cost, costErr := o.Total(ctx, row.Owner, r.Tree, r.ID, r.Cost)
	row.Cost = ledger.Cost(cost)
	return errors.Join(o.log.saveAndWait(ctx, "end of a run", func(ctx context.Context) error {
		err := o.store.FinishRun(ctx, row)
		if media.CodeOf(err) == media.CodeNotFound { // its start could not be saved
			err = o.store.CreateRun(ctx, row)
		}
		if err != nil {
			return err
		}
		if len(r.Promoted) == 0 {
			return costErr
		}
		warnings, err := o.store.PromoteMedia(ctx, row.Owner, r.ID, r.Promoted)
		if err == nil && len(warnings) > 0 {
			err = media.Errorf(media.CodeInternal, "%s", strings.Join(warnings, "; "))
		}
		return errors.Join(costErr, err)
	}))
}

// Origin is the run and step that a run was forked from.
type Origin struct {
	Run  string `json:"run"`
	Step string `json:"step"`
}

// forkKey is the context key of the origin of a new run.
type forkKey struct{}

// WithOrigin returns the context of a forked run.
func WithOrigin(ctx context.Context, from Origin) context.Context {
	return context.WithValue(ctx, forkKey{}, from)
}

// begin saves a new run, or marks the run of a replay as running again.
func (o *Observer) begin(ctx context.Context, row ledger.Run) error {
	err := o.store.CreateRun(ctx, row)
	if media.CodeOf(err) != media.CodeConflict {
		return err
	}
	have, known := o.store.Run(ctx, row.Owner, row.ID)
	if known != nil || have.Tree != row.Tree {
		return err
	}
	if have.Status == ledger.StatusRunning || have.Status == ledger.StatusSucceeded {
		return nil
	}
	have.Status, have.Failure, have.FinishedAt = ledger.StatusRunning, ledger.Failure{}, time.Time{}
	return o.store.FinishRun(ctx, have)
}

// SaveStep saves an act in the background: [Observer.Flush] waits for it.
func (o *Observer) SaveStep(ctx context.Context, s agent.StepRecord) error {
	row := ledger.Step{
		ID: s.ID, RunID: s.RunID, Turn: s.Turn, Position: s.Index, Kind: string(s.Kind), Name: s.Name,
		Status: ledger.Status(s.Status), Code: s.Code, Message: s.Message, Params: s.Params, Outputs: s.Outputs,
		ChildRunID: s.ChildRunID, StartedAt: s.StartedAt, FinishedAt: s.FinishedAt,
	}
	o.log.saveAsync(ctx, "step", row.ID, func(ctx context.Context) error { return o.store.SaveStep(ctx, row) })
	return nil
}

// SavePrompt saves a model call with its instructions and messages; pictures are refs. It is saved
// in the background: [Observer.Flush] waits for it.
func (o *Observer) SavePrompt(ctx context.Context, p agent.PromptRecord) error {
	row := ledger.Prompt{
		ID: p.ID, RunID: p.RunID, Turn: p.Turn, Model: p.Model, Provider: p.Provider, Answer: p.Response,
		Status: ledger.Status(p.Status), InputTokens: p.Usage.InputTokens, OutputTokens: p.Usage.OutputTokens,
		CostUSD: p.CostUSD, StartedAt: p.StartedAt, FinishedAt: p.FinishedAt,
	}
	if p.Error != "" {
		row.Failure.Message = p.Error
	}
	o.log.saveAsync(ctx, "model call", row.ID, func(ctx context.Context) error {
		row.Messages = ledger.JSON(chat.Request{System: p.System, Messages: p.Messages})
		return o.store.SavePrompt(ctx, row)
	})
	return nil
}

// Emit saves and publishes an event. It does not block: a background writer keeps the order.
func (o *Observer) Emit(ctx context.Context, e agent.Event) {
	if f, ok := e.Data.(agent.RunFinished); ok {
		cost, err := o.Total(context.WithoutCancel(ctx), media.ScopeOf(ctx).Owner, e.Tree, e.RunID, f.Cost)
		if err != nil {
			o.logger.WarnContext(ctx, "cost of generations unknown", slog.String("run", e.RunID),
				slog.String("error", media.ErrorText(err.Error())))
		}
		f.Cost = cost
		e.Data = f
	}
	row := ledger.Event{
		ID: eventID(e), Tree: e.Tree, RunID: e.RunID, AgentPath: e.AgentPath, Kind: string(e.Type), Payload: ledger.JSON(e.Data), CreatedAt: e.At,
	}
	o.messages.note(e, row)
	o.log.add(ctx, entry{event: row, transient: e.Transient()})
}

// eventID returns an id that is the same in every replay of a run, so that an event is saved once. It is empty for
// events that a replay does not repeat.
func eventID(e agent.Event) string {
	if e.Key == "" {
		return ""
	}
	return journal.ID(e.Tree, "event "+e.Key, 0, 0)
}

// Total adds the generations of a run to the cost of its model calls, see [WithGeneration]: for a root run those of the
// whole tree, otherwise the run's own. If nothing was paid, the cost is known to be zero. After an error, it is the
// known part.
func (o *Observer) Total(ctx context.Context, owner, tree, runID string, c agent.Cost) (agent.Cost, error) {
	ops, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.Operation], error) {
		return o.store.ListOperations(ctx, owner, ledger.OperationQuery{Tree: tree, Page: p})
	})
	if err != nil {
		c.Complete = false
		return c, err
	}
	for _, op := range ops {
		if runID == tree || op.RunID == runID {
			c = WithGeneration(c, op)
		}
	}
	if nothing := "0"; c.Complete && c.EstimatedUSD == nil {
		c.EstimatedUSD = &nothing
	}
	return c, nil
}

// WithGeneration adds a generation to a cost: the provider's reported cost, otherwise the estimate. An unpaid
// generation adds nothing; one that may have been billed without a response leaves the cost incomplete.
func WithGeneration(c agent.Cost, op ledger.Operation) agent.Cost {
	if operations.Unpaid(op) {
		return c
	}
	cost := cmp.Or(op.ReportedUSD, op.EstimatedUSD)
	c.EstimatedUSD = agent.AddUSD(c.EstimatedUSD, cost)
	c.ReportedUSD = agent.AddUSD(c.ReportedUSD, op.ReportedUSD)
	c.Complete = c.Complete && cost != nil && operations.UsageOf(op).Unsettled == 0
	return c
}

var _ agent.RecordReader = (*Observer)(nil)

// OpenPrompts returns the ids of a run's recorded model calls without an end: those without a response when their
// process ended.
func (o *Observer) OpenPrompts(ctx context.Context, owner, runID string) (open []string, err error) {
	calls, err := ledger.AllOf(ctx, o.store.ListPrompts, owner, runID)
	for _, call := range calls {
		if call.FinishedAt.IsZero() {
			open = append(open, call.ID)
		}
	}
	return open, err
}

// Emitted returns a function that reports whether an event of a run tree is in the ledger.
func (o *Observer) Emitted(ctx context.Context, owner, tree string) (has func(agent.Event) bool, err error) {
	known := map[string]bool{}
	for after := int64(0); ; {
		part, err := o.store.ListEvents(ctx, owner, tree, after, ledger.MaxLimit)
		if err != nil && media.CodeOf(err) != media.CodeNotFound {
			return nil, err
		}
		for _, e := range part {
			known[e.ID], after = true, e.Sequence
		}
		if len(part) < ledger.MaxLimit {
			return func(e agent.Event) bool { return known[eventID(e)] }, nil
		}
	}
}

// StatusOf returns the status of a run in the ledger, or empty if it cannot be read.
func (o *Observer) StatusOf(ctx context.Context, owner, runID string) agent.Status {
	row, err := o.store.Run(ctx, owner, runID)
	if err != nil {
		return ""
	}
	return agent.Status(row.Status)
}

// Progress reports the progress of a run's generations; it is the gateway's Events function. Generations outside of
// runs are reported only to their caller.
func (o *Observer) Progress(ctx context.Context, e generate.Event) {
	scope := media.ScopeOf(ctx)
	if scope.Run == "" {
		return
	}
	out := agent.Event{
		Type: agent.EventOperationProgress, Tree: scope.Tree, RunID: scope.Run, AgentPath: scope.AgentPath, At: o.now(),
		Data: agent.OperationProgress{StepID: scope.Step, Operation: e.Operation, Note: Note(e)},
	}
	if scope.SubAction != "" {
		progress := agent.OperationProgress{MetadataID: scope.SubAction, Operation: e.Operation, Note: Note(e), ElapsedMS: e.Elapsed.Milliseconds()}
		if e.Kind == generate.EventProgress && e.Progress >= 0 {
			progress.Progress = &e.Progress
		}
		out.Data = progress
	}
	if e.Kind == generate.EventPartial && e.Partial != nil {
		// A preview is temporary: it has no record and no ref.
		label := fmt.Sprintf("preview %d of image %d", e.Sequence, e.Slot)
		if e.Shows > 1 {
			label = fmt.Sprintf("preview %d of a grid of %d that starts with image %d", e.Sequence, e.Shows, e.Slot)
		}
		preview := media.NewOutput(*e.Partial, media.Meta{Label: label})
		preview.Ref, preview.Partial = "", true
		preview.Origin = media.Origin{Direction: "output", AgentPath: scope.AgentPath, Operation: e.Operation, Source: e.Model}
		out.Type, out.Data = agent.EventOperationPartial, agent.MediaEvent{Output: preview, StepID: scope.Step, MetadataID: scope.SubAction}
	}
	o.Emit(ctx, out)
}

// Note describes an event in one line.
func Note(e generate.Event) string {
	switch e.Kind {
	case generate.EventStarted:
		return fmt.Sprintf("%s: requesting %d", e.Model, e.N)
	case generate.EventRetry:
		return fmt.Sprintf("%s: retrying in %s%s", e.Model, e.Wait.Round(time.Second), why(e))
	case generate.EventWait:
		return fmt.Sprintf("%s: waiting %s%s", e.Model, e.Wait.Round(time.Second), why(e))
	case generate.EventFallback:
		return fmt.Sprintf("falling back to %s%s", e.Model, why(e))
	case generate.EventSlot:
		return fmt.Sprintf("%d of %d %s%s", e.Slot, e.N, e.Status, why(e))
	case generate.EventFinished:
		return fmt.Sprintf("%s %s%s", e.Model, e.Status, why(e))
	case generate.EventProgress, generate.EventPartial:
	}
	if e.Progress >= 0 {
		return fmt.Sprintf("%s %.0f %%", e.Model, e.Progress*100)
	}
	return e.Model + ": in progress"
}

func why(e generate.Event) string {
	if e.Error == nil {
		return ""
	}
	return ": " + e.Error.Message
}

// messages are the messages that models are writing, by run tree. A new subscriber first gets their text so far.
type messages struct {
	mu sync.Mutex // guards by
	by map[string]message
}

type message struct {
	event ledger.Event
	text  []rune
}

// note adds the part of a message that an event contains.
func (m *messages) note(e agent.Event, row ledger.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch d := e.Data.(type) {
	case agent.MessageDelta:
		if !d.Partial {
			delete(m.by, e.Tree) // it is in the record
			return
		}
		if m.by == nil {
			m.by = map[string]message{}
		}
		text := m.by[e.Tree].text
		m.by[e.Tree] = message{row, append(text[:min(d.Offset, len(text))], []rune(d.Text)...)}
	case agent.MessageWithdrawn:
		delete(m.by, e.Tree)
	case agent.RunFinished:
		if e.RunID == e.Tree {
			delete(m.by, e.Tree)
		}
	}
}

// now returns the messages of a tree, or of all trees if tree is empty, as one part each.
func (m *messages) now(tree string) []ledger.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []ledger.Event
	for of, w := range m.by {
		if tree == "" || tree == of {
			e := w.event
			e.Payload = ledger.JSON(agent.MessageDelta{Text: string(w.text), Partial: true})
			out = append(out, e)
		}
	}
	return out
}
