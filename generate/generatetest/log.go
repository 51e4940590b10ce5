package generatetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"atelier/generate"
	"atelier/generate/operation"
	"atelier/media"
)

// Log is an operation log in memory that also records the order of its saves. It is safe for
// concurrent use; the zero value is empty and ready. A save with a status that cannot follow the
// previous one panics: that is a defect of the gateway.
type Log struct {
	// Fail, if set, is called before every save with begin, attempt, slot, finish or reopen; its
	// error is returned.
	Fail func(what string) error
	// Unassigned holds the blobs without a slot that [Log.Saved] returns.
	Unassigned []media.Blob

	mu         sync.Mutex // guards all below
	entries    []string
	operations map[string]operation.Operation
	scopes     map[string]media.Scope
	holders    map[string]string
	orphaned   map[[2]string]bool // operations with their holders that Orphan has declared dead
	attempts   []operation.Attempt
	slots      map[string][]generate.Slot
}

var (
	_ operation.Log     = (*Log)(nil)
	_ operation.Resumer = (*Log)(nil)
)

// follows panics if a status cannot follow another one.
func follows(s operation.Subject, before, after generate.Status) {
	if err := operation.Check(s, before, after); err != nil {
		panic(err)
	}
}

// note appends to the entries; the caller holds mu.
func (l *Log) note(what, detail string) error {
	if l.Fail != nil {
		if err := l.Fail(what); err != nil {
			return err
		}
	}
	l.entries = append(l.entries, what+" "+detail)
	return nil
}

// Begin records the intent.
func (l *Log) Begin(ctx context.Context, op operation.Operation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	follows(operation.SubjectOperation, l.operations[op.ID].Status, op.Status)
	if err := l.note("begin", string(op.Status)); err != nil {
		return err
	}
	if l.operations == nil {
		l.operations, l.slots = map[string]operation.Operation{}, map[string][]generate.Slot{}
		l.scopes, l.holders, l.orphaned = map[string]media.Scope{}, map[string]string{}, map[[2]string]bool{}
	}
	l.scopes[op.ID] = media.ScopeOf(ctx)
	l.operations[op.ID] = op
	l.holders[op.ID] = op.Holder
	return nil
}

// Attempt records an attempt, replacing the one with its ID.
func (l *Log) Attempt(_ context.Context, a operation.Attempt) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.attempts, func(b operation.Attempt) bool { return b.ID == a.ID })
	before := generate.StatusNew
	if i >= 0 {
		before = l.attempts[i].Status
	}
	follows(operation.SubjectAttempt, before, a.Status)
	if err := l.note("attempt", fmt.Sprintf("%d.%d %s", a.Call, a.Number, a.Status)); err != nil {
		return err
	}
	if i >= 0 {
		l.attempts[i] = a
		return nil
	}
	l.attempts = append(l.attempts, a)
	return nil
}

// Interrupted adds an attempt in the state in which an earlier process left it.
func (l *Log) Interrupted(a operation.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts = append(l.attempts, a)
}

// SlotDone records a slot.
func (l *Log) SlotDone(_ context.Context, id string, s generate.Slot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := generate.StatusQueued // a slot is saved only when its status changes
	for _, known := range l.slots[id] {
		if known.Index == s.Index {
			before = known.Status
		}
	}
	follows(operation.SubjectSlot, before, s.Status)
	if err := l.note("slot", fmt.Sprintf("%d %s", s.Index, s.Status)); err != nil {
		return err
	}
	l.slots[id] = append(l.slots[id], s)
	return nil
}

// Finish records the receipt.
func (l *Log) Finish(_ context.Context, op operation.Operation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.note("finish", string(op.Status)); err != nil {
		return err
	}
	by := l.holders[op.ID]
	if last := l.operations[op.ID]; !last.FinishedAt.IsZero() {
		by = last.Holder
	}
	if op.Holder != "" && by != "" && by != op.Holder {
		return media.Errorf(media.CodeConflict, "%s works on it, or has ended it", by)
	}
	follows(operation.SubjectOperation, l.operations[op.ID].Status, op.Status)
	l.operations[op.ID] = op
	if !op.FinishedAt.IsZero() {
		delete(l.holders, op.ID)
	}
	return nil
}

// OperationOf returns the operation with a key.
func (l *Log) OperationOf(_ context.Context, key string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range l.operations {
		if op.Key == key {
			return op.ID, nil
		}
	}
	return "", media.Errorf(media.CodeNotFound, "there is no operation with the key %s", key)
}

