package ledger

import (
	"context"
	"encoding/json"
	"time"

	"atelier/media"
)

// ContentGenerationPrefix begins the id of each [ContentGeneration], which is the idempotency key of its operation.
const ContentGenerationPrefix = "gm_"

// ContentGeneration is one run of a sub-action: what a person started from an interaction of a
// workflow.
type ContentGeneration struct {
	ID            string `json:"id"`
	Owner         string `json:"owner"`
	WorkflowRunID string `json:"workflow_run_id"`
	InteractionID string `json:"interaction_id"`
	StepID        string `json:"step_id,omitempty"`
	SubActionID   string `json:"sub_action_id,omitempty"`
	ActionType    string `json:"action_type"`
	// RequestID is the identity of the click and RequestDigest the digest of its body; empty for a click
	// that has none.
	RequestID     string `json:"request_id,omitempty"`
	RequestDigest string `json:"request_digest,omitempty"`
	Provider      string `json:"provider,omitempty"`
	Model         string `json:"model,omitempty"`
	// OperationID is the generation that it became; empty until there is one.
	OperationID string `json:"operation_id,omitempty"`
	// PromptID is the key of the prompt, SourceData its value at the click.
	PromptID     string          `json:"prompt_id,omitempty"`
	SourceData   json.RawMessage `json:"source_data,omitempty"`
	PromptAsSent string          `json:"prompt_as_sent,omitempty"`
	Params       json.RawMessage `json:"params,omitempty"`
	Dispositions json.RawMessage `json:"dispositions,omitempty"`
	// ResultTarget is where results go in the interaction's data, as a list of keys.
	ResultTarget json.RawMessage `json:"result_target,omitempty"`
	// StandIn says that the offline painter stands in for the provider.
	StandIn bool `json:"stand_in,omitempty"`
	// Status is one of those of an [Operation].
	Status  string  `json:"status"`
	Failure Failure `json:"failure,omitzero"`
	// ElapsedMS is how long it took, 0 until it has ended; CostUSD is nil when unknown.
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
	// SelectedAt is when a person chose it; zero if nobody did.
	SelectedAt time.Time `json:"selected_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
}

// Contents keeps what was generated in workflows. Rows of another owner are not found.
type Contents interface {
	// SaveContentGeneration inserts a row or overwrites it, but for its creation. ID, Owner,
	// WorkflowRunID, InteractionID, ActionType and Status are required. An id that somebody else has
	// is media.CodeConflict, and so is the request id of another row of the interaction.
	SaveContentGeneration(ctx context.Context, g ContentGeneration) error
	// SaveGeneratedContent saves a result of an owner's row, and gives what is kept: of one position the
	// first, so that a result that arrives again keeps its id.
	SaveGeneratedContent(ctx context.Context, owner string, c GeneratedContent) (GeneratedContent, error)
	// ContentGeneration reads a row with its results by position.
	ContentGeneration(ctx context.Context, owner, id string) (ContentGeneration, []GeneratedContent, error)
	// ContentGenerationOfRequest reads the row of a click; media.CodeNotFound if there was none.
	ContentGenerationOfRequest(ctx context.Context, owner, interactionID, requestID string) (ContentGeneration, error)
	// ListContentGenerations lists those of a workflow run, oldest first.
	ListContentGenerations(ctx context.Context, owner, workflowRunID string, p Page) (List[ContentGeneration], error)
	// GeneratedContent reads one result.
	GeneratedContent(ctx context.Context, owner, id string) (GeneratedContent, error)
	// ContentOfMedia lists the results that are a media item, oldest first.
	ContentOfMedia(ctx context.Context, owner, mediaID string) ([]GeneratedContent, error)
	// SelectContents records that a person chose results of an interaction, all or none; one that
	// was chosen before keeps its time. A result that the interaction does not have is media.CodeNotFound.
	SelectContents(ctx context.Context, owner, interactionID string, ids []string, at time.Time) error
}

// OpenContents finds what was begun in workflows and has not ended.
type OpenContents interface {
	// OpenContentGenerations lists those of an interaction, oldest first.
	OpenContentGenerations(ctx context.Context, owner, interactionID string) ([]ContentGeneration, error)
	// ListOpenContentGenerations lists those of all owners, oldest first.
	ListOpenContentGenerations(ctx context.Context, p Page) (List[ContentGeneration], error)
}
