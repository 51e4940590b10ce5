package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// InteractionStatus is how an [Interaction] stands.
type InteractionStatus string

// The statuses. Only an open interaction changes.
const (
	InteractionOpen      InteractionStatus = "open"
	InteractionAnswered  InteractionStatus = "answered"
	InteractionExpired   InteractionStatus = "expired"
	InteractionCancelled InteractionStatus = "cancelled"
)

// Interaction is a place of a workflow run where a person is asked. JSON keeps the order of its keys.
type Interaction struct {
	ID            string            `json:"id"`
	Owner         string            `json:"owner"`
	WorkflowRunID string            `json:"workflow_run_id"`
	StepID        string            `json:"step_id"`
	Status        InteractionStatus `json:"status"`
	// Request is what the module asked for, without display_data.
	Request json.RawMessage `json:"request,omitempty"`
	// Data is display_data with all edits and results, Version counts the changes of it.
	Data    json.RawMessage `json:"data,omitempty"`
	Version int             `json:"version"`
	// Edits is what merging needs of the changes so far.
	Edits json.RawMessage `json:"edits,omitempty"`
	// Answer is the person's; empty until there is one.
	Answer json.RawMessage `json:"answer,omitempty"`
	// ExpiresAt is zero for an interaction that waits without limit.
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// Interactions keeps where workflow runs ask people. Rows of another owner are not found.
type Interactions interface {
	// CreateInteraction saves an open interaction and returns the one that is kept: the first open one
	// of a run's step, so that a replay gets the same. ID, Owner, WorkflowRunID, StepID and Request are required.
	CreateInteraction(ctx context.Context, i Interaction) (Interaction, error)
	// Interaction reads one.
	Interaction(ctx context.Context, owner, id string) (Interaction, error)
	// ChangeInteraction saves Status, Data, Version, Edits, Answer and AnsweredAt over an open interaction.
	// One that is not open is media.CodeConflict, one whose version is not base media.CodeVersion; both
	// change nothing.
	ChangeInteraction(ctx context.Context, i Interaction, base int) error
	// ListInteractions lists those of a workflow run, oldest first.
	ListInteractions(ctx context.Context, owner, workflowRunID string) ([]Interaction, error)
	// ListOpenExpired lists, for every owner, open interactions that expired before a time, earliest first.
	ListOpenExpired(ctx context.Context, before time.Time, limit int) ([]Interaction, error)
}
