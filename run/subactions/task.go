package subactions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelier/agent"
	"atelier/generate"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run"
	"atelier/run/record"
	"atelier/workflow"
)

const (
	// saveWithin bounds the time for saving the outcome of a sub-action.
	saveWithin = 30 * time.Second
	// cancelWithin bounds how long Cancel waits for the sub-action to end.
	cancelWithin = 10 * time.Second
	// eventRetention is how long the events of a finished sub-action are kept for readers that reconnect.
	eventRetention = time.Minute
)

// errCancelled is the cause of a cancellation by a person.
var errCancelled = errors.New("cancelled by a person")

// task is a sub-action that this process executes.
type task struct {
	row    ledger.ContentGeneration
	begun  time.Time
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the process has released it

	mu      sync.Mutex // guards the following
	events  []Event
	newest  int
	changed chan struct{} // closed with the next event
}

type watchKey struct{}

// Observe passes the progress of a generation to its sub-action; call it from gateway.Config.Events.
func Observe(ctx context.Context, e generate.Event) {
	if f, ok := ctx.Value(watchKey{}).(func(context.Context, generate.Event)); ok {
		f(ctx, e)
	}
}

// begun returns a context whose generation also calls fn on each of its events.
func begun(ctx context.Context, fn func()) context.Context {
	watch, ok := ctx.Value(watchKey{}).(func(context.Context, generate.Event))
	return context.WithValue(ctx, watchKey{}, func(ctx context.Context, e generate.Event) {
		fn()
		if ok {
			watch(ctx, e)
		}
	})
}

// begin executes a sub-action in the background.
func (s *Service) begin(row ledger.ContentGeneration, do func(context.Context) (*generate.Result, error)) error {
	t := &task{row: row, begun: s.cfg.Now(), done: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(s.work)
	t.cancel = cancel
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		cancel(nil)
		return media.Errorf(media.CodeUnavailable, "the server is stopping: sub-action %s starts when the server is running again", row.ID)
	}
	if known := s.tasksByID[row.ID]; known != nil && !known.released() {
		cancel(nil)
		return nil
	}
	s.tasksByID[row.ID] = t
	ahead := 0
	for _, other := range s.tasksByID {
		if other != t && !other.released() {
			ahead++
		}
	}
	t.add(Event{Type: EventAccepted, Data: Accepted{MetadataID: row.ID, Position: max(0, ahead-cap(s.slots)+1)}})
	s.tasks.Go(func() {
		defer close(t.done)
		defer cancel(nil)
		s.executeQueued(ctx, t, do)
	})
	return nil
}

// released reports whether this process has released the task.
func (t *task) released() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// find returns the task of a sub-action that this process executes or just executed.
func (s *Service) find(id string) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasksByID[id]
}

// executeQueued waits for a slot and executes the generation.
func (s *Service) executeQueued(ctx context.Context, t *task, do func(context.Context) (*generate.Result, error)) {
	defer time.AfterFunc(eventRetention, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.tasksByID[t.row.ID] == t {
			delete(s.tasksByID, t.row.ID)
		}
	})
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
	}
	if row, _, err := s.cfg.Ledger.ContentGeneration(ctx, t.row.Owner, t.row.ID); err == nil && !row.FinishedAt.IsZero() {
		return // it ended in another process while it was queued here
	}
	call := context.WithValue(scope(ctx, t.row), watchKey{}, func(ctx context.Context, e generate.Event) { s.watch(ctx, t, e) })
	res, err := do(call)
	if journal.HandedOver(ctx) && (res == nil || res.Status == generate.StatusRunning) || media.CodeOf(err) == media.CodeConflict {
		return // it continues in another process, or runs there
	}
	save, stop := context.WithTimeout(context.WithoutCancel(call), saveWithin)
	defer stop()
	if err := s.end(save, t, res, err); err != nil {
		slog.WarnContext(save, "end of a sub-action not saved; it will be retried", slog.String("sub_action", t.row.ID), slog.String("error", media.ErrorText(err.Error())))
	}
}

