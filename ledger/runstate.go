package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// WaitStatus is the status of a [RunState].
type WaitStatus string

// The statuses.
const (
	WaitPaused   WaitStatus = "paused"   // a person must answer
	WaitAnswered WaitStatus = "answered" // the next part of the run may start, or has started
	WaitFinished WaitStatus = "over"     // the run has ended
)

// RunState is how a root run that paused, is retried, or was forked continues. A run has at most one.
type RunState struct {
	RunID string `json:"run_id"`
	Owner string `json:"owner"`
	// Number counts the finished parts of the run, and is the number of the next part.
	Number int        `json:"number"`
	Status WaitStatus `json:"status"`
	// Pending are the open questions.
	Pending json.RawMessage `json:"pending,omitempty"`
	// State is what the next part continues from; lists omit it.
	State json.RawMessage `json:"state,omitempty"`
	// Setting describes the configuration of the run's agents, without secrets.
	Setting json.RawMessage `json:"setting,omitempty"`

	AskedAt    time.Time `json:"asked_at,omitzero"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// RunStates stores how runs continue. A change of a state also changes the run's status, in the same commit: a paused
// state sets paused, an answered one running.
type RunStates interface {
	// SaveRunState saves the state of a run whose part has ended. RunID, Owner and Status are required. For a number
	// that is not above the saved one, the error has code media.CodeConflict and nothing changes.
	SaveRunState(ctx context.Context, st RunState) error
	// ChangeRunState writes status and pending, and non-empty state and times, to the state with this number if its
	// status is from. Otherwise the error has code media.CodeConflict and nothing changes: of two concurrent answers,
	// one is accepted. A state that is over leaves the run's status to FinishRun.
	ChangeRunState(ctx context.Context, from WaitStatus, st RunState) error
	// RunState returns the state of a run. For a run that never paused, the error has code media.CodeNotFound.
	RunState(ctx context.Context, owner, runID string) (RunState, error)
	// ListAnswered lists, for all owners, all states that were answered before a time, earliest first.
	ListAnswered(ctx context.Context, before time.Time) ([]RunState, error)
}
