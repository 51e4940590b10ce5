package ledger

import (
	"context"
	"encoding/json"
	"time"
)

// Prompt is one model call.
type Prompt struct {
	ID    string `json:"id"`
	RunID string `json:"run_id"`
	// Turn counts from 1 within the run.
	Turn int `json:"turn"`
	// Model is the id of the model that answered, or else of the requested one.
	Model    string `json:"model"`
	Provider string `json:"provider,omitempty"`
	// Messages are the messages sent to the model, including the instructions, with pictures as refs; they are
	// sanitised again when they are saved.
	Messages json.RawMessage `json:"messages,omitempty"`
	// Answer is the text of the response.
	Answer       string  `json:"answer,omitempty"`
	Status       Status  `json:"status"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CostUSD      *string `json:"cost_usd"`
	Failure      Failure `json:"failure,omitzero"`

	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// Prompts stores model calls.
type Prompts interface {
	// SavePrompt inserts a model call, or overwrites the one with its id. ID and RunID are required.
	SavePrompt(ctx context.Context, p Prompt) error
	// ListPrompts lists a run's model calls in order.
	ListPrompts(ctx context.Context, owner, runID string, p Page) (List[Prompt], error)
}
