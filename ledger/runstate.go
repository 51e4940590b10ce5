package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// WaitStatus is how a [RunState] stands.
type WaitStatus string

// The states.
const (
	WaitPaused   WaitStatus = "paused"   // a person is to answer
	WaitAnswered WaitStatus = "answered" // the next part of the run may begin, or has begun
	WaitOver     WaitStatus = "over"     // the run has ended
)

// RunState is how a root run that paused, is tried again, or was forked goes on. A run has one.
type RunState struct {
	RunID string `json:"run_id"`
	Owner string `json:"owner"`
	// Number counts the parts of the run that have ended; the part that follows has it.
	Number int        `json:"number"`
	Status WaitStatus `json:"status"`
	// Pending are the open questions.
	Pending json.RawMessage `json:"pending,omitempty"`
	// State is what the next part continues from; lists leave it out.
	State json.RawMessage `json:"state,omitempty"`
	// Setting says how the run's agents are set up, without secrets.
	Setting json.RawMessage `json:"setting,omitempty"`

	AskedAt    time.Time `json:"asked_at,omitzero"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// RunStates keeps how runs continue. What changes a state changes the run's status with it,
// in one commit: a paused run is paused, an answered one running.
type RunStates interface {
	// SaveRunState saves the state of a run whose part has ended. RunID, Owner and Status are required.
	// A number that is not above the one that is kept is media.CodeConflict and changes nothing.
	SaveRunState(ctx context.Context, st RunState) error
	// ChangeRunState writes status and pending, and state and times that are not empty,
	// over the state with this number if its status is from. Otherwise it is
	// media.CodeConflict and changes nothing: of two that answer at once, one wins. A
	// state that has ended leaves the run's status to FinishRun.
	ChangeRunState(ctx context.Context, from WaitStatus, st RunState) error
	// RunState reads one. A run that never paused is media.CodeNotFound.
	RunState(ctx context.Context, owner, runID string) (RunState, error)
	// ListRunStates lists states in a status, those of the newest runs first.
	ListRunStates(ctx context.Context, owner string, status WaitStatus, p Page) (List[RunState], error)
	// ListAnswered lists, for every owner, the first states that were answered before a
	// time, by that time.
	ListAnswered(ctx context.Context, before time.Time, limit int) ([]RunState, error)
}