// Hold acquires or renews a hold on an operation. There is no expiry: a hold lasts until [Log.Release] or
// [Log.Orphan].
func (l *Log) Hold(_ context.Context, operation, holder string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.operations[operation]; !ok {
		return media.Errorf(media.CodeNotFound, "there is no operation %s", operation)
	}
	if by := l.holders[operation]; by != "" && by != holder || l.orphaned[[2]string{operation, holder}] {
		return media.Errorf(media.CodeConflict, "%s works on it", by)
	}
	l.holders[operation] = holder
	return nil
}

// Release ends a holder's hold on an operation.
func (l *Log) Release(_ context.Context, operation, holder string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holders[operation] == holder {
		delete(l.holders, operation)
	}
	return nil
}

// Keep returns an error if a holder does not hold an operation.
func (l *Log) Keep(_ context.Context, operation, holder string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if by := l.holders[operation]; by != holder {
		return media.Errorf(media.CodeConflict, "%s works on it", by)
	}
	return nil
}

// Reopen reopens a finished operation.
func (l *Log) Reopen(_ context.Context, op operation.Operation, slots []int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.operations[op.ID].FinishedAt.IsZero() || l.holders[op.ID] != op.Holder {
		return media.Errorf(media.CodeConflict, "operation %s is not finished, or another caller is working on it", op.ID)
	}
	follows(operation.SubjectOperation, l.operations[op.ID].Status, op.Status)
	if err := l.note("reopen", fmt.Sprint(slots)); err != nil {
		return err
	}
	l.operations[op.ID] = op
	l.slots[op.ID] = slices.DeleteFunc(l.slots[op.ID], func(s generate.Slot) bool { return slices.Contains(slots, s.Index) })
	return nil
}

// Orphan acts as if the holder of an operation had died long ago: it cannot hold the operation again.
func (l *Log) Orphan(operation string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orphaned[[2]string{operation, l.holders[operation]}] = true
	delete(l.holders, operation)
}

// IDs returns the ids of the operations, sorted.
func (l *Log) IDs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.operations))
}

// Forget acts as if a process had died right after it began an operation: the log has no calls,
// no slots and no end of it.
func (l *Log) Forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	op := l.operations[id]
	op.Status, op.FinishedAt, op.Error = generate.StatusQueued, time.Time{}, nil
	l.operations[id] = op
	delete(l.slots, id)
	delete(l.holders, id)
	l.attempts = slices.DeleteFunc(l.attempts, func(a operation.Attempt) bool { return a.Operation == id })
}

// Saved returns an operation with everything saved for it.
func (l *Log) Saved(_ context.Context, id string) (*operation.Saved, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	op, ok := l.operations[id]
	if !ok {
		return nil, media.Errorf(media.CodeNotFound, "there is no operation %s", id)
	}
	op.Holder = l.holders[id]
	s := &operation.Saved{Operation: op, Scope: l.scopes[id], Unassigned: slices.Clone(l.Unassigned)}
	for _, a := range l.attempts {
		if a.Operation == id {
			s.Attempts = append(s.Attempts, a)
		}
	}
	last := map[int]generate.Slot{}
	for _, slot := range l.slots[id] {
		last[slot.Index] = slot
	}
	for _, index := range slices.Sorted(maps.Keys(last)) {
		s.Slots = append(s.Slots, last[index])
	}
	return s, nil
}

// OperationOfTask returns the operation of a task.
func (l *Log) OperationOfTask(_ context.Context, provider, taskID string) (string, media.Scope, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.attempts {
		if a.Provider == provider && a.Task.ID == taskID {
			return a.Operation, l.scopes[a.Operation], nil
		}
	}
	return "", media.Scope{}, media.Errorf(media.CodeNotFound, "no operation has the task %s", taskID)
}

// ScopeOf returns the scope of an operation.
func (l *Log) ScopeOf(_ context.Context, operation string) (media.Scope, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	scope, ok := l.scopes[operation]
	if !ok {
		return media.Scope{}, media.Errorf(media.CodeNotFound, "there is no operation %s", operation)
	}
	return scope, nil
}

// Entries lists the saves in order: "begin queued", "attempt 1.1 submitted",
// "slot 1 succeeded", "finish succeeded".
func (l *Log) Entries() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// Attempts lists the attempts in their last state, in the order of their start.
func (l *Log) Attempts() []operation.Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.attempts)
}

// Operation returns an operation in its last state.
func (l *Log) Operation(id string) operation.Operation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.operations[id]
}
