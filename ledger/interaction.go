package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// InteractionStatus is the status of an [Interaction].
type InteractionStatus string

// The statuses. Only an open interaction changes.
const (
	InteractionOpen      InteractionStatus = "open"
	InteractionAnswered  InteractionStatus = "answered"
	InteractionExpired   InteractionStatus = "expired"
	InteractionCancelled InteractionStatus = "cancelled"
)

// Interaction is a place in a workflow run where a person is asked. The JSON fields keep the order of their keys.
type Interaction struct {
	ID            string            `json:"id"`
	Owner         string            `json:"owner"`
	WorkflowRunID string            `json:"workflow_run_id"`
	StepID        string            `json:"step_id"`
	Status        InteractionStatus `json:"status"`
	// Request is the module's request, without display_data.
	Request json.RawMessage `json:"request,omitempty"`
	// Data is display_data with all edits and results, Version counts its changes.
	Data    json.RawMessage `json:"data,omitempty"`
	Version int             `json:"version"`
	// Edits contains what is needed to merge new edits with the changes so far.
	Edits json.RawMessage `json:"edits,omitempty"`
	// Answer is the person's answer; empty until there is one.
	Answer json.RawMessage `json:"answer,omitempty"`
	// ExpiresAt is zero for an interaction that waits indefinitely.
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// Interactions stores the interactions of workflow runs. Rows of another owner are not found.
type Interactions interface {
	// CreateInteraction saves an open interaction and returns the stored one: the first open one of a run's step, so
	// that a replay gets the same. ID, Owner, WorkflowRunID, StepID and Request are required.
	CreateInteraction(ctx context.Context, i Interaction) (Interaction, error)
	// Interaction returns one interaction.
	Interaction(ctx context.Context, owner, id string) (Interaction, error)
	// ChangeInteraction updates Status, Data, Version, Edits, Answer and AnsweredAt of an open interaction. The error
	// has code media.CodeConflict if it is not open, and media.CodeVersion if its version is not base; in both cases
	// nothing changes.
	ChangeInteraction(ctx context.Context, i Interaction, base int) error
	// ListInteractions lists the interactions of a workflow run, oldest first.
	ListInteractions(ctx context.Context, owner, workflowRunID string) ([]Interaction, error)
	// ListOpenExpired lists the open interactions of all owners that expired before a time, earliest first.
	ListOpenExpired(ctx context.Context, before time.Time, limit int) ([]Interaction, error)
}