// watch saves and publishes the progress of the generation.
func (s *Service) watch(ctx context.Context, t *task, e generate.Event) {
	if t.row.OperationID != e.Operation || e.Kind == generate.EventStarted {
		t.row.OperationID, t.row.Status, t.row.Model = e.Operation, string(generate.StatusRunning), e.Model
		if err := s.cfg.Ledger.SaveContentGeneration(context.WithoutCancel(ctx), t.row); err != nil {
			slog.WarnContext(ctx, "sub-action not saved; its generation can be found by its id", slog.String("sub_action", t.row.ID), slog.String("error", media.ErrorText(err.Error())))
		}
	}
	switch {
	case e.Kind == generate.EventPartial && e.Partial != nil:
		t.add(Event{Type: EventPartial, Data: Partial{Position: e.Slot, Sequence: e.Sequence, MIMEType: e.Partial.MIMEType, Width: e.Partial.Width, Height: e.Partial.Height}})
	case e.Kind != generate.EventFinished:
		t.add(Event{Type: EventProgress, Data: Progress{ElapsedMS: s.cfg.Now().Sub(t.begun).Milliseconds(), Message: record.Note(e)}})
	}
}

// end saves the outcome of a sub-action: first the results, then the end of the row. A process that finds the row open
// thus repeats all of it.
func (s *Service) end(ctx context.Context, t *task, res *generate.Result, failed error) error {
	row := t.row
	if res != nil {
		row.OperationID, row.Status, row.Model = res.Operation, string(res.Status), res.Model
		row.CostUSD = cmp.Or(res.Cost.ReportedUSD, res.Cost.EstimatedUSD)
		failed = res.Err()
		if err := s.results(ctx, row, res); media.CodeOf(err) == media.CodeInvalid {
			failed = err // the interaction has no place for them: no retry helps, and they are kept
		} else if err != nil {
			return err
		}
		all := res.Dispositions
		if row.StandIn {
			all = append(s.substitution(row, res.Model), all...)
		}
		row.Dispositions = ledger.JSON(all)
		if res.Status == generate.StatusRunning { // its wait has elapsed: it is checked later
			return s.cfg.Ledger.SaveContentGeneration(ctx, row)
		}
	} else if row.Status = string(generate.StatusFailed); media.CodeOf(failed) == media.CodeCancelled {
		row.Status = string(generate.StatusCancelled)
	}
	if failed != nil {
		row.Failure = ledger.Failure{Code: string(media.CodeOf(failed)), Message: media.ErrorText(failed.Error()), Retryable: media.Retryable(failed)}
	}
	row.FinishedAt = s.cfg.Now()
	since := t.begun
	if row.ElapsedMS == 0 && !row.CreatedAt.IsZero() {
		since = row.CreatedAt // it may have begun in another process
	}
	row.ElapsedMS += max(1, row.FinishedAt.Sub(since).Milliseconds()) // the time before a retry counts
	if err := s.cfg.Ledger.SaveContentGeneration(ctx, row); err != nil {
		return err
	}
	s.cfg.Emit(ctx, agent.Event{
		Type: agent.EventOperationFinished, Tree: row.WorkflowRunID, RunID: row.WorkflowRunID, AgentPath: media.ScopeOf(ctx).AgentPath, At: row.FinishedAt,
		Data: agent.SubActionFinished{MetadataID: row.ID, InteractionID: row.InteractionID, Operation: row.OperationID, Status: row.Status},
	})
	st, err := s.Status(ctx, row.Owner, row.ID)
	if err == nil {
		t.add(last(st))
	}
	return err
}

