package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/generate/internal/fault"
	"atelier/generate/operation"
	"atelier/media"
)

// recorder saves an operation's outputs, slots and calls. A failed save becomes a warning and stays in the backlog,
// which retry saves again; the results are kept, and the operation stays open while there is a backlog. It changes a
// slot only to set its output's record, and is safe for concurrent use.
type recorder struct {
	log       operation.Log
	records   media.Recorder // nil if outputs have no records
	operation string
	now       func() time.Time
	newID     func() string
	notes     *notes

	mu    sync.Mutex   // guards the backlog
	slots map[int]bool // by index, of slots that were not saved or whose output has no record
	calls map[string]operation.Attempt
}

// output stores the record of an output before it is shown (law 2), unless it has one. A record that cannot be saved
// causes a warning; the picture is kept.
func (r *recorder) output(ctx context.Context, o media.Output) media.Output {
	if r.records == nil || o.ID != "" {
		return o
	}
	recorded, err := r.records.Record(ctx, o)
	lost := fmt.Sprintf("the record of %s could not be saved: ", o.Ref)
	if err != nil {
		r.notes.warn(lost + fault.Of(err).Message)
		return o
	}
	r.notes.retract(lost) // an earlier try may have failed
	return recorded
}

func (r *recorder) slot(ctx context.Context, s generate.Slot) {
	err := r.log.SlotDone(ctx, r.operation, s)
	r.mu.Lock()
	if delete(r.slots, s.Index); err != nil || s.Output != nil && s.Output.ID == "" && r.records != nil {
		r.slots[s.Index] = true
	}
	r.mu.Unlock()
	if err != nil {
		r.notes.warn(fmt.Sprintf("result %d could not be journalled: %s", s.Index, fault.Of(err).Message))
	}
}

// call saves an attempt that has been made, for a grace period even after ctx has ended.
func (r *recorder) call(ctx context.Context, a operation.Attempt) {
	save, done := saveContext(ctx)
	defer done()
	err := r.log.Attempt(save, a)
	r.mu.Lock()
	if delete(r.calls, a.ID); err != nil && (!a.FinishedAt.IsZero() || a.Task != (driver.Handle{})) {
		r.calls[a.ID] = a
	}
	r.mu.Unlock()
	if err != nil {
		r.notes.warn("a provider call could not be journalled: " + fault.Of(err).Message)
	}
}

func (r *recorder) attempt(c call, number int) operation.Attempt {
	return operation.Attempt{
		ID: r.newID(), Operation: r.operation, Call: c.number, Number: number, Key: c.key(r.operation),
		Provider: c.plan.Model.Provider, APIModel: c.plan.Model.APIModel, Slots: c.slots,
		StartedAt: r.now().UTC(),
	}
}

// end ends and saves an attempt that no provider works on.
func (r *recorder) end(ctx context.Context, a operation.Attempt, e operation.Event, reason *media.Error) {
	a.Status = r.notes.next(operation.SubjectAttempt, a.Status, e)
	a.Error, a.FinishedAt = slotError(reason), r.now().UTC()
	r.call(ctx, a)
}

// uncalled records that the provider was not called, and why, so that the process that continues the operation, perhaps
// with a fallback model, does not call it either.
func (r *recorder) uncalled(ctx context.Context, c call, number int, reason *media.Error) *media.Error {
	if reason.Code != media.CodeUnavailable && reason.Code != media.CodeRateLimited {
		return reason // the caller's time was over
	}
	r.end(ctx, r.attempt(c, number), operation.EventReject, reason)
	return reason
}

// retry saves the backlog again, and reports whether any of it remains.
func (r *recorder) retry(ctx context.Context, b *slotTable) (remaining bool) {
	slots, calls := r.backlog()
	for _, index := range slots {
		s := b.slot(index)
		if s.Output != nil {
			s.Output = new(r.output(ctx, *s.Output))
			b.put(s)
		}
		r.slot(ctx, s) // a slot's last preview was kept when the slot ended
	}
	for _, a := range calls {
		r.call(ctx, a)
	}
	slots, calls = r.backlog()
	return len(slots)+len(calls) > 0
}

// backlog returns the indexes of the slots, and the calls, that could not be saved.
func (r *recorder) backlog() ([]int, []operation.Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.slots)), slices.Collect(maps.Values(r.calls))
}

// notes holds an operation's warnings for people and the providers' metadata. A warning is kept once. notes is safe for
// concurrent use.
type notes struct {
	mu       sync.Mutex // guards all below
	warnings []string   // saved with the operation
	private  string     // a warning of this process only, not saved
	metadata map[string]any
}

func (n *notes) warn(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.warnings, text) {
		n.warnings = append(n.warnings, text)
	}
}

// warnUnsaved replaces the warning that is shown but not saved.
func (n *notes) warnUnsaved(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.private = text
}

// retract removes the warnings that start with a prefix.
func (n *notes) retract(prefix string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.warnings = slices.DeleteFunc(slices.Clone(n.warnings), func(w string) bool { return strings.HasPrefix(w, prefix) })
}

func (n *notes) saved() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.warnings)
}

// shown returns the warnings that this process shows, the saved ones first.
func (n *notes) shown() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Clone(n.warnings)
	if n.private != "" {
		all = append(all, n.private)
	}
	return all
}

// add adds a provider's metadata; later values replace earlier ones.
func (n *notes) add(raw map[string]any) {
	if len(raw) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.metadata = join(n.metadata, raw)
}

// joined returns the providers' metadata; nil if there is none.
func (n *notes) joined() map[string]any {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.metadata)
}

// next returns the status that follows an event. An event that the table does not allow is a bug in this program: the
// status is kept, and a warning reports it.
func (n *notes) next(s operation.Subject, from generate.Status, e operation.Event) generate.Status {
	to, err := operation.Advance(s, from, e)
	if err != nil {
		n.warn("internal error: " + fault.Of(err).Message)
	}
	return to
}
