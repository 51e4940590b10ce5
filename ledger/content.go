package ledger

import (
	"context"
	"encoding/json"
	"time"

	"atelier/media"
)

// ContentGenerationPrefix begins the id of each [ContentGeneration], which is the idempotency key of its operation.
const ContentGenerationPrefix = "gm_"

// ContentGeneration is one execution of a sub-action, which a person started in an interaction of a workflow.
type ContentGeneration struct {
	ID            string `json:"id"`
	Owner         string `json:"owner"`
	WorkflowRunID string `json:"workflow_run_id"`
	InteractionID string `json:"interaction_id"`
	StepID        string `json:"step_id,omitempty"`
	SubActionID   string `json:"sub_action_id,omitempty"`
	ActionType    string `json:"action_type"`
	// RequestID is the identity of the click and RequestDigest the digest of its body; both are empty for a click
	// without an identity.
	RequestID     string `json:"request_id,omitempty"`
	RequestDigest string `json:"request_digest,omitempty"`
	Provider      string `json:"provider,omitempty"`
	Model         string `json:"model,omitempty"`
	// OperationID is the operation of the generation; empty until there is one.
	OperationID string `json:"operation_id,omitempty"`
	// PromptID is the key of the prompt, SourceData its value at the time of the click.
	PromptID     string          `json:"prompt_id,omitempty"`
	SourceData   json.RawMessage `json:"source_data,omitempty"`
	PromptAsSent string          `json:"prompt_as_sent,omitempty"`
	Params       json.RawMessage `json:"params,omitempty"`
	Dispositions json.RawMessage `json:"dispositions,omitempty"`
	// ResultTarget is the place of the results in the interaction's data, as a list of keys.
	ResultTarget json.RawMessage `json:"result_target,omitempty"`
	// StandIn means that the offline painter substitutes for the provider.
	StandIn bool `json:"stand_in,omitempty"`
	// Status is a status of an [Operation].
	Status  string  `json:"status"`
	Failure Failure `json:"failure,omitzero"`
	// ElapsedMS is the duration, 0 until the generation has ended; CostUSD is nil if unknown.
	ElapsedMS  int64     `json:"elapsed_ms,omitempty"`
	CostUSD    *string   `json:"cost_usd"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// GeneratedContent is one result of a [ContentGeneration].
type GeneratedContent struct {
	ID         string `json:"id"`
	MetadataID string `json:"metadata_id"`
	// Position is the slot, from 1.
	Position      int            `json:"position"`
	MediaID       string         `json:"media_id"`
	Modality      media.Modality `json:"modality,omitempty"`
	Seed          *int64         `json:"seed,omitempty"`
	RevisedPrompt string         `json:"revised_prompt,omitempty"`
	// SelectedAt is when a person chose it; zero if not chosen.
	SelectedAt time.Time `json:"selected_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
}

// Contents stores the generations of workflows. Rows of another owner are not found.
type Contents interface {
	// SaveContentGeneration inserts a row, or overwrites it except its creation time. ID, Owner, WorkflowRunID,
	// InteractionID, ActionType and Status are required. The error has code media.CodeConflict if another owner has the
	// id, or another row of the interaction has the request id.
	SaveContentGeneration(ctx context.Context, g ContentGeneration) error
	// SaveGeneratedContent saves a result of an owner's row and returns the stored result: the first one saved for a
	// position, so that a result that is saved again keeps its id.
	SaveGeneratedContent(ctx context.Context, owner string, c GeneratedContent) (GeneratedContent, error)
	// ContentGeneration returns a row with its results by position.
	ContentGeneration(ctx context.Context, owner, id string) (ContentGeneration, []GeneratedContent, error)
	// ContentGenerationOfRequest returns the row of a click, or media.CodeNotFound if there is none.
	ContentGenerationOfRequest(ctx context.Context, owner, interactionID, requestID string) (ContentGeneration, error)
	// ListContentGenerations lists the rows of a workflow run, oldest first.
	ListContentGenerations(ctx context.Context, owner, workflowRunID string, p Page) (List[ContentGeneration], error)
	// GeneratedContent returns one result.
	GeneratedContent(ctx context.Context, owner, id string) (GeneratedContent, error)
	// ContentOfMedia lists the results that consist of a media item, oldest first.
	ContentOfMedia(ctx context.Context, owner, mediaID string) ([]GeneratedContent, error)
	// SelectContents records that a person chose results of an interaction, all or none. A result that was chosen
	// before keeps its time. For a result that is not of the interaction, the error has code media.CodeNotFound.
	SelectContents(ctx context.Context, owner, interactionID string, ids []string, at time.Time) error
}

// OpenContents finds unfinished generations of workflows.
type OpenContents interface {
	// OpenContentGenerations lists the unfinished rows of an interaction, oldest first.
	OpenContentGenerations(ctx context.Context, owner, interactionID string) ([]ContentGeneration, error)
	// ListOpenContentGenerations lists the unfinished rows of all owners, oldest first.
	ListOpenContentGenerations(ctx context.Context, p Page) (List[ContentGeneration], error)
}