// results saves the results and adds them to the interaction.
func (s *Service) results(ctx context.Context, row ledger.ContentGeneration, res *generate.Result) error {
	var target []string
	if err := json.Unmarshal(row.ResultTarget, &target); err != nil {
		return media.Errorf(media.CodeCorrupt, "read the result target of sub-action %s: %w", row.ID, err)
	}
	var items []workflow.Item
	for _, slot := range res.Slots {
		if slot.Output == nil {
			continue
		}
		c, err := s.cfg.Ledger.SaveGeneratedContent(ctx, row.Owner, ledger.GeneratedContent{
			ID: "gc_" + uuid.Must(uuid.NewV7()).String(), MetadataID: row.ID, Position: slot.Index, MediaID: slot.Output.ID,
			Modality: slot.Output.Modality, Seed: slot.Seed, RevisedPrompt: slot.RevisedPrompt,
		})
		if err != nil {
			return err
		}
		items = append(items, workflow.Item{ContentID: c.ID, MetadataID: row.ID, URL: mediaURL(c.MediaID)})
	}
	if len(items) == 0 {
		return nil
	}
	return s.cfg.Interactions().AppendItems(ctx, row.Owner, row.InteractionID, target, items...)
}

// mediaURL returns the server's path of an item.
func mediaURL(id string) string { return "/media/" + id }

// Cancel cancels a sub-action; a finished one stays unchanged.
func (s *Service) Cancel(ctx context.Context, owner, id string) error {
	st, err := s.Status(ctx, owner, id)
	if err != nil || !st.FinishedAt.IsZero() {
		return err
	}
	if t := s.find(id); t != nil && !t.released() {
		t.cancel(errCancelled)
		ctx, stop := context.WithTimeout(ctx, cancelWithin)
		defer stop()
		select {
		case <-t.done:
		case <-ctx.Done():
		}
		return nil
	}
	t := &task{row: st.ContentGeneration, begun: s.cfg.Now()}
	if st.OperationID == "" {
		return s.end(ctx, t, nil, media.Errorf(media.CodeCancelled, "cancelled before it started"))
	}
	res, err := s.cfg.Gateway.Cancel(scope(ctx, st.ContentGeneration), st.OperationID)
	if err != nil {
		return err
	}
	return s.end(ctx, t, res, nil)
}

// add numbers and appends an event. It keeps only the newest progress and the newest preview of each position.
func (t *task) add(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newest++
	e.ID = t.newest
	t.events = append(slices.DeleteFunc(t.events, e.replaces), e)
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// after returns the events after a number, and a channel that is closed when an event is added.
func (t *task) after(id int) ([]Event, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(t.events), func(e Event) bool { return e.ID <= id })
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return out, t.changed
}

const (
	// adoptDelay is the minimum age of a row that another process adopts: the row's own process is about to start it.
	adoptDelay = 5 * time.Second
	// recheckDelay is the pause between two checks of a sub-action that another process executes, or whose wait has
	// elapsed.
	recheckDelay = 15 * time.Second
)

var _ run.Kind = (*Service)(nil)

// Adopt continues the unfinished sub-actions of all owners and returns their number. Living processes keep theirs,
// because their generations have leases.
func (s *Service) Adopt(ctx context.Context) (n int, err error) {
	open, err := ledger.All(func(p ledger.Page) (ledger.List[ledger.ContentGeneration], error) {
		return s.cfg.Ledger.ListOpenContentGenerations(ctx, p)
	})
	if err != nil {
		return 0, err
	}
	for _, row := range open {
		if t := s.find(row.ID); t != nil && (!t.released() || s.cfg.Now().Sub(t.begun) < recheckDelay) || s.cfg.Now().Sub(row.UpdatedAt) < adoptDelay {
			continue
		}
		if row.OperationID == "" {
			err = s.again(ctx, row)
			_, unknown := s.cfg.Actions.Find(row.ActionType) // another process may know it
			if code := media.CodeOf(err); unknown == nil && (code == media.CodeInvalid || code == media.CodeNotFound || code == media.CodeUnsupported) {
				err = s.end(scope(ctx, row), &task{row: row, begun: s.cfg.Now()}, nil, err) // it can never start
			}
		} else {
			err = s.begin(row, func(ctx context.Context) (*generate.Result, error) { //nolint:contextcheck // it lives as long as the service
				return s.cfg.Gateway.PollOnce(ctx, row.OperationID)
			})
		}
		if err != nil {
			slog.WarnContext(ctx, "sub-action not adopted", slog.String("sub_action", row.ID), slog.String("error", media.ErrorText(err.Error())))
			continue
		}
		n++
	}
	return n, nil
}
